"""Scripts and style sheets as the server sends them."""

import re
import shutil
from pathlib import Path

import dash
import pytest
from flask.testing import FlaskClient
from plotly.offline import get_plotlyjs_version

from app.kit import compressed
from app.kit.compressed import compress_all, find_compressed
from app.kit.export import Script, vendored
from app.kit.settings import ASSETS, Settings
from app.pages import PAGES
from app.serve import scripts
from app.serve.scripts import contents_to_compress
from app.server import create_app

BR = {"Accept-Encoding": "gzip, br"}


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    """The app without compressed scripts."""
    monkeypatch.setattr(compressed, "FOLDER", tmp_path / "compressed")
    return create_app(Settings(lake=tmp_path / "lake")).server.test_client()


def addresses(client: FlaskClient) -> list[str]:
    return re.findall(r'(?:src|href)="([^"]+)"', client.get("/").get_data(as_text=True))


def one(client: FlaskClient, part: str) -> str:
    (found,) = {address for address in addresses(client) if part in address}
    return found


@pytest.mark.parametrize("part", ["react@", "/_bundle/dash.js", "/_bundle/all.css"])
def test_sent_as_compressed_in_advance_and_kept_by_browsers(client: FlaskClient, part: str) -> None:
    address = one(client, part)
    plain = client.get(address, headers={"Accept-Encoding": "identity"})
    compress_all([plain.data])
    first, second = (client.get(address, headers=BR) for _ in range(2))
    for answer in (first, second):
        assert answer.headers["Content-Encoding"] == "br"
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert "immutable" in answer.headers["Cache-Control"]
        assert answer.data == find_compressed(plain.data, "br")
    gzipped = client.get(address, headers={"Accept-Encoding": "gzip"})
    assert gzipped.headers["Content-Encoding"] == "gzip"
    same = client.get(address, headers={**BR, "If-None-Match": second.headers["ETag"]})
    assert same.status_code == 304
    assert client.get(address, headers={"Accept-Encoding": "identity"}).data == plain.data


def test_the_library_of_one_page_is_not_loaded_with_the_first_page(
    client: FlaskClient,
) -> None:
    assert not [name for name in addresses(client) if "codemirror" in name]
    script = client.get("/_bundle/codemirror.js", headers={"Accept-Encoding": "identity"}).data
    assert script == vendored("codemirror").encode()
    assert script in contents_to_compress(dash.get_app())


@pytest.mark.parametrize("part", ["react@", "/_bundle/dash.js", "/_bundle/all.css"])
def test_nothing_is_compressed_while_visitors_wait(client: FlaskClient, part: str) -> None:
    answer = client.get(one(client, part), headers=BR)
    assert "Content-Encoding" not in answer.headers
    assert "immutable" in answer.headers["Cache-Control"]
    assert not (compressed.FOLDER).exists()


def test_all_that_the_first_page_loads_is_to_be_compressed(client: FlaskClient) -> None:
    loaded = [name for name in addresses(client) if name.endswith((".js", ".css")) or "?m=" in name]
    contents = contents_to_compress(dash.get_app())
    plain = {"Accept-Encoding": "identity"}
    assert {client.get(name, headers=plain).data for name in loaded} <= set(contents)
    assert len(loaded) > 8


def test_an_address_of_another_time_is_not_kept_and_all_scripts_are_in_one_bundle(
    client: FlaskClient,
) -> None:
    answers = {
        name: client.get(f"/_bundle/{name}?m=1.5", headers=BR) for name in scripts.bundle_names()
    }
    assert not [a for a in answers.values() if "immutable" in a.headers.get("Cache-Control", "")]
    bundles = {name: answer.get_data(as_text=True) for name, answer in answers.items()}
    script = "".join(bundles.values())
    for path in sorted(ASSETS.glob("*/*.js")):
        assert script.count(path.read_text("utf-8")) == (path.name != "export.js"), path
    assert "/* _kit/view.js */" in bundles["kit.js"]
    assert "/* _kit/page_state.js */" in bundles["dash.js"]


def test_a_page_loads_its_own_scripts_first_and_plotly_only_for_a_picture(
    client: FlaskClient,
) -> None:
    for page in PAGES:
        index = client.get(page.path, follow_redirects=False).get_data(as_text=True)
        later, first = index[index.index('id="later-scripts"') :].split("</template>", 1)
        plotly, own = "/plotly/package_data/", f"/_bundle/{page.name}.js?"
        is_picture = page.views[0].is_picture
        assert [plotly in later, plotly in first] == [not is_picture, is_picture], page.name
        assert [own in later, own in first] == [False, True], page.name
        assert later.count("/_bundle/") == len(PAGES) - 1, page.name


def test_another_asset_gives_another_address(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "assets"
    shutil.copytree(ASSETS, own)
    monkeypatch.setattr(scripts, "ASSETS", own)
    before = one(client, "/_bundle/dash.js")
    old = client.get(before, headers=BR)
    with (own / "_kit" / "page.js").open("a") as file:
        file.write("// edited")
    now = client.get(before, headers=BR)
    assert "immutable" in old.headers["Cache-Control"]
    assert "immutable" not in now.headers.get("Cache-Control", "")
    assert one(client, "/_bundle/dash.js") != before


def test_an_address_outside_is_not_answered(client: FlaskClient) -> None:
    assert client.get("/assets/../app/server.py?m=1", headers=BR).status_code == 400
    assert client.get("/_dash-component-suites/dash/dcc/none.js", headers=BR).status_code >= 400


def test_what_no_page_uses_is_left_out(client: FlaskClient) -> None:
    loaded = addresses(client)
    assert not [name for name in loaded if "dash_table" in name or "dash_ag_grid" in name]
    grid = client.get("/_dash-component-suites/dash_ag_grid/dash_ag_grid.min.js", headers=BR)
    assert grid.status_code == 200


@pytest.mark.parametrize(
    ("asked", "head", "end"),
    [
        # The version that Dash's components and the templates of the Python package are made for.
        ("/plotly/package_data/", f"/* plotly.js v{get_plotlyjs_version()} (", "*/\n"),
        ("/dash/deps/polyfill@", "/* regenerator-runtime v", "})();\n"),
    ],
)
def test_smaller_scripts_replace_those_of_packages(
    client: FlaskClient, asked: str, head: str, end: str
) -> None:
    name = one(client, asked)
    for headers in (BR, {}):
        answer = client.get(name, headers=headers)
        script = answer.get_data(as_text=True)
        assert script.startswith(head)
        assert script.endswith(end)


@pytest.mark.parametrize("script", ["plotly", "codemirror"])
def test_no_functions_are_made_from_text(script: Script) -> None:
    assert "new Function" not in vendored(script)
