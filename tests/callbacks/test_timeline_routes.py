"""What the timeline's routes answer on a real ingest of a tiny sample, and to bad requests."""

import base64
import gzip
import io
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from flask.testing import FlaskClient

from app.kit.context import lake_view
from app.kit.settings import Settings
from app.server import create_app
from app.timeline.panels import HEATS, PANELS
from app.timeline.runs import describe_runs, reference_of
from data.connection import open_lake
from data.timeline.quantities import QUANTITIES
from data.timeline.residency import CORE_RESIDENCIES
from tests.fixtures.exports import data_of

ALL_PANELS = ",".join(PANELS)
Json = dict[str, Any]


@pytest.fixture(scope="module")
def lake(logged_lake: Path) -> Path:
    return logged_lake


@pytest.fixture(scope="module")
def client(lake: Path) -> FlaskClient:
    return create_app(Settings(lake)).server.test_client()


@pytest.fixture(scope="module")
def rows(lake: Path) -> dict[str, Json]:
    """Rows of `runs` by a short name of theirs."""
    with open_lake(lake) as opened:
        found = opened.sql("SELECT * FROM runs WHERE workload = 'memcached'").pl().to_dicts()
    logged = {row["system"]: row for row in found if row["has_log"]}
    tabled = next(r for r in found if not r["has_log"] and r["system"] == "linux_tuned")
    return {**logged, "tabled": tabled}


def ask(client: FlaskClient, *run_ids: str, **parts: Any) -> Json:
    query = {name.rstrip("_"): value for name, value in parts.items()}
    answer = client.get("/timeline/window", query_string={"runs": run_ids, **query})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json  # type: ignore[assignment]
    return found


def refused(client: FlaskClient, *run_ids: str, **parts: Any) -> str:
    query = {name.rstrip("_"): value for name, value in parts.items()}
    answer = client.get("/timeline/window", query_string={"runs": run_ids, **query})
    assert answer.status_code == (404 if parts.get("lake") == "99" else 400)
    words: str = answer.json["error"]  # type: ignore[index]
    return words


def array(typed: Json) -> np.ndarray:
    return np.frombuffer(base64.b64decode(typed["bdata"]), typed["dtype"])


def total(answer: Json, name: str) -> list[float | None]:
    values: list[float | None] = next(t["values"] for t in answer["totals"] if t["name"] == name)
    return values


