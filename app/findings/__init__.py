"""Findings: what the lake proves, which knobs matter, what to run next, the order of runs."""
