"""Columns that a dataset declares: from its settings to the lake, its descriptions and filters."""

import json
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from app.kit.export import render
from app.lake.layout import readme
from data.catalogue import SHIPPED, Catalogue
from data.connection import open_lake
from data.declared import Column, check_name
from data.errors import DataError, LakeError, SelectionError, SettingsError
from data.lake_watch import newest_version
from data.schema import RUNS, SCHEMA_DESCRIPTION
from data.selection import Selection
from ingest.lake.tables import create_tables, describe_columns
from ingest.pipeline import AddOptions, add
from ingest.settings.loading import load_settings
from tests.fixtures.declared import declared_columns
from tests.fixtures.ingest import ingest, runs
from tests.fixtures.lakes import run

OLD_LAKE = Path(__file__).resolve().parents[1] / "fixtures" / "lake_schema_3"
MUTILATE = (
    "#type avg std min 5th 10th 50th 90th 95th 99th\nread 7 1 4 5 6 7 8 9 10\n\n"
    "Total QPS = 200000.0 (6000000 / 30.0s)\n"
)
NAMES = r"""
[[names]]
pattern = '(?P<kernel>[^/]+)/ring(?P<ring_bytes>\d+k)-r(?P<replicate>\d+)\.out'
workload = "memcached"
system = "linux"
set = { machine = "c220g1", load_qps = 200000 }
"""


def study(folder: Path, dataset: str = "one", unit: str = "1/s") -> Path:
    """Two kernels, two ring sizes, two replicates."""
    for kernel in ("5.15", "6.1"):
        (folder / kernel).mkdir(parents=True)
        for ring in ("4k", "64k"):
            for number in (0, 1):
                (folder / kernel / f"ring{ring}-r{number}.out").write_text(MUTILATE)
    (folder / "wattlas.toml").write_text(declared_columns(dataset, unit) + NAMES)
    return folder


ABOUT = {
    "description": "Ring sizes *and* kernels.\n\n- <script>x</script>\n- [bad](javascript:x)\n",
    "citation": "A. Author, 2026",
    "licence": "CC-BY-4.0",
    "url": "https://example.org/study",
}


def test_a_dataset_says_what_it_is_in_each_version_of_the_lake(tmp_path: Path, lake: Path) -> None:
    raw = study(tmp_path / "raw")
    settings = (raw / "wattlas.toml").read_text()
    assert settings.count("[dataset]\n") == 1

    def say(about: dict[str, str]) -> None:
        lines = "".join(f"{key} = {json.dumps(text)}\n" for key, text in about.items())
        (raw / "wattlas.toml").write_text(settings.replace("[dataset]\n", f"[dataset]\n{lines}"))
        ingest(lake, raw)

    say(ABOUT)
    first = newest_version(lake)
    with open_lake(lake) as opened:
        assert opened.about == {"one": ABOUT}
    say(ABOUT)
    assert newest_version(lake) == first
    say({"licence": "CC0"})
    with open_lake(lake) as opened, open_lake(lake, first) as before:
        assert opened.about == {"one": {"licence": "CC0"}}
        assert before.about == {"one": ABOUT}
        assert opened.sql("SELECT count(*) FROM runs").fetchall() == [(8,)]


def test_what_a_dataset_says_is_shown_without_its_html() -> None:
    shown = render(readme(ABOUT["description"]))
    assert "<p>Ring sizes <em>and</em> kernels.</p>" in shown
    assert "&lt;script&gt;x&lt;/script&gt;" in shown
    assert "javascript" not in re.findall('href="(.*?)"', shown)
    link = '<a href="https://example.org/study" rel="noopener noreferrer nofollow">here</a>'
    assert link in render(readme("[here](https://example.org/study)"))
    assert "href" not in render(readme("[here](data:text/html,x) [there](/lake)"))


