"""An exported Storage: what is in the file, what it refuses, that it is self-contained."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.__main__ import main
from app.storage.views import SECTIONS, VIEWS
from tests.callbacks.components import flask_of
from tests.fixtures.exports import data_of
from tests.fixtures.storage_rows import study_lake

QUERY = "v=2&dataset=lab&err=sd&sel=knobs~%7B%22mode%22%3A%22poll%22%7D"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study_lake(tmp_path_factory.mktemp("study") / "lake")


@pytest.fixture(scope="module")
def study(lake: Path) -> Iterator[Flask]:
    server = flask_of(lake)
    with server.app_context():
        yield server


@pytest.fixture(scope="module")
def page(study: Flask) -> str:
    return study.test_client().get(f"/storage/export.html?{QUERY}").text


def test_it_holds_every_picture_the_selection_and_the_legend(page: str) -> None:
    data = data_of(page)
    assert set(data["pictures"]) == {view.name for view in VIEWS}
    assert data["pictures"]["latency"]["figure"]["layout"]["meta"]["kind"] == "storage"
    assert sum(data["pictures"]["iops"]["columns"]["runs"]) == 76
    assert data["sel"] == 'knobs~{"mode":"poll"}'
    for view in VIEWS:
        assert f'<div class="graph" id="{view.graph}"></div>' in page
        assert f'aria-label="{view.title}"' in page
    assert '<span aria-hidden="true" style="color: #0072B2">●</span> interrupt</button>' in page
    assert "☆ published" in page


def test_it_says_in_words_what_is_shown_how_it_came_about_and_what_was_published(page: str) -> None:
    """The published values stand beside the measured, and the claims."""
    assert "<title>Storage · wattlas</title>" in page
    assert "76 of 76 storage runs in 38 configurations: dataset lab." in page
    assert "Lines and maps at optane · randread · 4 KiB." in page
    assert "error bars: sd" in page
    assert "FROM runs" in page
    assert "lake lake, version 0" in page
    for section, title in SECTIONS.items():
        assert f'id="storage-section-{section}"' in page
        assert f">{title}</button></h2>" in page
    assert '<td class="number">8.10 us</td>' in page
    assert "8.10 us ± 0.141 us, n = 2" in page
    assert "120 k/s" in page
    assert 'aria-label="menu of' not in page, "menus need a server"
    assert "Loads and stores of the kernel by source, 4 KB random reads, 32 threads" in page
    assert "not here" not in page
    assert page.count("data-claim=") == 16
    beside = page.partition('data-claims-of="power-cpu"')[2].partition("</section>")[0]
    assert 'data-claim="000-O3"' in beside
    assert "CPU does not tell power:" in page


def test_twice_is_the_same_file(lake: Path, tmp_path: Path, page: str) -> None:
    out = tmp_path / "view.html"
    state = ["--state", QUERY.replace("%7B", "{").replace("%22", '"').replace("%3A", ":")]
    assert main(["export", str(out), "--page", "storage", "--lake", str(lake), *state]) == 0
    assert out.read_text("utf-8") == page


def test_another_page_is_no_page(lake: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["export", str(tmp_path / "x.html"), "--page", "nothing", "--lake", str(lake)])
    assert stop.value.code == 2
