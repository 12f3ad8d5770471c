"""What the columns of a trace are where its headings alone do not say it."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

import numpy as np

from ingest.formats.trace_cells import is_number, number_text, unit_of
from ingest.formats.trace_counters import is_running_total
from ingest.formats.trace_headings import RAPL, Heading, power_of, read_heading
from ingest.formats.trace_layout import Layout
from ingest.formats.trace_series import series_of
from ingest.settings import headings as lake_headings

# Quantities without which a text is no trace, and the power of a machine.
_WORKING: Final = ("power", "energy", "busy", "frequency")


# Voltages and currents that are larger have units of a thousandth; a power is compared with them.
_LARGE: Final = {"voltage": 400.0, "current": 50.0, "power": np.inf}
# What PowerAPI and others call the machine among its containers: what was measured comes first.
_WHOLE: Final = ("rapl", "total", "host", "system", "all", "global")
# So many parts have a sum, which is no W of a board from here on.
_LEAST_PARTS: Final = 2
_NO_BOARD_W: Final = 500.0
# Per cent have fewer digits behind the point.
_OF_SHARES: Final = 3
_MACHINE_W: Final = (1.0, 5000.0)
# The ticks of a clock that no heading calls so: so many, and so near to each other.
_FEWEST_TICKS: Final = 12
_EQUAL: Final = 0.25
# Quantities whose units convert.
_SCALED: Final = frozenset({"energy", "power", "time", "frequency", "voltage", "current", "bytes"})
# Linux' powercap writes uJ.
POWERCAP_SCALE: Final = 1e-6


def read_headings(layout: Layout, name: str) -> list[Heading] | None:
    """Return what each column is; None if nothing is measured.

    Leaves the rows of the whole machine in the layout, and may add a power to it.

    Args:
        name: The file's name, which may say what numbers are.
    """
    _keep_whole(layout)
    _with_one_unit(layout)
    headings = [
        read_heading(heading, next(filter(None, map(unit_of, islice(column, 20))), ""))
        for heading, column in zip(layout.headings, layout.columns, strict=True)
    ]
    if not any(each.quantity in ("power", "energy") for each in headings):
        headings = [*map(_rapl_counter, layout.headings, headings, layout.columns)]
        _add_product(layout, headings)
    if not any(map(_is_of_work, headings)):
        headings = _by_name(layout, headings, name)
    if not any(map(_is_of_work, headings)):
        return _of_series(layout, headings, name)
    _with_clock(layout, headings)
    if any(each.quantity == "power" and each.domain == "total" for each in headings):
        # Domains of RAPL beside it are powers too.
        headings = [
            RAPL.get(h.rstrip("-0123456789"), each)
            for h, each in zip(layout.headings, headings, strict=True)
        ]
    _with_units(layout, headings)
    _with_shares(layout, headings)
    if any(each.quantity == "power" for each in headings):
        headings = [
            Heading("") if each.quantity == "energy" and _only_falls(layout, at) else each
            for at, each in enumerate(headings)
        ]
    return headings


def _of_series(layout: Layout, headings: Sequence[Heading], name: str) -> list[Heading] | None:
    """Return what the columns of a series are, whose names the layout gets; None for others."""
    series = series_of(layout.headings, layout.columns, headings, name)
    if series is None:
        return None
    layout.headings, layout.is_series, layout.is_rate = series.names, True, series.is_rate
    layout.doubts += [series.doubt] if series.doubt else []
    return series.headings


def _with_one_unit(layout: Layout) -> None:
    """Write the cells of a column in the unit of its first one: `980 mW` above `1.02 kW`.

    Cells with units that nothing converts have no number.
    """
    for at, cells in enumerate(layout.columns):
        units = [*dict.fromkeys(filter(None, map(unit_of, cells)))]
        if len(units) < 2:
            continue
        known = {unit: lake_headings.unit_of(unit, in_brackets=True) for unit in units}
        first = known[units[0]]
        scales = {units[0]: 1.0} | {
            unit: of.scale / first.scale
            for unit, of in known.items()
            if first and of and of.quantity == first.quantity and of.quantity in _SCALED
        }
        layout.columns[at] = [_scaled(cell, units[0], scales) for cell in cells]
        if lost := [unit for unit in units if unit not in scales]:
            detail = f"{layout.headings[at]} has cells in {units[0]} and in {', '.join(lost)}"
            layout.doubts.append(f"{detail}: the latter are left out")


def _scaled(cell: str, unit: str, scales: Mapping[str, float]) -> str:
    """Return a cell in a unit; empty if its own has no scale."""
    own = unit_of(cell)
    if own in ("", unit):
        return cell
    return f"{float(number_text(cell)) * scales[own]:.12g} {unit}" if own in scales else ""


def _with_clock(layout: Layout, headings: list[Heading]) -> None:
    """Take a time for the clock of samples, whatever it is called: it rises from 0 by equal steps.

    All else are readings, a power among them, or the same in all rows: nothing is a run's.
    """
    others = [at for at, each in enumerate(headings) if not each.quantity]
    others = [at for at in others if len({*layout.columns[at]}) > 1]
    if len(others) != 1 or any(each.quantity in ("time", "date", "delta") for each in headings):
        return
    heading = lake_headings.read_heading(layout.headings[others[0]])
    is_power = any(each.quantity == "power" for each in headings)
    if not is_power or lake_headings.quantity_of(heading) != "time":
        return
    times = numbers_of(layout, others[0])
    steps = np.diff(times, prepend=0.0)
    usual = float(np.median(steps))
    is_even = bool(np.all(np.abs(steps - usual) <= _EQUAL * usual))
    if len(times) >= _FEWEST_TICKS and usual > 0 and is_even:
        unit = heading.unit
        headings[others[0]] = Heading("time", unit.scale if unit else 1.0, unit is not None)


def _is_of_work(heading: Heading) -> bool:
    """Return whether a column tells what a machine does; a current does where its unit is said."""
    return heading.quantity in _WORKING or (heading.quantity == "current" and heading.has_unit)


def _only_falls(layout: Layout, at: int) -> bool:
    """Return whether an energy only falls: a battery holds it, and nothing has taken it."""
    steps = np.diff(numbers_of(layout, at))
    return bool((steps < 0).any()) and not (steps > 0).any()


def _by_name(layout: Layout, headings: Sequence[Heading], name: str) -> list[Heading]:
    """Return headings of a power or an energy for numbers of which only the file's name says it.

    In `joules_total.csv` are energies. One number behind each date, with no name at all, is taken
    as a power if it is one of a machine.
    """
    by_name = read_heading(name.partition(".")[0].replace("-", "_"))
    # `GPU0` heads the numbers of a device; its name has no fractions.
    free = [
        at
        for at, (each, cells) in enumerate(zip(headings, layout.columns, strict=True))
        if all(map(is_number, cells))
        and (not each.quantity or (each.quantity == "device" and any("." in c for c in cells)))
    ]
    if by_name.quantity == "power" and (parts := _parts_and_sum(layout, headings)):
        return parts
    if by_name.quantity in ("power", "energy"):
        words = " and ".join(layout.headings[at] for at in free[:3])
        layout.doubts.append(f"{words} are taken as {by_name.quantity}, by the file's name")
        # The name of a file of several, such as `joules_total`, is of no one of them.
        by_name = by_name if len(free) == 1 else by_name._replace(domain="")
    elif layout.is_bare and len(free) == 1 and _are_watts(numbers_of(layout, free[0])):
        by_name = Heading("power", 1.0, True, "total")
        layout.doubts.append("the number behind each date is taken as a power, W")
    else:
        return [*headings]
    return [by_name if at in free else each for at, each in enumerate(headings)]


def _parts_and_sum(layout: Layout, headings: Sequence[Heading]) -> list[Heading] | None:
    """Return the powers of a board, `TIME TOTAL SOC CPU GPU DDR`; None for other columns.

    The total is over each of the others. A board that has a rail of its SoC takes no hundreds of W.
    """
    first, *others = headings
    are_free = all(each.quantity in ("", "device") for each in others)
    if first.quantity != "time" or not are_free or not _are_numbers(layout.columns):
        return None
    powers = {at: power_of(text) for at, text in enumerate(layout.headings) if at}
    numbers = {at: numbers_of(layout, at) for at in powers}
    totals = [at for at, each in powers.items() if each.domain == "total"]
    parts = [at for at in powers if at not in totals]
    if len(totals) != 1 or len(parts) < _LEAST_PARTS:
        return None
    if not all((numbers[totals[0]] > numbers[at]).all() for at in parts):
        return None
    names = " and ".join(layout.headings[at] for at in parts)
    total = layout.headings[totals[0]]
    is_board = any("soc" in layout.headings[at].lower() for at in parts)
    is_whole = all(not np.any(each % 1) for each in numbers.values())
    is_small = is_board and is_whole and float(np.median(numbers[totals[0]])) >= _NO_BOARD_W
    unit, scale = ("mW", 1e-3) if is_small else ("W", 1.0)
    detail = f"{total} is taken as power in {unit}, by the file's name, and {names} as its parts"
    layout.doubts.append(detail)
    layout.is_of_board = True
    return [first, *(each._replace(scale=scale, has_unit=True) for each in powers.values())]


def _are_numbers(columns: Sequence[Sequence[str]]) -> bool:
    return all(all(map(is_number, cells)) for cells in columns)


def _are_watts(numbers: np.ndarray) -> bool:
    """Return whether numbers can be the watts of a machine: they vary around one of some size."""
    usual = float(np.nanmedian(numbers))
    is_total = is_running_total(numbers)
    return not is_total and _MACHINE_W[0] <= usual <= _MACHINE_W[1] and float(np.ptp(numbers)) > 0


def _keep_whole(layout: Layout) -> None:
    """Keep the rows of the whole machine, where rows of its containers stand beside them."""
    for heading, cells in zip(layout.headings, layout.columns, strict=True):
        names = {*cells} if read_heading(heading).quantity == "device" else set[str]()
        whole = [name for name in names if name.lower() in _WHOLE]
        if whole and len(names) > 1:
            best = min(whole, key=lambda name: _WHOLE.index(name.lower()))
            rows = [row for row, cell in enumerate(cells) if cell == best]
            layout.lines = [layout.lines[row] for row in rows]
            layout.columns = [[each[row] for row in rows] for each in layout.columns]
            return


def _add_product(layout: Layout, headings: list[Heading]) -> None:
    """Add voltage times current as a power, if there is one column of each and no power."""
    if any(each.quantity in ("power", "energy") for each in headings):
        return
    parts = [[at for at, each in enumerate(headings) if each.quantity == quantity and each.has_unit]
             for quantity in ("voltage", "current")]  # fmt: skip
    if [len(each) for each in parts] == [1, 1]:
        scaled = (numbers_of(layout, at) * headings[at].scale for (at,) in parts)
        layout.headings.append(" times ".join(layout.headings[at] for (at,) in parts))
        layout.columns.append([f"{watts:.9g}" for watts in np.prod([*scaled], axis=0).tolist()])
        headings.append(Heading("power", 1.0, True, "total"))


def _rapl_counter(text: str, heading: Heading, cells: Sequence[str]) -> Heading:
    """Return an energy, uJ, for a running total that has the name of a domain of RAPL.

    One that grows by less than 1 in all is in another unit, which nothing says.
    """
    name = text.lower().rstrip("-_0123456789")
    domain = RAPL.get({"package": "pkg"}.get(name, name))
    if domain is None or not all(map(is_number, cells)):
        return heading
    values = np.array([float(number_text(cell)) for cell in cells])
    is_counter = is_running_total(values) and np.ptp(values) >= 1
    return Heading("energy", POWERCAP_SCALE, True, domain.domain) if is_counter else heading


def _with_units(layout: Layout, headings: list[Heading]) -> None:
    """Choose the units of a voltage, a current and a power that say none, by which they agree.

    A voltage of hundreds is mV, a current of tens mA, as boards and phones have them.
    """
    at = {each.quantity: n for n, each in enumerate(headings) if not each.has_unit}
    if sum(each.quantity in ("voltage", "current", "power") for each in headings) != 3:
        return
    if not at.keys() >= {"voltage", "current", "power"}:
        return
    usual = {q: float(np.nanmedian(numbers_of(layout, n))) for q, n in at.items() if q in _LARGE}
    scales = {q: 1e-3 if usual[q] > _LARGE[q] else 1.0 for q in ("voltage", "current")}
    watts = usual["voltage"] * scales["voltage"] * usual["current"] * scales["current"]
    for scale, unit in ((1.0, "W"), (1e-3, "mW"), (1e-6, "uW")):
        if abs(usual["power"] * scale - watts) <= 0.1 * watts:
            for index, heading in enumerate(headings):
                if heading.quantity in _LARGE:
                    own = scales.get(heading.quantity, scale)
                    headings[index] = heading._replace(scale=own, has_unit=True)
            name = layout.headings[at["power"]]
            layout.doubts.append(f"{name} is taken as {unit}, by which it is voltage times current")


def _with_shares(layout: Layout, headings: list[Heading]) -> None:
    """Take shares from 0 to 1 without a unit, with more digits than per cent have, as such."""
    for at, heading in enumerate(headings):
        if heading.quantity != "busy" or heading.has_unit:
            continue
        numbers, name = numbers_of(layout, at), layout.headings[at]
        decimals = [len(cell.partition(".")[2]) for cell in layout.columns[at]]
        least, most = np.fmin.reduce(numbers), np.fmax.reduce(numbers)
        if 0 <= least < most <= 1 and np.median(decimals) >= _OF_SHARES:
            headings[at] = heading._replace(scale=100.0, has_unit=True)
            layout.doubts.append(f"{name} of {least:.2g} to {most:.2g} is taken as a share of 1")


def numbers_of(layout: Layout, at: int) -> np.ndarray:
    """Return the numbers of a column, NaN for others."""
    return np.array([float(number_text(cell)) for cell in layout.columns[at]])