def test_a_table_of_a_dataset_is_a_table_and_its_cells_have_no_html() -> None:
    text = "| ring | packets |\n| --- | ---: |\n| <b>512</b> | *1.5M* |\n| [x](javascript:y) |"
    shown = render(readme(text))
    assert shown.count("<table>") == 1
    assert '<th class="left">ring</th><th class="right">packets</th>' in shown
    assert '<td class="left">&lt;b&gt;512&lt;/b&gt;</td>' in shown
    assert '<td class="right"><em>1.5M</em></td>' in shown
    assert "href" not in shown
    # A wide one scrolls in a box of its own, which keys reach.
    assert re.search(r'<div [^>]*tabindex="0"[^>]*><table>', shown)


@pytest.mark.parametrize("line", ['url = "javascript:x"', 'licence = ""', "citation = 3"])
def test_what_a_dataset_cannot_say_is_refused_by_name(tmp_path: Path, line: str) -> None:
    path = tmp_path / "wattlas.toml"
    path.write_text(f"[dataset]\n{line}\n")
    with pytest.raises(SettingsError, match=line.partition(" ")[0]):
        load_settings(path)


def test_declared_knobs_are_columns_keys_and_described_in_the_lake(
    tmp_path: Path, lake: Path
) -> None:
    report = ingest(lake, study(tmp_path / "raw"))
    assert (report.added, report.refused) == (8, [])
    found = runs(lake)
    assert {(run["kernel"], run["ring_bytes"]) for run in found} == {
        (kernel, ring) for kernel in ("5.15", "6.1") for ring in (4096, 65536)
    }
    assert {(run["machine"], run["load_qps"], run["wakeups"]) for run in found} == {
        ("c220g1", 200_000.0, None)
    }
    assert "c220g1-kernel5.15-ring_bytes4096-r0" in found[0]["run_id"]
    with open_lake(lake) as opened:
        by_name = {column.name: column for column in opened.columns}
    wakeups = Column(
        "wakeups", "metric", "real", "Wake-ups", "Wake-ups", "1/s", "less", datasets=("one",)
    )
    assert by_name["wakeups"] == wakeups
    assert [c.role for c in by_name.values()] == ["knob", "knob", "metric"]
    fields = {f.name: f for f in DeltaTable(str(lake / "runs")).schema().fields}
    assert fields["kernel"].metadata["comment"] == "Kernel version."
    # All of them come in one commit, before the rows.
    first = {f.name for f in DeltaTable(str(lake / "runs"), version=1).schema().fields}
    assert first == fields.keys()
    version = newest_version(lake)
    assert ingest(lake, tmp_path / "raw").unchanged == 8
    assert newest_version(lake) == version
    # Tables of columns have shipped and declared ones.
    with open_lake(lake) as opened:
        catalogue = opened.catalogue
        assert list(catalogue.facets)[-2:] == ["c_kernel", "c_ring_bytes"]
        assert list(catalogue.facets) == list(catalogue.knobs)
        assert catalogue.configuration[-2:] == ("kernel", "ring_bytes")
        assert catalogue.knobs["c_ring_bytes"].label(65536.0) == "64 KiB"
        assert catalogue.knobs["c_kernel"].words("6.1") == "kernel 6.1"
        assert catalogue.metric("wakeups").axis_title == "Wake-ups, 1/s (less is better)"
        assert catalogue.plottable[-1] == "wakeups"
        chosen = catalogue.selection({"c_kernel": ["6.1"], "c_ring_bytes": [4096]})
        sql, parameters = chosen.predicate()
        rows = opened.polars(f"SELECT count(*) AS n FROM runs WHERE {sql}", parameters)
    assert rows["n"].to_list() == [2]
    assert "c_kernel" not in SHIPPED.facets
    assert Catalogue.of(catalogue.columns) is catalogue
    with pytest.raises(SelectionError, match="unknown filter 'c_kernel'"):
        Selection.of(c_kernel=["6.1"])


