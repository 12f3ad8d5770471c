"""States of machines: stored once with the runs below their folder, compared line by line."""

from pathlib import Path
from typing import Any

import pytest

from data.connection import open_lake
from data.errors import DataError
from data.machine_state import (
    StateDifference,
    compare_states,
    runs_of_states,
    state_differences,
    state_of,
)
from ingest.__main__ import main
from ingest.lake.machine_states import MOST_BYTES, state_kind
from ingest.lake.maintenance import prune_lake
from ingest.lake.verification import verify_lake
from ingest.pipeline import AddOptions, add
from ingest.report import AddReport
from tests.fixtures.real import studies

CPU = "processor\t: {n}\nmodel name\t: {name}\ncpu MHz\t\t: {mhz}\nbogomips\t: 4788.18\n\n"
TABLE = "system,rep,energy_j,duration_s\nlinux,0,5,1\nlinux,1,6,1\n"


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """Two machines with a table of two runs each; the second also has its own kernel options."""
    folder = tmp_path / "raw"
    for name, mhz in (("xeon", 1200), ("atom", 800)):
        here = folder / name / "results"
        here.mkdir(parents=True)
        (here / f"{name}.csv").write_text(TABLE.replace("linux", name))
        cpus = (CPU.format(n=n, name=name.title(), mhz=mhz + n) for n in range(2))
        (folder / name / "cpuinfo").write_text("".join(cpus))
    (folder / "sysctl.txt").write_text("kernel.pid_max = 4096\nkernel.random.uuid = 1\n")
    (folder / "atom" / "results" / "cmdline").write_text("root=UUID=1 idle=poll quiet\n")
    return folder


def ingest(lake: Path, *raw: Path) -> AddReport:
    return add(AddOptions(lake, raw, "lab", workers=1))


def states(lake: Path) -> dict[str, dict[str, list[str]]]:
    with open_lake(lake) as opened:
        ids = opened.polars("SELECT run_id, system FROM runs ORDER BY 1").rows()
        return {f"{system} {run_id}": state_of(opened, run_id) for run_id, system in ids}


