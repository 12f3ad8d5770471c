"""Versions of the lake that links pin: unknown ones are refused, and none blocks another."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from flask import Flask

import app.kit.context
from app.kit.context import Lakes
from data.connection import Lake, open_lake
from data.errors import UnknownVersionError
from tests.fixtures.lakes import run, write_lake

ABSURD = 999_999_999_999_999_999


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Two versions: one run, then two."""
    write_lake(tmp_path / "lake", [run()])
    return write_lake(tmp_path / "lake", [run(replicate=1)])


@pytest.mark.parametrize(
    "address",
    ["/models/runs?v=2&lake={}", "/models/simulate?v=2&lake={}", "/timeline/window?runs=x&lake={}"],
)  # fmt: skip
@pytest.mark.parametrize("version", [2, ABSURD])
def test_a_link_to_an_unknown_version_is_not_found(
    server: Flask, address: str, version: int
) -> None:
    answer = server.test_client().get(address.format(version))
    assert (answer.status_code, f"no version {version}" in answer.text) == (404, True), answer.text


def test_while_a_version_is_opened_others_are_answered(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, goes_on = threading.Event(), threading.Event()
    opened: list[int | None] = []

    def slow(path: Path, version: int | None, is_checked: bool, datasets: Sequence[str]) -> Lake:
        opened.append(version)
        if version == 0:
            begun.set()
            assert goes_on.wait(20)
        return open_lake(path, version, is_checked, datasets)

    monkeypatch.setattr(app.kit.context, "open_lake", slow)
    lakes, runs = Lakes(lake), list[int]()
    waiting = [threading.Thread(target=lambda: runs.append(lakes.at(0).runs)) for _ in range(3)]
    for thread in waiting:
        thread.start()
    assert begun.wait(20)
    assert lakes.at(None).runs == 2
    with pytest.raises(UnknownVersionError):
        lakes.at(ABSURD)
    goes_on.set()
    for thread in waiting:
        thread.join(20)
    assert (runs, opened.count(0)) == ([1, 1, 1], 1)


def test_a_page_opened_before_the_first_run_gets_the_newest_version(lake: Path) -> None:
    lakes = Lakes(lake)
    assert lakes.at(-1) is lakes.at(None)
    write_lake(lake, [run(replicate=2)])
    assert lakes.at(-1).runs == 3