def test_two_datasets_may_share_a_column_of_one_type_and_unit(tmp_path: Path, lake: Path) -> None:
    ingest(lake, study(tmp_path / "a"))
    assert ingest(lake, study(tmp_path / "b", "two")).added == 8
    with open_lake(lake) as opened:
        assert {column.datasets for column in opened.columns} == {("one", "two")}
    raw = study(tmp_path / "c", "three", unit="1/h")
    with pytest.raises(DataError, match=r"'wakeups': dataset three says unit '1/h', dataset one, "):
        ingest(lake, raw)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Kernel", "small letters"), ("9lives", "a letter first"), ("a-b", "small letters"),
        ("order", "a word of SQL"), ("energy_j", "has a column"), ("edp_js", "has a column"),
        ("load", "has a column"),
    ],
)  # fmt: skip
def test_a_name_that_cannot_be_is_refused_by_name(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(DataError, match=f"{name!r} cannot name a column: .*{why}"):
        check_name(name)
    path = tmp_path / "wattlas.toml"
    path.write_text(f"[columns.'{name}']\nrole = 'label'\n")
    with pytest.raises(SettingsError, match=re.escape(str(path))):
        load_settings(path)


def test_a_pattern_may_name_and_set_knobs_only(tmp_path: Path) -> None:
    path = tmp_path / "wattlas.toml"
    text = declared_columns("x") + NAMES
    path.write_text(text.replace("machine =", "wakeups ="))
    with pytest.raises(SettingsError, match=r"names\[1\].set has an unknown group 'wakeups'"):
        load_settings(path)


def test_a_lake_of_schema_3_is_read_as_it_is_and_upgraded_by_add(
    tmp_path: Path, lake: Path
) -> None:
    """The lake was written by the code of schema 3; its runs have no machine."""
    shutil.copytree(OLD_LAKE, lake)
    before = runs(lake)
    assert {(run["dataset"], run["machine"]) for run in before} == {("old", None)}
    assert ingest(lake, study(tmp_path / "raw")).added == 8
    assert DeltaTable(str(lake / "runs")).metadata().description == SCHEMA_DESCRIPTION
    assert DeltaTable(str(lake / "problems")).metadata().description == SCHEMA_DESCRIPTION
    old = [run for run in runs(lake) if run["dataset"] == "old"]
    assert {(run["ioengine"], run["work"]) for run in before} == {(None, None)}
    assert [run["work"] for run in old] == [None, "20 s", "20 s"]
    assert [{name: run[name] for name in before[0]} | {"work": None} for run in old] == before
    assert {run["kernel"] for run in old} == {None}
    with open_lake(lake, version=0) as opened:
        assert opened.columns == ()


def test_a_column_that_a_dataset_declared_may_be_shipped_later(lake: Path) -> None:
    """The values stay; the filter is the shipped one. Another type is refused by name."""
    young = pa.schema([field for field in RUNS if field.name != "ioengine"])
    rows = pa.Table.from_pylist([run(), run(replicate=1)], schema=young)
    write_deltalake(str(lake / "runs"), rows, description=SCHEMA_DESCRIPTION)
    table = DeltaTable(str(lake / "runs"))
    describe_columns(table, [Column("ioengine", "knob", "text", "Engine", datasets=("tiny",))], ())
    table.update({"ioengine": "'libaio'"})
    create_tables(lake)
    with open_lake(lake) as opened:
        assert opened.columns == ()
        found = opened.polars("SELECT run_id, ioengine FROM runs")
    assert found["ioengine"].to_list() == ["libaio", "libaio"]


def test_a_column_that_is_shipped_now_with_another_type_is_refused(lake: Path) -> None:
    rows = pa.table({"run_id": ["a"], "work": [3.0]})
    write_deltalake(str(lake / "runs"), rows, description=SCHEMA_DESCRIPTION)
    with pytest.raises(LakeError, match="declares a column 'work' of another type"):
        create_tables(lake)


def test_a_sidecar_sets_declared_knobs(tmp_path: Path) -> None:
    """The nearest sidecar says each knob; a name that nobody declares is refused by name."""
    raw = tmp_path / "raw"
    for number, said in enumerate(('turbo = "off"', "lanes = 8", "speed = 1")):
        folder = raw / f"r{number}"
        folder.mkdir(parents=True)
        (folder / "run.toml").write_text(f"knobs = {{ {said} }}\n")
        (folder / "out.txt").write_text(
            "#type avg 99th\nread 10 20\nTotal QPS = 5.0 (50 / 10.0s)\n"
        )
    (raw / "run.toml").write_text('knobs = { turbo = "on" }\n')
    (raw / "wattlas.toml").write_text(
        '[columns.turbo]\nrole = "knob"\ntype = "text"\n'
        '[columns.lanes]\nrole = "knob"\ntype = "whole"\n'
    )
    report = add(AddOptions(tmp_path / "lake", [raw]))
    with open_lake(tmp_path / "lake") as lake:
        rows = lake.arrow("SELECT turbo, lanes FROM runs ORDER BY turbo", []).to_pylist()
    assert rows == [{"turbo": "off", "lanes": None}, {"turbo": "on", "lanes": 8}]
    refused = {p.problem.detail for p in report.problems if p.problem.severity == "refused"}
    assert refused == {"its sidecar sets 'speed', which is not a knob in [columns]; not read"}


def test_a_label_in_a_name_is_a_column_and_no_part_of_the_key(tmp_path: Path) -> None:
    """Two files of one run may have other labels: the run is one, and the first file's holds."""
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "wattlas.toml").write_text(
        '[columns.operator]\nrole = "label"\n[columns.batch]\nrole = "label"\ntype = "whole"\n'
        "[[names]]\n"
        "pattern = '(?P<operator>[a-z]+)_b(?P<batch>\\d+)_r(?P<replicate>\\d+)\\.(out|perf)'\n"
        'workload = "memcached"\nsystem = "linux"\n[workloads.memcached]\nlogged = false\n'
    )
    output = "#type avg 99th\nread 10 20\nTotal QPS = 5.0 (50 / 10.0s)\n"
    (raw / "ada_b7_r0.out").write_text(output)
    (raw / "bob_b7_r0.perf").write_text("12,,context-switches,407367772,100.00,115.375,/sec\n")
    (raw / "bob_b8_r1.out").write_text(output)
    report = add(AddOptions(tmp_path / "lake", [raw]))
    assert report.problems == []
    with open_lake(tmp_path / "lake") as lake:
        rows = lake.arrow(
            "SELECT operator, batch, replicate, context_switches FROM runs ORDER BY replicate", []
        ).to_pylist()
    assert [tuple(row.values()) for row in rows] == [("ada", 7, 0, 12), ("bob", 8, 1, None)]


def test_a_column_of_one_dataset_changes_and_that_of_two_in_other_units_is_two(
    tmp_path: Path, lake: Path
) -> None:
    """What nobody declares is of each table: 400 us are no 400 ms, and a role may be corrected."""
    rows = ["x,101.5,10.5,2.5", "y,121.5,12.5,3.5", "x,104.5,10.25,2.25", "y,99.5,11.5,3.25"]
    for name, head in (("a", "coder,warmup (ms)"), ("b", "sorter,warmup (us)")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.csv").write_text("\n".join([f"{head},energy_j,time_s", *rows, ""]))

    def described() -> list[tuple[str, str, str]]:
        add(AddOptions(lake, [tmp_path / "a", tmp_path / "b"], is_proposing=True))
        with open_lake(lake) as opened:
            return sorted((c.name, c.role, c.unit) for c in opened.columns)

    others = [("sorter", "knob", ""), ("warmup", "metric", "ms"), ("warmup_real", "metric", "us")]
    assert described() == [("coder", "knob", ""), *others]
    file = min((lake / "proposals").iterdir())
    file.write_text(file.read_text().replace("coder = { role = 'knob'", "coder = { role = 'label'"))
    assert described() == [("coder", "label", ""), *others]
