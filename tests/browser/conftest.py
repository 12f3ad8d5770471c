"""A running app, and Chromium without access to other machines."""

import os
import shutil
import signal
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    BrowserType,
    ConsoleMessage,
    Error,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.browser.atlas import Atlas
from tests.browser.storage_page import StoragePage
from tests.browser.timeline_page import TimelinePage
from tests.fixtures.forked import Forked, ForkServer
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.storage_rows import study_lake

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"]
SIZE: ViewportSize = {"width": 1440, "height": 900}
# Less than the time limit of a test, which would not say what it waited for.
WAIT_MS = 240_000
SYSTEMS = {"linux_tuned": 1.0, "ebbrt_tuned": 0.6}


def grid_rows() -> list[dict]:
    """A DVFS x ITR grid with two replicates for two systems, and a default; worked by hand:

    energy = 1000 J x system factor x GHz, p99 = 60 us + ITR; the default is 2,500 J at 110 us.
    """
    rows = [
        run(system=system, itr_us=itr, dvfs_ghz=ghz, replicate=r, load_qps=load,
            energy_j=1000 * factor * ghz + r, latency_p99_us=60 + itr + r / 10,
            instructions=2_000_000, cycles=1_000_000, interrupts=4000)
        for system, factor in SYSTEMS.items()
        for itr in (2.0, 50.0, 100.0, 200.0)
        for ghz in (1.3, 1.9, 2.9)
        for r in (0, 1)
        for load in (200_000.0, 400_000.0)
    ]  # fmt: skip
    rows += [
        run(system="linux_default", itr_us=None, dvfs_ghz=None, energy_j=2500.0, replicate=r,
            latency_p99_us=110.0, load_qps=load, flags=["log_short"] if r == 2 else [])
        for r in (0, 1, 2) for load in (200_000.0, 400_000.0)
    ]  # fmt: skip
    rows += [
        run(workload="netpipe", loop="closed", load_qps=None, message_bytes=8192, duration_s=0.3,
            performance_metric="duration_s", latency_p99_us=None, itr_us=itr, energy_j=7.0 + itr)
        for itr in (4.0, 8.0)
    ]  # fmt: skip
    return rows


# A tab that goes to another app loads all scripts again.
APPS = ("logged_address", "grid_address", "study_address")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of one app together, those with a document of their own behind the others."""
    places = [at for at, item in enumerate(items) if item.path.parent == Path(__file__).parent]

    def order(item: pytest.Item) -> tuple[int, bool]:
        names = getattr(item, "fixturenames", ())
        app = next((at for at, name in enumerate(APPS) if name in names), len(APPS))
        return app, "own_document" in names

    for at, item in zip(places, sorted((items[at] for at in places), key=order), strict=True):
        items[at] = item


# As `python -m app`, which the benchmarks and the image start.
_APP = "import sys; from app.__main__ import main; sys.exit(main())"


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Start an app on a lake until the end of the session; return its address."""
    server = ForkServer("app.server", "app.serve.worker")
    started: list[Forked] = []

    def start(lake: Path, *options: str) -> str:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        folder = tmp_path_factory.mktemp("log")
        log, out = folder / "app.log", folder / "app.out"
        arguments = ["--lake", str(lake), "--port", str(port), *options]
        process = server.start(_APP, arguments, {}, log, out)
        started.append(process)
        while not (out.exists() and out.read_text().startswith("wattlas: http")):
            if process.poll() is not None:
                raise RuntimeError(f"the app did not start: {log.read_text()}")
            time.sleep(0.02)
        address = f"http://127.0.0.1:{port}"
        urllib.request.urlopen(f"{address}/health", timeout=60).read()
        return address

    yield start
    for process in started:
        # Not SIGTERM: the server would wait for the browser's open connections.
        process.send_signal(signal.SIGQUIT)
    for process in started:
        process.wait()


