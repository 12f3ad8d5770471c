"""Take the screenshots in docs/: each page on the project's own sample."""

import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

from app.pages import PAGES

PORT = 8059


def main(out: Path) -> None:
    """Write the sample, add it to a lake, serve it, and photograph each page."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        raw, lake = Path(folder) / "raw", Path(folder) / "lake"
        _run("-m", "ingest", "sample", str(raw), "--size", "small")
        _run("-m", "ingest", "add", str(raw), "--lake", str(lake))
        command = [
            sys.executable,
            "-m",
            "app",
            "--lake",
            str(lake),
            "--port",
            str(PORT),
            "--sql",
            "on",
        ]
        server = subprocess.Popen(command)
        try:
            _wait()
            _photograph(out)
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


def _photograph(out: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        light, dark = (
            browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
            for scheme in ("light", "dark")
        )
        for shown in PAGES:
            for name, query in (shown.examples or {shown.name: ""}).items():
                page = dark if name.endswith("-dark") else light
                page.goto(f"http://127.0.0.1:{PORT}{shown.path}?{query}")
                page.wait_for_function("() => window.wattlas && wattlas.isIdle()", timeout=60_000)
                if shown.name == "sql":
                    page.click("#sql-run")
                    page.wait_for_selector(".page.sql .ag-row")
                    page.wait_for_function("() => wattlas.isIdle()")
                page.screenshot(path=out / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
