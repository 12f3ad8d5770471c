"""Devices side by side, against means by SQL from the raw rows and shares by hand."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.storage.answer import answer, rows_behind
from app.storage.state import StorageState
from app.storage.views import VIEWS
from data.selection import Selection
from tests.fixtures.lakes import write_lake
from tests.fixtures.storage_rows import DURATION_S, fio, idle
from tests.unit.test_figures_storage import line, traces

# Device to its latency at depth 1, us; the depth beyond which its rate stays; idle power, W.
FOUR = {
    "disk": (5000.0, 2, 39.0),
    "flash-nvme": (80.0, 64, 31.0),
    "flash-sata": (120.0, 8, 31.0),
    "optane": (10.0, 8, 34.0),
}
SIZES, DEPTHS = (1024, 4096, 16384), (1, 8, 16, 64)
READ, WRITE = "randread", "randwrite"


def measured(mode: str, device: str, rw: str, size: int, depth: int, replicate: int) -> dict:
    alone_us, deepest, idle_w = FOUR[device]
    iops = min(depth, deepest) / (alone_us * (size / 4096) ** 0.5) * 1e6 * (1 + 0.01 * replicate)
    watts = idle_w + iops * (1.2e-4 if rw == READ else 1.5e-4) + 0.1 * depth
    watts += 30 if mode == "poll" else 0
    return fio(
        mode, device, rw, size, depth, replicate, iops=iops, latency_mean_us=depth / iops * 1e6,
        bandwidth_bytes_s=iops * size, power_w=watts, energy_j=watts * DURATION_S,
        interrupts=None if device == "disk" else round(iops * DURATION_S),
        cpu_sys_pct=iops * (3e-4 if rw == WRITE else 1e-4), cpu_user_pct=50.0,
    )  # fmt: skip


def rows() -> list[dict[str, Any]]:
    """Four devices, in interrupt mode; Optane polled too, which draws the most power of all."""
    modes = [("interrupt", device) for device in FOUR] + [("poll", "optane")]
    made = [
        measured(mode, device, rw, size, depth, replicate)
        for (mode, device), rw, size, depth, replicate in product(
            modes, (READ, WRITE), SIZES, DEPTHS, (0, 1)
        )
    ]
    made += [idle(device, watts, r) for device, (_, _, watts) in FOUR.items() for r in (0, 1)]
    return [*made, idle(None, 29.0)]


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    return Lakes(write_lake(tmp_path_factory.mktemp("devices") / "lake", rows())).at(None)


@pytest.fixture(scope="module")
def figures(view: LakeView) -> dict[str, dict[str, Any]]:
    return answer(view, StorageState(Selection.of(dataset=["lab"]))).figures


def means(view: LakeView, value: str, where: str = "mode = 'interrupt'") -> pl.DataFrame:
    """Means of an expression over the replicates, from the raw rows of the lake."""
    return view.lake.sql(
        f"SELECT device, rw, request_bytes, io_depth, avg({value}) AS value FROM runs "
        f"WHERE {where} AND request_bytes IS NOT NULL GROUP BY ALL ORDER BY ALL"
    ).pl()


def of(table: pl.DataFrame, **place: Any) -> list[float]:
    values: list[float] = table.filter(**place).sort("io_depth")["value"].to_list()
    return values


def heads(figure: dict[str, Any]) -> list[str]:
    return [note["text"][3:-4] for note in figure["layout"]["annotations"]]


def maps(figure: dict[str, Any]) -> dict[str, np.ndarray]:
    """Device to its map, sizes by depths."""
    colors = traces(figure, "colors")
    return {
        name: np.array(trace["z"], dtype=float)
        for name, trace in zip(heads(figure), colors, strict=True)
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [("latency-devices", "latency_mean_us"), ("interrupts-devices", "interrupts / duration_s")],
)
def test_lines_by_depth(view: LakeView, figures: dict, name: str, value: str) -> None:
    """Figures 4a to 4c: a panel of reads and one of writes, a line of each device."""
    expected = means(view, value)
    drawn = {(t["name"], t["xaxis"]): t["y"] for t in traces(figures[name], "points")}
    devices = [d for d in FOUR if not (d == "disk" and name.startswith("interrupts"))]
    assert set(drawn) == {(device, x) for device in devices for x in ("x", "x2")}
    for (device, x), y in drawn.items():
        rw = READ if x == "x" else WRITE
        assert y == pytest.approx(of(expected, device=device, rw=rw, request_bytes=4096))
    axis = figures[name]["layout"]["yaxis"]
    assert axis.get("type") == ("log" if name == "latency-devices" else None)
    assert heads(figures[name])[1:] == ["random reads", "random writes"]


@pytest.mark.parametrize(
    ("name", "value"), [("cpu-interrupts", "cpu_sys_pct"), ("power-interrupts", "power_w")]
)
def test_reads_and_writes_in_one_picture(
    view: LakeView, figures: dict, name: str, value: str
) -> None:
    """Figures 4d, of the kernel's CPU alone, and 4e."""
    rates, expected = means(view, "interrupts / duration_s"), means(view, value)
    drawn = traces(figures[name], "points")
    assert len(drawn) == 6
    for trace in drawn:
        rw = WRITE if trace["marker"]["symbol"].endswith("-open") else READ
        assert (trace["line"]["dash"] == "dash") == (rw == WRITE)
        place = {"device": trace["name"], "rw": rw, "request_bytes": 4096}
        assert trace["x"] == pytest.approx(of(rates, **place))
        assert trace["y"] == pytest.approx(of(expected, **place))


