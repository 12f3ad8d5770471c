"""The frame around every page: which lake, at which version, how many runs, what is synthetic."""

from pathlib import Path
from typing import Any

import dash
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from flask import Flask

from app.kit.settings import Settings
from app.kit.shell import shell
from app.server import create_app
from data.schema import RUNS
from tests.callbacks.components import texts, walk
from tests.fixtures.lakes import run, write_lake


@pytest.mark.usefixtures("here")
def test_it_names_the_lake_its_version_and_its_runs() -> None:
    said = "".join(texts(shell()))
    assert "lake: lake v1 · 28 runs" in said
    assert "holds synthetic data" not in said


def test_new_runs_appear_with_a_reload(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    with create_app(Settings(lake=lake)).server.app_context():
        assert "lake: lake, empty" in "".join(texts(shell()))
        write_lake(lake, [run()])
        said = "".join(texts(shell()))
        assert "lake: lake v0 · 1 run" in said
        assert "holds synthetic data" not in said
        write_lake(lake, [run(replicate=1, is_synthetic=True)])
        said = "".join(texts(shell()))
        assert "lake: lake v1 · 2 runs" in said
        assert "holds synthetic data" in said


def test_a_lake_of_another_schema_is_a_sentence(tmp_path: Path) -> None:
    rows = pa.Table.from_pylist([run()], schema=RUNS)
    write_deltalake(str(tmp_path / "runs"), rows, description="wattlas schema 999")
    with create_app(Settings(lake=tmp_path)).server.app_context():
        alerts = [c for c in walk(shell()) if getattr(c, "role", "") == "alert"]
        assert "has 'wattlas schema 999', this wattlas reads" in texts(alerts)[0]
        pages = [one for one in dash.page_registry.values() if one["name"] != "Not found"]
        for page in pages:
            assert "the lake cannot be read" in texts(page["layout"]())[0]


def test_the_index_lists_the_keys(empty_server: Flask) -> None:
    help_text = empty_server.test_client().get("/").text.partition('<dialog id="help">')[2]
    assert "<th>Escape</th>" in help_text
    assert "<td>show or hide this list</td>" in help_text


def test_a_lake_that_cannot_be_read_is_named_with_its_table(tmp_path: Path) -> None:
    lake = write_lake(tmp_path / "lake", [run()])
    for commit in (lake / "runs" / "_delta_log").glob("*.json"):
        commit.write_text("{")
    with create_app(Settings(lake=lake)).server.app_context():
        assert any(str(lake / "runs") in words for words in texts(shell()))


@pytest.mark.parametrize(
    ("second", "opened"),
    [
        ({"workload": "fio", "energy_j": None, "interrupts": 5}, "/lake"),
        ({"workload": "fio"}, ""),  # both have energy
        ({"energy_j": None, "interrupts": 5}, ""),  # both have the workload
    ],
)
def test_a_visit_to_datasets_unlike_each_other_opens_the_catalogue(
    tmp_path: Path, second: dict[str, Any], opened: str
) -> None:
    other = {"latency_p99_us": None, "dataset": "other", "performance_metric": None, "replicate": 1}
    lake = write_lake(tmp_path / "lake", [run(), run(**other, **second)])
    client = create_app(Settings(lake=lake)).server.test_client()
    answer = client.get("/")
    assert answer.headers.get("Location", "") == opened
    assert answer.status_code == (302 if opened else 200)
    assert client.get("/?v=2").status_code == 200