def test_runs_have_the_nearest_file_of_each_kind(raw: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    report = ingest(lake, raw)
    assert report.ignored == []
    for run, state in states(lake).items():
        kinds = {"cpuinfo", "sysctl"} | ({"cmdline"} if run.startswith("atom") else set())
        assert set(state) == kinds
        assert state["cpuinfo"][1] == f"model name\t: {run.split()[0].title()}"
    assert len(list((lake / "machine_states" / "lab").iterdir())) == 2
    assert list(verify_lake(lake)) == []


def test_two_systems_are_compared_without_noise(raw: Path, tmp_path: Path) -> None:
    """Frequencies, random numbers and the root's disk differ too."""
    lake = tmp_path / "lake"
    (raw / "xeon" / "results" / "cmdline").write_text("root=UUID=2 quiet idle=halt\n")
    ingest(lake, raw)
    with open_lake(lake) as opened:
        xeon, atom = (runs_of_states(opened, "system", name) for name in ("xeon", "atom"))
        assert (len(xeon), len(atom)) == (1, 1)
        assert compare_states(opened, xeon, atom) == [
            StateDifference("cmdline", "idle", "halt", "poll"),
            StateDifference("cpuinfo", "model name", "Xeon", "Atom"),
        ]
        assert compare_states(opened, xeon[0], xeon[0]) == []
        with pytest.raises(DataError, match="nonsense"):
            runs_of_states(opened, "nonsense", "x")


def test_a_second_add_writes_nothing_and_a_changed_file_is_a_new_state(
    raw: Path, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    ingest(lake, raw)
    before = states(lake)
    with open_lake(lake) as opened:
        version = opened.version
    ingest(lake, raw)
    with open_lake(lake) as opened:
        assert opened.version == version
    (raw / "sysctl.txt").write_text("kernel.pid_max = 9\n")
    ingest(lake, raw)
    assert {tuple(state["sysctl"]) for state in states(lake).values()} == {("kernel.pid_max = 9",)}
    with open_lake(lake, version) as opened:
        run_id = next(iter(before)).split()[1]
        assert state_of(opened, run_id) in before.values()
    prune_lake(lake, 1)
    assert len(list((lake / "machine_states" / "lab").iterdir())) == 2


def test_runs_keep_the_state_of_files_that_are_gone(raw: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    ingest(lake, raw)
    before = states(lake)
    for name in ("xeon/cpuinfo", "atom/cpuinfo", "sysctl.txt", "atom/results/cmdline"):
        (raw / name).unlink()
    ingest(lake, raw)
    assert states(lake) == before


def test_a_file_of_any_length_is_cut_and_an_unreadable_one_refused(
    raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = tmp_path / "lake"
    (raw / "dmesg").write_text("[    0.1] line\n" * (MOST_BYTES // 8))
    (raw / "lscpu.gz").write_bytes(b"\x1f\x8bdamaged")
    report = ingest(lake, raw)
    kinds = {(Path(p.path).name, p.problem.kind, p.problem.severity) for p in report.problems}
    assert {("dmesg", "state_cut", "doubted"), ("lscpu.gz", "unreadable", "refused")} <= kinds
    state = next(iter(states(lake).values()))
    assert sum(len(line) + 1 for line in state["dmesg"]) <= MOST_BYTES + 1
    assert main(["problems", "--lake", str(lake)]) == 0
    assert "state_cut" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cpuinfo", "cpuinfo"),
        ("kernel_cmdline.txt", "cmdline"),
        ("sysctl.log", "sysctl"),
        ("linux.mcd.dmesg.0_3_50_0x1d00_135_200000", None),
        ("lscpu.json", None),
    ],
)
def test_only_whole_names_say_what_a_file_is(name: str, kind: str | None) -> None:
    assert state_kind(name) == kind


def test_kernel_logs_are_compared_without_times_and_addresses() -> None:
    first: dict[str, Any] = {
        "dmesg": [
            "[    0.000000] Linux version 5.4.0",
            "[    0.100000] BIOS-e820: mem 0x0000-0x9fff usable",
            "[    1.500000] random: crng init done",
            "[    2.000000] mlx5: 2 ports",
        ]
    }
    second: dict[str, Any] = {
        "dmesg": [
            "[    0.000000] Linux version 5.15.0",
            "[    0.200000] BIOS-e820: mem 0x0000-0xbfff usable",
            "[    9.500000] mlx5: 2 ports",
            "[   10.000000] EDAC: found",
        ]
    }
    assert state_differences([first], [second]) == [
        StateDifference("dmesg", "EDAC: found", None, "EDAC: found"),
        StateDifference(
            "dmesg", "Linux version #.#", "Linux version 5.4.0", "Linux version 5.15.0"
        ),
    ]
    assert state_differences([first], [{"lscpu": ["CPU(s): 4"]}]) == []


@pytest.mark.real
def test_the_machine_of_a_study_of_another_group(tmp_path: Path) -> None:
    """896 lines of 32 processors; all runs share one state, one processor has another clock."""
    lake = tmp_path / "lake"
    folder = studies() / "cloudlab"
    add(AddOptions(lake, [folder], None, workers=1))
    with open_lake(lake) as opened:
        ids = opened.polars("SELECT run_id FROM runs ORDER BY 1")["run_id"].to_list()
        state = state_of(opened, ids[0])
        assert compare_states(opened, ids[0], ids[-1]) == []
    assert {file: len(lines) for file, lines in state.items()} == {"cpuinfo": 896}
    (file,) = (lake / "machine_states").rglob("*.parquet")
    assert file.stat().st_size < 10_000
    other = dict(state, cpuinfo=[line.replace("0x49", "0x50") for line in state["cpuinfo"]])
    assert state_differences([state], [other]) == [
        StateDifference("cpuinfo", "microcode", "0x49", "0x50")
    ]
