"""The app under a path behind nginx, with TLS and passwords, as docs/server.md configures it."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from playwright.sync_api import Page as Tab

from app.pages import PAGES
from tests.browser.atlas import wait_idle
from tests.browser.conftest import SIZE, WAIT_MS, watched

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
NAME, WORD = "ada", "lovelace"
# {SHA}, base64 of the digest: one of the forms that nginx reads on every system.
PASSWORDS = "ada:{SHA}MJgvYgf2tRctgBqviyzN0HpBdyY="
_MAIN = """
daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    {site}
}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def documented_site(folder: Path, app: str, port: int) -> str:
    """The documented site, with this machine's ports and files."""
    text = (ROOT / "docs" / "server.md").read_text("utf-8")
    found = re.search(r"```nginx\n(.*?)```", text, re.S)
    assert found
    site = found.group(1)
    for old, new in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "atlas.lab.example": "localhost",
        "/etc/ssl/certs/atlas.pem": f"{folder}/cert.pem",
        "/etc/ssl/private/atlas.key": f"{folder}/key.pem",
        "/etc/nginx/wattlas.htpasswd": f"{folder}/passwords",
        "http://127.0.0.1:8050": app,
    }.items():
        assert old in site, old
        site = site.replace(old, new)
    return site


@pytest.fixture(scope="module")
def address(
    serve: Callable[..., str], logged_lake: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """nginx in front of an app on the sample. Without nginx the test skips; under CI it fails."""
    if NGINX is None:
        words = "nginx is missing: apt-get install nginx-light"
        if os.environ.get("CI") == "true":
            pytest.fail(words)
        pytest.skip(words)
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    folder.chmod(0o755)
    (folder / "passwords").write_text(PASSWORDS + "\n")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    site = documented_site(
        folder, serve(logged_lake, "--prefix", "/atlas", "--metrics-port", str(free_port())), port
    )
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(user + _MAIN.format(folder=folder, site=site))
    process = subprocess.Popen([NGINX, "-p", str(folder), "-c", "nginx.conf", "-e", "error.log"])
    try:
        while not (folder / "pid").exists():
            assert process.poll() is None, (folder / "error.log").read_text()
        yield f"https://localhost:{port}"
    finally:
        process.terminate()
        process.wait(30)


def status_of(address: str, password: str = "") -> int:
    trusting, sent = ssl._create_unverified_context(), urllib.request.Request(address)
    if password:
        sent.add_header("Authorization", f"Basic {b64encode(password.encode()).decode()}")
    try:
        with urllib.request.urlopen(sent, context=trusting, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.fixture
def tab(new_browser: Browser) -> Iterator[Tab]:
    """A visitor who knows the password."""
    context = new_browser.new_context(
        ignore_https_errors=True, viewport=SIZE,
        http_credentials={"username": NAME, "password": WORD},
    )  # fmt: skip
    context.set_default_timeout(WAIT_MS)
    yield from watched(context.new_page(), "https://localhost:")
    context.close()


def test_no_visitor_can_ask_for_the_numbers(address: str) -> None:
    asked = (f"{address}/{path}" for path in ("metrics", "atlas/metrics", "atlas/atlas/metrics"))
    assert [status_of(url, f"{NAME}:{WORD}") for url in asked] == [404] * 3
    assert status_of(f"{address}/atlas/health", f"{NAME}:{WORD}") == 200


@pytest.mark.slow
def test_every_page_works_under_a_path_with_a_password(address: str, tab: Tab) -> None:
    for path in ("", "/modes", "/health", "/_dash-layout", "/assets/_kit/idle.js"):
        assert status_of(f"{address}/atlas/{path.lstrip('/')}") == 401, path
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("websocket", lambda socket: asked.append(socket.url))
    tab.goto(f"{address}/atlas")
    wait_idle(tab)
    for page in PAGES:
        tab.get_by_role("link", name=page.title, exact=True).first.click()
        wait_idle(tab)
        assert tab.url.startswith(f"{address}/atlas{page.path}")
        own = next(one.title for one in PAGES if one.name == page.tab)
        expect(tab.locator(".top .tab[aria-current]:visible")).to_have_text(own)
        if any(view.is_picture for view in page.views):
            assert tab.locator("main .js-plotly-plot").count() >= 1
        notice = tab.locator("#notice").inner_text()
        # Tabs carry the filters, and the workload that Explore opens with has no logs.
        assert notice == "" or (page.name, notice[:28]) == (
            "timeline",
            "No run under the link's filt",
        )
        links = tab.evaluate("[...document.querySelectorAll('a[href]')].map((a) => a.href)")
        ours = [link for link in links if link.startswith(address)]
        assert len(ours) > len(PAGES)
        assert [link for link in ours if not link.startswith(f"{address}/atlas/")] == []
    tab.get_by_role("link", name="Explore", exact=True).first.click()
    wait_idle(tab)
    with tab.expect_download() as download:
        tab.get_by_role("link", name="data", exact=True).click()
    assert download.value.path().stat().st_size > 100
    bad = [url for url in asked if not url.startswith((f"{address}/atlas", "data:", "blob:"))]
    assert bad == []
