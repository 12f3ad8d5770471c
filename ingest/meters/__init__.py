"""Readings of power meters to the energy of runs."""
