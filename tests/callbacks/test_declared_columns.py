"""Columns that a dataset declares: on the pages wherever shipped ones may be, and said if gone."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dash_mantine_components as dmc
import polars as pl
import pytest
from flask import Flask

from app.explore.defaults import default_state
from app.explore.state import ExploreState
from app.explore.views import best_table, picture
from app.kit.context import lake_view
from app.kit.ids import NOTICE
from app.kit.page import Page
from app.modes.answer import answer
from app.modes.opening import default_state as default_modes
from app.modes.state import ModesState
from app.modes.tables import rows_behind
from app.pages import PAGES
from app.serve.index import open_layout
from data.catalogue import SHIPPED
from ingest.pipeline import AddOptions, add
from tests.callbacks.components import flask_of, texts, walk
from tests.fixtures.declared import declared_columns
from tests.fixtures.ingest import add_status
from tests.fixtures.lakes import run, write_lake

SETTINGS = f"""{declared_columns("own")}
[columns.score]
title = "Score"
better = "more"

[columns.temperature]
title = "Temperature"
unit = "C"

[[tables]]
pattern = 'sweep[.]csv'
workload = "memcached"
system = "linux"
"""
MACHINES = ("c220g1", "c220g5", "sm220u")
# Every place of a link that takes a column: filters, axes, roles, heatmap, cost, limit, selection.
EXPLORE = (
    "v=2&dataset=own&workload=memcached&c_ring_bytes=4096&x=wakeups&y=temperature&col=c_kernel"
    "&size=c_ring_bytes&sym=machine&hx=c_kernel&hy=machine&hmet=temperature&cost=score&by=wakeups"
    "&sel=knobs~%7B%22kernel%22%3A%226.1%22%7D"
)
MODES = "v=2&dataset=own&workload=memcached&x=c_kernel&y=c_ring_bytes&who=machine&metric={}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """Three machines, two kernels, two ring sizes, three replicates.

    Energy is 100 J a machine and its number, wake-ups 1,000 a second, the score 50 and the
    temperature 40 C and its number, each and the replicate's number.
    """
    folder = tmp_path_factory.mktemp("own")
    lines = [
        "machine,kernel,ring_bytes,replicate,energy_j,latency_p99_us,wakeups,score,temperature"
    ]
    lines += [
        f"{machine},{kernel},{ring},{r},{100 * n + r},{80 + n + r},{1000 * n + r},{50 + n + r / 9},"
        f"{40 + 2 * n + r / 9}"
        for n, machine in enumerate(MACHINES, 1)
        for kernel in ("5.15", "6.1")
        for ring in (4096, 65536)
        for r in range(3)
    ]
    (folder / "sweep.csv").write_text("\n".join(lines) + "\n")
    (folder / "wattlas.toml").write_text(SETTINGS)
    assert add(AddOptions(folder / "lake", (folder / "sweep.csv",), workers=1)).added == 36
    return flask_of(folder / "lake")


@pytest.fixture
def inside(server: Flask) -> Iterator[None]:
    with server.app_context():
        yield


@pytest.mark.usefixtures("inside")
def test_explore_opens_with_the_machines_and_names_only_what_varies() -> None:
    view = lake_view(None)
    state = default_state(view)
    assert (state.symbol, state.colour, state.size) == ("machine", "c_kernel", "c_ring_bytes")
    found = picture("scatter", view, state)
    legend = [t["name"] for t in found["figure"]["data"] if t["meta"]["kind"] == "legend"]
    assert legend[:5] == [*MACHINES, "5.15", "6.1"]
    assert not any("ITR" in name or "governor" in name for name in legend)
    assert found["columns"]
    named = {one["title"]: one["words"] for one in found["columns"]["named"]}
    assert named == {
        "machine": list(MACHINES), "kernel": ["kernel 5.15", "kernel 6.1"],
        "ring": ["ring 4 KiB", "ring 64 KiB"],
    }  # fmt: skip
    page = open_layout(PAGES[0], {})
    facets = {getattr(part, "data-facet", None): part for part in walk(page)}
    shown = {name for name, part in facets.items() if name and not part.hidden}
    assert shown == {"dataset", "workload", "machine", "c_kernel", "c_ring_bytes"}


@pytest.mark.usefixtures("inside")
def test_explore_takes_them_wherever_a_link_names_a_column() -> None:
    view = lake_view(None)
    state = ExploreState.from_query(EXPLORE, view.catalogue)
    figure = picture("scatter", view, state)["figure"]
    assert figure["layout"]["xaxis"]["title"]["text"] == "Wake-ups, 1/s (less is better)"
    assert figure["layout"]["yaxis"]["title"]["text"] == "Temperature, C"
    assert picture("heatmap", view, state)["figure"]["layout"]["meta"]["map"]["knobs"] == [
        "kernel",
        "machine",
    ]
    # The score is 53.1 at the machine with most of it, whose wake-ups are 3,001 a second.
    best = best_table(view, state).sort("cost").to_dicts()[-1]
    assert (best["machine"], best["limited"]) == ("sm220u", pytest.approx(3001.0, rel=1e-3))
    assert best["cost"] == pytest.approx(53 + 1 / 9, rel=1e-3)
    assert ExploreState.from_query(state.to_query(), view.catalogue) == state


@pytest.mark.parametrize("page", PAGES[:2], ids=lambda page: page.name)
def test_downloads_explanations_and_exports_have_them(server: Flask, page: Page) -> None:
    client = server.test_client()
    query = EXPLORE if page.name == "explore" else MODES.format("wakeups")
    for view in page.views:
        text = client.get(f"/{page.name}/data/{view.name}.csv?{query}").text
        rows = pl.read_csv(io.StringIO(text))
        assert len(rows) > 0, view.name
        how = client.get(f"/{page.name}/how/{view.name}?{query}")
        assert how.status_code == 200
        # Lines have metrics of their own.
        own = ["energy_j"] if view.name == "lines" else ["wakeups", "temperature", "SELECT *"]
        assert any(name in how.text for name in own)
    runs = pl.read_csv(io.StringIO(client.get(f"/{page.name}/data/runs.csv?{query}").text))
    assert {"kernel", "ring_bytes", "wakeups", "score", "temperature"} <= set(runs.columns)
    assert client.get(f"/{page.name}/export.html?{query}").status_code == 200


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize(
    ("metric", "status", "best"),
    [
        ("wakeups", "4 cells: 4 won", "c220g1"),
        ("score", "4 cells: 4 won", "sm220u"),
        ("temperature", "4 cells: 4 differ", "sm220u"),
    ],
)
def test_modes_has_a_winner_only_where_there_is_a_direction(
    metric: str, status: str, best: str
) -> None:
    view = lake_view(None)
    found = answer(view, ModesState.from_query(MODES.format(metric), view.catalogue))
    assert found.status == f"36 of 36 runs · {status}"
    assert found.cells
    assert found.cells["metric"]["better"] == {"wakeups": "less", "score": "more"}.get(metric)
    names = [t["name"] for t in found.winners["data"] if t["meta"]["kind"] == "legend"]
    bars = [t["name"] for t in found.shares["data"]]
    if metric == "temperature":
        assert bars == ["differ"]
        assert not set(names) & set(MACHINES)
        title = "Temperature by machine (neither less nor more is better), memcached"
    else:
        assert (bars[0], names[-1]) == (best, "fuller: larger lead")
        assert [name.partition(":")[0] for name in names[:-1]] == list(MACHINES)
        title = f"({found.cells['metric']['better']} is better): best machine, memcached"
    assert title in found.winners["layout"]["title"]["text"]


@pytest.mark.usefixtures("inside")
def test_modes_opens_with_machines_as_competitors() -> None:
    state = default_modes(lake_view(None))
    assert (state.competitor, {state.x, state.y}) == ("machine", {"c_kernel", "c_ring_bytes"})


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """An app on a lake whose datasets declare nothing."""
    lake = tmp_path_factory.mktemp("plain") / "lake"
    return flask_of(write_lake(lake, [run(), run(replicate=1)]))


# SQL filters and selects by its query.
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.state.filters(SHIPPED)], ids=lambda page: page.name
)
@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"c_kernel": "6.1"}, "no declared column 'kernel'"),
        ({"sel": 'knobs~{"kernel":"6.1"}'}, "no knob has the column 'kernel'"),
    ],
)
def test_a_column_that_the_lake_lacks_is_said(
    plain: Flask, page: Page, link: dict[str, str], words: str
) -> None:
    """An old link, followed on a lake that never had the column: the page says so."""
    with plain.app_context():
        main = open_layout(page, {"v": str(page.state.VERSION), **link}, PAGES)
        (notice,) = (p for p in walk(main) if getattr(p, "id", None) == NOTICE)
        said = " ".join(texts(notice))
    assert said.startswith("This link could not be followed: ")
    assert words in said
    assert page.name in main.className.split()
    query = "&".join(f"{key}={value}" for key, value in link.items())
    answer = plain.test_client().get(f"/{page.name}/data/{page.views[0].name}.csv?{query}")
    assert (answer.status_code, words in answer.text) == (400, True)


@pytest.mark.parametrize(
    ("page", "part", "words"),
    [
        ("explore", "x=wakeups", "no such column to plot: 'wakeups'"),
        ("explore", "hx=c_kernel", "no such knob: 'c_kernel'"),
        ("modes", "who=c_kernel", "competitor is 'c_kernel'"),
        ("modes", "metric=wakeups", "no such metric to compare: 'wakeups'"),
    ],
)
def test_an_axis_that_the_lake_lacks_is_said(
    plain: Flask, page: str, part: str, words: str
) -> None:
    found = plain.test_client().get(f"/{page}/data/runs.csv?v=2&{part}")
    assert (found.status_code, words in found.text) == (400, True)


@pytest.mark.parametrize("is_declared", [False, True])
def test_columns_called_as_words_of_the_pages_are_offered_once(
    tmp_path: Path, is_declared: bool
) -> None:
    """A lake of an earlier version has them under these names, as one that declares them."""
    words = ("performance", "share", "members", "is_default")
    lines = [f"none,mode,error,{','.join(words)},value,energy_j"]
    lines += [
        f"{a},{b},e{n // 2},{7 * a + 1.37 * n:.3f},{5 * a - 0.71 * n:.3f},{3 * a + 0.53 * n:.3f},"
        f"{8 * a - 0.47 * n:.3f},{n}.5,{100 * a + 3 * n}.5"
        for a in (1, 2) for n, b in enumerate(("poll", "hybrid") * 3)
    ]  # fmt: skip
    (tmp_path / "sweep.csv").write_text("\n".join(lines) + "\n")
    if is_declared:
        settings = "".join(f"[columns.{word}]\n" for word in words)
        settings += "[[tables]]\npattern = 'sweep[.]csv'\n"
        (tmp_path / "wattlas.toml").write_text(
            f"[dataset]\nname = 'own'\n{settings}workload = 'job'\nsystem = 'linux'\n"
        )
    assert add_status(tmp_path / "lake", tmp_path) == 0
    with flask_of(tmp_path / "lake").app_context():
        view = lake_view(None)
        own = {column.name for column in view.catalogue.columns if column.role == "metric"}
        assert own > {word if is_declared else f"{word}_real" for word in words}
        for page in PAGES:
            if not is_declared and page.name in ("lake", "models"):
                for one in page.views:
                    assert page.rows(view, page.default_state(view), one.name) is not None
            for part in walk(open_layout(page, {})):
                if isinstance(part, (dmc.Select, dmc.MultiSelect)):
                    listed = [i for e in part.data or () for i in e.get("items", [e])]
                    offered = [entry["value"] for entry in listed]
                    assert len(set(offered)) == len(offered), (page.name, part.id)
        shown = default_modes(view)
        assert answer(view, shown).cells
        for name in own:
            for table in ("winners", "pareto"):
                assert len(rows_behind(view, replace(shown, metric=name), table))
