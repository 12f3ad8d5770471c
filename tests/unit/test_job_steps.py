"""Rows of jobs and of their steps; rows below a text; texts whose numbers are no replicates."""

import re

import pytest

from ingest.declarations import TableDeclaration
from ingest.formats.json_cells import Cell
from ingest.formats.table_files import parse_tables
from ingest.proposals.split_texts import split_columns
from ingest.records import ProblemList, ReadContext

BLANK = [["4711", "16", "5000"], ["4712", "32", "5600"]]


@pytest.mark.parametrize(
    ("text", "rows", "kinds"),
    [
        # All that the only step, or the steps agree on, is of the job.
        ("JobID|NCPUS|E\n4711|16|\n4711.batch|16|5000\n4711.extern|16|\n4712|32|\n"
         "4712.0|32|5600\n4712.ex+|32|\n", BLANK, ["job_steps"]),
        # A step of fewer processors, and steps that differ, are parts of the job.
        ("JobID|NCPUS|E\n4711|16|\n4711.batch|8|5000\n4712|32|5600\n4712.batch|32|\n",
         [["4711", "16", ""], BLANK[1]], ["job_steps", "job_steps_differ"]),
        ("JobID|NCPUS|E\n4711|16|\n4711.0|16|2000\n4711.1|16|3000\n4712|32|5600\n",
         [["4711", "16", ""], BLANK[1]], ["job_steps", "job_steps_differ"]),
        # A blank of one step says nothing of the other's share.
        ("JobID|NCPUS|E\n4711|16|\n4711.0|16|2000\n4711.1|16|\n4712|32|5600\n",
         [["4711", "16", ""], BLANK[1]], ["job_steps", "job_steps_differ"]),
        # A job that ran twice, and a step without a job.
        ("JobID|NCPUS|E\n4711|16|\n4711.batch|16|5000\n4711|16|\n4711.batch|16|6000\n"
         "4713.batch|1|7\n", [BLANK[0], ["4711", "16", "6000"], ["4713.batch", "1", "7"]],
         ["job_steps"]),
    ],
)  # fmt: skip
def test_steps_of_jobs_fill_empty_cells_of_their_jobs(
    text: str, rows: list[list[str]], kinds: list[str]
) -> None:
    problems = ProblemList()
    (table,) = parse_tables([text.encode()], ReadContext("sacct.txt", 1.0), problems)
    assert [[*cells] for _, cells in table.rows] == rows
    assert sorted(problem.kind for problem in problems.all()) == kinds


@pytest.mark.parametrize(
    "text",
    [
        "config,energy_j\nbase,1\nbase.O2,2\nbase.O3,3\ntuned,4\ntuned.O2,5\n",
        "version,energy_j\nv1,1\nv1.1,2\nv1.2,3\nv2,4\nv2.1,5\n",
        "benchmark,energy_j\nrodinia,1\nrodinia.bfs,2\nparsec,3\nparsec.x264,4\n",
        "version,energy_j\n1,1\n1.0,2\n2,3\n2.0,4\n",
        # Under headings of jobs too, where the texts are none of jobs and their steps.
        "job,energy_j\nlu,1\nlu.batch,2\nbt,3\nbt.batch,4\n",
        "step,energy_j\n1,1\n1.5,2\n2,3\n2.5,4\n",
    ],
)
def test_other_names_with_dots_are_runs(text: str) -> None:
    problems = ProblemList()
    (table,) = parse_tables([text.encode()], ReadContext("jobs.csv", 1.0), problems)
    assert (len(table), problems.all()) == (text.count("\n") - 1, [])


def test_settings_may_say_themselves_which_rows_are_steps() -> None:
    context = ReadContext("sacct.txt", 1.0, tables=(TableDeclaration(skip={"JobID": r"/\d+/"}),))
    text = b"JobID,E\n4711,\n4711.batch,5000\n"
    (table,) = parse_tables([text], context, ProblemList())
    assert len(table) == 2


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("threads,energy_j\n1,10\n2,9\n4,8\nGovernor: powersave\n1,8\n2,7\n4,6\n", [5]),
        ("threads,energy_j\n1,10\n2,9\n\nGovernor: powersave\n1,8\n2,7\n", [5]),
        ("threads,energy_j\n1,10\n# powersave\n1,8\n", [3]),
        ("threads energy_j power_w\n1 10 2\n2 9 2\n4 8 1\n# powersave\n1 8 1\n", [5]),
        # What stands above or below all rows is of none or of all of them.
        ("# powersave\nthreads,energy_j\n1,10\n2,9\n4,8\nall is well\nDONE\n", []),
        ("threads,energy_j\n1,10\n2,9\n\nmeasured in May\n# 2023\n", []),
    ],
)
def test_a_text_between_rows_is_a_problem(text: str, lines: list[int]) -> None:
    problems = ProblemList()
    (table,) = parse_tables([text.encode()], ReadContext("sweep.csv", 1.0), problems)
    assert len(table) == sum(line[0].isdigit() for line in text.splitlines() if line)
    found = [(each.kind, each.severity, each.line) for each in problems.all()]
    assert found == [("text_between_rows", "doubted", line) for line in lines]


@pytest.mark.parametrize(
    ("heading", "texts", "groups"),
    [
        ("query", "join_1 join_2 agg_1 agg_2", []),
        ("device", "nvme-1 nvme-2 sata-1 sata-2", []),
        ("model", "resnet-50 resnet-101 vgg-16 vgg-19", []),
        ("label", "join_1 join_2 agg_1 agg_2", []),
        ("label", "join_rep1 join_rep2 agg_rep1 agg_rep2", ["label_part", "replicate"]),
        ("run_id", "join_1 join_2 agg_1 agg_2", ["run_id_text_part", "replicate"]),
        # What was measured is no setting, though it stands in the same form.
        ("remark", "bs=1;lr=2 bs=1;lr=3 bs=4;lr=2 bs=4;lr=3", ["bs", "lr"]),
        ("remark", "temp=40;fan=1 temp=40;fan=2 temp=41;fan=1 temp=41;fan=2", []),
    ],
)
def test_only_texts_of_runs_have_replicates(heading: str, texts: str, groups: list[str]) -> None:
    cells: list[Cell] = [*texts.split()]
    split = split_columns([heading, "energy_j"], [cells, [1.5, 2.5, 3.5, 4.5]], ())
    assert [part.name for _, parts in split.values() for part in parts] == groups
    # Nothing of what other columns say.
    if groups == ["bs", "lr"]:
        split = split_columns([heading, "bs", "ops"], [cells, [1, 1, 4, 4], [7, 8, 7, 8]], ())
        assert [part.name for part in split[heading][1]] == ["lr"]
        assert re.compile(split[heading][0]).groups == 1
        assert not split_columns([heading, *groups], [cells, [1, 1, 4, 4], [2, 3, 2, 3]], ())
        return
    # With each of the values of another setting they name a thing.
    columns: list[list[Cell]] = [[*cells, *cells], [1, 1, 1, 1, 8, 8, 8, 8]]
    assert not split_columns([heading, "threads"], columns, ())
