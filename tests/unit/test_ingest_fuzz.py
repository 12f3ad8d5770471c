"""Damaged files, odd names and odd tables through a whole `ingest add`: none is lost in silence."""

import gzip
import re
import tempfile
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.lake.verification import verify_lake
from ingest.pipeline import AddOptions, add
from tests.fixtures import raw_runs, tool_outputs
from tests.fixtures.ingest import tuples

pytestmark = pytest.mark.slow

_KNOBS: Final = "50_0x1d00_135_200000"
_TABLE: Final = raw_runs.SUMMARY_HEADER + "".join(raw_runs.summary_row(n) for n in range(4))
_PERF: Final = "# started on Mon Nov  3\n\n12.5,Joules,power/energy-pkg/,1000,100.00,,\n"
# Name and content of good files of several runs: what the fuzz begins with.
_GOOD: Final[dict[str, bytes]] = {
    **{
        f"linux.np.{kind}.0_1_64_5000_8_0x1900_135": text.encode()
        for kind, text in (
            ("server", raw_runs.SERVER),
            ("client", raw_runs.OUT),
            ("log", raw_runs.LOG),
        )
    },
    f"linux.mcd.out.0_{_KNOBS}": raw_runs.MUTILATE.encode(),
    f"linux.mcd.rdtsc.0_{_KNOBS}": raw_runs.RDTSC.encode(),
    f"linux.mcd.dmesg.0_0_{_KNOBS}": raw_runs.LOG.encode(),
    f"linux.mcd.dmesg.0_1_{_KNOBS}": raw_runs.LOG.encode(),
    f"linux.mcd.perf.0_{_KNOBS}": _PERF.encode(),
    "mcd_combined.csv": _TABLE.encode(),
    "any.csv": b"itr_us,dvfs_ghz,energy_j,latency_p99_us\n2,1.2,10.5,99\n4,1.9,12.5,80\n",
    "memtier.json": tool_outputs.MEMTIER.encode(),
    "wrk2.txt": tool_outputs.WRK2.encode(),
    "sockperf.txt": tool_outputs.captured("sockperf_ping_pong.txt"),
    "iperf3.json": tool_outputs.captured("iperf3_tcp.json"),
    "hdr.hgrm": tool_outputs.captured("hdr_python.hgrm"),
    "perf_stat_interval.csv": tool_outputs.captured("perf_stat_interval.csv"),
    "run.toml": b"itr = 8\nstart_utc = 2020-01-01T00:00:00Z\nend_utc = 2020-01-01T00:01:00Z\n",
}
_ODD: Final = (
    *("", "-1", "0", "nan", "inf", "1e400", "-0.0", "x", "'", '"', ",", ";", "\t", "\0", "\n"),
    *("9" * 18, "9" * 19, "9223372036854775807", "9223372036854775808", "9" * 400, "0xffff", "0x"),
    *("\u0663", "\u00b2", "\ufeff", "\udcff", "a" * 300, "[", "{", "b'", "linux_tuned2", "1:2:3"),
)
_DAMAGES: Final = ("field", "field", "cut", "remove", "repeat", "put", "gzip", "empty")
_FIELD: Final = re.compile(rb"[^\s,;:=]+")


@st.composite
def _odd_texts(draw: st.DrawFn, good: bytes) -> bytes:
    """A good file, damaged up to three times."""
    data = good
    for _ in range(draw(st.integers(0, 3))):
        at, end = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        match draw(st.sampled_from(_DAMAGES)):
            case "field":
                odd = draw(st.sampled_from(_ODD)).encode("utf-8", "surrogateescape")
                spans = [found.span() for found in _FIELD.finditer(data)]
                at, end = draw(st.sampled_from(spans)) if spans else (0, 0)
                data = data[:at] + odd + data[end:]
            case "cut":
                data = data[:at]
            case "remove":
                data = data[:at] + data[end:]
            case "repeat":
                data = data[:end] + data[at:]
            case "put":
                more = draw(st.sampled_from(_ODD) | st.text(max_size=3))
                data = data[:at] + more.encode("utf-8", "surrogatepass") + data[at:]
            case "gzip":
                data = gzip.compress(data, mtime=0)
            case _:
                data = b""
    return data


@st.composite
def _odd_names(draw: st.DrawFn, good: str) -> bytes:
    """The name of a good file, or one that differs in a field or two."""
    fields = good.replace("_", "._").split(".")
    for _ in range(draw(st.integers(0, 2))):
        field = draw(st.integers(0, len(fields) - 1))
        fields[field] = draw(st.sampled_from(_ODD) | st.text(max_size=3))
    name = ".".join(fields).replace("._", "_")
    octets = name.encode("utf-8", "surrogateescape" if "\udcff" in name else "replace")
    octets = octets.replace(b"/", b"-").replace(b"\0", b"-")[:200]
    return b"x" + octets if octets[:1] in (b"", b".") else octets  # A hidden file is no raw file.


@st.composite
def _odd_folders(draw: st.DrawFn) -> dict[bytes, bytes]:
    names = draw(st.lists(st.sampled_from(sorted(_GOOD)), min_size=1, max_size=9, unique=True))
    return {draw(_odd_names(name)): draw(_odd_texts(_GOOD[name])) for name in names}


@settings(derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(_odd_folders())
def test_each_file_is_read_or_said_and_the_lake_is_whole(files: dict[bytes, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        raw, lake = Path(folder, "raw"), Path(folder, "lake")
        raw_runs.write_settings(raw)
        paths = set()
        for name, content in files.items():
            path = raw / name.decode("utf-8", "surrogateescape")
            path.write_bytes(content)
            paths.add(str(path).encode("utf-8", "backslashreplace").decode())
        report = add(AddOptions(lake, [raw], workers=1))
        said = {found.path for found in report.problems} | {path for path, _, _ in report.ignored}
        read = {path for (path,) in tuples(lake, "SELECT path FROM sources")}
        # A sidecar of files that are all refused says nothing more.
        assert paths - said - read <= ({str(raw / "run.toml")} if said else set())
        assert list(verify_lake(lake)) == []
        again = add(AddOptions(lake, [raw], workers=1))
        assert (again.added, again.replaced, again.removed) == (0, 0, 0)