def test_a_zoom_does_not_label_its_runs_again(
    client: FlaskClient, rows: dict[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ids = [rows[name]["run_id"] for name in ("linux_tuned", "tabled")]
    whole = ask(client, *run_ids)["runs"]

    def refuse(*_: Any) -> str:
        raise AssertionError("labelled again")

    monkeypatch.setattr("app.timeline.runs.configuration_words", refuse)
    zoomed = ask(client, *run_ids, from_=0.02, to=0.05)["runs"]
    assert [run["label"] for run in zoomed] == [run["label"] for run in whole]
    assert zoomed[0]["window"] != whole[0]["window"]


def test_runs_are_described(client: FlaskClient, rows: dict[str, Json]) -> None:
    tuned, tabled = rows["linux_tuned"], rows["tabled"]
    with client.application.app_context():
        view = lake_view(None)
        first, second, third = describe_runs(view, [tuned["run_id"], tabled["run_id"], "nobody"])
        reference = reference_of(view, tuned["run_id"])
    assert first.label == "Linux tuned · ITR 100 us · 2.9 GHz · memcached 200k QPS · run 0"
    assert (first.known, first.has_log, first.problem) == (True, True, None)
    assert first.cores == tuple(range(16))
    assert first.packages == {"0": tuple(range(0, 16, 2)), "1": tuple(range(1, 16, 2))}
    assert second.problem is not None
    assert second.problem.endswith("nothing to show between its start and its end.")
    assert second.others[0]["run_id"] in {tuned["run_id"], rows["ebbrt_tuned"]["run_id"]}
    problem = f"The lake (version {view.version}) holds no run 'nobody'."
    assert (third.known, third.problem) == (False, problem)
    assert reference == rows["linux_default"]["run_id"]


def test_totals_of_the_whole_run_are_those_of_its_row(
    client: FlaskClient, rows: dict[str, Json]
) -> None:
    one, other = rows["linux_tuned"], rows["linux_default"]
    answer = ask(client, one["run_id"], other["run_id"], panels=ALL_PANELS)
    for name in ("interrupts", "rx_bytes", "tx_bytes"):
        assert total(answer, name) == [one[name], other[name]]
    for name, loss in (("energy_j", 0.05), ("instructions", 0.05), ("cycles", 0.05)):
        for value, row in zip(total(answer, name), (one, other), strict=True):
            assert value == pytest.approx(row[name], rel=loss)
    assert total(answer, "ipc")[0] == pytest.approx(one["ipc"], rel=0.05)
    row = next(t for t in answer["totals"] if t["name"] == "interrupts")
    change = other["interrupts"] - one["interrupts"]
    assert row["differences"][0] is None
    assert row["differences"][1]["value"] == change
    assert row["differences"][1]["percent"] == pytest.approx(100 * change / one["interrupts"])
    compared = ask(client, one["run_id"], other["run_id"], base=1, parts="totals")
    assert compared["totals"][1]["differences"][1] is None
    assert compared["totals"][1]["base"] == 1


def test_every_panel_has_its_lines_on_its_axis(client: FlaskClient, rows: dict[str, Json]) -> None:
    (run,) = ask(client, rows["linux_tuned"]["run_id"], panels=ALL_PANELS)["runs"]
    (group,) = run["groups"]
    axes = run["axes"]
    for name, panel in PANELS.items():
        for series in panel.series:
            if name in ("residency", "package_residency"):
                assert series not in group["series"]  # A log does not say it.
                continue
            holder = run["power"][0] if name == "power" else group
            clock = QUANTITIES[name].clock
            assert len(array(holder["series"][series]["mean"])) == axes[clock]["n"]
    count = array(group["count"])
    assert count.sum() == rows["linux_tuned"]["interrupts"]
    axis = axes["interrupts"]
    assert axis["t0"] == 0
    assert axis["t1"] == pytest.approx(rows["linux_tuned"]["duration_s"])
    assert axis["t0"] + axis["n"] * axis["dt"] == pytest.approx(axis["t1"], rel=0.01)


def test_cores_are_one_line_a_package_or_a_line_each(
    client: FlaskClient, rows: dict[str, Json]
) -> None:
    run_id = rows["linux_tuned"]["run_id"]
    (run,) = ask(client, run_id, cores="packages", panels="interrupts,power")["runs"]
    assert [group["name"] for group in run["groups"]] == ["package 0", "package 1"]
    assert [group["name"] for group in run["power"]] == ["package 0", "package 1"]
    chosen = ask(client, run_id, cores="0,2-4", panels="interrupts,power")
    (run,) = chosen["runs"]
    assert [group["cores"] for group in run["groups"]] == [[0], [2], [3], [4]]
    # Energy is the packages' own, whole, whichever of their cores are chosen.
    assert [group["cores"] for group in run["power"]] == [
        list(range(0, 16, 2)),
        list(range(1, 16, 2)),
    ]
    everything = ask(client, run_id, panels="interrupts")
    assert total(chosen, "energy_j") == total(everything, "energy_j")
    counts = [array(group["count"]).sum() for group in run["groups"]]
    assert total(chosen, "interrupts") == [sum(counts)]
    (alone,) = ask(client, run_id, cores="0,99", panels="interrupts")["runs"]
    assert [group["name"] for group in alone["groups"]] == ["core 0"]


def test_a_narrow_window_is_the_interrupts_themselves(
    client: FlaskClient, lake: Path, rows: dict[str, Json]
) -> None:
    run_id = rows["linux_tuned"]["run_id"]
    (run,) = ask(client, run_id, from_="0.05", to="0.052", panels=ALL_PANELS)["runs"]
    with open_lake(lake) as opened:
        stored = (
            opened.scan("interrupts", [run_id])
            .filter("t_ns >= 50000000 AND t_ns < 52000000")
            .order("t_ns, core")
            .pl()
        )
        inside = opened.scan("interrupts", [run_id]).order("core, t_ns").pl()
    assert run["window"]["source"] == "rows"
    assert run["window"]["interrupts"] == len(stored) > 10
    raw = {name: array(values) for name, values in run["raw"].items()}
    assert np.allclose(raw["t_s"], stored["t_ns"].to_numpy() / 1e9, rtol=0, atol=1e-12)
    for name in ("core", "rx_desc", "rx_bytes", "tx_desc", "tx_bytes"):
        assert raw[name].tolist() == stored[name].to_list()
    gaps = inside.with_columns(pl.col("t_ns").diff().over("core").alias("gap_ns"))
    expected = stored.join(gaps, on=["core", "t_ns"], how="left", maintain_order="left")["gap_ns"]
    assert np.allclose(raw["gap_us"], expected.to_numpy() / 1e3, rtol=1e-6, equal_nan=True)
    assert len(array(run["samples"]["t_s"])) == len(array(run["samples"]["cycles"]))


def test_distributions_count_the_window_and_mark_the_delay(
    client: FlaskClient, rows: dict[str, Json]
) -> None:
    tuned = rows["linux_tuned"]
    (run,) = ask(client, tuned["run_id"], parts="hist")["runs"]
    gap = run["hist"]["gap"]
    # The first interrupt of each of the 16 cores ends no gap.
    assert array(gap["count"]).sum() == tuned["interrupts"] - 16
    assert array(run["hist"]["rx_bytes"]["count"]).sum() == tuned["interrupts"]
    saved = client.get("/timeline/data/gaps.csv", query_string={"run": tuned["run_id"]})
    table = pl.read_csv(saved.data)
    counts = dict(table.group_by("quantity").agg(pl.col("count").sum()).iter_rows())
    assert counts == {
        "gap_ns": tuned["interrupts"] - 16, "rx_bytes": tuned["interrupts"],
        "tx_bytes": tuned["interrupts"],
    }  # fmt: skip
    assert (table["from"] < table["below"]).all()
    assert (array(gap["lo"]) < array(gap["hi"])).all()
    assert gap["itr_us"] == 100
    limit = gap["at_limit"]
    assert limit["lo_us"] <= 95 < 105 <= limit["hi_us"]
    is_near = (array(gap["lo"]) < limit["hi_us"]) & (array(gap["hi"]) > limit["lo_us"])
    assert limit["count"] == array(gap["count"])[is_near].sum()
    assert limit["share"] == pytest.approx(limit["count"] / limit["of"])
    (default,) = ask(client, rows["linux_default"]["run_id"], parts="hist")["runs"]
    assert default["hist"]["gap"]["at_limit"] is None


@pytest.mark.thin(5)
@pytest.mark.parametrize("name", HEATS)
def test_heatmaps_have_a_row_a_core_and_power_a_row_a_package(
    client: FlaskClient, rows: dict[str, Json], name: str
) -> None:
    answer = ask(client, rows["linux_tuned"]["run_id"], heat=name, parts="heat")
    heat = answer["runs"][0]["heat"]
    assert answer["heat"]["title"] == HEATS[name]
    assert heat["shape"][0] == len(heat["rows"]) == (2 if name == "power" else 16)
    assert len(array(heat["z"])) == heat["shape"][0] * heat["shape"][1]
    is_measured = name not in ("c1", "c1e", "c3", "c6", "c7", *CORE_RESIDENCIES)
    assert np.isfinite(array(heat["z"])).any() or not is_measured


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"from_": "2", "to": "1"}, "the window ends at 1 s, before it begins at 2 s"),
        ({"from_": "soon"}, "from is 'soon', expected a number"),
        ({"to": "nan"}, "to is 'nan', expected a finite number"),
        ({"width": "7"}, "width is 7, expected 50 to 4000"),
        ({"panels": "bytes,colour"}, "no panel 'colour'"),
        ({"heat": "joy"}, "no heatmap of 'joy'"),
        ({"parts": "soul"}, "no part 'soul'"),
        ({"cores": "1;2"}, "cores is '1;2', expected all, packages, or a list"),
        ({"cores": "9-2"}, "cores has '9-2', which runs backwards"),
        ({"cores": "0-15"}, "8 cores at most"),
        ({"lake": "x"}, "lake is 'x', expected a version number"),
        ({"lake": "99"}, "version 99"),
        ({"base": "-1"}, "base is -1, expected the index of a run"),
        ({"page": "2"}, "unknown parameter of a window: 'page'"),
    ],
)
def test_a_bad_part_is_named(
    client: FlaskClient, rows: dict[str, Json], parts: Json, words: str
) -> None:
    assert words in refused(client, rows["linux_tuned"]["run_id"], **parts)


