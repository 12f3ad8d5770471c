"""`python -m bench NAME`: measure, and print one line for each measurement."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from bench.report import Measurement


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a benchmark: an argument of its `measure`.

    Attributes:
        default: A tuple takes several values, False makes a flag.
        kind: Makes the value of its text; None takes the type of the default.
    """

    name: str
    default: Any
    description: str
    kind: Callable[[str], Any] | None = None


# Each benchmark is the function `measure` of `bench/NAME.py`.
BENCHES: Final[dict[str, tuple[str, tuple[Option, ...]]]] = {
    "decisions": (
        "how often best sets and savings are wrong",
        (Option("sweeps", 500, "simulated sweeps of each kind"),),
    ),
    "explore": (
        "the front page on a big lake",
        (
            Option("runs", 100_000, "rows of the lake"),
            Option("changes", 200, "filter changes; 0 leaves out"),
            Option("loads", 7, "first loads; 0 leaves out"),
            Option("selections", 15, "selections; 0 leaves out"),
            Option("lake", None, "a lake of the bench that is there already", Path),
        ),
    ),
    "findings": (
        "how often the claims of a page are wrong, and what importance costs",
        (Option("pages", 1_000, "simulated pages of each kind"),),
    ),
    "ingest": (
        "raw logs to a lake",
        (
            Option("rounds", 5, "times that each part runs"),
            Option("scale", False, "also 1, 4 and 16 runs"),
            Option("resume_files", 200_000, "files known already; 0 leaves out"),
        ),
    ),
    "large": (
        "the pages on a lake of many studies",
        (
            Option("studies", 100, "network studies in the lake"),
            Option("runs", 100_000, "runs of each"),
            Option("changes", 200, "filter changes"),
            Option("folder", None, "keep the lake here, or take it from here", Path),
        ),
    ),
    "load": (
        "many visitors at once, as locust replays them",
        (
            Option("users", 50, "visitors at once"),
            Option("minutes", 10.0, "how long"),
            Option("lake", None, "a lake instead of the small sample", Path),
            Option("moves", 100, "most moves on each page"),
            Option("apart", False, "no kept response is for two visitors"),
            Option("server_python", sys.executable, "a Python with requirements.txt alone"),
        ),
    ),
    "logs": (
        "questions over a thousand logged runs",
        (
            Option("runs", 1_000, "runs of the lake"),
            Option("repeats", 10, "times that each question is asked"),
        ),
    ),
    "models": (
        "the simulator, and curves in formulas",
        (
            Option("repeats", 5, "times that each one runs"),
            Option("events", 2e7, "events of one run"),
            Option("slider", 9, "steps of a slider in Chromium; 0 leaves out"),
        ),
    ),
    "modes": (
        "who wins each of many cells",
        (
            Option("sizes", 200, "request sizes: columns of the map"),
            Option("depths", 50, "IO depths: rows of the map"),
            Option("replicates", 10, "runs of each configuration"),
        ),
    ),
    "pages": (
        "first pictures of all pages on a slow line, and memory of a tab",
        (
            Option("loads", 5, "loads of each page with an empty cache; 0 leaves out"),
            Option("turns", 3, "rounds over all pages in one tab; 0 leaves out"),
            Option("lake", None, "a lake instead of the small sample", Path),
        ),
    ),
    "paper": (
        "figures for papers: sizes and times",
        (
            Option("points", 12_000, "points of the scatter"),
            Option("bins", 512, "bins of the timeline"),
            Option("repeats", 3, "times that each file is made"),
        ),
    ),
    "scale": (
        "an add on a cluster, and a simulation of a large one",
        (
            Option("runs", 16, "runs of 16 logs each"),
            Option("workers", (1, 2, 4), "workers here"),
        ),
    ),
    "sql": (
        "a small query in the sandbox, and in the process",
        (
            Option("queries", 200, "queries of each kind"),
            Option("runs", 10_000, "rows of the lake"),
        ),
    ),
    "storage": (
        "all pictures of the storage studies",
        (
            Option("sizes", 12, "request sizes"),
            Option("depths", 16, "IO depths"),
            Option("replicates", 10, "runs of each configuration"),
            Option("selections", 15, "selections in Chromium; 0 leaves out"),
        ),
    ),
    "store": (
        "a lake in an object store beside one in a folder",
        (
            Option("server", None, "moto or seaweedfs; SeaweedFS if it is installed", str),
            Option("zooms", 40, "windows of each width"),
            Option("changes", 100, "filter changes; 0 leaves out"),
            Option("runs", 100_000, "rows of the lake of Explore"),
        ),
    ),
    "studies": (
        "studies of others, added without settings",
        (Option("studies", (Path(),), "a folder or file of each study"),),
    ),
    "timeline": (
        "windows of a run, and of one ten times as long",
        (
            Option("zooms", 40, "windows of each width"),
            Option("no_long", False, "leave the longer run out"),
            Option("browser", 15, "openings and zooms in Chromium; 0 leaves out"),
            Option("folder", None, "keep the lakes here, or take them from here", Path),
        ),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark. A missed target is printed; the exit status stays 0."""
    options = vars(build_parser().parse_args(arguments))
    name, is_json = options.pop("bench"), options.pop("json")
    missed = 0
    measurement: Measurement
    for measurement in import_module(f"bench.{name}").measure(**options):
        print(measurement.to_json() if is_json else measurement.to_text(), flush=True)
        missed += measurement.ok is False
    if not is_json:
        print(f"{missed} of the limits missed" if missed else "all limits kept")
    return 0


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the command line from BENCHES."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure wattlas.")
    commands = parser.add_subparsers(dest="bench", required=True)
    for name, (description, options) in BENCHES.items():
        command = commands.add_parser(name, help=description)
        command.add_argument("--json", action="store_true", help="one JSON object a line")
        for option in options:
            flag = f"--{option.name.replace('_', '-')}"
            if option.default is False:
                command.add_argument(flag, action="store_true", help=option.description)
                continue
            is_several = isinstance(option.default, tuple)
            command.add_argument(
                flag,
                default=option.default,
                help=option.description,
                nargs="+" if is_several else None,
                type=option.kind or type(option.default[0] if is_several else option.default),
            )
    return parser


if __name__ == "__main__":
    sys.exit(main())
