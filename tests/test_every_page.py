"""What every page owes, over PAGES: a page that is added to the list is tested by it."""

import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from html import unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

import orjson
import polars as pl
import pytest
from dash import Dash, dcc, html, page_registry
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from app.explore.state import ExploreState
from app.explore.views import picture as explore_picture
from app.kit.columns import encode_view
from app.kit.context import lake_view
from app.kit.ids import IGNORED, NOTICE, PageIds
from app.kit.page import Page
from app.kit.settings import ASSETS, Settings
from app.pages import PAGES
from app.serve.index import open_layout
from app.server import create_app
from data.catalogue import SHIPPED
from data.errors import SelectionError
from data.selection import Selection
from tests.callbacks.components import by_id, texts, walk
from tests.fixtures.exports import part_of
from tests.fixtures.lakes import run, runs_from_text, write_lake
from tests.fixtures.papers import FORMS, check_files

ROOT: Final = Path(__file__).resolve().parents[1]
VIEWS: Final = [(page, view.name) for page in PAGES for view in page.views]
BAD_LINKS: Final = (
    {"v": "99"},
    {"v": "zwei"},
    {"sel": "circle~1~2"},
    {"lake": "77"},
    {"lake": "newest"},
    {"load": "fast"},
)
# Lakes as text; what a page says that has none of their measurements, and which pages it links to.
LAKES_WITHOUT: Final = {
    "a second measurement": (
        "system      replicate latency_p99_us performance_metric\n"
        "linux_tuned 0         -              duration_s\n"
        "ebbrt_tuned 0         -              duration_s",
        {"duration_s": None},
        {
            "explore": "energy or power beside latency or time would make it useful",
            "timeline": "the raw logs of the runs would make it useful",
            "distributions": "the raw logs of the runs would make it useful",
            "storage": "results of fio would make it useful",
        },
        ["Modes"],
    ),
    "a second setting": (
        "system      replicate\nlinux_tuned 0\nlinux_tuned 1",
        {},
        {
            "modes": "runs with a second one would make it useful",
            "timeline": "the raw logs of the runs would make it useful",
            "distributions": "the raw logs of the runs would make it useful",
            "storage": "results of fio would make it useful",
        },
        ["Explore"],
    ),
    "any measurement": (
        "system      replicate latency_p99_us\nlinux_tuned 0 -\nebbrt_tuned 0 -",
        {"energy_j": None, "duration_s": None},
        {
            "explore": "energy or power beside latency or time would make it useful",
            "modes": "energy, power, latency or time would make it useful",
            "timeline": "the raw logs of the runs would make it useful",
            "distributions": "the raw logs of the runs would make it useful",
            "storage": "results of fio would make it useful",
        },
        [],
    ),
}
SCREEN_LINES: Final = 60
MOST_EXPORT_BYTES: Final = 1_300_000

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
every_view = pytest.mark.parametrize(
    ("page", "view"), VIEWS, ids=lambda part: part if isinstance(part, str) else part.name
)


def server_of(app: Dash) -> Flask:
    assert isinstance(app.server, Flask)
    return app.server


@pytest.fixture(scope="module")
def app(logged_lake: Path) -> Dash:
    """The app on the sample lake, of which every page has something to show."""
    return create_app(Settings(lake=logged_lake))


@pytest.fixture(scope="module")
def sample(app: Dash) -> Flask:
    """Its server."""
    return server_of(app)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """An app on a lake that holds nothing yet."""
    return server_of(create_app(Settings(lake=tmp_path_factory.mktemp("empty") / "lake")))


