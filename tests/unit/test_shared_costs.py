"""Tables of one study with energies of the machine, of its GPU and of its processor."""

import json
from pathlib import Path

import pytest

from tests.fixtures.ingest import details, ingest, put, query


def documents(raw: Path, costs: dict[str, dict[str, float]], key: str = "") -> None:
    """Write three documents for each name, with costs in J at 8 items that grow with these.

    Args:
        key: Under which the name stands.
    """
    for name, own in costs.items():
        for items in (8, 16, 32):
            rest = {key: name} if key else {}
            cells = {heading: joules * items / 8 for heading, joules in own.items()}
            content = {**rest, "batch_size": items, "time_s": items / 3.25, **cells}
            put(raw / f"{name}_{items}.json", json.dumps(content))


GPU, CPU = {"gpu_energy_j": 80.25}, {"cpu_energy_j": 40.75}
WHOLE = {"energy_j": 121.0}


@pytest.mark.parametrize(
    ("costs", "energies", "parts"),
    [
        # The whole is the run's; of what has a part alone it is a column of its own.
        ({"a": WHOLE | GPU | CPU, "b": GPU}, 3, {"gpu_energy_j": 6, "cpu_energy_j": 3}),
        ({"a": WHOLE, "b": GPU, "c": CPU}, 3, {"gpu_energy_j": 3, "cpu_energy_j": 3}),
        # One of the GPU is none of the processor.
        ({"a": GPU, "b": CPU}, 0, {"gpu_energy_j": 3, "cpu_energy_j": 3}),
        ({"a": GPU}, 3, {}),
    ],
)
def test_a_part_and_the_whole_share_no_energy(
    costs: dict[str, dict[str, float]],
    energies: int,
    parts: dict[str, int],
    lake: Path,
    tmp_path: Path,
) -> None:
    documents(tmp_path / "raw", costs)
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    counts = ", ".join(f"count({name}) AS {name}" for name in ("energy_j", *parts))
    assert query(lake, f"SELECT {counts} FROM runs") == [{"energy_j": energies, **parts}]
    said = any("of the gpu alone" in each for each in details(report, "guessed_columns"))
    assert said == (not parts)


def test_what_ran_on_a_device_is_compared_by_its_energy(lake: Path, tmp_path: Path) -> None:
    documents(tmp_path / "raw", {"gpu": GPU, "cpu": CPU}, "device")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT count(energy_j) AS n FROM runs") == [{"n": 6}]
