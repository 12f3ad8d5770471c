"""Conversion of a power meter's readings to the clock of the runs that it covers. Pure."""

from collections.abc import Sequence
from typing import Final

from ingest.discover.found_files import RawFile
from ingest.discover.source_reads import SourceRead
from ingest.meters.clock import fit_offset
from ingest.meters.energy import make_series
from ingest.meters.join import UNSURE, Meter, utc_series
from ingest.records import MeterReadings, Problem, UtcWindow
from ingest.settings.power import FIT

# Clock settings that differ by less than this share of an interval count as equal.
_SAME_INTERVALS: Final = 0.25


def set_meter(
    file: RawFile, read: SourceRead, windows: Sequence[UtcWindow], problems: list[Problem]
) -> Meter | None:
    """Convert a meter's readings to the clock of the runs.

    Args:
        windows: Windows of all runs that it may cover.
        problems: Receives what is wrong with the meter, and the clock's fitted offset.

    Returns:
        The meter; None if it cannot be used, for reasons in `problems`.
    """
    readings, settings = read.content, file.settings.power
    if not isinstance(readings, MeterReadings):
        return None
    places = dict(settings.match(file.path) or {})
    fixed_s = 0.0 if settings.clock_offset_s == FIT else float(settings.clock_offset_s)
    series = utc_series(readings, settings, fixed_s)
    if series is None:
        detail = (
            "neither the headings nor the setting power.utc_offset_h give the UTC offset of "
            "its local time; not used"
        )
        problems.append(Problem("no_utc_offset", "refused", detail))
        return None
    if settings.clock_offset_s != FIT or not windows:
        return Meter(file.path, readings, series, settings, places)
    fit = fit_offset(series, windows)
    if fit is None or not fit.is_sure:
        why = "too few runs, or power that never changes"
        if fit is not None:
            why = (
                f"{fit.offset_s:+.2f} s explains {fit.explained:.0%} of power's variance, "
                f"{fit.rival_s:+.1f} s explains hardly less"
            )
        detail = f"the clock's offset cannot be fitted: {why}; no offset is added"
        problems.append(Problem(UNSURE, "doubted", detail))
        return Meter(file.path, readings, series, settings, places, (UNSURE,))
    drifting = f", {fit.drift * 86400:+.2f} s a day more" if fit.drift else ""
    detail = (
        f"{fit.offset_s:+.2f} s (standard uncertainty {fit.error_s:.2f} s{drifting}) added to the "
        f"meter's times: {fit.windows} runs then explain {fit.explained:.0%} of power's variance"
    )
    problems.append(Problem("clock_fitted", "repaired", detail))
    series = make_series(fit.corrected(series.t_s), series.power_w, fit.error_s)
    return Meter(file.path, readings, series, settings, places)


def is_set_otherwise(file: RawFile, meter: Meter, windows: Sequence[UtcWindow]) -> bool:
    """Return whether the fit to these runs alone would set a meter's clock otherwise.

    Args:
        meter: The meter as set now.
        windows: Windows of the runs with which it was set before.
    """
    if file.settings.power.clock_offset_s != FIT:
        return False
    series = utc_series(meter.readings, file.settings.power, 0.0)
    assert series is not None, "BUG: a meter without UTC"
    fit = fit_offset(series, windows)
    was_set = fit is not None and fit.is_sure
    if not was_set or UNSURE in meter.flags:
        return was_set == (UNSURE in meter.flags)
    assert fit is not None
    before_s = fit.corrected(series.t_s)
    moved_s = abs(before_s - meter.series.t_s).max()
    return bool(moved_s > _SAME_INTERVALS * series.interval_s)
