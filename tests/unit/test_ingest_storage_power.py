"""Storage runs of any layout with a power meter: idle runs of sidecars, meters that lie apart."""

from pathlib import Path

import pytest

from tests.fixtures.fio_documents import document, job
from tests.unit.test_ingest_power import (
    BEGINS,
    END_S,
    IDLE_W,
    LENGTH_S,
    START_S,
    counts,
    exported,
    ingest,
    kinds,
    put,
    put_sweep,
    raw,
    rows,
    watts,
)

__all__ = ["raw"]


def span(begin_s: float, end_s: float) -> str:
    """Lines of a sidecar: seconds since START_S, which is 15:00 UTC on 16 March 2022."""
    return "".join(
        f"{key} = 2022-03-16T15:{int(at // 60):02}:{int(at % 60):02}Z\n"
        for key, at in (("start_utc", begin_s), ("end_utc", end_s))
    )


def test_an_idle_run_of_a_sidecar_has_the_meters_power(raw: Path, lake: Path) -> None:
    """From 120 to 180 s nothing ran. What the sidecar took is no stretch of the meter's own."""
    put_sweep(raw)
    put(raw / "optane" / "idle-r7" / "run.toml", span(120, 180))
    ingest(lake, raw)
    idle = rows(lake, "idle")
    (told,) = [run for run in idle if run["source"] == "sidecar"]
    assert (told["replicate"], told["device"], told["duration_s"]) == (7, "optane", 60.0)
    assert told["start_unix_s"] == START_S + 120
    assert told["power_w"] == pytest.approx(IDLE_W)
    assert told["energy_j"] == pytest.approx(60 * IDLE_W)
    times = [
        (run["start_unix_s"] - START_S, run["start_unix_s"] - START_S + run["duration_s"])
        for run in idle
        if run is not told
    ]
    assert not any(begin < 180 and end > 120 for begin, end in times)
    assert ingest(lake, raw).unchanged == len(idle) + len(BEGINS)


def put_flat(raw: Path) -> Path:
    """The same runs in one folder, the meter in another beside it. Gives the meter's file."""
    for replicate, begin_s in BEGINS.items():
        put(raw / "runs" / f"a{replicate}.json", document(job()))
        put(raw / "runs" / f"a{replicate}.run.toml", span(begin_s, begin_s + LENGTH_S))
    put(raw / "runs" / "run.toml", "device = 'optane'\nmode = 'poll'\n")
    return put(raw / "power" / "march.csv", exported(watts(50.0)))


def test_a_meter_beside_the_folder_of_runs_covers_them(raw: Path, lake: Path) -> None:
    put_flat(raw)
    assert kinds(ingest(lake, raw)) == []
    found = rows(lake)
    assert [run["power_w"] for run in found] == pytest.approx([50.0] * 3)
    assert {(run["mode"], run["device"]) for run in found} == {("poll", "optane")}


def test_a_meter_given_alone_gives_the_runs_of_the_lake_their_power(raw: Path, lake: Path) -> None:
    meter = put_flat(raw)
    ingest(lake, raw / "runs")
    assert [run["energy_j"] for run in rows(lake)] == [None] * 3
    before = {run["run_id"] for run in rows(lake)}
    report = ingest(lake, meter)
    assert counts(report)[1:3] == (3, 0)
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([50.0] * 3)
    assert {run["run_id"] for run in rows(lake)} == before
    meter.write_text(exported(watts(60.0)[: END_S - 1]))
    assert counts(ingest(lake, meter))[1] >= 3
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([60.0] * 3)


def test_a_meter_given_alone_finds_each_run_of_a_document(raw: Path, lake: Path) -> None:
    """Written 108 s after the start: y measured for 2 s before that, x for 2 s before y."""
    jobs = job("x"), job("y", group=1)
    stamp_ms = round((START_S + 108) * 1000)
    put(raw / "runs" / "a.json", document(*jobs, stamp_ms=stamp_ms))
    ingest(lake, raw)
    before = {run["run_id"] for run in rows(lake)}
    assert len(before) == 2
    meter = put(raw / "march.csv", exported(watts(50.0)))
    assert counts(ingest(lake, meter))[1:3] == (2, 0)
    found = rows(lake)
    assert {run["run_id"] for run in found} == before
    assert [run["power_w"] for run in found] == pytest.approx([50.0] * 2)
