"""What Modes says of leads by a setting at which the runner-up was not measured."""

from collections import Counter
from typing import Any, Final

import polars as pl

from app.modes.judged import Judged
from app.modes.payload import free_knobs, setting_words
from app.modes.words import OUTCOME_WORDS, competitor_name, lead_words
from data.analysis.rules import ALONE, OVER
from data.units import counted

# So many settings are named in a sentence at most.
_MOST_NAMED: Final = 2


def alike_conclusions(judged: Judged) -> list[str]:
    """Return in how many cells the leader's best setting is its own, and who leads without it."""
    panels = [(own, own.alike) for own in judged.panels or (judged,)]
    cells, settings, leads = 0, set(), Counter[str]()
    for panel, alike in panels:
        if alike is not None:
            again = alike.comparison.cells
            cells += len(again)
            settings.update(_own_settings(panel, again))
            led = alike.who[again.filter(pl.col("outcome") != OVER)["winner"].to_numpy()]
            leads.update(competitor_name(alike, who) for who in led)
    if not cells:
        return []
    named = f" ({' or '.join(sorted(settings))})" if len(settings) <= _MOST_NAMED else ""
    listed = ", ".join(f"{name} leads in {count:,}" for name, count in leads.most_common())
    total = counted(len(judged.comparison.cells), "cell")
    return [
        f"In {cells:,} of {total} the leader is best at a setting at which the runner-up was not "
        f"measured{named}; at the settings that both have, {listed or 'none meets the limit'}."
    ]


def alike_words(judged: Judged, cell: dict[str, Any]) -> str:
    """Return what a cell says at the settings of both; empty where the leader's best is such."""
    alike = judged.alike
    if alike is None:
        return ""
    cells = alike.comparison.cells
    here = cells.filter(pl.col("x").eq_missing(cell["x"]) & pl.col("y").eq_missing(cell["y"]))
    if not len(here):
        return ""
    own = _own_settings(judged, here)[0]
    second = competitor_name(judged, judged.who[cell["runner_up"]])
    lacks = f"{second} was not measured at {own}: part of the lead may be due to that setting."
    again, n = here.row(0, named=True), alike.comparison.contenders["n"]
    if again["outcome"] in (ALONE, OVER):
        return lacks
    sides = again["winner"], again["runner_up"]
    names = [competitor_name(alike, alike.who[side]) for side in sides]
    runs = f"n = {n[sides[0]]} and {n[sides[1]]}, {OUTCOME_WORDS[again['outcome']]}"
    lead = f"{names[0]} leads {names[1]} ({lead_words(alike, again)}; {runs})"
    return f"{lacks} At the settings that both have, {lead}."


def _own_settings(judged: Judged, cells: pl.DataFrame) -> list[str]:
    """Return the settings by which some cells are led, in words."""
    comparison, knobs = judged.comparison, free_knobs(judged)
    led = comparison.cells.join(cells.select("x", "y"), on=["x", "y"], nulls_equal=True)
    rows = comparison.groups[comparison.contenders["row"].gather(led["winner"])]
    return [setting_words(row, knobs, judged.labels) for row in rows.iter_rows(named=True)]
