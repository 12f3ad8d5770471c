"""A proposal that is made of guesses is read: no two of its columns have one place in the lake."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from data.connection import open_lake
from ingest.__main__ import main
from ingest.propose import propose_for
from ingest.settings.loading import refusal_of
from tests.fixtures.raw_runs import write_files

_ROWS = [(at, 90.25 - 7.5 * at, 10.5 + at) for at in range(1, 5)]
# Files, the columns that are compared, and the first run.
SHAPES: dict[str, tuple[dict[str, str], str, tuple[Any, ...]]] = {
    # The headings of one list are all in the other: the entries of both fitted it.
    "two lists of one document": (
        {"r.json": json.dumps({
            "a": [{"threads": t, "energy_j": e + 1, "total_duration": s} for t, e, s in _ROWS * 2],
            "b": [{"threads": t, "energy_j": e, "total_duration": s, "elapsed (s)": s / 2}
                  for t, e, s in _ROWS]})},
        "energy_j, duration_s", (60.25, 7.25),
    ),
    "a latency that was asked, and one that was measured": (
        {"r.json": json.dumps({place: [
            {"config": {"threads": t, "latency_p99_us": 500 * (t % 2 + 1)}, "energy_j": e,
             "time_s": s, **({"latency_p99_us": 100.5 + t} if place == "b" else {})}
            for t, e, s in _ROWS * repeats] for place, repeats in (("a", 2), ("b", 1))})},
        "energy_j", (60.25,),
    ),
    "a number of runs, and of replicates": (
        {"m.csv": "governor,run,replicate,energy_j,time_s\n" + "".join(
            f"{governor},{t},{t % 2 + 0.5},{e},{s}\n"
            for governor in ("eco", "max") for t, e, s in _ROWS)},
        "governor, energy_j", ("eco", 60.25),
    ),
    "machines and nodes": (
        {f"m{n}.json": json.dumps([{"threads": t, **({"machine": f"m{t % 2}"} if n else {}),
                                    "node": f"n{t % 2}", "energy_j": e + n, "time_s": s}
                                   for t, e, s in _ROWS * 2]) for n in (0, 1)},
        "thread_count, energy_j", (1, 82.75),
    ),
}  # fmt: skip
_HEADINGS = (
    *("energy", "energy_j", "Energy (J)", "total_energy", "energy_start", "energy_end", "duration"),
    *("duration_s", "time_s", "runtime", "power_w", "avg_power", "workload", "machine", "node"),
    *("qps", "load_qps", "threads", "replicate", "rep", "run", "seed", "phase", "core", "itr"),
    *("latency_p99_us", "p99", "throughput_qps", "energy_j_std", "model", "voltage", "current"),
)


@pytest.mark.parametrize("shape", SHAPES)
def test_columns_of_one_place_refuse_no_file(shape: str, tmp_path: Path) -> None:
    files, columns, first = SHAPES[shape]
    write_files(tmp_path / "study", files)
    assert main(["add", str(tmp_path / "study"), "--lake", str(tmp_path / "lake")]) == 0
    with open_lake(tmp_path / "lake") as opened:
        rows = opened.polars(f"SELECT {columns} FROM runs ORDER BY ALL").rows()
        told = opened.polars("SELECT detail FROM problems WHERE severity = 'refused'").rows()
    assert rows[0] == first
    assert not told


def _values(name: str, rng: random.Random) -> tuple[str | float, ...]:
    if name in ("workload", "machine", "node", "phase", "model"):
        return "idle", "a", "b"
    if name in ("replicate", "rep", "run", "core", "threads"):
        return 0, 1, 2, 4
    return tuple(round(rng.uniform(1, 90), 2) for _ in range(9))


def _nested(row: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in row.items():
        place = rng.choice(("", "config", "results", "total", "0", "gpu"))
        (out.setdefault(place, {}) if place else out)[name] = value
    return out


@pytest.mark.parametrize("seed", range(12))
def test_any_headings_are_read(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Headings at random, in documents of several shapes and in tables."""
    rng = random.Random(seed)
    names = rng.sample(_HEADINGS, rng.randint(4, 10))
    files = dict[str, str]()
    for number in range(2):
        own = [name for name in names if number == 0 or rng.random() < 0.8] or names
        values = (_values(name, rng) for name in own)
        columns = dict(zip(own, values, strict=True))
        rows = [{name: rng.choice(of) for name, of in columns.items()} for _ in range(8)]
        lists = {"a": [_nested(row, rng) for row in rows], "b": [_nested(row, rng) for row in rows]}
        text = ",".join(own) + "".join("\n" + ",".join(map(str, row.values())) for row in rows)
        files |= {f"t{number}.csv": text} if seed % 2 else {f"d{number}.json": json.dumps(lists)}
    write_files(tmp_path / "study", files)
    assert not refusal_of(propose_for(tmp_path / "study", "study").text)
    main(["add", str(tmp_path / "study"), "--lake", str(tmp_path / "lake"), "--verbose"])
    assert "two columns go to" not in "".join(capsys.readouterr())
