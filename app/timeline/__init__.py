"""Timeline: what happened between the interrupts of a run."""