def test_no_run_and_too_many_are_refused(client: FlaskClient) -> None:
    assert refused(client) == "0 runs; expected 1 to 6"
    assert refused(client, *"abcdefg") == "7 runs; expected 1 to 6"


def test_trouble_with_one_run_leaves_the_others_be(
    client: FlaskClient, rows: dict[str, Json]
) -> None:
    answer = ask(client, "nobody", rows["tabled"]["run_id"], rows["linux_tuned"]["run_id"])
    unknown, tabled, shown = answer["runs"]
    assert unknown["problem"].endswith("holds no run 'nobody'.")
    assert "no per-interrupt log" in tabled["problem"]
    assert shown["problem"] is None
    assert shown["groups"]
    first, second, third = total(answer, "interrupts")
    assert (first, second, third) == (None, None, rows["linux_tuned"]["interrupts"])


def test_a_window_beyond_the_run_is_clipped_and_says_so(
    client: FlaskClient, rows: dict[str, Json]
) -> None:
    tuned = rows["linux_tuned"]
    partly = ask(client, tuned["run_id"], from_="0.09", to="3")
    words = "asked for 0.09 to 3 s; the longest run lasts 0.1 s: showing 0.09 to 0.1 s"
    assert partly["clipped"] == words
    assert (partly["from_x"], partly["to_x"]) == (0.09, pytest.approx(0.1))
    assert partly["runs"][0]["window"]["to_s"] == pytest.approx(tuned["duration_s"])
    inside = ask(client, tuned["run_id"], from_="0.01", to="0.02")
    assert (inside["clipped"], inside["runs"][0]["window"]["clipped"]) == (None, None)
    whole = ask(client, tuned["run_id"], from_="0.000000000", to=f"{tuned['duration_s']:.9f}")
    assert whole["clipped"] is None


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        (("7", "7.02"), (0.08, 0.1)),  # as wide as it was, at the nearer end
        (("-3", "-2.99"), (0, 0.01)),
        (("-1", "0.01"), (0, 0.01)),
        (("7", "900"), (0, 0.1)),
        (("7", None), (0, 0.1)),
        ((None, "-1"), (0, 0.1)),
        (("1e300", "2e300"), (0, 0.1)),
    ],
)
def test_a_window_wholly_outside_is_moved_to_the_run_and_says_so(
    client: FlaskClient,
    rows: dict[str, Json],
    ends: tuple[str | None, str | None],
    shown: tuple[float, float],
) -> None:
    asked = {name: end for name, end in zip(("from_", "to"), ends, strict=True) if end}
    answer = ask(client, rows["linux_tuned"]["run_id"], **asked)
    assert answer["clipped"].startswith("asked for ")
    assert (answer["from_x"], answer["to_x"]) == pytest.approx(shown, abs=1e-9)
    (run,) = answer["runs"]
    assert run["problem"] is None
    span = run["window"]["from_s"], run["window"]["to_s"]
    assert span == pytest.approx(shown, abs=1e-4)  # whole bins
    path = "/timeline/data/totals.csv"
    query = {name.rstrip("_"): end for name, end in asked.items()}
    query |= {"run": rows["linux_tuned"]["run_id"]}
    saved = pl.read_csv(client.get(path, query_string=query).data)
    assert saved["value"][0] == pytest.approx(span[1] - span[0])


