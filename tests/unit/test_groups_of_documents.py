"""Documents with groups: costs in a group called efficiency, settings that a folder says again."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from data.catalogue import Catalogue
from data.connection import open_lake
from ingest.__main__ import main
from tests.fixtures.raw_runs import write_files

# Cap in W, time in ms, mean power in W, energy of a counter in J; the last power lacks samples.
_CAPS = (
    (450, 4036.81, 448.21, 1793.071),
    (550, 3266.26, 546.926, 1803.103),
    (700, 2598.97, 692.145, 1798.474),
    (900, 2114.62, 886.443, 1862.171),
    (1100, 2001.6, 787.194, 1999.528),
)
# Folder, engine, mode of power, whether clocks were pinned, energy in mJ, rate.
_MODES = (
    ("20260920T181846Z_e3e0867e26c9", "fp16", "25W", False, 10.862, 1339.5),
    ("20260920T182811Z_e3e0867e26c9", "fp16", "25W", True, 10.787, 1329.5),
    ("20260920T192306Z_net_int8_25W_dvfs_6fc2633c8be2", "int8", "25W", False, 6.53, 1543.25),
    ("20260920T193239Z_net_fp16_15W_dvfs_6fc2633c8be2", "fp16", "15W", False, 10.096, 951.75),
    ("20260920T194228Z_net_int8_15W_dvfs_6fc2633c8be2", "int8", "15W", False, 6.731, 1113.5),
    ("20260920T195049Z_net_fp16_MAXN_SUPER_dvfs_6fc2633c8be2", "fp16", "MAXN_SUPER", False, 10.91,
     1401.25),
    ("20260920T195939Z_net_int8_MAXN_SUPER_dvfs_6fc2633c8be2", "int8", "MAXN_SUPER", False, 6.581,
     1662.75),
)  # fmt: skip


def _of_cap(cap: int, time: float, power: float, energy: float) -> dict[str, Any]:
    is_capped = cap < 1000
    return {
        "device": {"power_limit_w": cap, "cuda_runtime": "13.0"},
        "timing": {"warmup_ms": 5000.0, "steady_ms": time, "wall_ms": time + 5023.65},
        "power": {"avg_w": power, "energy_j": energy},
        "efficiency": {"delay_s": round(time / 1000, 4), "energy_j": energy,
                       "energy_per_work_j": round(energy / 4000, 6),
                       "edp_j_s": energy * time / 4e9, "perf_per_watt": 4e6 / time / power},
        "transient": {"power_violation_us": round(time * 996000) if is_capped else 0,
                      "energy_integrated_j": round(power * time / 1001, 3),
                      "sample_hz_achieved": 49.5 + cap / 10000},
        "throttle": {"mask": 4 if is_capped else 0,
                     "reasons": ["sw_power_cap"] if is_capped else []},
    }  # fmt: skip


def _of_mode(engine: str, mode: str, is_pinned: bool, energy: float, rate: float) -> dict[str, Any]:
    return {
        "engine": f"models/net_{engine}.plan",
        "trtexec": {"throughput_qps": rate, "latency_mean_ms": 1000 / rate},
        "energy": {"duration_s": 122.9 + rate / 1e6, "mj_per_inference": energy,
                   "mean_power_w": round(energy * rate / 1000, 3)},
        "env": {"clocks": {"gpu_cur_hz": 918000000 if is_pinned else 306000000,
                           "gpu_pinned": is_pinned},
                "power_mode": {"name": mode}},
    }  # fmt: skip


def _added(folder: Path, files: dict[str, str]) -> tuple[pl.DataFrame, Catalogue]:
    raw, lake = folder / "study", folder / "lake"
    write_files(raw, files)
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        return opened.polars("SELECT * FROM runs"), opened.catalogue


def _set(catalogue: Catalogue) -> set[str]:
    return {column.name for column in catalogue.columns if column.role == "knob"}


@pytest.fixture(scope="module")
def caps(tmp_path_factory: pytest.TempPathFactory) -> tuple[pl.DataFrame, Catalogue]:
    files = {f"rung-cap-{of[0]}w.json": json.dumps(_of_cap(*of)) for of in _CAPS}
    return _added(tmp_path_factory.mktemp("caps"), files)


def test_a_cost_of_a_group_called_efficiency_is_the_less_the_better(
    caps: tuple[pl.DataFrame, Catalogue],
) -> None:
    better = {column.name: column.better for column in caps[1].columns if column.role == "metric"}
    costs = ("efficiency_energy_per_work_j", "efficiency_energy_j", "efficiency_edp_j_s")
    assert [better[name] for name in costs] == ["less"] * 3
    assert better["efficiency_perf_per_watt"] == "more"
    assert better["transient_sample_hz_achieved"] is None


def test_an_energy_that_integrates_the_power_proves_the_time_alone(
    caps: tuple[pl.DataFrame, Catalogue],
) -> None:
    runs = caps[0].sort("energy_j")
    assert sorted(runs["energy_j"]) == sorted(energy for *_, energy in _CAPS)
    assert sorted(runs["duration_s"]) == pytest.approx(sorted(of[1] / 1000 for of in _CAPS))


def test_a_mask_of_throttling_is_no_setting(caps: tuple[pl.DataFrame, Catalogue]) -> None:
    assert _set(caps[1]) == {"device_power_limit_w"}


def test_a_folder_that_says_settings_of_its_file_again_is_none(tmp_path: Path) -> None:
    files = {f"{of[0]}/result.json": json.dumps(_of_mode(*of[1:])) for of in _MODES}
    runs, catalogue = _added(tmp_path, files)
    assert len(runs) == len(_MODES)
    assert _set(catalogue) == {
        "engine_text", "env_clocks_gpu_pinned", "env_power_mode_name"
    }  # fmt: skip


def test_the_size_of_a_model_is_set_where_nothing_else_tells_models_apart(tmp_path: Path) -> None:
    rows = [
        f"net_{size}_r{side}_{mode},set_{side},{side},{count},{mode},{energy},{rate}\n"
        for size, count, energy, rate in (
            ("base", 3287553, 1.2345, 81.25), ("large", 28345217, 4.4773, 12.125),
            ("small", 667713, 0.1955, 231.5),
        )
        for side, mode in ((141, "fp32"), (141, "tf32"), (281, "fp32"), (281, "tf32"))
    ]  # fmt: skip
    heading = "tag,dataset,resolution,parameter_count,precision_mode,energy_per_inf_j,rate_inf_s\n"
    distinct = [row.rsplit(",", 2) for row in rows]
    text = heading + "".join(
        f"{begin},{float(energy) + at / 64},{float(rate) + at / 8}\n"
        for at, (begin, energy, rate) in enumerate(distinct)
    )
    _, catalogue = _added(tmp_path, {"table.csv": text})
    assert {"parameter_count", "precision_mode"} <= _set(catalogue)
