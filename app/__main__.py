"""The command line: `python -m app` serves the pages.

`python -m app export` writes one view to a file, or a study to a folder that verifies itself;
`python -m app plan` the runs that would decide; `python -m app compress` prepares an installation,
`python -m app prepare` a large lake.
"""

import argparse
import gc
import logging
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlencode

from app.kit.settings import (
    LOCAL_PROXIES,
    LOOPBACK,
    LogFormat,
    Network,
    Settings,
    SqlMode,
    default_lake,
    read_networks,
)
from data.errors import LakeError, SelectionError, UnknownVersionError, WattlasError
from data.lake_place import LakePath, lake_path

if TYPE_CHECKING:
    from flask import Flask

    from app.kit.page import Page


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0, 1 for an error, 2 for a wrong command line."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    settings = _settings(parser, options)
    try:
        if options.command == "export":
            if (options.out is None) is (options.artifact is None):
                parser.error("export: give a file, or --artifact DIR for a whole study")
            if options.artifact is not None:
                return _artifact(settings, options)
            return _export(settings, _page(parser, options.page), options.out, options.state)
        if options.command == "plan":
            return _plan(settings, options)
        if options.command == "compress":
            return _compress(settings)
        if options.command == "prepare":
            return _prepare(settings)
        return _serve(settings)
    except (SelectionError, UnknownVersionError) as error:
        print(f"wattlas: --state cannot be followed: {error}", file=sys.stderr)
        return 2
    except (WattlasError, OSError) as error:
        print(f"wattlas: {error}", file=sys.stderr)
        return 1


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m app", description="Show a lake in a browser.")
    # Without a default of its own: that would undo a --lake given before the command.
    shared = argparse.ArgumentParser(add_help=False)
    address_words = "the lake's folder, or s3://BUCKET/PATH"
    shared.add_argument("--lake", type=_lake, default=argparse.SUPPRESS, help=address_words)
    parser.add_argument("--lake", type=_lake, default=default_lake(), help=address_words)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument("--port", type=int, default=8050)
    parser.add_argument("--prefix", default="", help="the path that a proxy serves, as /atlas")
    parser.add_argument(
        "--allowed-hosts",
        metavar="NAMES",
        help="names that visitors may use, by commas; a leading dot allows all subdomains",
    )
    parser.add_argument(
        "--trusted-proxies",
        type=_networks,
        metavar="NETWORKS",
        default=LOCAL_PROXIES,
        help="proxies whose X-Forwarded-For names the visitor, by commas",
    )
    parser.add_argument("--log", choices=get_args(LogFormat), help="write a line a request")
    parser.add_argument(
        "--metrics-port", type=int, metavar="PORT", help="answer Prometheus on 127.0.0.1:PORT"
    )
    parser.add_argument(
        "--sql", choices=get_args(SqlMode), default="off", help="let visitors run SQL, sandboxed"
    )
    parser.add_argument(
        "--check-files", choices=("on", "off"), default="on",
        help="compare each file of the lake with its digest before it is read first",
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command")
    export = commands.add_parser(
        "export", parents=[shared], help="write one view as a HTML file, or a study as a folder"
    )
    export.add_argument("out", type=Path, nargs="?")
    export.add_argument("--state", default="", help="the part of a page's URL after the ?")
    export.add_argument("--page", default="explore", help="which page, by its name in addresses")
    export.add_argument(
        "--artifact", type=Path, metavar="DIR", help="write all pages, tables and claims, the "
        "runs behind them, and verify.py, which computes the numbers again",
    )  # fmt: skip
    export.add_argument(
        "--dataset", action="append", default=[], metavar="NAME", help="of an artifact: only this"
    )
    address_words = "a file to put into an artifact as "
    export.add_argument("--license", type=Path, metavar="FILE", help=f"{address_words}LICENSE")
    export.add_argument(
        "--citation", type=Path, metavar="FILE", help=f"{address_words}CITATION.cff"
    )
    plan = commands.add_parser("plan", parents=[shared], help="list the runs that would decide")
    plan.add_argument("-o", dest="out", type=Path, help="the list; without it on standard output")
    plan.add_argument("--state", default="", help="the part of the address of Findings after the ?")
    plan.add_argument("--budget", metavar="N", help="runs, without those of the baseline")
    plan.add_argument("--minutes", metavar="M", help="time for the runs, in place of a budget")
    plan.add_argument(
        "--since", metavar="VERSION", help="say what is left of the list of this version"
    )
    address_words = "compress scripts and style sheets once, when the app is installed"
    commands.add_parser("compress", parents=[shared], help=address_words)
    address_words = "store what Explore shows first of each workload of a large lake"
    commands.add_parser("prepare", parents=[shared], help=address_words)
    return parser


def _lake(text: str) -> LakePath:
    try:
        return lake_path(text)
    except LakeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _networks(text: str) -> tuple[Network, ...]:
    try:
        return read_networks(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _settings(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Settings:
    if not re.fullmatch(r"(/[\w.~-]+)*", options.prefix, re.ASCII):
        parser.error(f"--prefix is {options.prefix!r}, expected a path such as /atlas")
    names: tuple[str, ...] | None = () if options.host in LOOPBACK else None
    if options.allowed_hosts is not None:
        names = tuple(name.strip() for name in options.allowed_hosts.split(",") if name.strip())
    return Settings(
        lake=options.lake,
        host=options.host,
        port=options.port,
        prefix=options.prefix,
        allowed_hosts=names,
        log=options.log,
        metrics_port=options.metrics_port,
        sql=options.sql,
        proxies=options.trusted_proxies,
        check_files=options.check_files == "on",
    )


def _page(parser: argparse.ArgumentParser, name: str) -> "Page":
    from app.pages import PAGES

    pages = {page.name: page for page in PAGES}
    if name not in pages:
        parser.error(f"no page {name!r}; known: {', '.join(pages)}")
    return pages[name]


def _export(settings: Settings, page: "Page", out: Path, query: str) -> int:
    from app.kit.context import Lakes
    from app.serve.routes import export_html

    lakes = Lakes(settings.lake, settings.check_files)
    text = export_html(page, lakes, query)
    partial = out.with_name(out.name + ".part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(out)
    print(f"{out}: {len(text.encode()) / 1e6:.1f} MB")
    _, state = lakes.follow(page.state.from_query, query)
    ignored = state.ignored
    if ignored:
        print(f"wattlas: ignored in --state: {', '.join(ignored)}", file=sys.stderr)
    return 0


def _artifact(settings: Settings, options: argparse.Namespace) -> int:
    from app.artifact.writer import write_artifact
    from app.kit.context import Lakes
    from app.pages import PAGES

    lakes, out = Lakes(settings.lake, settings.check_files, options.dataset), options.artifact
    written = write_artifact(lakes, PAGES, out, options.license, options.citation)
    print(
        f"{out}: {written.files:,} files, {written.size_bytes / 1e6:.1f} MB; {written.runs:,} "
        f"runs, {written.claims:,} claims; `python {out}/verify.py` computes "
        f"{written.numbers:,} numbers again"
    )
    for option, name in (("license", "a licence"), ("citation", "a citation")):
        if getattr(options, option) is None:
            print(f"wattlas: without {name}: give one with --{option} FILE", file=sys.stderr)
    return 0


def _compress(settings: Settings) -> int:
    from app.kit.compressed import compress_all
    from app.kit.export import export_scripts
    from app.pages import PAGES
    from app.serve.scripts import contents_to_compress
    from app.server import create_app

    contents = contents_to_compress(create_app(settings))
    contents += [export_scripts(page.name).encode() for page in PAGES]
    print(f"wattlas: {compress_all(contents)} files of scripts and style sheets compressed")
    return 0


def _prepare(settings: Settings) -> int:
    from app.explore.prepared import prepare
    from app.kit.context import Lakes

    view = Lakes(settings.lake, settings.check_files).at(None)
    if not view.is_large:
        print(f"{view.words}: {view.runs:,} runs need no preparation")
        return 0
    for dataset, workload in prepare(view):
        print(f"{view.words}: {dataset}, {workload}", flush=True)
    return 0


def _plan(settings: Settings, options: argparse.Namespace) -> int:
    """Write the list of next runs; say on standard error what it is for, and what is left of it."""
    from app.findings.answer import planned_of
    from app.findings.state import FindingsState
    from app.kit.context import Lakes

    given = {name: getattr(options, name) for name in ("budget", "minutes", "since")}
    more = urlencode({name: text for name, text in given.items() if text is not None})
    found = Lakes(settings.lake, settings.check_files)
    view, state = found.follow(
        FindingsState.from_query, "&".join(filter(None, (options.state, more)))
    )
    planned = planned_of(view, state) if view.runs else None
    if planned is None:
        raise WattlasError("no sweep with two settings is left under these filters")
    print(f"{planned.sweep.words}: {planned.plan.sentence}", file=sys.stderr)
    if planned.left is not None:
        print(f"{planned.left:,} of {planned.plan.runs:,} runs are left", file=sys.stderr)
    if options.out is None:
        print(planned.plan.csv(), end="")
    else:
        options.out.write_text(planned.plan.csv(), encoding="utf-8")
    return 0


def _serve(settings: Settings) -> int:
    from app.serve.memory import keep_memory_small

    keep_memory_small()
    from gunicorn.app.base import BaseApplication

    from app.kit.compressed import FOLDER
    from app.serve.worker import MOST_WAITING, MOST_WORKING, Bounded, Worker
    from app.server import create_app

    logging.basicConfig(format="%(message)s")
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    if settings.host not in LOOPBACK:
        print(
            f"wattlas: other machines can reach {host}. Put a proxy that buffers requests and "
            "responses, such as nginx, in front of the app: see docs/server.md",
            file=sys.stderr,
        )

    if not FOLDER.is_dir():
        print(
            "wattlas: scripts are sent uncompressed until `python -m app compress` has run",
            file=sys.stderr,
        )

    class Server(BaseApplication):
        def load_config(self) -> None:
            options = {
                "bind": f"{host}:{settings.port}",
                "limit_request_line": 8190,
                "worker_class": Worker,
                "workers": 1,
                "threads": MOST_WORKING + MOST_WAITING + 2,
                # Less than the files that a process may have open.
                "worker_connections": 512,
                "keepalive": 75,
                "loglevel": "warning",
                "control_socket_disable": True,
                "worker_exit": _exit,
                "when_ready": lambda _: print(
                    f"wattlas: http://{host}:{settings.port}{settings.prefix}  "
                    f"(lake: {settings.lake})",
                    flush=True,
                ),
            }
            for name, value in options.items():
                self.cfg.set(name, value)

        def load(self):  # type: ignore[no-untyped-def]
            server = create_app(replace(settings, lake=settings.lake.resolve())).server
            # In the first request Dash gathers all callbacks; a second one at that time lacks some.
            server.test_client().get("/health")
            # What is there now stays: a collection takes no 100 ms to look through it.
            gc.freeze()
            if settings.metrics_port is not None:
                _serve_metrics(server, settings.metrics_port)
            server.wsgi_app = Bounded(server.wsgi_app)
            return server

    Server().run()
    return 0


def _serve_metrics(server: "Flask", port: int) -> None:
    from gunicorn.arbiter import Arbiter

    from app.serve.monitoring import serve_metrics

    try:
        serve_metrics(server, port)
    except (OSError, OverflowError) as error:
        print(
            f"wattlas: cannot listen on --metrics-port {port}: {error}", file=sys.stderr, flush=True
        )
        os._exit(Arbiter.APP_LOAD_ERROR)


def _exit(_: Any, worker: Any) -> None:
    """End a stopped worker without Python's finalisation, which frees memory for a second."""
    if not worker.alive:
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