def test_a_shorter_run_that_the_window_does_not_reach_is_no_trouble(
    client: FlaskClient, lake: Path
) -> None:
    with open_lake(lake) as opened:
        ends = "SELECT arg_min(run_id, duration_s), arg_max(run_id, duration_s) FROM runs"
        short, long = opened.sql(f"{ends} WHERE has_log").fetchall()[0]
    query = {"from_": "1.2", "to": "1.3"}
    outside, inside = ask(client, short, long, **query)["runs"]
    assert outside["outside"]
    assert re.fullmatch(
        r"the run lasts 0\.\d+ s: no part of it lies between 1\.2 and 1\.3 s", outside["problem"]
    )
    assert inside["problem"] is None
    asked = {"run": [short, long], "from": "1.2", "to": "1.3"}
    saved = pl.read_csv(client.get("/timeline/data/figure.csv", query_string=asked).data)
    assert set(saved["run_id"]) == {long}
    assert "the run lasts 0." in client.get("/timeline/how/figure", query_string=asked).text


@pytest.mark.thin(3)
@pytest.mark.parametrize("harm", ["gone", "broken"])
@pytest.mark.parametrize(
    ("table", "end_s"),
    [("interrupts", "0.1"), ("overview", "0.1"), ("samples", "0.002"), ("histograms", "0.1")],
)
def test_a_file_removed_under_the_app_is_one_message(
    lake: Path,
    rows: dict[str, Json],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    table: str,
    end_s: str,
    harm: str,
) -> None:
    # So that the whole run is answered from its overview, and with it from the histograms.
    monkeypatch.setattr("data.timeline.window_plan.FEW_ROWS", 1000)
    shutil.copytree(lake, tmp_path / "lake")
    client = create_app(Settings(tmp_path / "lake")).server.test_client()
    harmed, other = rows["linux_tuned"]["run_id"], rows["linux_default"]["run_id"]
    (path,) = (tmp_path / "lake" / table).glob(f"*/{harmed}.*.parquet")
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(b"PAR1" + bytes(200) + b"PAR1")
    first, second = ask(client, harmed, other, from_="0", to=end_s)["runs"]
    query = {"run": [harmed, other], "from": "0", "to": end_s}
    saved = pl.read_csv(client.get("/timeline/data/figure.csv", query_string=query).data)
    assert set(saved["run_id"]) == {other}  # what the page shows
    words = "missing from the lake" if harm == "gone" else "is damaged"
    assert first["problem"].startswith("Linux tuned · ITR 100 us")
    assert words in first["problem"]
    assert path.name in first["problem"]
    assert second["problem"] is None


