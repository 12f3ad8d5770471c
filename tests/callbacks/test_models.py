"""What the routes and files of Models hold, on a real ingest of a tiny sample."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from flask.testing import FlaskClient

from app.kit.settings import Settings
from app.models.page import PAGE
from app.models.state import FITS, ModelsState
from app.server import create_app
from data.connection import open_lake
from data.models import SCHEMES
from tests.fixtures.exports import data_of


@pytest.fixture(scope="module")
def client(logged_lake: Path) -> FlaskClient:
    return create_app(Settings(logged_lake)).server.test_client()


def ask(client: FlaskClient, path: str, **query: Any) -> dict[str, Any]:
    answer = client.get(f"/models/{path}", query_string={"v": 1, **query})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = json.loads(answer.data)
    return found


def table(client: FlaskClient, view: str, **query: Any) -> pl.DataFrame:
    answer = client.get(f"/models/data/{view}.parquet", query_string={"v": 1, **query})
    assert answer.status_code == 200, answer.text
    return pl.read_parquet(io.BytesIO(answer.data))


def test_only_the_first_tab_has_a_first_picture(client: FlaskClient) -> None:
    found = {
        tab: client.get("/models/opening", query_string={"v": 1, "tab": tab}).status_code
        for tab in ("interrupts", "energy", "fit", "traffic")
    }
    assert found == {"interrupts": 200, "energy": 204, "fit": 204, "traffic": 204}
    assert len(client.get("/models/opening?v=1").data) < 300_000


def test_runs_are_in_the_units_of_a_queue(client: FlaskClient, logged_lake: Path) -> None:
    found = ask(client, "runs", workload="memcached")
    drawn = pl.DataFrame(found["points"])
    with open_lake(logged_lake) as lake:
        runs = lake.sql(
            "SELECT rx_desc / duration_s / 16 / 1000 AS lam, "
            "interrupts / duration_s / 16 AS rate FROM runs WHERE workload = 'memcached' "
            "AND duration_s > 0 AND (ref_cycles IS NOT NULL OR interrupts IS NOT NULL)"
        ).pl()
    assert found["runs"] == len(runs) == drawn["n"].sum()
    # The means over all runs agree, as each point is weighted by its replicates.
    for name, column in (("lam_kpps", "lam"), ("interrupts_per_s", "rate")):
        logged = drawn.filter(pl.col(name).is_not_null())
        mean = np.average(logged[name].to_numpy(), weights=logged["n"].to_numpy())
        assert mean == pytest.approx(runs[column].to_numpy().mean(), rel=0.02)
    assert set(drawn["group"]) == set(found["styles"])


def test_a_panel_as_a_file_holds_all_that_it_draws(client: FlaskClient) -> None:
    query = {"workload": "memcached", "scheme": "ideal,normal", "p": "interrupt_us:2"}
    found = table(client, "throughput", **query)
    # Published values are of the published costs.
    assert set(found["kind"]) == {"paper", "exact", "measured"}
    assert "published" in table(client, "throughput")["kind"].to_list()
    line = found.filter(pl.col("kind") == "exact", pl.col("curve") == "normal interruption")
    wanted = SCHEMES["normal"].solve("exact", line["rate_kpps"].to_list(), interrupt_us=2)
    assert line["value"].to_list() == pytest.approx(wanted.throughput_kpps.tolist())
    cpu = table(client, "cpu", **query).filter(pl.col("kind") == "measured")
    assert cpu["predicted"].null_count() < len(cpu)
    # Percentiles come from simulations alone.
    p99 = table(client, "latency", latency="p99", **query)
    assert set(p99["kind"]) == {"measured"}
    assert set(table(client, "loss", **query)["kind"]) == {"paper", "exact"}


def test_bursty_traffic_has_no_formulas(client: FlaskClient) -> None:
    for view in ("throughput", "stack", "best"):
        found = table(client, view, fig="10", runs=0)
        assert not {"paper", "exact"} & set(found["kind"].to_list())
    # 1/r at the left end of its slider: the exact chain of counts refuses it, the rest is there.
    found = table(client, "cpu", p="interrupt_us:0", scheme="ideal,count_coalescing", runs=0)
    assert set(found.filter(pl.col("curve") == "coalescing by count")["kind"]) == {"paper"}


def test_the_crosshair_and_the_traffic_as_files(client: FlaskClient) -> None:
    query = {"scheme": "normal,hybrid", "at": 40, "runs": 0}
    found = table(client, "crosshair", **query)
    assert found.select("curve", "kind").rows() == [
        ("normal interruption", "paper"), ("normal interruption", "exact"),
        ("hybrid (proposed)", "paper"),
    ]  # fmt: skip
    wanted = SCHEMES["normal"].solve("exact", [40])
    for name in ("cpu_left", "latency_mean_us", "loss_share"):
        assert found[name][1] == pytest.approx(getattr(wanted, name)[0])
    printed = table(client, "table1")
    assert printed.select("load", "mean_ms", "half_width_ms").row(5) == (0.6, 6.192, 0.934)
    assert len(printed) == 8
    assert printed["simulated_ms"].null_count() == 8
    sizes = table(client, "sizes")
    assert (sizes["size_bytes"] * sizes["share"]).sum() == pytest.approx(557)
    own = table(client, "sizes", sizes="1518:1,64:3").rows()
    assert own == [(64, 0.75, 0.75), (1518, 0.25, 1)]
    assert set(table(client, "sources", at=100)["source"]) <= set(range(1, 9))


def test_runs_in_the_plane_of_latency_and_power(client: FlaskClient) -> None:
    query = {"workload": "memcached", "tab": "energy"}
    found = table(client, "plane", **query)
    assert len(found) > 10
    assert (found["power_w"] > 0).all()
    held = ask(client, "fits", **query)["plane"]
    drawn = found.drop_nulls(["latency_model_us", "power_model_w"])
    assert held["power_model_w"] == drawn["power_model_w"].to_list()
    # By group and load the model has the median latency of its configurations.
    fitted = found.drop_nulls("latency_model_us")
    off = fitted.group_by("group", "load_qps").agg(
        (pl.col("latency_us") - pl.col("latency_model_us")).median()
    )
    assert off["latency_us"].to_list() == pytest.approx([0] * len(off), abs=1e-9)


def test_a_selection_of_explore_chooses_the_runs(client: FlaskClient) -> None:
    query = {"workload": "memcached", "sel": 'knobs~{"system":"linux_tuned"}'}
    assert (
        0 < ask(client, "runs", **query)["runs"] < ask(client, "runs", workload="memcached")["runs"]
    )
    assert set(table(client, "runs", **query)["system"].to_list()) == {"linux_tuned"}
    assert set(table(client, "fits", **query)["system"].to_list()) == {"linux_tuned"}


def test_fits_by_group_and_load(client: FlaskClient) -> None:
    found = ask(client, "fits", workload="memcached")
    rows = found["table"]
    alphas = {row["group"] for row in rows if row["quantity"] == "alpha"}
    assert alphas
    assert alphas <= set(found["styles"])
    for row in rows:
        assert row["note"] or row["identified"] is True, row
    drawn = table(client, "predicted", workload="memcached")
    assert set(drawn["fit"]) == set(FITS)
    residual = drawn["measured"] / drawn["predicted"] - 1
    assert drawn["residual"].to_list() == pytest.approx(residual.to_list())
    file = table(client, "fits", workload="memcached")
    assert len(file) == len(rows)
    assert {"group", "system", "machine", "low", "high", "condition"} <= set(file.columns)


@pytest.mark.slow
def test_a_simulation_arrives_in_parts_and_is_in_files_and_exports(client: FlaskClient) -> None:
    query = {"scheme": "ideal", "to": 40, "runs": 0, "sim": 1, "workload": "memcached"}
    asked = {"v": 1, "visitor": "ann", **query}
    assert ask(client, "simulate", **asked)["state"] == "cancelled"
    answer = json.loads(client.post("/models/simulate", query_string=asked).data)
    while answer["state"] in ("waiting", "running"):
        answer = ask(client, "simulate", **asked)
    assert answer["state"] == "done", answer["words"]
    assert ask(client, "simulate", visitor="bob", have=1, **query)["results"] == []
    found = table(client, "latency", **query).filter(pl.col("kind") == "simulated")
    assert len(found) == 18
    # The strip compares schemes that can be chosen; p99 has simulations alone.
    assert len(table(client, "best", **query)) == 0
    assert "simulated" in table(client, "stack", **query)["kind"].to_list()
    assert found["half_width"].null_count() == 0
    assert "simulated" in client.get("/models/how/latency", query_string={"v": 1, **query}).text
    export = client.get("/models/export.html", query_string={"v": 1, **query})
    held = data_of(export.text)
    # The keys 1 to 4 choose tabs by their order.
    assert list(held["spec"]["tabs"]) == ["interrupts", "energy", "fit", "traffic"]
    assert len(held["simulated"]["results"]) == 1
    assert held["kept"]["scheme"] == "ideal"
    cancelled = client.post("/models/cancel", query_string={"job": answer["job"], "visitor": "ann"})
    assert cancelled.status_code == 200


def test_impossible_counters_are_left_out_and_said(client: FlaskClient) -> None:
    # One core cannot have been awake for as long as sixteen.
    query = {"workload": "memcached", "cores": 1, "load": 600000}
    found = ask(client, "runs", **query)
    drawn = pl.DataFrame(found["points"])
    assert "more reference cycles than their cores can count" in found["words"]
    assert (drawn["busy_share"].drop_nulls() <= 1.02).all()
    assert drawn["busy_share"].null_count() > 0
    assert "left out" in " ".join(ask(client, "fits", **query)["notes"])


def test_a_bad_request_is_said(client: FlaskClient) -> None:
    answer = client.get("/models/runs?v=1&p=ring:0")
    assert answer.status_code == 400
    assert "ring" in json.loads(answer.data)["error"]


def test_an_empty_lake_has_curves(tmp_path: Path) -> None:
    client = create_app(Settings(tmp_path / "none")).server.test_client()
    assert ask(client, "runs")["words"]
    assert ask(client, "fits")["notes"]
    assert len(table(client, "throughput")) > 100
    assert PAGE.state is ModelsState
