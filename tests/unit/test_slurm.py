"""An add whose workers are jobs of a real SLURM, of one node, in a network of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.pipeline import AddOptions, add
from tests.fixtures.raw_runs import write_memcached, write_netpipe, write_settings
from tests.unit.test_cluster import bytes_of
from tests.unit.test_ingest_kill import contents

_ROOT = Path(__file__).resolve().parents[2]
_RUNS = 40


def _why_not() -> str:
    """Why no SLURM can be started here; empty if one can."""
    if shutil.which("slurmctld", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        return "SLURM is not installed: apt-get install slurm-wlm"
    tried = subprocess.run(["unshare", "--net", "--pid", "--fork", "true"], check=False)
    return "no right to a network of its own: run as root" if tried.returncode else ""


# The first job is cancelled while its workers read, as at its time limit.
_CANCELLED = """
import subprocess, sys
import ingest.runs.schedule, ingest.cluster.slurm
from ingest.__main__ import main
from ingest.runs.progress import Progress
ingest.runs.schedule.TASK_S = 0.0
ingest.cluster.slurm._LOOK_EVERY_S = 1.0
add_run = Progress.add_run
def add_run_and_cancel(self, problems):
    add_run(self, problems)
    if self.runs_done == 3:
        subprocess.run(["scancel", "1"], check=True)
Progress.add_run = add_run_and_cancel
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("program", "jobs", "cores", "submitted"),
    [(("-m", "ingest"), 2, 1, 2), (("-c", _CANCELLED), 1, 2, 2)],
    ids=["two jobs", "a cancelled job"],
)
def test_jobs_of_slurm_write_the_lake_of_one_machine(
    tmp_path: Path, program: tuple[str, str], jobs: int, cores: int, submitted: int
) -> None:
    if why := _why_not():
        assert os.environ.get("CI") != "true", why
        pytest.skip(f"NO JOB WAS SUBMITTED TO SLURM: {why}")
    raw, lake, described = tmp_path / "raw", tmp_path / "lake", tmp_path / "jobs.toml"
    write_settings(raw)
    for replicate in range(_RUNS):
        write_netpipe(raw / f"day {replicate % 3}", replicate)
    write_memcached(raw)
    described.write_text(f"""\
jobs = {jobs}
cores = {cores}
memory = "400MB"
walltime = "00:05:00"
interface = "lo"
log_directory = "{tmp_path}/logs"
shared_temp_directory = "{tmp_path}"
""")
    command = ["sh", "scripts/with_slurm.sh", str(tmp_path / "slurm"), sys.executable, *program]
    command += ["add", str(raw), "--lake", str(lake), "--cluster", f"slurm:{described}"]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.match(r"cluster tls://127\.0\.0\.1:\d+, dashboard http://127\.0\.0\.1:", done.stderr)
    assert f"runs: {_RUNS + 1} added" in done.stdout
    said = (tmp_path / "slurm" / "slurmctld.log").read_text()
    assert len(re.findall(r"Allocate JobId=\d+ NodeList", said)) == submitted
    # They end with the add.
    assert len(set(re.findall(r"REQUEST_KILL_JOB JobId=(\d+)", said))) == submitted
    add(AddOptions(tmp_path / "alone", [raw]))
    assert bytes_of(lake) == bytes_of(tmp_path / "alone")
    assert contents(lake) == contents(tmp_path / "alone")
    # Certificates are not left behind.
    assert sorted(path.name for path in tmp_path.glob("*")) == [
        "alone", "jobs.toml", "lake", "logs", "raw", "slurm",
    ]  # fmt: skip