def test_a_file_that_goes_after_it_was_opened_is_said_too(
    lake: Path, rows: dict[str, Json], tmp_path: Path
) -> None:
    shutil.copytree(lake, tmp_path / "lake")
    client = create_app(Settings(tmp_path / "lake")).server.test_client()
    run_id = rows["linux_tuned"]["run_id"]
    assert ask(client, run_id)["runs"][0]["problem"] is None
    (path,) = (tmp_path / "lake" / "interrupts").glob(f"*/{run_id}.*.parquet")
    path.unlink()
    assert "its file is missing from the lake" in ask(client, run_id)["runs"][0]["problem"]


def test_what_is_sent_is_bounded_by_the_width_and_small(client: FlaskClient, lake: Path) -> None:
    with open_lake(lake) as opened:
        found = opened.sql("SELECT run_id FROM runs WHERE has_log ORDER BY run_id LIMIT 6")
        run_ids = [row[0] for row in found.fetchall()]
    assert len(run_ids) == 6
    for ends in ({}, {"from_": "0.01", "to": "0.03"}, {"from_": "0.01", "to": "0.0104"}):
        query = {"panels": ALL_PANELS, "heat": "gap", "width": 4000, **ends}
        answer = ask(client, *run_ids, **query)
        shown = [run for run in answer["runs"] if run["problem"] is None]
        assert shown
        assert all(run["axes"]["interrupts"]["n"] <= 5000 for run in shown)
        asked = {name.rstrip("_"): value for name, value in query.items()}
        sent = client.get("/timeline/window", query_string={"runs": run_ids, **asked}).data
        assert len(gzip.compress(sent, 6)) < 300_000


