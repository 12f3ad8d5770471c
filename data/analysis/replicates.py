"""Which runs of one setting are replicates of each other.

Runs of one setting are replicates where only noise tells them apart. Where they differ far more,
something was set that no column states, or a run failed: their mean is no value of a setting, and
their spread does not say how repeatable a run is.
"""

import math
from typing import Final

# Runs of a larger geometric standard deviation are no replicates.
MOST_SPREAD: Final = 2.0


def are_unlike(spread: float) -> bool:
    """Return whether runs of one setting are no replicates.

    Args:
        spread: Their geometric standard deviation, a factor; NaN if unknown, as of one run.
    """
    return spread > MOST_SPREAD


def unlike_sql(column: str) -> str:
    """Return the SQL of the same over the runs of a group; NULL for one run.

    Args:
        column: A metric of which all values are above 0.
    """
    return f"stddev_samp(ln({column})) > {math.log(MOST_SPREAD)!r}"
