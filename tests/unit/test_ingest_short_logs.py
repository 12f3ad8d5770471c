"""A log that ends before its window does must not pass for a frugal run."""

import shutil
from pathlib import Path

import pytest

from ingest.pipeline import AddOptions, add
from tests.fixtures.ingest import query, tuples
from tests.fixtures.real import real_data


@pytest.mark.real
@pytest.mark.parametrize("kept_lines", [12_870, 25_739])
def test_half_a_log_has_no_energy_and_says_why(tmp_path: Path, kept_lines: int) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    name = "ebbrt.dmesg.0_8192_5000_6_0x1600_135.csv"
    lines = (real_data() / "netpipe" / name).read_text().splitlines(keepends=True)
    (raw / name).write_text("".join(lines[: kept_lines + 1]))
    out = "ebbrt.np.out.0_8192_5000_6_0x1600_135"
    shutil.copy(real_data() / "netpipe" / out, raw / out)
    add(AddOptions(tmp_path / "lake", (raw,), workers=1))
    run = query(tmp_path / "lake", "SELECT * FROM runs")[0]
    kinds = [kind for (kind,) in tuples(tmp_path / "lake", "SELECT kind FROM problems")]
    if kept_lines == 25_739:
        assert (run["flags"], kinds) == ([], [])
        assert run["energy_j"] == pytest.approx(4.7220, abs=5e-5)
    else:
        assert (run["energy_j"], run["power_w"]) == (None, None)
        assert run["flags"] == ["log_short"]
        assert kinds == ["log_short"]
