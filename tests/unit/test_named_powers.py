"""Documents of monitors: parts beside their sum, statistics, energies that are called powers."""

import json
from pathlib import Path
from typing import Any

import pytest

from data.connection import open_lake
from ingest.__main__ import main
from ingest.formats.json_rows import places_of
from tests.fixtures.raw_runs import write_files

# Model, time in s, mean power of the GPU and of the package in W.
_RUNS = (
    ("vgg16", 128.5, 219.25, 66.5),
    ("vgg19", 149.25, 221.5, 68.25),
    ("r50", 81.0, 207.5, 87.0),
)


def _statistics(mean: float) -> dict[str, float]:
    return {"min": mean / 2, "max": mean * 1.25, "mean": mean, "std": mean / 16}


def _monitor(
    key: str, time: float, number: int, more: dict[str, Any], total: float
) -> dict[str, Any]:
    """Return what a monitor of one device writes: it, and the total of its devices."""
    shared = {"start_unix": 1.6461e9 + time, "total_duration": time, "nr_measurements": number,
              "total_power_draw": total}  # fmt: skip
    return {key: {**shared, **more}, "total": shared}


def _document(at: int, model: str, time: float, gpu_w: float, package_w: float) -> dict[str, Any]:
    number = round(time / 0.25)
    gpu = {"util": {"gpu": _statistics(90.5 + at), "memory": _statistics(70.25 + at)},
           "power_usage": _statistics(gpu_w)}  # fmt: skip
    rapl = {"duration": _statistics(time / number), "package-0": _statistics(package_w)}
    cpu = {"cpu_num": {"min": 0, "max": 18 + at % 2, "mean": 6.5 + at, "std": 4.5}}
    return {
        "directory": f"infer_2022_03_01_18_{24 + at}_18",
        "config": {"model": model, "batch_size": 32, "seed": 3514265975 + 7919 * at,
                   "timestamp": f"2022_03_01_18_{24 + at}_18"},
        "platform": {"Current Frequency": 1208.75 + at, "Available": 65071759360 + 4096 * at},
        "train": {"monitor": None, "duration": 52655.5 + at},
        "validation": {
            "gpu": _monitor("0", time, number, gpu, gpu_w * time),
            "cpu": _monitor(str(11778 + at), time, number, cpu, -1),
            # Counted by another clock, 0.2 % apart.
            "rapl": _monitor("0", time, number, rapl, package_w * time * 1.002),
            "accuracy": 0.5 + at / 16,
            "duration": time + 0.03125,
        },
    }  # fmt: skip


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("monitors")
    files = {f"infer_{at}.json": json.dumps(_document(at, *run)) for at, run in enumerate(_RUNS)}
    write_files(folder / "study", files)
    assert main(["add", str(folder / "study"), "--lake", str(folder / "lake")]) == 0
    return folder / "lake"


def test_a_document_with_a_configuration_is_one_run(lake: Path) -> None:
    with open_lake(lake) as opened:
        rows = opened.polars("SELECT model, duration_s FROM runs ORDER BY ALL").rows()
        knobs = {name for name in opened.catalogue.knobs if name.startswith("c_")}
    assert rows == [("r50", 81.03125), ("vgg16", 128.53125), ("vgg19", 149.28125)]
    # No seed, time, process, statistic or clock of the machine was set.
    assert knobs == {"c_model"}


def test_a_power_that_is_power_times_time_is_an_energy(lake: Path) -> None:
    """219.25 W x 128.5 s = 28,173.625 J; 66.5 W x 128.5 s x 1.002 = 8562.3 J."""
    names = "validation_gpu_total_power_draw", "validation_rapl_total_power_draw"
    means = "validation_gpu_power_usage_mean", "validation_rapl_package_0_mean"
    with open_lake(lake) as opened:
        own = opened.catalogue.metrics
        assert [own[name].unit for name in (*names, *means)] == ["J", "J", "W", "W"]
        query = f"SELECT {', '.join((*names, *means))} FROM runs WHERE model = 'vgg16'"
        energies = opened.polars(query).rows()[0]
        columns = opened.polars("SELECT * FROM runs").columns
    assert energies == pytest.approx((28173.625, 8562.3415, 219.25, 66.5), rel=1e-6)
    # -1 beside positive totals of the same name: that of the processes was not measured.
    assert "validation_cpu_total_power_draw" not in columns


