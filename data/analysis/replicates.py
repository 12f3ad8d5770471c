"""Which runs of one setting are replicates of each other.

Runs of one setting are replicates where only noise tells them apart. Where they differ far more,
something was set that no column states, or a run failed: their mean is no value of a setting, and
their spread does not say how repeatable a run is.
"""

import math
from typing import Any, Final

from data.units import counted

# Runs of a larger variance of their logarithms are no replicates: a deviation by a factor of 2.
_MOST_VARIANCE: Final = math.log(2.0) ** 2
# What may have made them so.
UNLIKE_WHY: Final = "something that is no setting here may have differed, or a run failed"


def are_unlike(variance: Any) -> Any:
    """Return whether runs of one setting are no replicates.

    Args:
        variance: Of the logarithms of a metric above 0, a number or an array; NaN if unknown, as
            of one run.
    """
    return variance > _MOST_VARIANCE


def unlike_words(settings: int) -> str:
    """Return `the runs of 2 settings are no replicates: something ...`."""
    return f"the runs of {counted(settings, 'setting')} are no replicates: {UNLIKE_WHY}"


def unlike_sql(column: str) -> str:
    """Return the SQL of the same over the runs of a group; NULL for one run.

    Args:
        column: A metric of which all values are above 0.
    """
    return f"var_samp(ln({column})) > {_MOST_VARIANCE!r}"
