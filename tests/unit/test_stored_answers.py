"""Answers in the cache folder are the answers themselves, whatever happens to the folder."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from polars.testing import assert_frame_equal
from polars.testing.parametric import dataframes

from app.kit.answer_cache import StoredAnswers
from data.connection import open_lake
from data.declared import Column
from tests.fixtures.lakes import run, write_lake

_KINDS: list[Any] = [pl.Float64, pl.Int64, pl.String, pl.Boolean, pl.List(pl.Float64)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("answers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WATTLAS_CACHE", str(folder))
        yield folder / "answers"


@pytest.fixture(scope="module")
def answers(folder: Path) -> StoredAnswers:
    with open_lake(folder / "no-lake") as lake:
        return StoredAnswers(lake)


def _fail() -> pl.DataFrame:
    pytest.fail("asked again")


@given(dataframes(allowed_dtypes=_KINDS, max_size=5))
def test_a_stored_answer_is_the_answer(answers: StoredAnswers, frame: pl.DataFrame) -> None:
    question = repr(uuid4())
    assert answers.get(question, lambda: frame) is frame
    assert_frame_equal(answers.get(question, _fail), frame, check_exact=True)


def test_a_damaged_answer_is_asked_for_again(answers: StoredAnswers, folder: Path) -> None:
    frame = pl.DataFrame({"a": [1.5, None], "b": ["x", "y"]})
    before = set(folder.glob("*"))
    answers.get("damaged", lambda: frame)
    (path,) = set(folder.glob("*")) - before
    whole = path.read_bytes()
    changed = whole.replace(np.float64(1.5).tobytes(), np.float64(2.5).tobytes())
    assert changed != whole
    for content in (whole[:40], b"", changed):
        path.write_bytes(content)
        assert answers.get("damaged", lambda: frame) is frame
        assert answers.get("damaged", _fail).equals(frame)


def test_a_folder_that_cannot_be_written_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WATTLAS_CACHE", str(tmp_path / "file"))
    with open_lake(tmp_path / "no-lake") as lake:
        answers = StoredAnswers(lake)
    frame = pl.DataFrame({"a": [1]})
    assert answers.get("q", lambda: frame) is answers.get("q", lambda: frame) is frame


def test_a_changed_lake_has_answers_of_its_own(folder: Path) -> None:
    query = "SELECT energy_j FROM runs"
    for energy in (1.0, 2.0):
        with open_lake(write_lake(folder.parent / f"{energy}", [run(energy_j=energy)])) as lake:
            found = StoredAnswers(lake).get(query, partial(lake.polars, query))
            assert found["energy_j"].to_list() == [energy]
            # A column that is described anew, such as a label that becomes a knob, changes no file.
            lake.columns = (Column("gear", "knob", "whole", title="gear"),)
            asked = partial(pl.DataFrame, {"energy_j": [0.0]})
            assert StoredAnswers(lake).get(query, asked)["energy_j"].to_list() == [0.0]