def test_statistics_of_samples_are_of_no_runs(lake: Path) -> None:
    with open_lake(lake) as opened:
        assert opened.catalogue.means_of_unstated == ()


def test_numbered_runs_without_their_sum_are_rows() -> None:
    """Of two runs no total is the sum, and benchmarks with statistics are no quantities."""
    runs = {"1": {"energy_j": 5.0, "time_s": 1.0}, "2": {"energy_j": 7.0, "time_s": 1.5}}
    named = {name: {"mean": 5.0 + at, "std": 0.5} for at, name in enumerate(("fft", "lu"))}
    summed = {**runs, "total": {"energy_j": 12.0, "time_s": 2.5}}
    quantities = {"power": named["fft"], "latency": named["lu"]}
    for document, rows in ((runs, 2), (summed, 1), (named, 2), (quantities, 1)):
        assert len(places_of(document)[0].objects) == rows


# Model, its parameters, and time in s and mean W of its training and of its validation.
_MODELS: tuple[tuple[str, dict[str, Any], tuple[float, ...]], ...] = (
    ("Regression", {"C": 7.351940221225949, "max_iter": 500}, (111.5, 104.0, 0.0801, 71.75)),
    ("Neighbours", {"n_neighbors": 1, "weights": "uniform"}, (0.0556, 108.5, 6.138, 92.625)),
    ("Ridge", {"alpha": 0.12045094325853967, "max_iter": None}, (18.59, 103.5, 0.104, 69.0)),
)


def _phase(
    time: float, watts: float, parameters: dict[str, Any], accuracy: float
) -> dict[str, Any]:
    monitor = {
        "total_duration": time,
        "package-0": _statistics(watts),
        "nr_measurements": 200,
        # 196 of 200 intervals: the first and the last ones are not in the time.
        "duration": _statistics(time / 196),
        "total_power_draw": watts * time * 1.006,
    }
    model = {"hyperparams": parameters, "params": 2602160 + len(parameters), "flops": 651707}
    return {"rapl": monitor, "results": {"accuracy": accuracy, "model": model}, "duration": time}


def test_models_with_parameters_of_their_own_are_runs_of_one_table(tmp_path: Path) -> None:
    """71.75 W x 0.0801 s x 1.006 = 5.7817 J of the validation. No time of `train` is theirs."""
    files = {}
    for at, (model, parameters, (trained, above, took, watts)) in enumerate(_MODELS):
        document = {
            "config": {"model": model, "seed": 42}, "train": {"duration": 1513.5 - at},
            "validation": _phase(took, watts, parameters, 0.75 + at / 16),
            "training": _phase(trained, above, parameters, 0.875 + at / 16),
        }  # fmt: skip
        files[f"infer_{at}.json"] = json.dumps(document)
    write_files(tmp_path / "study", files)
    assert main(["add", str(tmp_path / "study"), "--lake", str(tmp_path / "lake")]) == 0
    with open_lake(tmp_path / "lake") as lake:
        assert {name for name in lake.catalogue.knobs if name.startswith("c_")} == {"c_model"}
        energy = "validation_rapl_total_power_draw"
        assert lake.catalogue.metrics[energy].unit == "J"
        query = f"SELECT model, {energy}, performance_metric FROM runs ORDER BY 2"
        first, *_ = rows = lake.polars(query).rows()
    assert [row[0] for row in rows] == ["Regression", "Ridge", "Neighbours"]
    assert first[1] == pytest.approx(5.7817, rel=1e-4)
    assert first[2] == "validation_rapl_total_duration"
