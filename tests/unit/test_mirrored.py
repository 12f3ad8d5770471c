"""A column of a file's name that says again what was set is not named beside it."""

from pathlib import Path

import polars as pl

from app.explore.best_words import sentences
from app.explore.defaults import default_state
from app.explore.views import asked_of, best_table
from app.kit.context import Lakes
from app.lake.answer import questions_of
from data.analysis.mirrored import mirrored
from data.declared import Column
from tests.fixtures.lakes import run, write_lake

OWN = [
    Column("agent", "knob", "text", "agent", "agent"),
    Column("file", "knob", "text", "file", "file"),
]


def test_a_name_of_a_file_that_follows_one_to_one() -> None:
    rows = pl.DataFrame(
        {
            "agent": ["a", "a", "b", "b"], "file": ["x", "x", "y", "y"], "cap": [1, 2, 1, 2],
            "file_2": ["p", "q", "p", "r"],
        }
    )  # fmt: skip
    assert mirrored(rows, ["agent", "file", "cap", "file_2"]) == {"file"}
    # Alone it says what was set; of two names of files one stays.
    assert mirrored(rows, ["file", "cap"]) == frozenset()
    twice = rows.with_columns(file_2="file")
    assert mirrored(twice, ["file", "file_2"]) == {"file_2"}


def test_sentences_name_the_setting_alone(tmp_path: Path) -> None:
    rows = [
        run(itr_us=None, agent=agent, file=f"report-{agent}", replicate=r, energy_j=joules + r)
        for agent, joules in (("monitor", 90.0), ("balancer", 70.0)) for r in range(2)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, OWN)).at(None)
    state = default_state(view)
    assert "c_agent" in (state.colour, state.symbol)
    assert "c_file" not in (state.colour, state.symbol, state.heat_x, state.heat_y, state.lines_by)
    said = [*sentences(best_table(view, state), asked_of(view, state))]
    said += [question.answer for question in questions_of(view)]
    assert any("agent balancer" in words for words in said)
    assert [words for words in said if "report-" in words] == []
