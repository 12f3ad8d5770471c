"""A study as a folder: its descriptions are valid, and its program computes its numbers again."""

import ast
import csv
import hashlib
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import requests

from app.__main__ import main
from app.artifact.writer import joined, write_artifact
from app.kit.context import Lakes
from app.pages import PAGES
from data.analysis.drift import block_effects, blocks_in_time, drift, run_order
from data.analysis.importance import importance
from data.analysis.noise import Estimates, Prior
from ingest.pipeline import AddOptions, add
from tests.fixtures.lakes import suite
from tests.fixtures.real import real_data

NAMES = ("explore", "modes", "distributions", "findings", "models", "timeline")
FEW = [page for page in PAGES if page.name in NAMES]


@pytest.fixture(scope="module")
def artifact(logged_lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The network runs of the tiny sample, with the pages whose tables have numbers."""
    folder = tmp_path_factory.mktemp("artifact")
    (folder / "LICENSE").write_text("CC0\n")
    lakes = Lakes(logged_lake, datasets=["synthetic-tiny"])
    written = write_artifact(lakes, FEW, folder / "study", folder / "LICENSE")
    assert sorted(path.name for path in folder.iterdir()) == ["LICENSE", "study"]
    files = [path for path in (folder / "study").rglob("*") if path.is_file()]
    assert (written.files, written.size_bytes) == (len(files), sum(f.stat().st_size for f in files))
    return folder / "study"


@pytest.fixture
def changed(artifact: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(artifact, tmp_path / "study"))


# Imports what a new environment with DuckDB has, and runs a program.
BARE = """
import runpy, sys
class Bare:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "duckdb", "_duckdb"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Bare())
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def verified(folder: Path) -> tuple[int, list[str]]:
    """Run verify.py as a reviewer does: from elsewhere, where only DuckDB is installed."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", BARE, str(folder / "verify.py")],
        cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def narrowed(folder: Path, *tables: str) -> dict[str, Any]:
    """Leave out the claims of papers, and all tables but those with a text in their names."""
    path = folder / "checks.json"
    checks: dict[str, Any] = json.loads(path.read_text())
    checks["tables"] = [
        check for check in checks["tables"] if any(text in check["file"] for text in tables)
    ]
    checks["papers"] = {"inputs": {}, "list": []}
    path.write_text(json.dumps(checks))
    return checks


def numbers(line: str) -> tuple[int, int]:
    """Read `214 of 214 numbers agree`."""
    agreed, _, count, *rest = line.split()
    assert rest == ["numbers", "agree"]
    return int(agreed), int(count)


def test_all_numbers_agree(artifact: Path) -> None:
    status, lines = verified(artifact)
    agreed, count = numbers(lines[-1])
    assert (status, len(lines)) == (0, 1)
    checks = json.loads((artifact / "checks.json").read_text())
    claims = checks["claims"]["list"]
    assert {claim["kind"] for claim in claims} == {
        "default to tuned", "tuned to tuned", "knob", "limit met",
    }  # fmt: skip
    in_tables = sum(
        len(pl.read_parquet(artifact / check["file"]).filter(~pl.sql_expr(" OR ".join(skip))))
        * len(check["values"])
        for check in checks["tables"]
        for skip in [check["skip"] or ["FALSE"]]
    )
    in_papers = sum(3 + 3 * len(claim["parts"]) for claim in checks["papers"]["list"])
    models = pl.read_parquet(artifact / "data/models.parquet").filter(pl.col("kind") != "simulated")
    assert agreed == count == in_tables + 7 * len(claims) + in_papers + 3 * len(models)


def test_no_part_of_the_program_hides_a_name_of_another() -> None:
    names = [node.name for node in ast.parse(joined()).body if hasattr(node, "name")]
    assert len(names) == len(set(names)) > 50


def test_claims_over_all_programs_are_judged_again(tmp_path: Path) -> None:
    write_artifact(Lakes(suite(tmp_path / "lake")), [], tmp_path / "study")
    status, lines = verified(tmp_path / "study")
    agreed, count = numbers(lines[-1])
    assert (status, agreed) == (0, count)
    claims = json.loads((tmp_path / "study" / "checks.json").read_text())["claims"]["list"]
    assert any(c["sentence"].startswith("15 W lowers energy against no power") for c in claims)


def test_claims_on_storage_models_and_print_are_judged_again(
    logged_lake: Path, tmp_path: Path
) -> None:
    study = tmp_path / "study"
    storage = [page for page in PAGES if page.name == "storage"]
    write_artifact(Lakes(logged_lake, datasets=["synthetic-tiny-storage"]), storage, study)
    status, lines = verified(study)
    agreed, count = numbers(lines[-1])
    assert (status, agreed) == (0, count)
    checks = json.loads((study / "checks.json").read_text())["tables"]
    shares = {"rate_share", "peak_w", "power_share"}
    assert shares in [{*c["values"]} for c in checks if "proportionality" in c["file"]]
    assert ["NOT is_idle"] in [c["skip"] for c in checks if c["file"].endswith("devices.parquet")]
    for file, where, column in (
        ("runs", pl.col("mode") == "hybrid", "iops"),
        ("moves", pl.col("subsystem") == "block", "loads_stores_per_s"),
        ("hotstorage22_performance", pl.col("mode") == "poll", "iops"),
        ("models", pl.col("scheme").is_in(["pure_polling", "napi"]), "cpu_left"),
    ):
        path = study / f"data/{file}.parquet"
        less = pl.when(where).then(pl.col(column) / 2).otherwise(pl.col(column))
        pl.read_parquet(path).with_columns(less.alias(column)).write_parquet(path)
    status, lines = verified(study)
    assert status == 1
    named = {line.partition(" is given")[0] for line in lines if line.startswith("claim ")}
    assert "claim 000-O1, part 2: outcome: holds" in named
    assert "claim 000-P1: verdict: holds" in named
    assert "claim 000-P1: effect: 23748" in named
    # Half the CPU that is left: of formulas it is computed again, of simulations a claim turns.
    assert "claim 002-C08: effect: 0.1195" in named
    assert "claim 002-C13, part 1: effect: 0.9808864016" in named
    values = [line for line in lines if line.startswith("data/models.parquet: cpu_left of ")]
    assert values
    assert all("scheme pure_polling, kind paper" in line for line in values)


def test_the_axes_of_each_picture_are_computed_again(artifact: Path) -> None:
    checks = json.loads((artifact / "checks.json").read_text())["tables"]
    values = {check["file"]: set(check["values"]) for check in checks}
    scatter = {"energy_j", "energy_j_sd", "latency_p99_us", "latency_p99_us_sd", "n"}
    assert values["tables/explore-scatter.parquet"] >= scatter
    assert values["tables/explore-heatmap.parquet"] == {"energy_j", "energy_j_sd", "n"}
    assert values["tables/explore-lines.parquet"] >= {"energy_j", "energy_j_low", "energy_j_high"}
    assert values["tables/explore-best-table.parquet"] >= {"energy_j", "n"}
    assert values["tables/distributions-map.parquet"] == {"runs", "share"}
    assert values["tables/findings-effect.parquet"] == {"mean", "low", "high", "settings", "runs"}
    assert values["tables/models-plane.parquet"] >= {"power_w", "latency_us", "latency_us_sd", "n"}
    assert values["tables/models-cpu.parquet"] == {"rate_kpps", "value", "sd", "n"}
    assert values["tables/models-runs.parquet"] >= {"busy_share", "lam_kpps", "power_w"}
    bins = {"interrupts_mean", "rx_mean", "tx_mean", "gap_mean", "ipc_mean", "busy_mean"}
    assert values["tables/timeline-bins.parquet"] >= bins | {"power_mean"}
    assert values["tables/timeline-totals.parquet"] == {"value"}
    assert values["tables/timeline-gaps.parquet"] == {"count"}
    left = (artifact / "README.md").read_text().partition("## What is not computed again")[2]
    assert "- `tables/explore-scatter`: logged\n" in left
    assert "- `tables/explore-heatmap`: " not in left


def test_a_changed_run_is_found_and_named(changed: Path) -> None:
    path = changed / "data/runs.parquet"
    runs = pl.read_parquet(path)
    point = pl.read_parquet(changed / "tables/explore-scatter.parquet").row(0, named=True)
    is_one = (
        (pl.col("system") == point["system"]) & (pl.col("itr_us") == point["itr_us"])
        & (pl.col("dvfs_ghz") == point["dvfs_ghz"]) & (pl.col("rapl_w") == point["rapl_w"])
        & (pl.col("load_qps") == point["load_qps"]) & (pl.col("workload") == point["workload"])
    )  # fmt: skip
    assert len(runs.filter(is_one))
    is_library = (pl.col("workload") == "nodejs") & (pl.col("system") == "ebbrt_tuned")
    factor = pl.when(is_one).then(1.01).when(is_library).then(1.2).otherwise(1.0)
    energy = pl.col("energy_j") * factor
    runs.with_columns(energy_j=energy).write_parquet(path)
    status, lines = verified(changed)
    agreed, count = numbers(lines[-1])
    assert status == 1
    assert 0 < count - agreed < count
    assert lines[0] == "data/runs.parquet: its SHA-256 sum is another than SHA256SUMS has"
    given, again = point["energy_j"], point["energy_j"] * 1.01
    ends = f": {given:.10g} is given, the runs yield {again:.10g}"
    shown = "explore-scatter.parquet: energy_j of"
    named = [line for line in lines if shown in line and line.endswith(ends)]
    assert len(named) == 1
    assert f"system {point['system']}, " in named[0]
    assert any(line.startswith("claim ") and ": effect_pct: " in line for line in lines)
    for table in (
        "models-runs.parquet: power_w of run_id ", "findings-effect.parquet: mean of ",
        "findings-knobs.parquet: share of ", "modes-winners.parquet: lead_share_high of ",
        "modes-pareto.parquet: energy_j_ci95_high of ",
    ):  # fmt: skip
        assert any(f"tables/{table}" in line for line in lines)
    assert any("explore-lines.parquet: energy_j_high of " in line for line in lines)
    # A fifth more energy of the library OS turns a verdict on a claim of a paper.
    assert "claim 003-C07: verdict: nearly is given, the runs yield holds" in lines
    effect = "claim 003-C13, part 1: effect: 2.532537918 is given, the runs yield 2.110448265"
    assert effect in lines


def test_a_changed_interrupt_is_found_in_bins_totals_and_distributions(changed: Path) -> None:
    path = changed / "tables/timeline-interrupts.parquet"
    rows = pl.read_parquet(path).with_row_index("place")
    more = pl.col("rx_bytes") + pl.when(pl.col("place") == 7).then(1_000_000).otherwise(0)
    rows.with_columns(rx_bytes=more.cast(rows.schema["rx_bytes"])).drop("place").write_parquet(path)
    narrowed(changed, "timeline")
    status, lines = verified(changed)
    assert status == 1
    run = rows["run_id"][7]
    for named in (
        "bins.parquet: rx_mean of",
        "bins.parquet: rx_max of",
        f"totals.parquet: value of run_id {run}, name rx_bytes",
        f"gaps.parquet: count of run_id {run}, quantity rx_bytes",
    ):
        assert any(f"timeline-{named}" in line for line in lines), named


def test_a_changed_number_of_each_kind_is_found_and_named(changed: Path) -> None:
    """Maps, shares of knobs, tests of order, curves of models, the model of energy, sums."""
    edited = [
        ("modes-winners", "lead_share_low", pl.col("outcome") == "win"),
        ("modes-winners", "p_corrected", pl.col("p_corrected") > 0),
        ("modes-winners", "level", pl.col("level") > 0),
        ("modes-winners", "winner_energy_j_ci95_high", pl.col("winner_n") > 1),
        ("modes-pareto", "energy_j_ci95_low", pl.col("n") > 1),
        ("modes-pareto", "settings", pl.col("n") > 1),
        ("modes-shares", "cells", pl.col("cells") > 0),
        ("findings-knobs", "share", pl.col("part") == "noise"),
        ("findings-order", "change_pct", pl.col("p") > 0),
        ("findings-order", "block_p", pl.col("block_p") > 0),
        ("models-latency", "value", pl.col("kind") == "paper"),
        ("models-crosshair", "cpu_left", pl.col("kind") == "exact"),
        ("models-energy", "power_w", pl.col("power_w").is_not_null()),
        ("models-sizes", "cumulated", pl.col("cumulated") > 0),
    ]
    narrowed(changed, *(table for table, _, _ in edited))
    for table, column, where in edited:
        path = changed / f"tables/{table}.parquet"
        rows = pl.read_parquet(path).with_row_index("place")
        first = rows.filter(where)["place"][0]
        more = pl.when(pl.col("place") == first).then(1.001 * pl.col(column)).otherwise(column)
        rows.with_columns(more.alias(column)).drop("place").write_parquet(path)
    status, lines = verified(changed)
    agreed, count = numbers(lines[-1])
    assert (status, count - agreed) == (1, len(edited))
    for table, column, _ in edited:
        begins = f"tables/{table}.parquet: {column} of "
        assert any(line.startswith(begins) for line in lines), begins


def test_order_in_time_and_shares_among_the_best_are_computed_again(artifact: Path) -> None:
    verify = runpy.run_path(str(artifact / "verify.py"))
    rng = np.random.default_rng(1)
    setting = rng.permutation(np.repeat(np.arange(48), 3))
    gaps = rng.exponential(10.0, len(setting)) + np.where(np.arange(len(setting)) % 48 == 0, 500, 0)
    start, y = np.cumsum(gaps), rng.normal(np.sin(setting), 0.02)
    codes = np.stack([setting % 6, setting // 6], axis=1)
    trend, blocks = drift(y, start, setting), block_effects(y, blocks_in_time(start), setting)
    placed = run_order(start, codes, setting)
    names = ["itr_us", "dvfs_ghz"]
    columns = ["order", "runs", "settings", "change_pct", "p", "blocks", "block_p",
               "block_range_pct", "is_affected", "is_random", "runs_between"]  # fmt: skip
    rows = [
        {"start_unix_s": at, "replicate": None, "energy_j": float(np.exp(value)),
         **dict(zip(names, map(float, code), strict=True))}
        for at, value, code in zip(start, y, codes, strict=True)
    ]  # fmt: skip
    given = {"columns": columns, "settings": names, "knobs": names}
    found, agrees = verify["checked"](rows, "energy_j", given), verify["agrees"]
    assert trend is not None
    assert blocks is not None
    assert placed is not None
    expected = [
        "times", trend.runs, trend.settings, 100 * np.expm1(trend.change), trend.p, 3, blocks.p,
        100 * np.expm1(np.ptp(blocks.effects)), trend.is_shown or blocks.is_shown,
        placed.is_random, placed.runs_between,
    ]  # fmt: skip
    assert all(agrees(found[n], e, 1e-9, 0.0) for n, e in zip(columns, expected, strict=True))
    n, each = np.full(160, 3), np.arange(160)
    a, b = each % 8, each // 8
    mean, variance = rng.normal(2.0 * a + b, 1.0), np.full(160, 4e-4)
    estimates = Estimates(n, mean, variance / 3, n - 1.0, Prior(0.0, 0.0))
    local = importance(np.stack([a, b], axis=1), estimates, variance, 1, 0).local
    shares = verify["local_shares"]({"a": a.tolist(), "b": b.tolist()}, mean.tolist())
    assert [shares["a"], shares["b"]] == pytest.approx(local.tolist())
    assert 0 < shares["a"] < 1


def test_a_changed_outcome_is_found_in_the_map_and_in_its_counts(changed: Path) -> None:
    path = changed / "tables/modes-winners.parquet"
    rows = pl.read_parquet(path)
    turned = pl.when(pl.col("outcome") == "win").then(pl.lit("tie")).otherwise("outcome")
    rows.with_columns(turned.alias("outcome")).write_parquet(path)
    narrowed(changed, "modes-")
    status, lines = verified(changed)
    assert status == 1
    of_cells = [line for line in lines if line.endswith(": tie is given, the runs yield win")]
    assert len(of_cells) == rows["outcome"].to_list().count("win") > 0
    assert any(line.startswith("tables/modes-shares.parquet: cells of ") for line in lines)


def test_a_changed_claim_is_found_and_named(changed: Path) -> None:
    checks = narrowed(changed, "no table")
    expected = []
    for place, (name, value) in enumerate(
        {"low_pct": 1.5, "outcome": "equivalent", "n_subject": 99}.items(), start=3
    ):
        claim = checks["claims"]["list"][place]
        before = claim["numbers"][name]
        claim["numbers"][name] = value
        words = f"{before:.10g}" if isinstance(before, float) else str(before)
        expected.append(f"claim {claim['id']}: {name}: {value} is given, the runs yield {words}")
    (changed / "checks.json").write_text(json.dumps(checks))
    status, lines = verified(changed)
    agreed, count = numbers(lines[-1])
    assert (status, count - agreed) == (1, 3)
    assert set(expected) < set(lines)


def test_a_missing_file_and_a_changed_csv_are_named(changed: Path) -> None:
    (changed / "pages/modes.html").unlink()
    path = changed / "tables/explore-heatmap.csv"
    heading, first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([heading, f"{first}7", *rest]) + "\n")
    narrowed(changed, "explore-heatmap")
    status, lines = verified(changed)
    assert status == 1
    assert "pages/modes.html: missing" in lines
    assert any("explore-heatmap.parquet: n of " in line and "its CSV has" in line for line in lines)


@pytest.mark.parametrize("kept", [0, -1])
def test_rows_that_are_gone_or_twice_are_named(changed: Path, kept: int) -> None:
    """Parquet and CSV alike, and the sums made anew; a table may show but the best of the runs."""
    checks = narrowed(changed, "explore-")
    of = {check["file"]: check["left_out"] for check in checks["tables"]}
    once, best = "tables/explore-heatmap.parquet", "tables/explore-best-table.parquet"
    assert of[once] == 0 < of[best]
    for file in (once, best):
        table = pl.read_parquet(changed / file)
        rows = table.head(kept) if file == best or not kept else pl.concat([table, table.head(1)])
        rows.write_parquet(changed / file)
        lines = (changed / file).with_suffix(".csv").read_text().splitlines()
        again = [lines[0], *lines[1:][: len(rows)], *lines[1 : 1 + len(rows) - len(table)]]
        (changed / file).with_suffix(".csv").write_text("\n".join(again) + "\n")
    sums = changed / "SHA256SUMS"
    names = [line.split("  ", 1)[1] for line in sums.read_text().splitlines()]
    digests = [hashlib.sha256((changed / name).read_bytes()).hexdigest() for name in names]
    sums.write_text("".join(f"{d}  {n}\n" for d, n in zip(digests, names, strict=True)))
    status, lines = verified(changed)
    assert status == 1
    assert any(line.startswith(f"{best}: {of[best]} rows of the runs left out") for line in lines)
    said = "0 rows of the runs left out, now " if not kept else ": 2 rows"
    assert any(line.startswith(once) and said in line for line in lines)


def test_what_cannot_be_compared_or_read_is_a_fault(changed: Path) -> None:
    verify = runpy.run_path(str(changed / "verify.py"))
    assert not verify["agrees"](1.0, "x", 1e-9, 0.0)
    (changed / "SHA256SUMS").unlink()
    status, lines = verified(changed)
    assert (status, lines[-1]) == (1, "0 of 0 numbers agree")
    assert lines[0].startswith("cannot be verified: ")


def test_without_its_runs_nothing_is_said_to_agree(changed: Path) -> None:
    (changed / "data/runs.parquet").unlink()
    status, lines = verified(changed)
    assert status == 1
    assert lines[0] == "data/runs.parquet: missing"
    assert lines[-1] == "0 of 0 numbers agree"


def test_descriptions_list_all_files_and_units(artifact: Path) -> None:
    package = json.loads((artifact / "datapackage.json").read_text())
    scatter = next(r for r in package["resources"] if r["path"] == "tables/explore-scatter.csv")
    fields = {field["name"]: field for field in scatter["schema"]["fields"]}
    assert fields["energy_j"]["unit"] == "J"
    assert fields["latency_p99_us_sd"]["title"] == "p99 latency, standard deviation"
    assert fields["itr_us"]["unit"] == "us"
    graph = json.loads((artifact / "ro-crate-metadata.json").read_text())["@graph"]
    listed = {entity["@id"] for entity in graph}
    assert {"data/runs.parquet", "verify.py", "pages/explore.html", "LICENSE"} <= listed


@pytest.mark.slow
def test_it_is_a_valid_data_package_and_ro_crate_until_it_is_changed(
    changed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import requests_cache
    import rocrate
    from rocrate_validator import models, services

    limit = csv.field_size_limit()
    import frictionless  # which changes the limit for the whole process

    package = str(changed / "datapackage.json")
    report = frictionless.validate(package)
    assert report.valid, report.flatten(["type", "note"])
    cells = changed / "tables/explore-heatmap.csv"
    first, *others = cells.read_text().splitlines()
    cells.write_text("\n".join([first, *(line.rpartition(",")[0] + ",x" for line in others)]))
    report = frictionless.validate(package)
    csv.field_size_limit(limit)
    assert {"type-error", "hash-count"} <= {kind for (kind,) in report.flatten(["type"])}
    context = Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"

    def send(_: Any, request: requests.PreparedRequest, **__: Any) -> requests.Response:
        """Answer with the context that the library ships: there is no network."""
        response = requests.Response()
        response.status_code, response.url, response.request = 200, str(request.url), request
        response._content = context.read_bytes()
        response.headers["Content-Type"] = "application/ld+json"
        return response

    for session in (requests.Session, requests_cache.CachedSession):
        monkeypatch.setattr(session, "send", send)
    asked = services.ValidationSettings(
        rocrate_uri=str(changed), requirement_severity=models.Severity.REQUIRED
    )
    result = services.validate(asked)
    assert result.passed(), [issue.message for issue in result.get_issues()]
    crate = json.loads((changed / "ro-crate-metadata.json").read_text())
    crate["@graph"] = [entity for entity in crate["@graph"] if entity["@id"] != "./"]
    (changed / "ro-crate-metadata.json").write_text(json.dumps(crate))
    assert not services.validate(asked).passed()


def test_the_command_refuses_what_it_cannot_write(
    logged_lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    out, at = tmp_path / "study", ["--lake", str(logged_lake)]
    assert main([*at, "export", "--artifact", str(out), "--dataset", "nobody"]) == 1
    assert "has no dataset nobody" in capsys.readouterr().err
    (out / "mine").mkdir(parents=True)
    assert main([*at, "export", "--artifact", str(out)]) == 1
    assert "is there already" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*at, "export"])
    assert [path.name for path in tmp_path.rglob("*")] == ["study", "mine"]


@pytest.mark.slow
@pytest.mark.real
def test_the_published_logs_verify_themselves(tmp_path: Path) -> None:
    """Bins have whole steps of the energy counter; the only ITR of a system is both ends."""
    lake, study = tmp_path / "lake", tmp_path / "study"
    add(AddOptions(lake, [real_data() / "netpipe"], workers=1))
    write_artifact(Lakes(lake), [p for p in PAGES if p.name in ("explore", "timeline")], study)
    status, lines = verified(study)
    agreed, count = numbers(lines[-1])
    assert (status, len(lines), agreed) == (0, 1, count)
    checks = json.loads((study / "checks.json").read_text())["tables"]
    (bins,) = (check for check in checks if check["file"] == "tables/timeline-bins.parquet")
    assert {"power_mean", "ipc_mean", "busy_mean"} <= {*bins["values"]}
    ends = pl.read_parquet(study / "tables/explore-lines.parquet")["end"]
    assert set(ends) == {"least and most"}


@pytest.mark.slow
@pytest.mark.real
def test_the_published_tables_verify_themselves(
    published_lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    out = tmp_path / "study"
    assert main(["--lake", str(published_lake), "export", "--artifact", str(out)]) == 0
    said = capsys.readouterr()
    assert "give one with --license FILE" in said.err
    status, lines = verified(out)
    agreed, count = numbers(lines[-1])
    assert (status, agreed) == (0, count)
    assert f"computes {count:,} numbers again" in said.out
    assert len(list((out / "pages").glob("*.html"))) > 4
