"""The table of best settings as a reader sees it."""

import html
import json
import re

import polars as pl
from dash.html import Div

from app.explore.layout_best import best_settings_table, limit_words
from app.kit.export import render
from data.analysis.best import best_settings
from data.units import MINUS, MISSING

BASELINES = pl.DataFrame(
    [{"dataset": "tiny", "workload": "memcached", "load_qps": 2e5, "message_bytes": None,
      "machine": None, "work": None, "performance": 104.0, "cost": 2000.0, "n": 5}],
    {"dataset": pl.String, "workload": pl.String, "load_qps": pl.Float64,
     "message_bytes": pl.Int64, "machine": pl.String, "work": pl.String, "performance": pl.Float64,
     "cost": pl.Float64, "n": pl.Int64},
)  # fmt: skip
LABELS = {
    "linux_tuned": "Linux tuned",
    "ebbrt_tuned": "Library OS",
    "linux_default": "Linux default",
}

VARYING = ("itr_us", "dvfs_ghz", "rapl_w")


def row(system: str, itr_us: float | None, x: float, y: float, **more: object) -> dict:
    return {
        "dataset": "tiny", "workload": "memcached", "load_qps": 2e5, "message_bytes": None,
        "machine": None, "work": None, "system": system, "system_label": LABELS[system],
        "itr_us": itr_us,
        "dvfs_ghz": None if itr_us is None else 2.9, "rapl_w": 135.0, "n": 2, "x": x, "y": y,
        "x_sd": 1.414, "y_sd": None, "is_baseline": system == "linux_default", **more,
    }  # fmt: skip


# p99 and energy: tuned 63 us, 1,188 J; library OS 60 us, 900 J; default 104 us, 2,000 J.
ROWS = [
    row("linux_tuned", 2.0, 63.0, 1188.0),
    row("ebbrt_tuned", 2.0, 60.0, 900.0),
    row("linux_default", None, 104.0, 2000.0, n=5),
]


def answer(
    limit: float | None, rows: list[dict] | None = None, baselines: pl.DataFrame = BASELINES
) -> pl.DataFrame:
    schema = {"itr_us": pl.Float64, "message_bytes": pl.Int64, "machine": pl.String,
              "work": pl.String, "y_sd": pl.Float64}  # fmt: skip
    return best_settings(pl.DataFrame(rows or ROWS, schema_overrides=schema), baselines, limit)


def lines(rows: pl.DataFrame, limit: float | None = None, metric: str = "latency_p99_us") -> list:
    """Texts of the table's cells, a list a row, as the exported HTML has them."""
    text = render(best_settings_table(rows, metric, limit, "energy_j", VARYING))
    cells = [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in re.findall(r"<tr.*?</tr>", text)
    ]
    return [[html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in line] for line in cells]


def test_what_it_says() -> None:
    assert lines(answer(None)) == [
        ["System", "Lowest-energy setting", "Energy", "p99 latency", "Energy vs default",
         "p99 vs default", "n"],
        # 900 / 2,000 - 1 = -55 %; 60 / 104 - 1 = -42.3 %
        ["Library OS", "ITR 2 us · 2.9 GHz · 135 W", "900 J", "60.0 us ± 1.41 us",
         f"{MINUS}55.0 %", f"{MINUS}42.3 %", "2"],
        ["Linux default", "ITR adaptive · governor · 135 W", "2.00 kJ", "104 us ± 1.41 us",
         "the default", "the default", "5"],
        # 1,188 / 2,000 - 1 = -40.6 %; 63 / 104 - 1 = -39.4 %
        ["Linux tuned", "ITR 2 us · 2.9 GHz · 135 W", "1.19 kJ", "63.0 us ± 1.41 us",
         f"{MINUS}40.6 %", f"{MINUS}39.4 %", "2"],
    ]  # fmt: skip


def test_who_misses_the_limit_says_so_and_shows_the_nearest() -> None:
    rows = answer(61.0)
    by_system = {line[0]: line for line in lines(rows, 61.0)}
    assert by_system["Linux tuned"][1] == (
        "none meets 61.0 us; nearest: ITR 2 us · 2.9 GHz · 135 W"
    )
    assert by_system["Linux tuned"][4:6] == [MISSING, MISSING]
    assert by_system["Library OS"][1] == "ITR 2 us · 2.9 GHz · 135 W"
    assert limit_words(rows, "latency_p99_us", 61.0, VARYING) == (
        "Missed by every configuration of Linux default, Linux tuned."
    )


