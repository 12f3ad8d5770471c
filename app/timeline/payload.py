"""A window's answer for the browser: JSON with columns as base64 typed arrays.

Drawn values are rounded to 12 bits of mantissa, which is finer than a pixel and halves the
compressed size; totals and downloads keep full precision.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from app.kit.columns import typed
from app.timeline.differences import WINDOWS, window_differences
from app.timeline.panels import HEAT_UNITS, HEATS, LOG_HEATS, PANELS
from app.timeline.runs import PageAnswer, RunInfo, failure_sentence
from data.analysis.log_bins import LIMIT_SHARE, slot_starts, slots_near
from data.schema import rounded_singles
from data.timeline.alignment import ALIGNMENTS
from data.timeline.answers import Failure, WindowAnswer
from data.timeline.quantities import QUANTITIES
from data.timeline.question import NO_HEAT
from data.timeline.row_bins import NONE, CoreRows
from data.timeline.totals import TOTALS, Total, base_of, difference, window_totals
from data.timeline.window import Group, RunAnswer
from data.timeline.window_plan import Plan
from data.units import format_digits, format_quantity

Json = dict[str, Any]
# Name, unit and scale of the counted sizes.
_SIZES: Final = {
    "gap_ns": ("gap", "us", 1e-3),
    "rx_bytes": ("rx_bytes", "B", 1.0),
    "tx_bytes": ("tx_bytes", "B", 1.0),
}


def encode_answer(answer: PageAnswer, lake_version: int, base: int) -> Json:
    """Encode the answer for all runs.

    Args:
        base: Index of the reference run for totals.
    """
    window, question = answer.window, answer.window.question
    panels = question.panels if "panels" in question.parts else ()
    heat = question.heat if "heat" in question.parts else NO_HEAT
    return {
        "lake": lake_version,
        "x": _x_axis(window),
        "from_x": window.from_x,
        "to_x": window.to_x,
        "clipped": window.clipped or None,
        "panels": [_panel(name) for name in panels],
        "runs": [
            _run(info, one) if isinstance(one, RunAnswer) else _problem(info, one)
            for info, one in answer.pairs()
        ],
        "heat": None
        if heat == NO_HEAT
        else {
            "name": heat,
            "title": HEATS[heat],
            "unit": HEAT_UNITS[heat],
            "log": heat in LOG_HEATS,
        },
        "totals": _totals(window.runs, base) if "totals" in question.parts else [],
        "differences": _differences(answer, base, panels),
    }


def _x_axis(window: WindowAnswer) -> Json:
    align = window.question.align
    of = ALIGNMENTS[align]
    return {
        "name": align,
        "title": of.title,
        "unit": of.unit,
        "note": of.note,
        "end": window.end_x,
    }


def _differences(answer: PageAnswer, base: int, panels: Sequence[str]) -> Json | None:
    """Return the difference of each run from the reference, by window; None without two runs."""
    window = answer.window
    shown = {
        at: answered for at, answered in enumerate(window.runs) if isinstance(answered, RunAnswer)
    }
    if len(shown) < 2:
        return None
    reference = shown.get(base, next(iter(shown.values())))
    edges = np.linspace(window.from_x, window.to_x, WINDOWS + 1)
    return {
        "edges": typed(edges),
        "runs": [
            window_differences(reference, answered, edges, panels)
            if isinstance(answered, RunAnswer) and answered is not reference
            else None
            for answered in window.runs
        ],
    }


def _panel(name: str) -> Json:
    panel = PANELS[name]
    return {
        "name": name,
        "title": panel.title,
        "unit": panel.unit,
        "log": panel.is_log,
        "axis": QUANTITIES[name].clock,
        "note": panel.note,
        "spread": panel.spread,
        "series": [{"name": one, "title": title} for one, title in panel.series.items()],
    }


def _problem(info: RunInfo, failure: Failure) -> Json:
    is_outside = failure.kind == "outside"
    return {
        "run_id": info.run_id,
        "label": info.label,
        "short": info.short,
        "problem": failure.message if is_outside else failure_sentence(info, failure),
        "outside": is_outside,
    }


def _run(info: RunInfo, answer: RunAnswer) -> Json:
    return {
        "run_id": info.run_id,
        "label": info.label,
        "short": info.short,
        "problem": None,
        "window": _window(answer),
        "axes": {name: _axis(answer, edges) for name, edges in answer.edges.items()},
        "groups": [_group(group) for group in answer.groups],
        "power": [_group(group) for group in answer.power],
        "windows_s": answer.windows_s,
        "raw": _raw(answer.raw, answer) if answer.raw is not None else None,
        "samples": _samples(answer) if answer.samples is not None else None,
        "heat": _heat(answer),
        "hist": _sizes(answer, info.itr_us) if answer.sizes is not None else None,
    }


def _window(answer: RunAnswer) -> Json:
    plan, edges, level = _drawn_bins(answer)
    return {
        "from_s": plan.from_ns / 1e9,
        "to_s": plan.to_ns / 1e9,
        "clipped": answer.clipped or None,
        "bins": len(edges) - 1,
        "bin_s": _step_s(answer, edges),
        "step_s": answer.cells["interrupts"].step_ns / 1e9,
        "clock": "interrupts" if answer.has_interrupts else "counters",
        "source": "rows" if level is None else "overview",
        "level": level,
        "counters": "samples" if plan.counted is None else plan.counted,
        "rows_read": answer.rows_read,
        "interrupts": answer.interrupts,
        "words": _window_words(answer),
    }


def _drawn_bins(answer: RunAnswer) -> tuple[Plan, np.ndarray, int | None]:
    """Return the plan, and edges and overview level of the interrupts, else of the samples."""
    plan = answer.plan
    if answer.has_interrupts:
        return plan, answer.edges["interrupts"], plan.level
    return plan, answer.edges["counters"], plan.counted


def _window_words(answer: RunAnswer) -> str:
    plan, edges, level = _drawn_bins(answer)
    span_s = (plan.to_ns - plan.from_ns) / 1e9
    if answer.raw is not None:
        how = f"{len(answer.raw.t_ns):,} single interrupts"
    else:
        rows = "interrupts" if answer.has_interrupts else "samples"
        source = rows if level is None else f"an overview of {level:,}"
        width = format_quantity(_step_s(answer, edges), "s")
        how = f"{len(edges) - 1:,} bins of {width} from {source}"
    digits = min(max(2 - math.floor(math.log10(span_s)), 0), 9)
    begin, end = (f"{ns / 1e9:.{digits}f}" for ns in (plan.from_ns, plan.to_ns))
    return f"{format_quantity(span_s, 's')} from {begin} to {end} s · {how}"


def _step_s(answer: RunAnswer, edges: np.ndarray) -> float:
    """Return the length of the bins, whose last may differ; of bins of work their mean length."""
    end = 1 if answer.axis.done is None else len(edges) - 1
    return float(edges[end] - edges[0]) / end / 1e9


def _axis(answer: RunAnswer, edges: np.ndarray) -> Json:
    """Describe bins on the x axis: equal bins of time, the last may differ, or any bins of work."""
    n, places = len(edges) - 1, answer.axis.at(edges)
    ends = {"t0": places[0], "n": n, "t1": places[-1]}
    if answer.axis.done is not None:
        return {**ends, "edges": typed(places), "t_s": typed((edges / 1e9).astype(np.float32))}
    # Edges are whole ns, so the width is a mean.
    step = (edges[n - 1] - edges[0]) / (n - 1) if n > 1 else edges[1] - edges[0]
    return {**ends, "dt": step / 1e9}


def _group(group: Group) -> Json:
    series = {
        name: {statistic: _drawn(values) for statistic, values in line.items()}
        for name, line in group.lines.items()
        if name != "count"
    }
    body: Json = {"name": group.name, "cores": group.cores, "parts": group.parts, "series": series}
    if "count" in group.lines:
        body["count"] = typed(group.lines["count"]["mean"].astype(np.uint32))
    return body


def _raw(rows: CoreRows, answer: RunAnswer) -> Json:
    order = np.argsort(rows.t_ns, kind="stable")
    numbers = np.array([answer.facts.cores[at] for at in answer.chosen], np.uint16)
    gap_us = np.where(rows.gap_ns == NONE, np.nan, rows.gap_ns / 1e3)
    return {
        "t_s": typed(rows.t_ns[order] / 1e9),
        **({} if answer.axis.done is None else {"x": typed(answer.axis.at(rows.t_ns[order]))}),
        "core": typed(numbers[rows.place][order]),
        "gap_us": typed(gap_us[order].astype(np.float32)),
        **{
            name: typed(values[order].astype(np.int32 if name.endswith("desc") else np.float64))
            for name, values in rows.columns.items()
        },
    }


def _samples(answer: RunAnswer) -> Json:
    rows = dict(answer.samples or {})
    chosen = np.isin(rows["place"], answer.chosen)
    numbers = np.array(answer.facts.cores, np.uint16)
    return {
        "t_s": typed(rows.pop("t_ns")[chosen] / 1e9),
        "dt_s": typed((rows.pop("dt_ns")[chosen] / 1e9).astype(np.float32)),
        "core": typed(numbers[rows.pop("place")[chosen]]),
        **{name: typed(values[chosen].astype(np.float32)) for name, values in rows.items()},
    }


def _heat(answer: RunAnswer) -> Json | None:
    if answer.heat is None:
        return None
    axis = _axis(answer, answer.heat.edges)
    return {
        "rows": answer.heat.names,
        "z": _drawn(answer.heat.values),
        "shape": answer.heat.values.shape,
        **axis,
    }


def _sizes(answer: RunAnswer, itr_us: float | None) -> Json:
    sizes: Json = {}
    for name, counts in (answer.sizes or {}).items():
        word, unit, scale = _SIZES[name]
        slots = np.flatnonzero(counts)
        sizes[word] = {
            "lo": typed((slot_starts(slots) * scale).astype(np.float32)),
            "hi": typed((slot_starts(slots + 1) * scale).astype(np.float32)),
            "count": typed(counts[slots].astype(np.uint32)),
            "unit": unit,
        }
        if name == "gap_ns":
            sizes[word] |= {"itr_us": itr_us, "at_limit": _at_limit(counts, itr_us)}
    return sizes


def _at_limit(counts: np.ndarray, itr_us: float | None) -> Json | None:
    """Return the share of gaps that are as long as the ITR value."""
    total = int(counts.sum())
    if not itr_us or not total:
        return None
    first, end = slots_near(itr_us * 1e3, LIMIT_SHARE)
    low, high = slot_starts(np.array([first, end])) / 1e3
    at = int(counts[first:end].sum())
    return {
        "share": at / total,
        "text": f"{format_digits(100 * at / total)} %",
        "lo_us": low,
        "hi_us": high,
        "count": at,
        "of": total,
    }


def _totals(answers: Sequence[RunAnswer | Failure], base: int) -> list[Json]:
    values = [
        window_totals(answer) if isinstance(answer, RunAnswer) else None for answer in answers
    ]
    at = base_of(values, base)
    if at is None:
        return []
    totals = (_total(each, values, at) for each in TOTALS)
    return [total for total in totals if any(value is not None for value in total["values"])]


def _total(total: Total, values: Sequence[dict[str, float] | None], base: int) -> Json:
    numbers = [float("nan") if own is None else own[total.name] for own in values]
    differences = [difference(total, number, numbers[base]) for number in numbers]
    return {
        "name": total.name,
        "title": total.title,
        "unit": total.unit,
        "better": total.better,
        "note": total.note,
        "base": base,
        "values": [number if math.isfinite(number) else None for number in numbers],
        "texts": [format_quantity(number, total.unit) for number in numbers],
        "differences": [
            None if change is None or at == base else asdict(change)
            for at, change in enumerate(differences)
        ],
    }


def _drawn(values: np.ndarray) -> Json:
    """Round values as a drawing needs them; the zeroed bits compress well."""
    return typed(rounded_singles(np.ascontiguousarray(values)).ravel())
