"""Take the screenshots in docs/: each page on the project's own sample, questions over logs."""

import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from app.kit.page import Page
from app.pages import PAGES
from bench.logs import write_logged_lake

PORT = 8059


# Published logs, beside the project; their picture stays as it is where they are absent.
_PUBLISHED = Path(__file__).resolve().parents[2] / "shared" / "data" / "netpipe"
# Picture of docs/logs.md to its lake, its link and the part of the page.
_QUESTIONS = {
    "logs-gaps": ("published", "/distributions?v=2", ".panel-map"),
    "logs-sleep": (
        "sample",
        "/?v=2&workload=memcached&show=lines&lx=itr&lby=system&lst=load&ly=sleep_entries_per_s"
        "&ly=c1_share",
        ".panel-lines",
    ),
    "logs-bytes": (
        "sample",
        "/distributions?v=2&workload=memcached&load=200000&what=rx_bytes",
        ".panel-map",
    ),
    "logs-energy": (
        "sample",
        "/?v=2&workload=memcached&load=200000&show=lines&lx=itr&lby=system"
        "&ly=energy_per_interrupt_uj&ly=energy_per_request_uj",
        ".panel-lines",
    ),
    "logs-siblings": ("replicates", "/distributions", ".panel-siblings"),
}
# Of the lake with replicates: runs whose gaps are longer than their siblings', and how many times;
# runs that count the same in the reverse order of time.
_LONGER, _REVERSED = {12: 4.0, 53: 1.3}, {31}


def main(out: Path) -> None:
    """Write the sample, add it to a lake, serve it, and photograph each page and each question."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw"
        lakes = {name: Path(folder) / name for name in ("sample", "replicates", "published")}
        _run("-m", "ingest", "sample", str(raw), "--size", "small")
        _run("-m", "ingest", "add", str(raw), "--lake", str(lakes["sample"]))
        write_logged_lake(lakes["replicates"], 100, _LONGER, _REVERSED)
        if _PUBLISHED.is_dir():
            _run("-m", "ingest", "add", str(_PUBLISHED), "--lake", str(lakes["published"]))
        for name, lake in lakes.items():
            if not lake.is_dir():
                continue
            with _served(lake):
                asked = [(one, *more) for one, (of, *more) in _QUESTIONS.items() if of == name]
                _photograph(out, PAGES if name == "sample" else (), asked)


@contextmanager
def _served(lake: Path) -> Iterator[None]:
    command = ["-m", "app", "--lake", str(lake), "--port", str(PORT), "--sql", "on"]
    server = subprocess.Popen([sys.executable, *command])
    try:
        _wait()
        yield
    finally:
        server.terminate()
        server.wait(10)


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def _wait() -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/health", timeout=1).read()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"no app on port {PORT}")


def _photograph(out: Path, pages: Sequence[Page], asked: Sequence[Sequence[str]]) -> None:
    """Photograph pages, and parts of pages: name, link and selector each."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        light, dark = (
            browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
            for scheme in ("light", "dark")
        )
        for shown in pages:
            for name, query in (shown.examples or {shown.name: ""}).items():
                page = dark if name.endswith("-dark") else light
                page.goto(f"http://127.0.0.1:{PORT}{shown.path}?{query}")
                page.wait_for_function("() => window.wattlas && wattlas.isIdle()", timeout=60_000)
                if shown.name == "timeline":
                    page.wait_for_function("() => wattlas.timeline.page.answer.runs[0].bands")
                if shown.name == "sql":
                    page.click("#sql-run")
                    page.wait_for_selector(".page.sql .ag-row")
                    page.wait_for_function("() => wattlas.isIdle()")
                page.screenshot(path=out / f"{name}.png")
        part = browser.new_page(viewport={"width": 1200, "height": 800}, color_scheme="light")
        for name, link, selector in asked:
            part.goto(f"http://127.0.0.1:{PORT}{link}")
            part.wait_for_function("() => window.wattlas && wattlas.isIdle()", timeout=60_000)
            part.locator(selector).first.screenshot(path=out / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
