"""Names of systems, machines and the like are shown as they are, although Plotly reads tags.

`test_explore_bars.py` has such names too, for `make test`.
"""

import shutil
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake
from playwright.sync_api import Page as Tab

from app.kit.page import Page
from app.pages import PAGES
from data.schema import SCHEMA_DESCRIPTION
from tests.browser.atlas import wait_idle

pytestmark = pytest.mark.browser

LINK: Final = '<a href="https://evil.example">'
NAME: Final = f"{LINK}x</a> <b>&amp; "
HOSTILE: Final = ("system_label", "machine", "dataset", "device", "workload")
FOUND: Final = """() => {
  const all = [...document.querySelectorAll("*")];
  const links = all.flatMap((e) => ["href", "xlink:href"].map((n) => e.getAttribute(n) || ""));
  const texts = [...document.querySelectorAll("svg text")].map((e) => e.textContent);
  return {
    links: links.filter((one) => one.startsWith("https://evil")),
    pictured: texts.join(" | "), shown: document.body.innerText + texts.join(" | "),
  };
}"""


@pytest.fixture(scope="module")
def address(
    serve: Callable[..., str], logged_lake: Path, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """An app on the tiny sample, with such names."""
    lake = tmp_path_factory.mktemp("hostile") / "lake"
    shutil.copytree(logged_lake, lake)
    rows = DeltaTable(str(lake / "runs")).to_pyarrow_table()
    for name in HOSTILE:
        at, old = rows.schema.get_field_index(name), rows[name].cast(pa.string())
        rows = rows.set_column(at, name, pc.binary_join_element_wise(NAME, old, ""))
    write_deltalake(
        str(lake / "runs"), rows, mode="overwrite", schema_mode="overwrite",
        description=SCHEMA_DESCRIPTION,
    )  # fmt: skip
    return serve(lake)


@pytest.mark.slow
@pytest.mark.parametrize("owed", PAGES, ids=lambda page: page.name)
@pytest.mark.parametrize("is_export", [False, True], ids=["page", "export"])
def test_no_name_becomes_a_link(
    page: Tab, address: str, owed: Page, is_export: bool, tmp_path: Path
) -> None:
    link = address + owed.path
    if is_export:
        link = (tmp_path / "export.html").as_uri()
        urllib.request.urlretrieve(f"{address}/{owed.name}/export.html", tmp_path / "export.html")
    page.goto(link)
    wait_idle(page)
    found = page.evaluate(FOUND)
    assert found["links"] == []
    assert LINK in found["shown"] or owed.name in ("models", "sql"), found["shown"][:2000]
    assert "&lt;" not in found["shown"]
    if owed.name in ("explore", "storage"):
        assert LINK in found["pictured"], found["pictured"]