def test_power_from_idle_to_the_greatest_over_all_workloads(view: LakeView, figures: dict) -> None:
    """Figure 1; the greatest of Optane is polled."""
    (bars,) = traces(figures["devices"], "spans")
    most = view.lake.sql(
        "SELECT device, max(w) AS w FROM (SELECT device, avg(power_w) AS w FROM runs WHERE "
        "request_bytes IS NOT NULL GROUP BY device, mode, rw, request_bytes, io_depth) "
        "GROUP BY device ORDER BY device"
    ).pl()
    assert bars["base"] == [idle_w for _, _, idle_w in FOUR.values()]
    tops = [base + height for base, height in zip(bars["base"], bars["y"], strict=True)]
    assert tops == pytest.approx(most["w"].to_list())
    names = figures["devices"]["layout"]["xaxis"]["ticktext"]
    assert [names[x] for x in bars["x"]] == list(FOUR)


def test_write_minus_read_on_one_scale(view: LakeView, figures: dict) -> None:
    """Figure 2: the least request size is the lowest row."""
    table, figure = means(view, "power_w"), figures["difference"]
    drawn = maps(figure)
    assert list(drawn) == list(FOUR)
    for device, z in drawn.items():
        for row, size in zip(z, SIZES, strict=True):
            read, write = (
                of(table, device=device, request_bytes=size, rw=rw) for rw in (READ, WRITE)
            )
            assert row == pytest.approx(np.subtract(write, read), abs=1e-9)
    scale = figure["layout"]["coloraxis"]
    assert (
        scale["cmax"] == -scale["cmin"] == pytest.approx(max(abs(z).max() for z in drawn.values()))
    )
    assert figure["layout"]["yaxis"]["ticktext"] == ["1 KiB", "4 KiB", "16 KiB"]


def test_proportionality_has_one_divisor_of_power(view: LakeView, figures: dict) -> None:
    """Figure 3: IO rates over each device's own greatest at 4 KiB, power over the system's."""
    rates, power = means(view, "iops"), means(view, "power_w")
    peak = view.lake.sql(
        "SELECT max(w) FROM (SELECT avg(power_w) AS w FROM runs WHERE request_bytes IS NOT NULL "
        "GROUP BY device, mode, rw, request_bytes, io_depth)"
    ).fetchall()[0][0]
    assert peak > power["value"].max()  # polled
    for trace in traces(figures["proportionality"], "points"):
        place = {"device": trace["name"], "request_bytes": 4096}
        own = READ if trace["xaxis"] == "x" else WRITE
        greatest = max(of(rates, **place))
        assert trace["x"] == pytest.approx([r / greatest for r in of(rates, rw=own, **place)])
        assert trace["y"] == pytest.approx([w / peak for w in of(power, rw=own, **place)])


@pytest.mark.parametrize(
    ("name", "value", "scale"),
    [
        ("bytes-joule-devices", "bandwidth_bytes_s / power_w", 1e6),
        ("ios-joule", "iops / power_w", 1e3),
    ],
)
def test_efficiency_by_device(
    view: LakeView, figures: dict, name: str, value: str, scale: float
) -> None:
    """Figures 5 and 6, of random reads."""
    table = means(view, value)
    drawn = maps(figures[name])
    assert list(drawn) == list(FOUR)
    for device, z in drawn.items():
        expected = [of(table, device=device, rw=READ, request_bytes=size) for size in SIZES]
        assert z * scale == pytest.approx(np.array(expected), rel=1e-6)