def test_saved_interrupts_are_those_in_view(client: FlaskClient, rows: dict[str, Json]) -> None:
    run_id = rows["linux_tuned"]["run_id"]
    query = {"run": run_id, "from": "0.05", "to": "0.051", "cores": "3"}
    table = pl.read_parquet(
        io.BytesIO(client.get("/timeline/data/figure.parquet", query_string=query).data)
    )
    assert set(table["core"]) == {3}
    assert table["t_ns"].is_between(50_000_000, 51_000_000, closed="left").all()
    assert table["t_ns"].is_sorted()
    assert table["gap_ns"].to_list()[1:] == table["t_ns"].diff().to_list()[1:]


def test_saved_totals_have_the_differences(client: FlaskClient, rows: dict[str, Json]) -> None:
    tuned, default = rows["linux_tuned"]["run_id"], rows["linux_default"]["run_id"]
    query = {"run": [tuned, "nobody", default], "base": "2"}
    saved = pl.read_csv(client.get("/timeline/data/totals.csv", query_string=query).data)
    assert set(saved["base_run_id"]) == {default}
    assert saved.filter(pl.col("run_id") == default)["difference"].null_count() == len(saved) // 2
    value = dict(saved.filter(pl.col("run_id") == default).select("name", "value").iter_rows())
    row = saved.filter(run_id=tuned, name="energy_j").row(0, named=True)
    assert row["difference"] == pytest.approx(row["value"] - value["energy_j"])
    expected = 100 * (row["value"] / value["energy_j"] - 1)
    assert row["difference_pct"] == pytest.approx(expected)
    # What is not shown is not compared with.
    query["base"] = "1"
    saved = pl.read_csv(client.get("/timeline/data/totals.csv", query_string=query).data)
    assert set(saved["base_run_id"]) == {tuned}


def test_files_say_what_is_wrong_with_a_request(
    client: FlaskClient, rows: dict[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = rows["linux_tuned"]["run_id"]
    answer = client.get("/timeline/data/all.csv", query_string={"run": run_id})
    known = "figure, gaps, totals, bins, interrupts, samples"
    assert (answer.status_code, answer.text) == (400, f"no view 'all'; known: {known}\n")
    assert "holds no run 'x'" in client.get("/timeline/data/figure.csv?run=x").text
    assert client.get("/timeline/data/figure.csv?v=2").text == "0 runs; expected 1 to 6\n"
    monkeypatch.setattr("app.timeline.tables.MOST_ROWS", 10)
    answer = client.get("/timeline/data/interrupts.csv", query_string={"run": run_id})
    assert "a file holds 10 at most: zoom in" in answer.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("data.csv?runs=a&runs=b&panels=gap,ipc&from=1&width=900&lake=3",
         "data/figure.csv?run=a&run=b&panel=gap&panel=ipc&from=1&width=900&lake=3"),
        ("data.parquet?runs=a&what=distributions", "data/gaps.parquet?run=a"),
        ("data.csv?runs=a&what=totals&base=1", "data/totals.csv?run=a&base=1"),
        ("how?runs=a&cores=0,2", "how/figure?run=a&cores=0%2C2"),
    ],
)  # fmt: skip
def test_addresses_of_version_1_lead_to_the_present_ones(
    client: FlaskClient, old: str, new: str
) -> None:
    answer = client.get(f"/timeline/{old}")
    assert (answer.status_code, answer.headers["Location"]) == (301, f"/timeline/{new}")


