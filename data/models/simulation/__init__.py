"""The simulator of interrupt handling: one compiled event loop."""
