"""The command line of ingest: the only place here that prints or exits.

Each command imports what it needs: `add` first starts the server of its workers, which imports at
the same time.
"""

import argparse
import atexit
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from data.child_process import leave_out_pandas
from data.errors import WattlasError
from ingest.arguments import (
    add_lake,
    describe_add,
    describe_correct,
    existing_path,
    positive_number,
)
from ingest.logs.memory import collecting_nothing, keep_heap_small
from ingest.runs.progress import Progress, format_bar, format_bytes, format_progress
from ingest.runs.worker_server import start_server_for

OK: Final = 0
FAILED: Final = 1
REFUSED: Final = 3
_BAR_EVERY_S: Final = 0.1
# Files of one kind that `verify` names.
_LISTED: Final = 5
LINE_EVERY_S: Final = 5.0
# What `problems` says of each; where several lines of a file say the same it is one.
_SAYING: Final = ("path", "severity", "kind", "detail", "dataset")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit status."""
    keep_heap_small()
    parser = build_parser()
    options = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (WattlasError, OSError) as error:
        print(f"ingest: {error}", file=sys.stderr)
        return FAILED


def build_parser() -> argparse.ArgumentParser:
    """Return the commands and their options."""
    parser = argparse.ArgumentParser(
        prog="python -m ingest",
        description="Raw logs to a lake.",
        epilog="Exit status: 0 all well; 2 the command line is wrong; "
        "3 done, but some input was refused; 1 anything else.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    describe_add(commands).set_defaults(command=_add)
    describe_correct(commands).set_defaults(command=_correct)
    sample = commands.add_parser("sample", help="make raw logs in the real formats")
    sample.add_argument("out", type=Path, metavar="OUT")
    sample.add_argument("--size", choices=("tiny", "small", "large"), default="small")
    sample.add_argument("--seed", type=int, default=1)
    sample.set_defaults(command=_sample)
    proposal = commands.add_parser(
        "propose",
        help="write a settings file for files not described, or print what `add` has proposed",
    )
    proposal.add_argument("raw", type=existing_path, nargs="?", metavar="RAW")
    add_lake(proposal)
    proposal.add_argument("-o", "--output", type=Path, metavar="FILE")
    proposal.set_defaults(command=_propose)
    schema = commands.add_parser(
        "schema", help="write the JSON schema of wattlas.toml, for editors"
    )
    schema.add_argument("-o", "--output", type=Path, help="file to write; otherwise it is printed")
    schema.set_defaults(command=_schema)
    for name, command, text in (
        ("status", _status, "what is in the lake"),
        ("problems", _problems, "what was refused, repaired or doubted, and why"),
        ("verify", _verify, "every file of every kept version there, and as it was written"),
        ("prune", _prune, "drop old versions and the files that only they name"),
        ("repair", _repair, "remove newest commits that a power cut left empty or cut"),
        ("derive", _derive, "metrics of logs for runs that were read before these existed"),
    ):
        sub = commands.add_parser(name, help=text, description=text)
        add_lake(sub)
        sub.add_argument("--json", action="store_true", help="print JSON")
        sub.set_defaults(command=command)
        if name == "prune":
            sub.add_argument("--keep-versions", type=positive_number, default=1, metavar="N")
    return parser


def _add(options: argparse.Namespace) -> int:
    if options.workers != 1 and not options.dry_run and options.cluster is None:
        start_server_for(options.raw)
    with collecting_nothing():
        from ingest.pipeline import AddOptions, add
        from ingest.report import describe_report, report_json

    request = AddOptions(
        options.lake,
        options.raw,
        options.dataset,
        options.settings,
        options.workers,
        options.cluster,
        not options.no_propose,
    )
    if options.dry_run:
        from ingest.outline import describe_outline, outline_add, outline_json

        outline = outline_add(request)
        if options.json:
            print(json.dumps(outline_json(outline), indent=1))
        else:
            print("\n".join(describe_outline(outline, options.verbose)))
        return REFUSED if outline.refused else OK
    printer = _ProgressPrinter(is_quiet=options.json)
    report = add(request, printer.show, printer.say_compiling, printer.say_cluster)
    printer.end()
    if options.json:
        print(json.dumps(report_json(report), indent=1))
    else:
        print("\n".join(describe_report(report, options.lake, options.verbose)))
    return REFUSED if report.refused or report.is_empty else OK


def _correct(options: argparse.Namespace) -> int:
    from ingest.correct import correct
    from ingest.report import describe_report

    said = options.corrections, options.dataset, options.table, options.confirm
    done = correct(options.lake, *said)
    print("\n".join([*done.lines, *describe_report(done.report, options.lake, False)]))
    return REFUSED if done.report.refused else OK


class _ProgressPrinter:
    """A bar that moves on a terminal; elsewhere a plain line every few seconds."""

    def __init__(self, is_quiet: bool) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._is_quiet = is_quiet
        self._last_s = 0.0
        self._width = 0

    def show(self, progress: Progress) -> None:
        every_s = _BAR_EVERY_S if self._is_terminal else LINE_EVERY_S
        if self._is_quiet or progress.elapsed_s - self._last_s < every_s:
            return
        self._last_s = progress.elapsed_s
        if self._is_terminal:
            line = format_bar(progress)
            print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(line)
        else:
            print(format_progress(progress), file=sys.stderr, flush=True)

    def say_compiling(self) -> None:
        """Say why nothing is read for some seconds."""
        if not self._is_quiet:
            print("compiling, once for this machine", file=sys.stderr, flush=True)

    def say_cluster(self, address: str, dashboard: str) -> None:
        """Name the scheduler, and the dashboard if there is one."""
        if not self._is_quiet:
            named = f", dashboard {dashboard}" if dashboard else ""
            print(f"cluster {address}{named}", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._width:
            print(file=sys.stderr)


def _sample(options: argparse.Namespace) -> int:
    from ingest.sample import write_sample

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            text = f"\r{format_bytes(done)} of {format_bytes(total)}"
            print(text.ljust(40), end="", file=sys.stderr, flush=True)

    out = write_sample(options.out, options.size, options.seed, show)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(f"synthetic raw logs: {out}")
    return OK


def _propose(options: argparse.Namespace) -> int:
    from ingest.lake.proposals import read_proposals
    from ingest.propose import propose_for

    if options.raw is None:
        kept = read_proposals(options.lake)
        text = "\n".join(proposal.text for proposal in kept)
        if not kept:
            print(f"ingest: no proposal in the lake {options.lake}", file=sys.stderr)
            return FAILED
    else:
        proposal = propose_for(options.raw)
        text = proposal.text
        print(*(proposal.summary), sep="\n", file=sys.stderr)
    if options.output is None:
        print(text, end="")
    else:
        options.output.write_text(text, "utf-8")
        print(f"proposed settings: {options.output}")
    return OK


def _schema(options: argparse.Namespace) -> int:
    from ingest.settings.layout import settings_schema

    text = json.dumps(settings_schema(), indent=1) + "\n"
    if options.output is None:
        print(text, end="")
    else:
        options.output.write_text(text, "utf-8")
    return OK


def _status(options: argparse.Namespace) -> int:
    from ingest.lake.maintenance import describe_lake

    status = describe_lake(options.lake)
    if options.json:
        print(json.dumps(status, indent=1))
        return OK
    print(f"lake {status['lake']}, version {status['version']}: {_count(status['runs'], 'run')}")
    for group in status["groups"]:
        name = f"{group['dataset']}  {group['workload']}  {group['system']}"
        print(f"  {group['runs']:>8}  {name}")
    print(f"raw files: {status['raw_files']}, {format_bytes(status['raw_bytes'])}")
    for table, size in status["file_bytes"].items():
        print(f"  {table}: {format_bytes(size)}")
    for title in ("flags", "problems"):
        if status[title]:
            print(f"{title}: " + ", ".join(f"{n} {name}" for name, n in status[title].items()))
    return OK


def _problems(options: argparse.Namespace) -> int:
    from ingest.lake.maintenance import list_problems
    from ingest.report import place_of_problem

    rows = list_problems(options.lake)
    if options.json:
        print(json.dumps(rows, indent=1))
        return OK
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        alike.setdefault(tuple(str(row[name]) for name in _SAYING), []).append(row)
    for first, *others in alike.values():
        count = sum(row["count"] for row in (first, *others))
        until = f", the last in line {others[-1]['line']}" if others else ""
        times = f" ({count} times{until})" if count > 1 else ""
        place = place_of_problem(first["path"], first["line"])
        print(f"{first['severity']}: {place}: {first['kind']}: {first['detail']}{times}")
    if not rows:
        print("no problems")
    return OK


def _verify(options: argparse.Namespace) -> int:
    from ingest.lake.verification import Proof, verify_lake

    proof = Proof()
    faults = list(verify_lake(options.lake, proof))
    if options.json:
        print(json.dumps([asdict(fault) for fault in faults], indent=1))
        return FAILED if faults else OK
    for fault in faults:
        run = f" (run {fault.run_id})" if fault.run_id else ""
        print(f"{fault.path}: {fault.detail}{run}")
    _list_some(
        proof.unproven,
        "without a digest, of which nothing is proven: `ingest add` gives one to those of the "
        "newest version, `ingest prune` removes those of older versions",
    )
    _list_some(
        proof.unnamed,
        "that no run names: `ingest add` of their logs names them, `ingest prune` removes them",
    )
    said = "every file of the lake is as it was written"
    said = said if not proof.unproven else "every file of the lake with a digest is as written"
    print(_count(len(faults), "fault") if faults else said)
    return FAILED if faults else OK


def _list_some(paths: Sequence[str], what: str) -> None:
    if paths:
        more = f", and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
        print(f"{_count(len(paths), 'file')} {what} ({', '.join(paths[:_LISTED])}{more})")


def _repair(options: argparse.Namespace) -> int:
    from ingest.lake.maintenance import repair_lake

    removed = repair_lake(options.lake)
    if options.json:
        print(json.dumps(removed))
        return OK
    for path in removed:
        print(f"removed {path}: its commit is lost")
    print(
        "now repeat `ingest add` with all raw logs of this lake" if removed else "nothing to repair"
    )
    return OK


def _derive(options: argparse.Namespace) -> int:
    from ingest.derive import derive

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {total} runs".ljust(40), end="", file=sys.stderr, flush=True)

    derived = derive(options.lake, show)
    if options.json:
        print(json.dumps(asdict(derived), indent=1))
    else:
        for run_id, reason in derived.failed.items():
            print(f"{run_id}: {reason}")
        print(f"metrics of logs: {_count(derived.runs, 'run')}")
    return REFUSED if derived.failed else OK


def _prune(options: argparse.Namespace) -> int:
    from ingest.lake.maintenance import prune_lake

    pruned = prune_lake(options.lake, options.keep_versions)
    if options.json:
        print(json.dumps(asdict(pruned)))
    else:
        print(
            f"dropped {_count(pruned.versions, 'version')}, {_count(pruned.files, 'file')}, "
            f"{format_bytes(pruned.bytes)}"
        )
    return OK


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


if __name__ == "__main__":
    leave_out_pandas()
    status = main()
    # Else Python takes all modules apart: a seventh of a small `add`, and DuckDB complains of what
    # the collector leaves out.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
