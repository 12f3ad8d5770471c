"""Storage through the app: layout, callbacks, downloads, what is wrong with a request."""

import io
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from dash import html
from flask import Flask
from flask.testing import FlaskClient

from app.kit.settings import Settings
from app.serve.index import open_layout
from app.server import create_app
from app.storage.page import PAGE, update_claims, update_filters, update_views
from app.storage.views import SECTIONS, VIEWS
from tests.callbacks.components import by_id, flask_of, html_texts, texts, walk
from tests.fixtures.lakes import write_lake
from tests.fixtures.storage_rows import fio, study_lake


# The app context in which callbacks find the lake stays for the whole module.
@pytest.fixture(scope="module", autouse=True)
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    path = study_lake(tmp_path_factory.mktemp("study") / "lake")
    write_lake(path, [fio(depth=16, replicate=9)])
    server = flask_of(path)
    with server.app_context():
        yield server


@pytest.fixture
def client(study: Flask) -> FlaskClient:
    return study.test_client()


def layout(**parts: str | list[str]) -> html.Main:
    return open_layout(PAGE, parts)


def csv(answer: bytes) -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(answer))


def test_the_page_has_a_panel_for_every_view_and_a_tab_for_every_section() -> None:
    page = layout()
    panels = [p.to_plotly_json()["props"].get("data-view") for p in walk(page)
              if "storage-panel" in str(getattr(p, "className", ""))]  # fmt: skip
    assert [name for name in panels if name] == [view.graph for view in VIEWS]
    for section, title in SECTIONS.items():
        assert by_id(page, f"storage-section-{section}")
        assert title in texts(page)


def test_the_page_stands_where_its_link_says() -> None:
    page = layout(v="2", device=["optane"], at="optane", access="randwrite", size="65536",
                  err="sd", use="iops", sel='knobs~{"mode":"poll"}')  # fmt: skip
    assert by_id(page, "storage-access").value == "randwrite"
    assert by_id(page, "storage-size").value == "65536"
    assert by_id(page, "storage-err").value == "sd"
    assert by_id(page, {"page": "storage", "facet": "device", "part": "chips"}).value == ["optane"]
    assert by_id(page, "storage-browser").data["kept"] == {"sel": 'knobs~{"mode":"poll"}'}
    assert by_id(page, "notice").children == ""


def test_a_change_gives_figures_tables_legend_and_menus() -> None:
    pictures, published, legend, placed, status = update_views(
        {"dataset": ["lab"], "device": ["disk"], "at": "optane", "access": None, "size": None,
         "err": "ci", "lake": None},
        1,
    )  # fmt: skip
    assert set(pictures) == {view.name for view in VIEWS}
    assert status == "4 of 77 storage runs in 2 configurations"
    assert pictures["iops"]["columns"]["knobs"]["device"]["values"] == ["disk"]
    assert placed["values"] == {"at": "disk", "access": "randread", "size": "4096"}
    assert placed["choices"]["at"] == [{"value": "disk", "label": "disk"}]
    assert [entry for entry in texts(legend) if entry.strip()] == [
        "●", " interrupt", "☆ published",
    ]  # fmt: skip
    said = html_texts(published["published"])
    assert "HotStorage '20, table 1" in said
    assert "\N{EN DASH} not measured" in said
    assert not any("not here" in words for words in said)


def test_published_values_are_compared_with_the_measured() -> None:
    published = update_views({"dataset": ["lab"], "err": "sd"}, 0)[1]
    said = html_texts(published["published"])
    at = said.index("classic polling, 1 thread: optane")
    # 8.0 and 8.2 us against 8.1
    assert said[at + 1 : at + 4] == ["8.10 us", "8.10 us ± 0.141 us, n = 2", "+0 %"]
    at = said.index("Optane SSD: optane")
    assert said[at + 1 : at + 4] == ["34.0 W", "35.0 W ± 1.41 W, n = 2", "+2.94 %"]
    assert "Measured here, mean ± sd" in said


def test_names_of_the_lake_are_text_in_tables_and_claims(tmp_path: Path) -> None:
    rows = [fio(device="<img src=x onerror=alert(1)>", mode=mode) for mode in ("interrupt", "poll")]
    server = create_app(Settings(write_lake(tmp_path / "lake", rows))).server
    with server.app_context():
        for text in (update_views({}, 0)[1]["published"], "".join(update_claims({}, 0).values())):
            assert "<img" not in text
            assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_filters_offer_what_the_others_leave() -> None:
    facets = update_filters({}, {"dataset": ["lab"], "device": ["disk"]}, 1)[0]["facets"]
    depths = {value: is_empty for value, _, _, is_empty in facets["depth"]["chips"]}
    assert depths == {"1": False, "2": False}
    assert facets["device"]["note"] == "1 of 2 · 4 runs"


def test_rows_carry_means_deviations_and_n_under_their_columns(client: FlaskClient) -> None:
    answer = client.get("/storage/data/power-cpu.csv?v=1&device=optane&mode=poll&lake=0")
    rows = csv(answer.data)
    assert rows["io_depth"].to_list() == [1, 2, 8]
    assert rows["cpu_pct"].to_list() == pytest.approx([100, 200, 800])
    assert rows["power_w"].to_list() == [45, 50, 80]
    assert rows["power_w_n"].to_list() == [2, 2, 2]
    difference = csv(client.get("/storage/data/difference.csv?v=1&lake=0").data)
    assert difference["power_w_write_minus_read"].to_list() == pytest.approx([2.0] * 6)


def test_all_runs_behind_the_page(client: FlaskClient) -> None:
    assert len(csv(client.get("/storage/data/runs.csv?v=1&device=disk").data)) == 4
    assert len(csv(client.get("/storage/data/runs.csv?v=1").data)) == 77
    words = client.get("/storage/how/published?v=1").text
    assert "device_pattern" in words


def test_published_values_beside_the_measured_are_numbers(client: FlaskClient) -> None:
    rows = csv(client.get("/storage/data/published.csv?v=1&lake=0").data)
    alone = rows.filter(pl.col("of") == "classic polling, 1 thread: optane").to_dicts()
    # 8.0 and 8.2 us against 8.1
    assert alone == [
        {"table": "hotstorage22_performance", "source": "HotStorage '22, table 1",
         "of": "classic polling, 1 thread: optane", "mode": "poll",
         "metric": "latency_mean_us", "unit": "us", "published": 8.1,
         "measured": pytest.approx(8.1), "n": 2},
    ]  # fmt: skip
    unmeasured = rows.filter(pl.col("of") == "magnetic disk")
    assert unmeasured["published"].to_list() == [39]
    assert unmeasured["measured"].to_list() == [None]
    assert unmeasured["n"].to_list() == [0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/how/storage/iops?v=1&device=a%20b", "/storage/how/iops?v=1&device=a%20b"),
        ("/how/storage/storage-iops?v=1", "/storage/how/iops?v=1"),
        ("/storage/data/storage-iops.parquet?v=1", "/storage/data/iops.parquet?v=1"),
    ],
)
def test_addresses_of_earlier_versions_lead_to_the_present_ones(
    client: FlaskClient, old: str, new: str
) -> None:
    answer = client.get(old)
    assert answer.status_code == 301
    assert answer.headers["Location"] == new


def test_a_lake_that_holds_nothing(empty_server: Flask) -> None:
    with empty_server.app_context():
        assert any(text.startswith("The lake holds no runs yet.") for text in texts(layout()))
        pictures, *_ = update_views({}, -1)
    assert pictures["iops"]["columns"] is None
    assert "The lake holds no runs yet" in str(pictures["iops"]["figure"]["layout"]["annotations"])
