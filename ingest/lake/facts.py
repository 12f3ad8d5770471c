"""Replicates of one configuration whose files state different values of something that is no knob.

The mean of such replicates may be of unlike runs: buffered and direct reads, two versions of a
tool. `runs.facts` has what the files of each run state, so that runs of several adds are compared.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import pyarrow.compute as pc
import pyarrow.dataset as pd

from data.catalogue import Catalogue
from data.declared import runs_schema
from data.lake_files import local_files
from ingest.lake.state import LakeState
from ingest.records import Problem

KIND: Final = "replicates_differ"
_Facts = Mapping[str, Mapping[str, str]]


class _Difference(NamedTuple):
    """Two values of a fact; the same difference in several configurations is one doubt."""

    dataset: str
    format: str
    name: str
    values: tuple[str, str]


def doubt_replicates(state: LakeState) -> tuple[dict[tuple[str, str], list[Problem]], set[str]]:
    """Compare the facts of all replicates of a lake.

    Args:
        state: The lake's, after all commits.

    Returns:
        All problems of each dataset and path for which this adds or removes one, and the ids of
        the runs of configurations that differ. There is one problem for each fact and pair of
        values of a dataset, with the number of configurations.
    """
    pairs: dict[_Difference, list[tuple[str, str]]] = {}
    flagged: set[str] = set()
    for dataset, replicates in _configurations(state):
        for difference, run_ids in _differences(dataset, replicates):
            pairs.setdefault(difference, []).append(run_ids)
            flagged.update(run_id for run_id, _ in replicates)
    doubts: dict[tuple[str, str], list[Problem]] = defaultdict(list)
    for difference, run_pairs in sorted(pairs.items(), key=str):
        path = max(
            (
                file.path
                for file in state.runs[run_pairs[0][1]].files
                if file.format == difference.format
            ),
            key=len,
        )
        doubts[difference.dataset, path].append(_problem(difference, run_pairs))
    for dataset, by_path in state.problems.items():
        for path, known in by_path.items():
            if (dataset, path) in doubts or any(problem.kind == KIND for problem in known):
                others = [problem for problem in known if problem.kind != KIND]
                doubts[dataset, path] = others + doubts[dataset, path]
    changed = {
        (dataset, path): problems
        for (dataset, path), problems in doubts.items()
        if sorted(problems, key=str) != sorted(state.problems[dataset].get(path, ()), key=str)
    }
    return changed, flagged


def _configurations(state: LakeState) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield run id and facts of the replicates of configurations that have several facts."""
    declared = tuple(state.columns.values())
    files = local_files(state.lake / "runs", state.tables["runs"])
    if not files.paths:
        return
    keys = list(Catalogue.of(declared).configuration)
    data = pd.dataset(list(files.paths), runs_schema(declared), format="parquet")
    # Usually all runs of a dataset state the same, which two columns show.
    stated = data.to_table(["dataset", "facts"]).group_by("dataset")
    counts = stated.aggregate([("facts", "count_distinct")])["facts_count_distinct"]
    if max(counts.to_pylist(), default=0) < 2:
        return
    names = [*keys, "run_id", "facts"]
    rows = data.to_table(names, filter=pc.field("facts").is_valid(), use_threads=False)
    groups = rows.group_by(keys, use_threads=False).aggregate(
        [("facts", "count_distinct"), ("facts", "list"), ("run_id", "list")]
    )
    groups = groups.filter(pc.field("facts_count_distinct") > 1)
    wanted = groups.select(["dataset", "run_id_list", "facts_list"]).to_pylist()
    for row in sorted(wanted, key=lambda row: min(row["run_id_list"])):
        yield row["dataset"], sorted(zip(row["run_id_list"], row["facts_list"], strict=True))


def _differences(
    dataset: str, replicates: Sequence[tuple[str, str]]
) -> Iterator[tuple[_Difference, tuple[str, str]]]:
    """Yield each fact in which replicates differ from the first, with the first two run ids.

    Only files of one format are compared. A fact that only one of them states is a difference,
    since tools do not state their defaults.
    """
    first_id, text = replicates[0]
    first: _Facts = json.loads(text)
    pairs: dict[_Difference, tuple[str, str]] = {}
    for run_id, text in replicates[1:]:
        facts: _Facts = json.loads(text)
        for form in sorted(first.keys() & facts.keys()):
            before, after = first[form], facts[form]
            for name in sorted(before.keys() | after.keys()):
                values = before.get(name, ""), after.get(name, "")
                if values[0] != values[1]:
                    pairs.setdefault(_Difference(dataset, form, name, values), (first_id, run_id))
    yield from pairs.items()


def _problem(difference: _Difference, pairs: Sequence[tuple[str, str]]) -> Problem:
    before, after = (repr(value) if value else "not stated" for value in difference.values)
    first, second = pairs[0]
    detail = (
        f"{difference.name} is {before} in {first}, {after} in {second}: replicates of one "
        "configuration"
    )
    return Problem(KIND, "doubted", detail, None, len(pairs))
