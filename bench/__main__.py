"""`python -m bench NAME`: measure, and print one line for each measurement."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from bench.report import Measurement


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark. A missed target is printed; the exit status stays 0."""
    options = build_parser().parse_args(arguments)
    missed = 0
    for found in _measurements(options):
        print(found.to_json() if options.json else found.to_words(), flush=True)
        missed += found.ok is False
    if not options.json:
        print(f"{missed} of the limits missed" if missed else "all limits kept")
    return 0


def _measurements(options: argparse.Namespace) -> Iterable[Measurement]:
    if options.bench == "decisions":
        from bench.decisions import measure as measure_decisions

        return measure_decisions(options.sweeps)
    if options.bench == "ingest":
        from bench.ingest import measure as measure_ingest

        return measure_ingest(
            options.rounds,
            options.scale,
            options.long_log_gb,
            options.resume_files,
            options.propose_files,
            options.table_rows,
        )
    if options.bench == "large":
        from bench.large import measure as measure_large

        return measure_large(options.studies, options.runs, options.changes, options.folder)
    if options.bench == "load":
        from bench.load import measure as measure_load

        return measure_load(
            options.users,
            options.minutes,
            options.lake,
            options.server_python,
            options.growing,
            options.moves,
            options.apart,
        )
    if options.bench == "models":
        from bench.models import measure as measure_models

        return measure_models(options.repeats, options.events, options.contenders, options.slider)
    if options.bench == "modes":
        from bench.modes import measure as measure_modes

        return measure_modes(options.sizes, options.depths, options.replicates)
    if options.bench == "scale":
        from bench.scale import measure as measure_scale

        return measure_scale(options.runs, options.workers)
    if options.bench == "sql":
        from bench.sql import measure as measure_sql

        return measure_sql(options.queries, options.runs)
    if options.bench == "storage":
        from bench.storage import measure as measure_storage

        return measure_storage(
            options.sizes, options.depths, options.replicates, options.selections
        )
    if options.bench == "store":
        from bench.store import measure as measure_store
        from bench.store_servers import best_store

        kind = options.server or best_store()
        return measure_store(kind, options.zooms, options.changes, options.runs)
    if options.bench == "timeline":
        from bench.timeline import measure as measure_timeline
        from bench.timeline_browser import measure_browser

        browser = [partial(measure_browser, repeats=options.browser)] if options.browser else []
        return measure_timeline(
            options.zooms, not options.no_long, options.resampler, options.folder, browser
        )
    from bench.explore import measure

    return measure(options.runs, options.changes, options.loads, options.selections, options.lake)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure wattlas.")
    benches = parser.add_subparsers(dest="bench", required=True)
    explore = benches.add_parser("explore", help="the front page on a big lake")
    explore.add_argument("--json", action="store_true", help="one JSON object a line")
    explore.add_argument("--runs", type=int, default=100_000, help="rows of the lake")
    explore.add_argument("--changes", type=int, default=200, help="filter changes; 0 leaves out")
    explore.add_argument("--loads", type=int, default=7, help="first loads; 0 leaves out")
    explore.add_argument("--selections", type=int, default=15, help="selections; 0 leaves out")
    explore.add_argument("--lake", type=Path, help="a lake of the bench that is there already")
    decisions = benches.add_parser("decisions", help="how often best sets and savings are wrong")
    decisions.add_argument("--json", action="store_true", help="one JSON object a line")
    decisions.add_argument("--sweeps", type=int, default=500, help="simulated sweeps of each kind")
    ingest = benches.add_parser("ingest", help="raw logs to a lake, against other ways")
    ingest.add_argument("--json", action="store_true", help="one JSON object a line")
    ingest.add_argument("--rounds", type=int, default=5, help="times that each contender runs")
    ingest.add_argument("--scale", action="store_true", help="also 1, 4 and 16 runs")
    ingest.add_argument(
        "--long-log-gb", type=float, default=0.0, help="also one core's log of so many GB"
    )
    ingest.add_argument(
        "--resume-files", type=int, default=200_000, help="files known already; 0 leaves out"
    )
    ingest.add_argument(
        "--propose-files", type=int, default=200_000, help="files to propose for; 0 leaves out"
    )
    ingest.add_argument(
        "--table-rows", type=int, default=20_000, help="rows of a table; 0 leaves out"
    )
    large = benches.add_parser("large", help="the pages on a lake of many studies")
    large.add_argument("--json", action="store_true", help="one JSON object a line")
    large.add_argument("--studies", type=int, default=100, help="network studies in the lake")
    large.add_argument("--runs", type=int, default=100_000, help="runs of each")
    large.add_argument("--changes", type=int, default=200, help="filter changes")
    large.add_argument("--folder", type=Path, help="keep the lake here, or take it from here")
    load = benches.add_parser("load", help="many visitors at once, as locust replays them")
    load.add_argument("--json", action="store_true", help="one JSON object a line")
    load.add_argument("--users", type=int, default=50, help="visitors at once")
    load.add_argument("--minutes", type=float, default=10.0, help="how long")
    load.add_argument("--lake", type=Path, help="a lake instead of the small sample")
    load.add_argument("--moves", type=int, default=100, help="most moves on each page")
    load.add_argument(
        "--growing", action="store_true", help="add runs meanwhile and prune; not with --lake"
    )
    load.add_argument("--apart", action="store_true", help="no kept response is for two visitors")
    load.add_argument(
        "--server-python", default=sys.executable, help="a Python with requirements.txt alone"
    )
    models = benches.add_parser("models", help="the simulator, and curves in formulas")
    models.add_argument("--json", action="store_true", help="one JSON object a line")
    models.add_argument("--repeats", type=int, default=5, help="times that each one runs")
    models.add_argument("--events", type=float, default=2e7, help="events of one run")
    models.add_argument("--slider", type=int, default=9, help="steps of a slider in Chromium")
    models.add_argument("--contenders", help="a Python that has SimPy and ciw, measured beside")
    modes = benches.add_parser("modes", help="who wins each of many cells")
    modes.add_argument("--json", action="store_true", help="one JSON object a line")
    modes.add_argument("--sizes", type=int, default=200, help="request sizes: columns of the map")
    modes.add_argument("--depths", type=int, default=50, help="IO depths: rows of the map")
    modes.add_argument("--replicates", type=int, default=10, help="runs of each configuration")
    scale = benches.add_parser("scale", help="an add on a cluster, and a simulation of a large one")
    scale.add_argument("--json", action="store_true", help="one JSON object a line")
    scale.add_argument("--runs", type=int, default=16, help="runs of 16 logs each")
    scale.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="workers here")
    sql = benches.add_parser("sql", help="a small query in the sandbox, and in the process")
    sql.add_argument("--json", action="store_true", help="one JSON object a line")
    sql.add_argument("--queries", type=int, default=200, help="queries of each kind")
    sql.add_argument("--runs", type=int, default=10_000, help="rows of the lake")
    storage = benches.add_parser("storage", help="all pictures of the storage studies")
    storage.add_argument("--json", action="store_true", help="one JSON object a line")
    storage.add_argument("--sizes", type=int, default=12, help="request sizes")
    storage.add_argument("--depths", type=int, default=16, help="IO depths")
    storage.add_argument("--replicates", type=int, default=10, help="runs of each configuration")
    storage.add_argument(
        "--selections", type=int, default=15, help="selections in Chromium; 0 leaves out"
    )
    store = benches.add_parser("store", help="a lake in an object store beside one in a folder")
    store.add_argument("--json", action="store_true", help="one JSON object a line")
    store.add_argument(
        "--server", choices=("moto", "seaweedfs"), help="the store; SeaweedFS if it is installed"
    )
    store.add_argument("--zooms", type=int, default=40, help="windows of each width")
    store.add_argument("--changes", type=int, default=100, help="filter changes; 0 leaves out")
    store.add_argument("--runs", type=int, default=100_000, help="rows of the lake of Explore")
    timeline = benches.add_parser("timeline", help="windows of a run, and of one ten times as long")
    timeline.add_argument("--json", action="store_true", help="one JSON object a line")
    timeline.add_argument("--zooms", type=int, default=40, help="windows of each width")
    timeline.add_argument("--no-long", action="store_true", help="leave the longer run out")
    timeline.add_argument(
        "--resampler", help="a Python that has plotly-resampler, to be measured beside"
    )
    timeline.add_argument(
        "--browser", type=int, default=15, help="openings and zooms in Chromium; 0 leaves out"
    )
    timeline.add_argument("--folder", type=Path, help="keep the lakes here, or take them from here")
    return parser


if __name__ == "__main__":
    sys.exit(main())
