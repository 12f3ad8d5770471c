"""What visitors see when the lake under a running app is pruned, replaced, damaged or unmounted."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.kit.context import lake_view
from app.kit.settings import Settings
from app.pages import PAGES
from app.serve.index import open_layout
from app.server import create_app
from tests.callbacks.components import texts
from tests.fixtures.lakes import run, write_lake


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Two versions: one run, then two."""
    write_lake(tmp_path / "lake", [run()])
    return write_lake(tmp_path / "lake", [run(replicate=1)])


@pytest.fixture
def client(lake: Path) -> FlaskClient:
    """An app that has answered for both versions."""
    client = create_app(Settings(lake)).server.test_client()
    assert [words(client, query) for query in ("", "&lake=0")] == ["2 runs", "1 run"]
    return client


def words(client: FlaskClient, more: str = "") -> str:
    """How many runs Explore's rows have, or why it has none."""
    answer = client.get(f"/explore/data/runs.csv?v=2&workload=memcached{more}")
    assert answer.status_code in (200, 400), answer.text
    if answer.status_code == 400:
        return answer.text
    count = len(answer.text.splitlines()) - 1
    return f"{count} run{'' if count == 1 else 's'}"


def unmount(lake: Path) -> None:
    shutil.rmtree(lake)


def hide(lake: Path) -> None:
    lake.rename(lake.with_name("elsewhere"))
    lake.write_text("")


def prune(lake: Path) -> None:
    """Remove the rows' files but not the log."""
    for file in (lake / "runs").glob("*.parquet"):
        file.unlink()


def cut(lake: Path) -> None:
    for file in (lake / "runs").glob("*.parquet"):
        file.write_bytes(file.read_bytes()[:100])


def scramble(lake: Path) -> None:
    for file in (lake / "runs").glob("*.parquet"):
        file.write_bytes(b"no Parquet at all" * 100)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("damage", "said"),
    [(unmount, "is gone"), (hide, "cannot be read"), (prune, "changed under"),
     (cut, "changed under"), (scramble, "changed under")],
)  # fmt: skip
def test_every_page_says_so(
    lake: Path, client: FlaskClient, damage: Callable[[Path], None], said: str
) -> None:
    damage(lake)
    assert said in words(client, "&itr=2")
    for page in PAGES:
        with client.application.app_context():
            open_layout(page, {})
            open_layout(page, {"v": "2", "lake": "0"})
        assert client.get(page.path).status_code == 200
        for view in page.views:
            for address in (f"data/{view.name}.csv", f"how/{view.name}"):
                answer = client.get(f"/{page.name}/{address}?v=2&lake=0&itr=50")
                assert answer.status_code in (200, 400), answer.text
                assert "Traceback" not in answer.text
    assert client.get("/timeline/window?runs=x").status_code == 400
    assert client.get("/health").status_code == 200


def test_a_lake_that_is_gone_is_named_on_the_page_and_comes_back(
    lake: Path, client: FlaskClient
) -> None:
    away = lake.rename(lake.with_name("away"))
    with client.application.app_context():
        assert "cannot be read" in " ".join(texts(open_layout(PAGES[0], {})))
    assert "is its disk mounted?" in json.dumps(client.get("/_dash-layout").json)
    away.rename(lake)
    assert words(client) == "2 runs"


def test_another_lake_at_its_place_is_shown_even_with_the_same_versions(
    lake: Path, client: FlaskClient
) -> None:
    shutil.rmtree(lake)
    write_lake(lake, [run(replicate=r) for r in range(4)])
    write_lake(lake, [run(replicate=4)])
    assert words(client) == "5 runs"
    assert words(client, "&lake=0") == "4 runs"
    with client.application.app_context():
        assert lake_view(None).version == 1
