"""Which runs a timeline opens with: of configurations picked in Explore, or of none.

A configuration stands for its first replicate with a per-interrupt log. The default system's run
at the same load is added as the reference.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import Flask, Response, jsonify, request

from app.kit.context import lake_view
from app.kit.lakes import LakeView
from app.kit.url_codec import read_lake_version
from app.kit.words import WORKLOAD_TITLES, configuration_words, load_words
from app.timeline.runs import reference_of
from data.errors import SelectionError, WattlasError
from data.queries.logged_runs import first_logged_query, first_look_query, logged_runs_query
from data.timeline.question import MOST_RUNS
from data.units import format_quantity

_MOST_CHOICES: Final = 100
_MOST_WORDS: Final = 12
_LONGEST_CONFIGURATION: Final = 2000
_NO_REFERENCE: Final = (
    "The default system has no run with a per-interrupt log at this load to compare with."
)
_NO_ROOM: Final = (
    f"{MOST_RUNS} runs leave no room for the default system's: the first is the reference."
)


@dataclass(frozen=True, slots=True)
class Opened:
    """What a timeline opens with.

    Attributes:
        run_ids: In the order of their letters.
        base: Place of the run that the others are compared with.
        words: What to say of the configurations that are not shown; empty if all are.
    """

    run_ids: tuple[str, ...]
    base: int = 0
    words: str = ""


def open_configurations(view: LakeView, configurations: Sequence[str], picked: int = 0) -> Opened:
    """Find the runs of configurations that were picked in Explore.

    Args:
        configurations: Each a JSON object of knobs and their values, and `replicate` for one run.
        picked: How many were picked there, those that are not named here included.

    Raises:
        SelectionError: Not such an object, or a knob that is none.
    """
    found: list[str] = []
    for text in configurations[:MOST_RUNS]:
        rows = view.lake.sql(*first_logged_query(_knobs(text))).fetchall()
        found += [row[0] for row in rows if row[0] not in found]
    count = max(picked, len(configurations))
    if not found:
        return Opened((), 0, _left_out(count, 0))
    return with_reference(view, found, count)


def with_reference(view: LakeView, found: Sequence[str], picked: int) -> Opened:
    """Put the reference of the first run before the others, unless it is one of them.

    Where more were picked than can be shown, the last gives way to it; six that were picked are all
    shown, with the first as the reference.
    """
    reference = reference_of(view, found[0])
    if reference in found:
        return Opened(
            tuple(found), list(found).index(str(reference)), _left_out(picked, len(found))
        )
    if reference is None:
        return Opened(tuple(found), 0, f"{_left_out(picked, len(found))} {_NO_REFERENCE}".lstrip())
    if picked <= len(found) == MOST_RUNS:
        return Opened(tuple(found), 0, _NO_ROOM)
    kept = found[: MOST_RUNS - 1]
    return Opened((reference, *kept), 0, _left_out(picked, len(kept)))


def first_look(view: LakeView) -> Opened:
    """What a visitor without a link sees: a default run and the best of the others at its load."""
    return Opened(tuple(row[0] for row in view.lake.sql(*first_look_query()).fetchall()))


def choices(view: LakeView, words: str, near: str | None) -> dict[str, Any]:
    """The runs that can be added.

    Returns:
        `total`, and `runs`: `run_id`, `subject` (workload, load, dataset), `label`, `note`.
    """
    rows = view.lake.polars(
        *logged_runs_query(words.split()[:_MOST_WORDS], near, _MOST_CHOICES)
    ).to_dicts()
    return {"total": rows[0]["total"] if rows else 0, "runs": [_choice(row) for row in rows]}


def add_open_routes(server: Flask) -> None:
    """Add `/timeline/choices`."""
    server.add_url_rule("/timeline/choices", "timeline_choices", _choices)


def _choices() -> Response | tuple[Response, int]:
    asked = request.args
    try:
        version = read_lake_version(asked["lake"]) if asked.get("lake") else None
        found = choices(lake_view(version), asked.get("q", ""), asked.get("near"))
    except WattlasError as error:
        return jsonify({"error": str(error)}), 400
    return jsonify(found)


def _choice(row: dict[str, Any]) -> dict[str, str]:
    load = load_words(row["load_qps"], row["message_bytes"])
    workload = WORKLOAD_TITLES.get(row["workload"], row["workload"])
    duration = format_quantity(row["duration_s"], "s")
    interrupts = f"{row['interrupts'] or 0:,} interrupts"
    return {
        "run_id": row["run_id"],
        "subject": f"{workload}{f' at {load}' if load else ''} · {row['dataset']}",
        "label": f"{row['system_label'] or row['system']} · {configuration_words(row)}",
        "note": f"replicate {row['replicate']} · {duration} · {interrupts}",
    }


def _knobs(text: str) -> dict[str, Any]:
    try:
        knobs = json.loads(text[:_LONGEST_CONFIGURATION])
    except ValueError:
        knobs = None
    if not isinstance(knobs, dict) or not all(_is_plain(value) for value in knobs.values()):
        raise SelectionError(f"a configuration is {text[:60]!r}, expected knobs as a JSON object")
    return knobs


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _left_out(picked: int, found: int) -> str:
    if found == picked:
        return ""
    if not found:
        return (
            "None of the configurations picked has a per-interrupt log in this lake: summary "
            "tables hold none. Runs that have one are under “add a run”."
        )
    return (
        f"{found} of the {picked:,} configurations picked "
        f"{'is' if found == 1 else 'are'} shown: the first with a per-interrupt log, "
        f"{MOST_RUNS} runs at most with the reference."
    )