def test_nobody_meets_the_limit() -> None:
    assert limit_words(answer(50.0), "latency_p99_us", 50.0, VARYING) == (
        "No configuration meets 50.0 us. The lowest p99 latency is 60.0 us "
        "(Library OS, ITR 2 us · 2.9 GHz · 135 W)."
    )


def test_everybody_meets_it_or_there_is_none() -> None:
    assert limit_words(answer(500.0), "latency_p99_us", 500.0, VARYING) == ""
    assert limit_words(answer(None), "latency_p99_us", None, VARYING) == ""


def test_each_row_names_its_configuration_for_the_browser() -> None:
    text = render(best_settings_table(answer(None), "latency_p99_us", None, "energy_j", VARYING))
    keys = [json.loads(html.unescape(key)) for key in re.findall(r'data-config="([^"]*)"', text)]
    assert keys[0] == {
        "dataset": "tiny", "system": "ebbrt_tuned", "itr_us": 2.0, "dvfs_ghz": 2.9,
        "rapl_w": 135.0, "load_qps": 2e5, "message_bytes": None, "machine": None, "work": None,
    }  # fmt: skip
    assert text.count('tabindex="0"') == 3


def test_what_the_study_does_not_vary_takes_no_room() -> None:
    no_default = answer(None, ROWS[:2], BASELINES.clear())
    text = render(best_settings_table(no_default, "latency_p99_us", None, "energy_j", ()))
    assert "vs default" not in text
    assert "setting" not in text
    missed = answer(50.0, ROWS[:2], BASELINES.clear())
    text = render(best_settings_table(missed, "latency_p99_us", 50.0, "energy_j", ()))
    assert re.findall(r'<td class="missed">(.*?)</td>', text) == ["none meets 50.0 us"] * 2


def test_loads_are_named_when_there_are_several() -> None:
    rows = answer(None, [*ROWS, row("linux_tuned", 2.0, 70.0, 1500.0, load_qps=4e5)])
    names = [line[0] for line in lines(rows)[1:]]
    assert names == [
        "Library OS · 200k QPS", "Linux default · 200k QPS", "Linux tuned · 200k QPS",
        "Linux tuned · 400k QPS",
    ]  # fmt: skip


def test_time_is_a_performance_metric_too() -> None:
    rows = answer(None, [row("linux_tuned", 2.0, 0.25, 7.0)])
    assert lines(rows, metric="duration_s")[0][3] == "Time"
    assert lines(rows, metric="duration_s")[1][3] == "250 ms ± 1.41 s"


def test_nothing_to_compare() -> None:
    text = render(
        best_settings_table(answer(None).clear(), "latency_p99_us", None, "energy_j", VARYING)
    )
    assert "Nothing to compare: no run has both energy and the metric." in text
    assert limit_words(answer(None).clear(), "latency_p99_us", 5.0, VARYING) == ""


def test_a_label_is_text_not_markup() -> None:
    evil = row("linux_tuned", 2.0, 63.0, 1188.0, system_label="<img src=x onerror=alert(1)>")
    text = render(
        best_settings_table(answer(None, [evil]), "latency_p99_us", None, "energy_j", VARYING)
    )
    assert "<img" not in text
    assert "&lt;img" in text


def test_attributes_come_in_one_order() -> None:
    """Dash holds some of them in a set; two exports of one view must still be the same file."""
    part = Div("x", className="c", id="i", **{f"data-{name}": name for name in "gfedcba"})
    listed = re.findall(r" ([a-z-]+)=", render(part))
    assert listed == ["class", *[f"data-{name}" for name in "abcdefg"], "id"]


def test_a_cost_that_is_the_limited_metric_has_one_column() -> None:
    same = [row("linux_tuned", 2.0, 63.0, 63.0), row("linux_default", None, 104.0, 104.0)]
    rows = answer(None, same, BASELINES.with_columns(cost=pl.lit(104.0)))
    table = best_settings_table(rows, "latency_p99_us", None, "latency_p99_us", VARYING)
    text = render(table)
    heads = re.findall(r"<th class=\"number\"[^>]*>(.*?)</th>", text)
    assert heads == ["p99 latency", "p99 latency vs default", "n"]
    assert text.count("63.0 us") == 1