def test_how_a_window_came_about_is_said(
    client: FlaskClient, lake: Path, rows: dict[str, Json]
) -> None:
    run_id = rows["linux_tuned"]["run_id"]
    query = {"run": [run_id, "nobody"], "from": "0.05", "to": "0.06"}
    words = client.get("/timeline/how/figure", query_string=query).text
    assert "holds no run 'nobody'" in words
    assert "Each query selects the same rows." in words
    sql = words.partition("interrupts:\n\n")[2].partition("\n\n")[0]
    with open_lake(lake) as opened:
        stored = opened.sql(sql).pl()
    (run,) = ask(client, run_id, from_="0.05", to="0.06")["runs"]
    assert len(stored) == run["window"]["interrupts"]


@pytest.mark.parametrize("cores", ["all", "packages", "0-1"])
def test_every_rate_of_samples_comes_with_its_extremes(
    client: FlaskClient, rows: dict[str, Json], cores: str
) -> None:
    """In the whole run, from the overview, and in a part of it, from samples."""
    run_id = rows["linux_tuned"]["run_id"]
    for ends in ({}, {"from_": 0.01, "to": 0.05}):
        answer = ask(client, run_id, panels=ALL_PANELS, cores=cores, **ends)
        (run,) = answer["runs"]
        parts = {panel["name"]: panel for panel in answer["panels"]}
        for name in ("power", "instructions", "ipc", "busy", "llc", "sleep"):
            for group in run["power"] if name == "power" else run["groups"]:
                for series in parts[name]["series"]:
                    if series["name"] in group["series"]:
                        line = group["series"][series["name"]]
                        low, mean, high = (array(line[word]) for word in ("min", "mean", "max"))
                        known = ~np.isnan(mean)
                        assert known.any()
                        assert (low[known] <= mean[known]).all()
                        assert (mean[known] <= high[known]).all()
        assert {group["parts"] for group in run["groups"]} == {len(run["groups"][0]["cores"])}
        assert parts["ipc"]["spread"] == "of single cores"


def test_extremes_are_in_the_file_and_in_words(client: FlaskClient, rows: dict[str, Json]) -> None:
    asked = {"run": rows["linux_tuned"]["run_id"], "panel": ["power", "ipc"]}
    file = client.get("/timeline/data/bins.csv", query_string=asked)
    table = pl.read_csv(file.data, infer_schema_length=None)
    assert {"power_min", "power_mean", "power_max", "ipc_min", "ipc_max"} <= set(table.columns)
    words = " ".join(client.get("/timeline/how/figure", query_string=asked).text.split())
    assert "a rate between two consecutive samples of a core" in words
    assert "the cores' extremes are summed too" in words


def test_an_export_holds_the_window_and_the_whole_run(
    client: FlaskClient, rows: dict[str, Json]
) -> None:
    run_id = rows["linux_tuned"]["run_id"]
    query = {"run": run_id, "from": "0.05", "to": "0.06", "panel": "gap"}
    page = client.get("/timeline/export.html", query_string=query).text
    found = data_of(page)
    spans = [(one["from_x"], one["to_x"]) for one in found["answers"]]
    assert spans == [(0.05, 0.06), (0, pytest.approx(0.1))]
    assert [run["run_id"] for run in found["answers"][0]["runs"]] == [run_id]
    assert found["state"]["panels"] == ["gap"]
    assert [set(one["bands"][0]["windows_s"]) for one in found["answers"]] == [
        {"interrupts", "counters"}
    ] * 2
    assert "synthetic data" in page
    assert client.get("/timeline/export.html", query_string=query).text == page