@pytest.fixture(scope="module")
def unreadable(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """An app on a lake whose log is damaged."""
    lake = write_lake(tmp_path_factory.mktemp("unreadable") / "lake", [run()])
    for commit in (lake / "runs" / "_delta_log").glob("*.json"):
        commit.write_text("{")
    return server_of(create_app(Settings(lake=lake)))


def opened(
    server: Flask, page: Page, link: Mapping[str, str | list[str]] | None = None
) -> html.Main:
    with server.app_context():
        return open_layout(page, link or {})


def notice(main: html.Main) -> str:
    return " ".join(texts(by_id(main, NOTICE)))


def default_query(server: Flask, page: Page) -> str:
    """The link to what a visitor without a link sees."""
    with server.app_context():
        query: str = page.default_state(lake_view(None)).to_query()
    return query


def words_of(client: FlaskClient, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, f"{address}: {answer.status_code} {answer.text[:300]}"
    return answer.text


@every_page
def test_it_opens_with_ids_keys_and_a_link_of_its_own(sample: Flask, page: Page) -> None:
    main = opened(sample, page)
    assert page.name in main.className.split()
    assert notice(main) == ""
    found = [c.id for c in walk(main) if isinstance(getattr(c, "id", None), str)]
    assert len(set(found)) == len(found)
    # A link of nothing but unknown names opens the same.
    store = PageIds(page.name).browser
    tagged = opened(sample, page, {"utm_source": "slack"})
    assert by_id(tagged, store).data == by_id(main, store).data
    # The keys are listed.
    answer = sample.test_client().get(page.path)
    assert answer.status_code == 200
    said = unescape(answer.text.partition('<dialog id="help">')[2])
    assert page.keys
    for key, what in page.keys:
        assert f"<tr><th>{key}</th><td>{what}</td></tr>" in said
    # The default state is a link.
    query = default_query(sample, page)
    assert page.state.from_query(query, SHIPPED).to_query() == query
    assert json.loads(json.dumps(page.state.spec(SHIPPED)))
    names = [view.name for view in page.views]
    assert len(set(names)) == len(names) > 0
    assert all(view.title for view in page.views)


@every_page
def test_it_opens_on_an_empty_lake(empty: Flask, page: Page) -> None:
    assert page.name in opened(empty, page).className.split()
    client = empty.test_client()
    for view in page.views:
        answer = client.get(f"/{page.name}/data/{view.name}.csv?{default_query(empty, page)}")
        assert answer.status_code in (200, 400), answer.text
        assert answer.text


@pytest.mark.parametrize("lacks", LAKES_WITHOUT)
def test_a_page_without_its_measurement_names_it_and_the_pages_that_have_theirs(
    tmp_path: Path, lacks: str
) -> None:
    text, values, says, able = LAKES_WITHOUT[lacks]
    rows = [{**row, **values} for row in runs_from_text(text)]
    server = server_of(create_app(Settings(lake=write_lake(tmp_path / "lake", rows))))
    for page in PAGES:
        with server.app_context():
            main = open_layout(page, {}, PAGES)
        said = [text for text in texts(main) if text.endswith("would make it useful.")]
        links = [part.children for part in walk(main) if isinstance(part, dcc.Link)]
        if page.name in says:
            (sentence,) = said
            assert says[page.name] in sentence
            assert sentence.startswith(page.title)
            assert ". " not in sentence
            assert links == [f"{title} shows these runs" for title in able]
        else:
            assert said == [], page.name


def test_an_address_without_a_page_leads_to_the_pages(sample: Flask) -> None:
    answer = sample.test_client().get("/nowhere")
    assert answer.status_code == 404
    (found,) = [one for one in page_registry.values() if one["module"].endswith("not_found_404")]
    with sample.app_context():
        main = found["layout"]()
    links = [part for part in walk(main) if isinstance(part, dcc.Link)]
    assert [(link.children, link.href) for link in links] == [(p.title, p.path) for p in PAGES]


@pytest.mark.parametrize("address", ["/explore/data/none.csv", "/explore/how/scatter?v=zwei"])
def test_an_error_that_is_opened_as_a_page_has_a_way_out(sample: Flask, address: str) -> None:
    """A script gets the words alone."""
    client, opened = (
        sample.test_client(),
        {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    )
    words = client.get(address)
    page = client.get(address, headers=opened)
    assert (words.mimetype, page.mimetype) == ("text/plain", "text/html")
    assert (words.status_code, page.status_code) == (400, 400)
    assert words.text.strip() in unescape(page.text)
    assert '<a href="/">' in page.text
    assert '<a href="/lake">' in page.text
    assert "<script" not in page.text


@pytest.mark.thin(4)
@every_page
def test_an_unreadable_lake_becomes_a_sentence(unreadable: Flask, page: Page) -> None:
    assert "the lake cannot be read" in " ".join(texts(opened(unreadable, page)))
    client = unreadable.test_client()
    for view in page.views:
        assert "runs" in words_of(client, f"/{page.name}/data/{view.name}.csv", 400)
        assert "runs" in words_of(client, f"/{page.name}/how/{view.name}", 400)
    assert "runs" in words_of(client, f"/{page.name}/export.html", 400)


@pytest.mark.thin(18)
@every_page
@pytest.mark.parametrize("link", BAD_LINKS, ids=lambda link: "&".join(link.values()))
def test_a_bad_link_becomes_a_sentence(sample: Flask, page: Page, link: dict[str, str]) -> None:
    with sample.app_context():
        try:
            page.state.from_query(urlencode(link), SHIPPED)
        except SelectionError:
            pass
        else:
            if "lake" not in link:
                pytest.skip("a part that this page has no use for")
    main = opened(sample, page, link)
    said = notice(main)
    assert said.startswith("This link could not be followed: ")
    ways = {part.children: part.href for part in walk(main) if isinstance(part, dcc.Link)}
    assert ways[f"{page.title} without the link's settings"] == page.path
    client, status = sample.test_client(), 404 if link.get("lake") == "77" else 400
    assert ("This link on the newest version of the lake" in ways) == (status == 404)
    assert client.get(f"{page.path}?{urlencode(link)}").status_code == status
    for address in (f"data/{page.views[0].name}.csv", f"how/{page.views[0].name}", "export.html"):
        words = words_of(client, f"/{page.name}/{address}?{urlencode(link)}", status)
        assert words.strip() in said


@pytest.mark.thin(4)
@every_page
def test_unknown_names_in_a_link_are_ignored_and_listed(sample: Flask, page: Page) -> None:
    query = f"{default_query(sample, page)}&utm_source=slack&fbclid=x"
    main = opened(sample, page, parse_qs(query))
    assert notice(main) == ""
    assert texts(by_id(main, IGNORED)) == ["ignored in the link: utm_source, fbclid"]
    client = sample.test_client()
    assert client.get(f"{page.path}?{query}").status_code == 200
    for address in (f"data/{page.views[0].name}.csv", f"how/{page.views[0].name}"):
        plain, tagged = (
            client.get(f"/{page.name}/{address}?{text}")
            for text in (default_query(sample, page), query)
        )
        assert (tagged.status_code, tagged.data) == (200, plain.data)


@every_page
@given(data=st.data())
def test_no_text_of_a_link_is_more_than_refused(page: Page, data: st.DataObject) -> None:
    keys = (*page.state.parameters(), "sel", "load", "run", "system", "v")
    key = data.draw(st.sampled_from(sorted(set(keys))))
    value = data.draw(
        st.one_of(
            st.text(max_size=40),
            st.sampled_from(("knobs~{", "knobs~[]", "box~x~y~1~2~3", "lasso~energy_j", "1e999"))
        )
    )  # fmt: skip
    link = urlencode({key: value})
    with suppress(SelectionError):
        state = page.state.from_query(link, SHIPPED)
        assert page.state.from_query(state.to_query(), SHIPPED) == state


PICTURES: Final = (
    "explore-scatter", "explore-heatmap", "explore-lines", "modes-winners", "modes-shares",
    "modes-pareto", "storage-devices", "storage-proportionality", "distributions-map",
)  # fmt: skip


@pytest.fixture(scope="module")
def pictures(sample: Flask) -> dict[str, Any]:
    """The figures of pages whose server draws, by page and view; the lines in panels."""
    found = {}
    with sample.app_context():
        view = lake_view(None)
        for page in PAGES:
            if page.name in ("explore", "modes", "storage", "distributions"):
                data = page.export(view, page.default_state(view)).data
                for name, answer in (data.get("pictures") or data["views"]).items():
                    found[f"{page.name}-{name}"] = answer["figure"]
        panels = ExploreState(Selection.of(workload=["memcached"]), show="lines", split="load")
        lines = encode_view(explore_picture("lines", view, panels))
    return {**found, "explore-lines": lines["figure"]}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_each_kind_is_vector_and_a_script_that_runs(
    pictures: dict[str, Any], name: str
) -> None:
    """A browser sends what it shows: those that it draws itself are checked there."""
    figure = orjson.loads(orjson.dumps(pictures[name], option=orjson.OPT_SERIALIZE_NUMPY))
    forms = FORMS if name == "modes-shares" else ("svg", "script")
    assert len(check_files(figure, (700, 500), forms)) > 5


@pytest.mark.thin(14)
@every_view
def test_a_view_gives_its_rows(sample: Flask, page: Page, view: str) -> None:
    client, query = sample.test_client(), default_query(sample, page)
    csv = client.get(f"/{page.name}/data/{view}.csv?{query}")
    parquet = client.get(f"/{page.name}/data/{view}.parquet?{query}")
    assert (csv.status_code, parquet.status_code) == (200, 200), csv.text[:300]
    for answer, ending in ((csv, "csv"), (parquet, "parquet")):
        name = f'filename="wattlas-{page.name}-{view}.{ending}"'
        assert name in answer.headers["Content-Disposition"]
    rows = pl.read_parquet(io.BytesIO(parquet.data))
    assert rows.height > 0
    assert csv.text.splitlines()[0].split(",") == rows.columns
    assert rows.write_csv() == csv.text


@pytest.mark.thin(20)
@every_view
def test_a_view_says_how_it_was_computed(
    sample: Flask, logged_lake: Path, page: Page, view: str
) -> None:
    words = words_of(sample.test_client(), f"/{page.name}/how/{view}?{default_query(sample, page)}")
    assert "select" in words.lower()
    assert str(logged_lake.name) in words or "version" in words


@every_page
def test_a_view_that_is_not_there_is_refused_with_those_that_are(sample: Flask, page: Page) -> None:
    client = sample.test_client()
    for address in (f"/{page.name}/data/none.csv", f"/{page.name}/how/none"):
        said = words_of(client, address, 400)
        assert "no view 'none'" in said
        assert page.views[0].name in said


@every_page
def test_its_export_is_one_file_that_asks_nobody(sample: Flask, page: Page) -> None:
    client, address = sample.test_client(), f"/{page.name}/export.html"
    query = default_query(sample, page)
    first, second = (client.get(f"{address}?{query}") for _ in range(2))
    assert first.status_code == 200, first.text[:300]
    assert f'filename="wattlas-{page.name}.html"' in first.headers["Content-Disposition"]
    assert first.data == second.data
    # A link asks nobody until the reader follows it.
    head = re.sub(r"<script.*?</script>|<a .*?>", "", first.text, flags=re.S)
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)""", head)
    assert "default-src" in head
    assert "dash_clientside" not in part_of(first.text, "scripts")
    assert len(first.data) < MOST_EXPORT_BYTES


@every_page
def test_its_folders_say_what_lives_there(page: Page) -> None:
    for folder in (ROOT / "app" / page.name, ASSETS / page.name):
        text = (folder / "README.md").read_text("utf-8")
        assert 2 < len(text.splitlines()) < SCREEN_LINES
        assert text.startswith("# ")


@every_page
def test_old_addresses_lead_to_the_new_ones(sample: Flask, page: Page) -> None:
    client = sample.test_client()
    for old, new in page.old_paths.items():
        view = page.views[0].name
        answer = client.get(re.sub("<[^>]*view>", view, old) + "?v=1&lake=0")
        assert answer.status_code in (301, 308)
        assert answer.headers["Location"] == new.replace("<view>", view) + "?v=1&lake=0"
        rule = answer.headers["Location"].split("?")[0]
        assert client.get(rule).status_code != 404
