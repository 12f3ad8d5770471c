"""Fits of the energy-latency model and of a host's costs to runs."""