def test_runs_are_aligned_by_work(client: FlaskClient, rows: dict[str, Json]) -> None:
    both = [rows["linux_default"], rows["linux_tuned"]]
    run_ids, received = [row["run_id"] for row in both], [row["rx_bytes"] for row in both]
    whole = ask(client, *run_ids, align="rx_bytes", heat="interrupts")
    assert whole["x"] | {"note": ""} == {
        "name": "rx_bytes", "title": "Bytes received", "unit": "B", "note": "",
        "end": pytest.approx(max(received)),
    }  # fmt: skip
    # Each run ends where its bytes do; its bins have widths and are the time between two places.
    for run, row in zip(whole["runs"], both, strict=True):
        for axis in (*run["axes"].values(), run["heat"]):
            places, times_s = array(axis["edges"]), array(axis["t_s"])
            assert (places[0], places[-1]) == (0, pytest.approx(row["rx_bytes"]))
            assert (np.diff(places) > 0).all()
            assert times_s[-1] == pytest.approx(row["duration_s"])
    # A quarter of the work is a quarter of the bytes, to the bins that it is widened to.
    quarter = max(received) / 4
    asked = {"align": "rx_bytes", "from": str(quarter), "to": str(2 * quarter)}
    window = ask(client, *run_ids, **asked)
    assert total(window, "rx_bytes") == pytest.approx([quarter, quarter], rel=0.1)
    seconds = [run["window"]["to_s"] - run["window"]["from_s"] for run in window["runs"]]
    assert total(window, "window_s") == pytest.approx(seconds)
    # The shorter run does not reach the end of the longer.
    end = {"align": "rx_bytes", "from": str(max(received) - 1), "to": str(max(received) + 9)}
    last = ask(client, *run_ids, **end)
    assert "the longest run ends at" in last["clipped"]
    assert [run.get("outside", False) for run in last["runs"]].count(True) == 1
    assert "the run ends at" in str([run["problem"] for run in last["runs"]])
    # What is saved says the work, and how it came about.
    saved = client.get("/timeline/data/bins.csv", query_string={"run": run_ids, **asked})
    table = pl.read_csv(saved.data, infer_schema_length=None)
    assert table["from_work"].min() == pytest.approx(quarter, rel=0.1)
    how = client.get("/timeline/how/figure", query_string={"run": run_ids, **asked}).text
    assert "aligned by bytes received" in how


def test_bands_are_within_the_extremes_and_say_how_long_their_windows_are(
    client: FlaskClient, rows: dict[str, Json]
) -> None:
    run_id = rows["linux_tuned"]["run_id"]
    asked = {"panels": "bytes,interrupts,power", "width": "200"}
    (lines,) = ask(client, run_id, **asked)["runs"]
    found = ask(client, run_id, parts="bands", **asked)
    (run,) = found["runs"]
    assert (found["totals"], run["heat"], run["raw"], run["hist"]) == ([], None, None, None)
    assert 0 < run["windows_s"]["interrupts"] <= rows["linux_tuned"]["duration_s"] / 40
    (group,), (drawn,) = run["groups"], lines["groups"]
    for name in ("rx", "tx", "interrupts"):
        band = {end: array(values) for end, values in group["series"][name].items()}
        assert set(band) == {"p10", "p90"}
        assert len(band["p10"]) == run["axes"]["interrupts"]["n"] >= 4
        assert (band["p10"] <= band["p90"]).all()
        assert band["p90"].max() <= array(drawn["series"][name]["max"]).max() * 1.001
    assert "p10" in run["power"][0]["series"]["power"]
    words = client.get("/timeline/how/figure", query_string={"run": run_id}).text
    assert "from the 10th to the 90th percentile" in words


def test_requests_are_the_known_sum_spread_by_bytes_sent(
    client: FlaskClient, rows: dict[str, Json]
) -> None:
    tuned = rows["linux_tuned"]
    known = tuned["requests"] or tuned["throughput_qps"] * tuned["duration_s"]
    answer = ask(client, tuned["run_id"], align="requests")
    assert answer["x"]["end"] == pytest.approx(known)
    sent = ask(client, tuned["run_id"], align="tx_bytes")["runs"][0]["axes"]["interrupts"]
    spread = answer["runs"][0]["axes"]["interrupts"]
    scaled = array(sent["edges"]) * known / tuned["tx_bytes"]
    assert array(spread["edges"]) == pytest.approx(scaled, rel=1e-6)
