"""Storage on lakes made by ingest: trends by NumPy from raw rows, fio's own output, odd lakes."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.storage.answer import answer, open_link
from app.storage.state import StorageState
from app.storage.study import default_state
from app.storage.views import VIEWS
from data.catalogue import SHIPPED
from data.selection import Selection
from data.units import MINUS
from ingest.pipeline import AddOptions, add
from tests.fixtures.real_fio import run_fio
from tests.fixtures.storage_rows import fio
from tests.unit.test_figures_storage import lake, line, message, traces

# A thousand requests or so, however long a busy machine takes for them.
FIO = ("--name=a", "--filename=data", "--size=4m")
JSON = "--output-format=json"


@pytest.fixture(scope="module")
def sweep(logged_lake: Path) -> LakeView:
    """The storage sweep of the sample, beside the sample's other runs."""
    return Lakes(logged_lake).at(None)


def test_curves_are_those_of_numpy_over_the_lakes_own_rows(tmp_path: Path) -> None:
    """Nothing of the page's code: means by SQL, shares of the largest, numpy.polyfit."""
    watts = {1: 43.1, 2: 47.9, 4: 58.2, 8: 66.0, 32: 71.4}
    rows = [fio("interrupt", device, "randread", size, d, r, power_w=w * size / 4096 + r)
            for device in ("optane", "flash") for size in (4096, 8192)
            for d, w in watts.items() for r in (0, 1)]  # fmt: skip
    view = lake(tmp_path, rows)
    notes = answer(view, StorageState()).figures["proportionality"]["layout"]["annotations"]
    (shown,) = re.findall(r"optane: (.*?),", notes[1]["text"].replace(MINUS, "-"))
    means = view.lake.sql(
        "SELECT device, request_bytes, avg(iops) AS used, avg(power_w) AS power_w FROM runs "
        "GROUP BY device, request_bytes, io_depth"
    ).pl()
    mine = means.filter(device="optane", request_bytes=4096)
    used, power = mine["used"] / mine["used"].max(), mine["power_w"] / means["power_w"].max()
    quadratic, linear, constant = np.polyfit(used.to_numpy(), power.to_numpy(), 2)
    numbers = re.findall(r"-?[\d.]+", shown.replace("- ", "-").replace("x²", ""))
    # The formula has three significant digits.
    assert [float(n) for n in numbers] == pytest.approx([constant, linear, quadratic], rel=0.006)


@pytest.mark.slow
@pytest.mark.fio
def test_a_sweep_of_fio_itself(tmp_path: Path) -> None:
    """Reads and writes x two sizes x 1 and 2 jobs x 2 replicates; neither meter nor VTune."""
    for rw in ("randread", "randwrite"):
        for size in ("4k", "16k"):
            for jobs in (1, 2):
                for replicate in (0, 1):
                    name = f"{rw}-{size}-t{jobs}-r{replicate}"
                    folder = tmp_path / "raw" / "file" / "interrupt" / name
                    folder.mkdir(parents=True)
                    text = run_fio(
                        tmp_path, *FIO, JSON, "--ioengine=pvsync2", f"--rw={rw}",
                        f"--bs={size}", f"--numjobs={jobs}", "--group_reporting",
                    )  # fmt: skip
                    (folder / "fio.json").write_text(text)
    assert add(AddOptions(tmp_path / "lake", [tmp_path / "raw"])).added == 16
    view = Lakes(tmp_path / "lake").at(None)
    found = answer(view, default_state(view))
    assert found.status == "16 of 16 storage runs in 8 configurations"
    drawn = {v.name for v in VIEWS if found.figures[v.name]["layout"]["meta"]["kind"] == "storage"}
    assert drawn == {"iops", "latency", "latency-p99", "cpu", "switches", "switches-io"}
    rates = line(found.figures["iops"], "interrupt")
    assert rates["x"] == [0, 1]
    mean = view.lake.sql(
        "SELECT avg(iops) FROM runs WHERE rw = 'randread' AND request_bytes = 4096 AND threads = 1"
    ).fetchall()[0][0]
    assert rates["y"][0] == pytest.approx(mean)
    assert all("n = 2" in words[2] for words in rates["meta"]["words"])
    assert "VTune" in message(found.figures["loads"])
    assert "not measured at file · randread" in message(found.figures["bytes-joule"])
    json.dumps(found.figures, allow_nan=False)


@pytest.mark.fio
def test_fio_files_that_say_nothing_of_device_and_mode(tmp_path: Path) -> None:
    for depth in (1, 4):
        text = run_fio(
            tmp_path, *FIO, JSON, "--ioengine=libaio", "--rw=randrw", "--bs=4k",
            f"--iodepth={depth}",
        )  # fmt: skip
        (tmp_path / f"raw-q{depth}.json").write_text(text)
    files = [tmp_path / f"raw-q{depth}.json" for depth in (1, 4)]
    assert add(AddOptions(tmp_path / "lake", files)).added == 2
    view = Lakes(tmp_path / "lake").at(None)
    found = answer(view, default_state(view))
    assert found.status == "2 of 2 storage runs in 2 configurations"
    assert "randrw · 4 KiB" in found.figures["iops"]["layout"]["title"]["text"]
    assert line(found.figures["iops"], "mode not said")["x"] == [0, 1]
    assert "json+" in message(found.figures["latency-p99"])
    assert "Power: not measured." in message(found.figures["difference"])


def test_one_device_alone(sweep: LakeView) -> None:
    state = StorageState(Selection.of(device=["disk"]))
    found = answer(sweep, state)
    kinds = {name: figure["layout"]["meta"]["kind"] for name, figure in found.figures.items()}
    # A disk's interrupts are those of AHCI; nobody took VTune to it.
    messages = {name for name, kind in kinds.items() if kind == "message"}
    assert messages == {"loads-stores", "loads", "stores"}
    assert [t["name"] for t in traces(found.figures["interrupts"], "points")] == ["interrupt"]
    assert [t["name"] for t in traces(found.figures["proportionality"], "points")] == ["disk"] * 2
    assert found.figures["devices"]["layout"]["xaxis"]["ticktext"] == ["no device", "disk"]


def test_two_datasets_of_which_one_has_no_power(tmp_path: Path) -> None:
    rows = [fio(depth=d, replicate=r) for d in (1, 2) for r in (0, 1)]
    rows += [fio(depth=d, replicate=r, dataset="unmetered", run_id=f"u{d}{r}",
                 power_w=None, energy_j=None) for d in (1, 2) for r in (0, 1)]  # fmt: skip
    found = answer(lake(tmp_path, rows), StorageState()).figures
    assert len(traces(found["iops"], "points")) == 2
    assert len(traces(found["power"], "points")) == 1
    assert "mix" not in found["ios-joule"]["layout"]["title"]["text"]


def test_boxes_of_version_1_in_pictures_that_have_changed(tmp_path: Path) -> None:
    """One run with 10 % of a CPU in the kernel and 90 % in the program."""
    row = fio("interrupt", cpu_sys_pct=10.0, cpu_user_pct=90.0)
    view = lake(tmp_path, [row])
    cpu = StorageState.from_query("v=1&pick=box~cpu-interrupts~0~0~200000~90~110", SHIPPED)
    state, notice = open_link(view, cpu)
    assert "interrupt" in state.sel
    assert notice == ""
    shares = StorageState.from_query("v=1&use=iops&pick=box~proportionality~0~0~1~0~1", SHIPPED)
    state, notice = open_link(view, shares)
    assert state.sel == ""
    assert "had other axes" in notice