def test_the_best_depth_and_the_saturation_of_each_size_are_marked(
    view: LakeView, figures: dict
) -> None:
    efficient, rates = means(view, "iops / power_w"), means(view, "iops")
    marked = {
        kind: {
            (device, size, depth)
            for trace in traces(figures["ios-joule"], kind)
            for device in [list(FOUR)[int(trace["xaxis"][1:] or 1) - 1]]
            for size, depth in (
                (SIZES[round(y)], DEPTHS[round(x)])
                for x, y in zip(trace["x"], trace["y"], strict=True)
            )
        }
        for kind in ("is_best", "is_saturated")
    }
    best, saturated = set(), set()
    for device in FOUR:
        for size in SIZES:
            place = {"device": device, "rw": READ, "request_bytes": size}
            best.add((device, size, DEPTHS[int(np.argmax(of(efficient, **place)))]))
            rate = np.array(of(rates, **place))
            saturated.add((device, size, DEPTHS[int(np.argmax(rate >= 0.95 * rate.max()))]))
    assert marked == {"is_best": best, "is_saturated": saturated}
    assert ("flash-nvme", 4096, 64) in best
    assert ("optane", 4096, 8) in best
    title = figures["ios-joule"]["layout"]["title"]["text"]
    assert "most at its size" in title
    assert "ours" in title


def test_devices_keep_their_hue_in_all_pictures_and_under_filters(
    view: LakeView, figures: dict
) -> None:
    alone = answer(view, StorageState(Selection.of(device=["optane"]))).figures
    hues = {
        line(drawn[name], "optane")["marker"]["color"]
        for drawn in (figures, alone)
        for name in ("latency-devices", "cpu-interrupts", "power-interrupts", "proportionality")
    }
    assert len(hues) == 1


def test_devices_are_compared_in_the_filtered_mode(view: LakeView) -> None:
    polled = answer(view, StorageState(Selection.of(mode=["poll"]))).figures
    for name in ("latency-devices", "bytes-joule-devices", "difference"):
        assert "classic polling" in polled[name]["layout"]["title"]["text"]
    assert heads(polled["difference"]) == ["optane"]


def test_hybrid_polling_with_a_fixed_and_an_automatic_sleep_are_lines_of_their_own(
    tmp_path: Path,
) -> None:
    """Figure 1a of HotStorage '22."""
    sleeps: tuple[dict[str, Any], ...] = (
        {"hybrid_delay_us": 4.0}, {"hybrid_delay_us": None, "hybrid_delay_policy": "automatic"},
    )  # fmt: skip
    made = [
        fio("hybrid", depth=d, run_id=f"{d}-{i}", bandwidth_bytes_s=1e6 * d * (i + 1), **sleep)
        for i, sleep in enumerate(sleeps)
        for d in (1, 8)
    ]
    figure = answer(Lakes(write_lake(tmp_path / "lake", made)).at(None), StorageState()).figures[
        "bandwidth"
    ]
    drawn = {tuple(t["y"]): t["line"]["dash"] for t in traces(figure, "points")}
    assert set(drawn) == {(1e6, 8e6), (2e6, 16e6)}
    assert len(set(drawn.values())) == 2
    assert "dashes: " in figure["layout"]["title"]["text"]


def test_every_figure_of_the_papers_is_a_view() -> None:
    sources = {view.source for view in VIEWS}
    figures_20 = ("figure 1", "figure 2", "figure 3", "figure 4a", "figures 4b, 4c", "figure 4d",
                  "figure 4e", "figure 5", "figure 6")  # fmt: skip
    figures_22 = tuple(f"figure {n}" for n in ("1a", "1b", "1c", "1d", "2a", "2b", "2c", "3"))
    assert sources >= {f"HotStorage '20, {name}" for name in figures_20}
    assert sources >= {f"HotStorage '22, {name}" for name in figures_22}


def test_marks_are_in_the_rows(view: LakeView) -> None:
    table = rows_behind(view, StorageState(), "ios-joule")
    best = table.filter(pl.col("is_best"), device="optane", request_bytes=4096)
    assert best["io_depth"].to_list() == [8]