@pytest.fixture(scope="session")
def grid_address(serve: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """An app on the lake of `grid_rows`, which answers SQL."""
    return serve(write_lake(tmp_path_factory.mktemp("grid") / "lake", grid_rows()), "--sql", "on")


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of a storage study (see `study_lake`). Never written to."""
    return study_lake(tmp_path_factory.mktemp("study") / "lake")


@pytest.fixture(scope="session")
def study_address(serve: Callable[[Path], str], study: Path) -> str:
    """The address of an app on this lake."""
    return serve(study)


@pytest.fixture(scope="session")
def chromium() -> Iterator[BrowserType]:
    """Chromium, not started. If it is not installed, tests skip; under CI they fail."""
    if not Path(CHROMIUM).exists():
        words = "Chromium is missing: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(words)
        pytest.skip(words)
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        yield playwright.chromium


@pytest.fixture(scope="session")
def new_browser(chromium: BrowserType) -> Iterator[Browser]:
    """One browser for all visitors with an empty cache."""
    browser = chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def visitor(
    chromium: BrowserType, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    """One visitor for the session, whose profile caches compiled scripts: half of a load."""
    context = chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=CHROMIUM,
        args=ARGUMENTS,
        viewport=SIZE,
    )
    context.set_default_timeout(WAIT_MS)
    yield context
    context.close()


@pytest.fixture(scope="session")
def shared_tab(visitor: BrowserContext) -> Page:
    """One tab for the session: a new one would start a process and compile all scripts again."""
    return visitor.new_page()


# Forget what a test kept in this browser; whether the next test may go on with the document.
_IS_PLAIN = """() => {
  if (location.protocol !== "http:") return false;
  localStorage.clear();
  sessionStorage.clear();
  return document.documentElement.dataset.theme !== "dark";
}"""


@pytest.fixture
def page(shared_tab: Page, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The tab, blank or as the previous test left it (see `visit`).

    The tab becomes blank after a test that failed, or that left it dark. The test fails if the tab
    sent a request to another machine or had an error.
    """
    failed = request.session.testsfailed
    # Chromium slows the timers of a tab that another one hides.
    shared_tab.bring_to_front()
    try:
        yield from watched(shared_tab)
    finally:
        shared_tab.unroute_all()
        shared_tab.mouse.up()
        shared_tab.mouse.move(0, 0)
        shared_tab.set_viewport_size(SIZE)
        shared_tab.emulate_media(color_scheme="light")
        if request.session.testsfailed > failed or not shared_tab.evaluate(_IS_PLAIN):
            make_blank(shared_tab)


@pytest.fixture
def own_document(page: Page) -> Iterator[None]:
    """Give a test that changes the scripts of its page a document of its own."""
    make_blank(page)
    yield
    make_blank(page)


def make_blank(tab: Page) -> None:
    """Reset a tab to the state of a new one."""
    if tab.url.startswith("http"):
        tab.evaluate("localStorage.clear(); sessionStorage.clear()")
    tab.goto("about:blank")


@pytest.fixture
def new_tab(visitor: BrowserContext) -> Iterator[Page]:
    """Open a tab for a test that adds scripts to all its pages."""
    page = visitor.new_page()
    yield from watched(page)
    page.close()


def watched(page: Page, *addresses: str) -> Iterator[Page]:
    """Give a page to a test. Then fail if it sent a request to another machine or had an error.

    Args:
        addresses: Addresses that it may use besides those of this machine.
    """
    outside: list[str] = []
    errors: list[str] = []

    def note_violation(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            errors.append(message.text)

    def note_request(request: Request) -> None:
        outside.append(request.url)

    def note_error(error: Error) -> None:
        errors.append(str(error))

    page.on("request", note_request)
    page.on("pageerror", note_error)
    page.on("console", note_violation)
    yield page
    page.remove_listener("request", note_request)
    page.remove_listener("pageerror", note_error)
    page.remove_listener("console", note_violation)
    inside = (*addresses, "http://127.0.0.1:", "data:", "blob:", "file:")
    assert [url for url in outside if not url.startswith(inside)] == []
    assert errors == []


@pytest.fixture(scope="session")
def blank(visitor: BrowserContext, shared_tab: Page) -> Page:
    """A tab for functions of our scripts, behind the one of the pages."""
    tab = visitor.new_page()
    shared_tab.bring_to_front()
    return tab


def load_scripts(page: Page, *names: str) -> Page:
    """Load some of our scripts, named without their ending, into a blank page."""
    page.goto("about:blank")
    for name in names:
        page.evaluate(f"() => {{ {(ROOT / 'assets' / f'{name}.js').read_text()} }}")
    return page


@pytest.fixture
def atlas(page: Page) -> Atlas:
    """The page with the actions of a user."""
    return Atlas(page)


@pytest.fixture(scope="session")
def logged_address(serve: Callable[..., str], logged_lake: Path) -> str:
    """The address of an app on this lake that answers SQL."""
    return serve(logged_lake, "--sql", "on")


@pytest.fixture
def storage(page: Page, study_address: str) -> StoragePage:
    """Storage on the study's lake, with the actions of a user."""
    found = StoragePage(page)
    found.open(study_address)
    return found


@pytest.fixture
def timeline(page: Page) -> TimelinePage:
    """The page with the actions of a user."""
    return TimelinePage(page)
