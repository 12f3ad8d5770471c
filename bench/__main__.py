"""`python -m bench explore`: measure, and print one line a measurement."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark; a missed target is said, and is no failure."""
    options = _parser().parse_args(arguments)
    from bench.explore import measure

    missed = 0
    for found in measure(
        options.runs, options.changes, options.loads, options.selections, options.lake
    ):
        print(found.to_json() if options.json else found.to_words(), flush=True)
        missed += found.ok is False
    if not options.json:
        print(f"{missed} of the limits missed" if missed else "all limits kept")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure wattlas.")
    benches = parser.add_subparsers(dest="bench", required=True)
    explore = benches.add_parser("explore", help="the front page on a big lake")
    explore.add_argument("--json", action="store_true", help="one JSON object a line")
    explore.add_argument("--runs", type=int, default=100_000, help="rows of the lake")
    explore.add_argument("--changes", type=int, default=200, help="filter changes; 0 leaves out")
    explore.add_argument("--loads", type=int, default=7, help="first loads; 0 leaves out")
    explore.add_argument("--selections", type=int, default=15, help="selections; 0 leaves out")
    explore.add_argument("--lake", type=Path, help="a lake of the bench that is there already")
    return parser


if __name__ == "__main__":
    sys.exit(main())
