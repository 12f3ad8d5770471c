"""What an `ingest add` did, in lines for people and as JSON for machines."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from data.lake_place import LakePath
from ingest.discover.found_files import Ignored
from ingest.lake.proposals import KeptProposal
from ingest.records import Problem
from ingest.runs.progress import format_bytes
from ingest.tables.table_reads import RowCounts

_SHOWN_IGNORED: Final = 5
# Parts in which messages of one cause differ: quoted texts, paths, numbers and names with digits.
_CASE: Final = re.compile(r"'[^']*'|\S*[/\d]\S*")


@dataclass(frozen=True, slots=True)
class Reported:
    """A problem that this ingest met, with its place."""

    dataset: str
    path: str
    problem: Problem

    def as_json(self) -> dict[str, Any]:
        """Return the problem for machines."""
        return {"dataset": self.dataset, "path": self.path, **asdict(self.problem)}


@dataclass(slots=True)
class AddReport:
    """What an ingest did.

    Attributes:
        amended: Runs of which only file times or labels were written anew.
        ignored: Files of which nobody knows content or name.
        rows: What became of the rows of the tables that were read.
        problems: Those of the files read, and new ones of files not read.
        proposed: New proposals of settings, which are in the lake now, with what they say.
    """

    datasets: tuple[str, ...] = ()
    added: int = 0
    replaced: int = 0
    amended: int = 0
    removed: int = 0
    unchanged: int = 0
    rows: RowCounts = field(default_factory=RowCounts)
    ignored: list[Ignored] = field(default_factory=list)
    bytes_read: int = 0
    elapsed_s: float = 0.0
    problems: list[Reported] = field(default_factory=list)
    proposed: list[tuple[KeptProposal, tuple[str, ...]]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read, and nothing was there already."""
        counts = (self.added, self.replaced, self.amended, self.removed, self.unchanged)
        return not any(counts) and not self.rows.read and not self.bytes_read

    @property
    def refused(self) -> list[Reported]:
        """Problems for which some input was left out."""
        return [found for found in self.problems if found.problem.severity == "refused"]


def describe_report(report: AddReport, lake: LakePath, verbose: bool) -> Iterator[str]:
    """Return the lines that say what was done, and to which files nothing was.

    Args:
        verbose: Name all files that were ignored or refused, not only the first few.
    """
    counts = [
        (report.added, "added"),
        (report.replaced, "replaced"),
        (report.amended, "relabelled"),
        (report.removed, "removed"),
        (report.unchanged, "already there"),
    ]
    summary = ", ".join(f"{count} {word}" for count, word in counts if count) or "none"
    yield f"runs: {summary} (lake {lake}, {', '.join(report.datasets) or 'no dataset'})"
    rate = report.bytes_read / max(report.elapsed_s, 1e-9)
    read = format_bytes(report.bytes_read)
    yield f"read: {read} in {report.elapsed_s:.1f} s, {format_bytes(rate)}/s"
    rows = report.rows
    if rows.read:
        counts = [
            (rows.runs, "are runs"),
            (rows.summed, "were added to other rows of their runs"),
            (rows.dropped, "repeat another or are empty"),
            (rows.refused, "were refused"),
        ]
        summary = ", ".join(f"{count} {word}" for count, word in counts if count)
        yield f"rows of tables: {rows.read} read; {summary}"
    yield from describe_proposed(report.proposed, lake)
    refused = report.refused
    if report.is_empty:
        from ingest.unread import NOT_READ, describe_unread

        yield from describe_unread(report.ignored)
        refused = [found for found in refused if found.problem.kind != NOT_READ]
    else:
        yield from describe_ignored(report.ignored, verbose)
    yield from describe_refused(refused, verbose)
    if others := _count(report.problems) - _count(report.refused):
        yield f"repaired or doubted: {others}; `python -m ingest problems` lists them"


def describe_proposed(
    proposed: Sequence[tuple[KeptProposal, tuple[str, ...]]], lake: LakePath | None
) -> Iterator[str]:
    """Yield what was guessed for folders without settings, and how to correct it.

    Args:
        lake: Where the proposals are kept; None if nothing was written.
    """
    for proposal, summary in proposed:
        root = proposal.root
        yield f"no settings in {root} say what its files are: names and columns were guessed"
        yield from (f"  {line}" for line in summary)
        if lake is not None:
            way = f"python -m ingest correct COLUMN=WORD --lake {lake}"
            words = "knob, given, metric, label, replicate, less, more or a unit"
            yield f"  to correct a guess: {way} ({words})"


def describe_ignored(ignored: Sequence[Ignored], verbose: bool) -> Iterator[str]:
    """Yield the lines that name the files that no run is read from, or the first few of them.

    Files of which the runs of another file took what they measured stand apart.
    """
    from ingest.unread import lines_to_paste

    joined = [each for each in ignored if each.is_joined]
    left = [each for each in ignored if not each.is_joined]
    for word, heading, files in (
        ("joined", "files that say more of the runs of others", joined),
        ("ignored", "files that are no raw logs", left),
    ):
        shown = files if verbose else files[:_SHOWN_IGNORED]
        if files:
            yield f"{heading}: {len(files)}"
        for path, reason, _ in shown:
            yield f"{word}: {path}: {reason}"
        if files is left:
            yield from lines_to_paste([path for path, _, _ in shown])
        if len(files) > len(shown):
            yield f"and {len(files) - len(shown)} more {word}; --verbose names them"


def describe_refused(refused: Sequence[Reported], verbose: bool) -> Iterator[str]:
    """Return the lines that say what was refused: one a cause, with a count and the first example.

    Args:
        verbose: One line for each.
    """
    causes: dict[tuple[str, str], list[Reported]] = defaultdict(list)
    for number, found in enumerate(sorted(refused, key=_path_and_line)):
        cause = str(number) if verbose else _CASE.sub("", found.problem.detail)
        causes[found.problem.kind, cause].append(found)
    for (kind, _), same in causes.items():
        first = same[0]
        where = place_of_problem(first.path, first.problem.line)
        if (count := _count(same)) == 1:
            yield f"refused: {where}: {kind}: {first.problem.detail}"
        else:
            yield f"refused: {count} times {kind}, such as {where}: {first.problem.detail}"
    if len(causes) < len(refused):
        yield "--verbose names each of them"


def _count(problems: Sequence[Reported]) -> int:
    return sum(found.problem.count for found in problems)


def place_of_problem(path: str, line: int | None) -> str:
    """Return where a problem is, in words; without a line it is the whole file's."""
    return path if line is None else f"{path}, line {line}"


def report_json(report: AddReport) -> dict[str, Any]:
    """Return the report as JSON values: `ignored` counts files, `ignored_files` names them."""
    names = ("added", "replaced", "amended", "removed", "unchanged")
    return {
        "datasets": list(report.datasets),
        **{name: getattr(report, name) for name in names},
        "rows": {**asdict(report.rows), "runs": report.rows.runs},
        "ignored": len(report.ignored),
        "bytes_read": report.bytes_read,
        "elapsed_s": report.elapsed_s,
        "ignored_files": [{"path": path, "reason": reason} for path, reason, _ in report.ignored],
        "problems": [found.as_json() for found in sorted(report.problems, key=_path_and_line)],
    }


def _path_and_line(found: Reported) -> tuple[str, int]:
    return found.path, found.problem.line or 0
