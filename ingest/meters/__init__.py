"""Readings of power meters and the energy of runs."""
