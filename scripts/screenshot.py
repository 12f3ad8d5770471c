"""Take the README's pictures of the project's own app on its own sample: one of each page."""

import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

PORT = 8059
PAGES = {
    "explore": "/?v=1&workload=memcached&load=400000&limit=200&xlog=1",
    "modes": "/modes",
    "timeline": "/timeline",
    "storage": "/storage",
}
_DRAWN = """() => {
  const plots = Array.from(document.querySelectorAll(".js-plotly-plot"));
  return plots.length && plots[0].calcdata && plots[0].data.length;
}"""


def main(out: Path) -> None:
    """Make the sample, ingest it, serve it, look at it."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        raw, lake = Path(folder) / "raw", Path(folder) / "lake"
        _run("-m", "ingest", "sample", str(raw), "--size", "small")
        _run("-m", "ingest", "add", str(raw), "--lake", str(lake))
        command = [sys.executable, "-m", "app", "--lake", str(lake), "--port", str(PORT)]
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
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for name, address in PAGES.items():
            page.goto(f"http://127.0.0.1:{PORT}{address}")
            page.wait_for_function(_DRAWN, timeout=30_000)
            page.wait_for_timeout(4000)
            page.screenshot(path=out / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
