"""An unusual millisecond is drawn at each zoom, and the card shows its extremes."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ingest.__main__ import main
from ingest.sample.parameters import TSC_KHZ
from ingest.sample.plan import Run
from ingest.sample.writer import measure_run, write_run
from tests.browser.atlas import point_at
from tests.browser.timeline_page import TimelinePage

pytestmark = [pytest.mark.browser, pytest.mark.slow]

_SECONDS = 2.0
_SPIKE_S, _DIP_S = 0.8, 1.4
# 100 mJ more in one sample of the energy counter, 2^-16 J a step: about 100 W more.
_JOULES = round(0.1 * 2**16)
_COLUMNS = (
    "i", "rx_desc", "rx_bytes", "tx_desc", "tx_bytes", "instructions", "cycles", "ref_cycles",
    "llc_miss", "c1", "c1e", "c3", "c6", "c7", "joules", "tsc",
)  # fmt: skip


@pytest.fixture(scope="module")
def spiky_address(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], str]) -> str:
    """An app on one run; its package 0 uses more power for a millisecond, and its core 5 stalls."""
    folder = tmp_path_factory.mktemp("spiky")
    raw = folder / "raw"
    raw.mkdir()
    (raw / "wattlas.toml").write_text('[dataset]\nname = "spiky"\nsynthetic = true\n')
    run = Run("memcached", "linux_tuned", 50, 2.9, 135, 100_000, 0, _SECONDS, True)
    rng = run.generator(1)
    write_run(raw, run, measure_run(run, rng), rng)
    (record,) = raw.glob("*rdtsc*")
    start = max(int(line.split()[2]) for line in record.read_text().splitlines())
    for log in raw.glob("*dmesg*"):
        core = int(re.sub(r".*dmesg\.0_(\d+)_.*", r"\1", log.name))
        if core % 2 == 0:
            _leap(log, "joules", start, _SPIKE_S, _JOULES)
        if core == 5:
            _leap(log, "cycles", start, _DIP_S, 40_000_000)
    assert main(["add", str(raw), "--lake", str(folder / "lake")]) == 0
    return serve(folder / "lake")


def _leap(log: Path, name: str, start: int, after_s: float, step: int) -> None:
    """Add an amount to a counter in its first sample after a time."""
    rows = pl.read_csv(log, separator=" ", has_header=False, new_columns=list(_COLUMNS))
    after = start + int(after_s * TSC_KHZ * 1000)
    is_later = (pl.col("joules") > 0) & (pl.col("tsc") > after)
    rows = rows.with_columns(pl.col(name) + pl.when(is_later).then(step).otherwise(0))
    rows.write_csv(log, separator=" ", include_header=False)


def _edge(timeline: TimelinePage, panel: str) -> np.ndarray:
    """Heights of a panel's envelope."""
    found = timeline.page.evaluate(
        """panel => {
          const band = (t) => t.meta && t.meta.kind === "envelope" && t.meta.panel === panel;
          return wattlas.timeline.plot().data.find(band).y.filter((y) => y !== null);
        }""",
        panel,
    )
    return np.array(found)


def test_a_spike_and_a_dip_are_visible_at_each_zoom(
    timeline: TimelinePage, spiky_address: str
) -> None:
    timeline.open(spiky_address)
    (run,) = timeline.runs()
    tops, bottoms = [], []
    for width in (_SECONDS, 0.5, 0.1, 0.02):
        around = []
        for at in (_SPIKE_S, _DIP_S):
            begin = max(at - width / 2, 0) if width < _SECONDS else 0
            window = f"&from={begin:.4f}&to={min(begin + width, _SECONDS):.4f}"
            timeline.open(spiky_address, f"?v=1&run={run}{window}&panel=power&panel=ipc")
            around.append((_edge(timeline, "power"), _edge(timeline, "ipc")))
        tops.append(around[0][0].max() - np.median(around[0][0]))
        bottoms.append(around[1][1].min())
    assert tops == pytest.approx([tops[-1]] * 4, rel=0.1)
    assert min(tops) > 80
    assert bottoms == pytest.approx([bottoms[-1]] * 4, rel=1e-3)
    assert max(bottoms) < 0.1


def test_the_card_shows_minimum_mean_and_maximum(
    timeline: TimelinePage, spiky_address: str
) -> None:
    timeline.open(spiky_address)
    left, top, width, height = timeline.area()
    spike_s = timeline.page.evaluate(
        """() => {
          const run = wattlas.timeline.page.answer.runs[0], { t0, dt } = run.axes.counters;
          const { max } = run.power[0].series.power;
          return t0 + (max.indexOf(Math.max(...max)) + 0.5) * dt;
        }"""
    )
    assert spike_s == pytest.approx(_SPIKE_S, abs=0.005)
    said = {}
    for panel in ("power", "ipc"):
        rows = timeline.layout()["meta"]["rows"]
        domain = next(row["domain"] for row in rows if row.get("panel") == panel)
        x = left + width * spike_s / _SECONDS
        y = top + height * (1 - sum(domain) / 2)
        said[panel] = point_at(timeline.page, x, y)
    number = r"[\d.]+"
    power = re.search(
        rf"A: mean ({number}) W \(({number}) W to ({number}) W, sum of the packages' extremes\)",
        said["power"],
    )
    assert power is not None, said
    mean, least, most = map(float, power.groups())
    assert least <= mean < most - 30
    assert re.search(rf"A: mean {number} \({number} to {number}, of single cores\)", said["ipc"])
