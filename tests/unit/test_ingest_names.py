"""File names to runs: every name that FORMATS.md has seen, and a lab's own."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FormatError
from ingest.discover.matching import place_of
from ingest.discover.names import RunKey, identity_columns, label_columns, make_run_id
from ingest.settings.loading import load_settings
from ingest.settings.patterns import literal_beginning
from tests.fixtures.names import match_name

MCD = {"load_qps": 200000.0, "itr": 100, "dvfs_code": "0x1d00", "rapl_w": 135.0}
SLEEP = MCD | {"variant": "7"}
NODE = {"itr": 4, "dvfs_code": "0x1900", "rapl_w": 55.0}
NP = {"message_bytes": 8192, "itr": 8, "dvfs_code": "0x1900", "rapl_w": 135.0}


@pytest.mark.parametrize(
    ("name", "workload", "system", "core", "knobs"),
    [
        ("linux.mcd.dmesg.0_3_100_0x1d00_135_200000", "memcached", "linux_tuned", 3, MCD),
        ("linux.mcd.out.0_100_0x1d00_135_200000", "memcached", "linux_tuned", None, MCD),
        ("linux.mcd.rdtsc.0_100_0x1D00_135_200000", "memcached", "linux_tuned", None, MCD),
        ("linux.mcdsilo.dmesg.0_3_100_0x1d00_135_200000", "memcached-silo", "linux_tuned", 3, MCD),
        ("linux.mcdsilo.out.0_100_0x1d00_135_200000", "memcached-silo", "linux_tuned", None, MCD),
        ("linux.mcdsilo.rdtsc.0_100_0x1d00_135_200000", "memcached-silo", "linux_tuned", None, MCD),
        ("ebbrt_dmesg.0_15_100_0x1d00_135_200000.csv", "memcached", "ebbrt_tuned", 15, MCD),
        ("ebbrt_dmesg.0_15_100_0x1d00_135_200000_7.csv", "memcached", "ebbrt_tuned", 15, SLEEP),
        ("ebbrt_rdtsc.0_100_0X1D00_135_200000_7", "memcached", "ebbrt_tuned", None, SLEEP),
        ("ebbrt_dmesg.0_15_100_0x1d00_135_200000", "memcached", "ebbrt_tuned", 15, MCD),
        ("ebbrt_out.0_100_0x1d00_135_200000", "memcached", "ebbrt_tuned", None, MCD),
        ("ebbrt_rdtsc.0_100_0x1d00_135_200000", "memcached", "ebbrt_tuned", None, MCD),
        ("linux_mcd_qps400000_iter0.out", "memcached", "linux", None, {"load_qps": 400000.0}),
        ("linux.node.server.log.0_1_4_0x1900_55", "nodejs", "linux_tuned", 1, NODE),
        ("linux.node.server.out.0_1_4_0x1900_55", "nodejs", "linux_tuned", 1, NODE),
        ("linux.node.server.rdtsc.0_1_4_0x1900_55", "nodejs", "linux_tuned", 1, NODE),
        ("node_dmesg.0_1_4_0x1900_55", "nodejs", "linux_tuned", 1, NODE),
        ("node_out.0_1_4_0x1900_55", "nodejs", "linux_tuned", 1, NODE),
        ("node_rdtsc.0_1_4_0x1900_55", "nodejs", "linux_tuned", 1, NODE),
        ("ebbrt_dmesg.0_1_4_0x1900_55.csv", "nodejs", "ebbrt_tuned", 1, NODE),
        ("ebbrt_out.0_1_4_0x1900_55", "nodejs", "ebbrt_tuned", 1, NODE),
        ("ebbrt_rdtsc.0_4_0x1900_55", "nodejs", "ebbrt_tuned", None, NODE),
        ("linux.np.log.0_1_8192_5000_8_0x1900_135", "netpipe", "linux_tuned", 1, NP),
        ("linux.np.server.0_1_8192_5000_8_0x1900_135", "netpipe", "linux_tuned", 1, NP),
        ("linux.np.client.0_1_8192_5000_8_0x1900_135", "netpipe", "linux_tuned", 1, NP),
        ("dmesg_devicelog.0_8192_5000_8_0x1900_135", "netpipe", "linux_tuned", None, NP),
        ("np.out.0_8192_5000_8_0x1900_135", "netpipe", "linux_tuned", None, NP),
        ("np.server.0_8192_5000_8_0x1900_135", "netpipe", "linux_tuned", None, NP),
        ("ebbrt.dmesg.0_8192_5000_8_0x1900_135", "netpipe", "ebbrt_tuned", None, NP),
        ("ebbrt.dmesg.0_8192_5000_8_0x1900_135.csv", "netpipe", "ebbrt_tuned", None, NP),
        ("ebbrt.np.out.0_8192_5000_8_0x1900_135", "netpipe", "ebbrt_tuned", None, NP),
        ("folder/np.out.0_8192_5000_8_0x1900_135.gz", "netpipe", "linux_tuned", None, NP),
        ("np.out.0_8192_5000_8_0x1900_135.zst", "netpipe", "linux_tuned", None, NP),
        ("np.out.0_8192_5000_8_0x1900_135.xz", "netpipe", "linux_tuned", None, NP),
    ],
)
def test_names_of_the_published_data(
    name: str, workload: str, system: str, core: int | None, knobs: dict[str, Any]
) -> None:
    match = match_name(name, load_settings())
    assert match is not None
    assert (match.workload, match.system, match.core) == (workload, system, core)
    assert match.replicate == 0
    assert dict(match.knobs) == knobs


def test_adaptive_itr_under_the_governor_is_the_default_system() -> None:
    settings = load_settings()
    default = match_name("linux.mcd.out.0_1_0xFFFF_135_200000", settings)
    half = match_name("linux.mcd.out.0_1_0x1d00_135_200000", settings)
    library = match_name("ebbrt_out.0_1_0xffff_135_200000", settings)
    assert default is not None
    assert half is not None
    assert library is not None
    systems = (default.system, half.system, library.system)
    assert systems == ("linux_default", "linux_tuned", "ebbrt_tuned")


@pytest.mark.parametrize(
    "name", ["README.md", "xlinux.mcd.out.0_1_0x1d00_135_9", "linux.mcd.out.", ""]
)
def test_other_names_are_nobodys(name: str) -> None:
    assert match_name(name, load_settings()) is None


def test_a_knob_that_cannot_be_is_refused() -> None:
    with pytest.raises(FormatError):
        match_name("linux.mcd.out.0_5000_0x1d00_135_200000", load_settings())


BIG = "9" * 30


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("linux.mcd.dmesg.0_2147483648_50_0x1d00_135_200000", "core"),
        ("linux.mcd.dmesg.0_9999999999_50_0x1d00_135_200000", "core"),
        (f"linux.mcd.dmesg.{BIG}_3_50_0x1d00_135_200000", "replicate"),
        (f"linux.mcd.dmesg.0_3_{BIG}_0x1d00_135_200000", "itr"),
        (f"linux.mcd.dmesg.0_3_50_0x{BIG}_135_200000", "DVFS"),
        (f"linux.np.log.0_1_{BIG}_5000_8_0x1900_135", "message_bytes"),
        (f"nvme0/poll/randread-{BIG}k-t8-r0/fio.json", "request_bytes"),
        (f"nvme0/poll/randread-4k-t{BIG}-r0/fio.json", "threads"),
        (f"nvme0/poll/randread-4k-t8-qd{BIG}-r0/fio.json", "io_depth"),
        (f"nvme0/poll/randread-4k-t8-r{BIG}/fio.json", "replicate"),
    ],
)
def test_a_number_that_its_column_cannot_hold_is_refused(name: str, word: str) -> None:
    with pytest.raises(FormatError, match=word):
        match_name(name, load_settings())


@pytest.mark.parametrize("text", ["nan", "inf", "1e999", "-1"])
def test_a_real_knob_or_core_of_an_own_pattern_that_is_no_number_is_refused(
    tmp_path: Path, text: str
) -> None:
    group = "core" if text == "-1" else "load_qps"
    (tmp_path / "wattlas.toml").write_text(
        f"[[names]]\npattern = 'mcd-(?P<{group}>.*)'\nworkload = 'memcached'\nsystem = 's'\n"
    )
    with pytest.raises(FormatError, match=group):
        match_name(f"mcd-{text}", load_settings(tmp_path / "wattlas.toml"))


def test_own_patterns_come_before_the_shipped_ones_and_may_look_at_folders(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        r"""
        [[names]]
        pattern = '(?P<mode>poll|interrupt)/linux\.mcd\.out\.(?P<replicate>\d+)_(?P<itr>\d+)_.*'
        workload = "memcached"
        system = "ours"
        """
    )
    match = match_name("/raw/poll/linux.mcd.out.3_8_0x1d00_135_9", load_settings(own))
    assert match is not None
    assert match.system == "ours"
    assert dict(match.knobs) == {"mode": "poll", "itr": 8}
    assert identity_columns(match.key("d"), load_settings(own))["mode"] == "poll"


def test_run_ids_are_readable_stable_and_of_the_dataset() -> None:
    settings = load_settings()
    match = match_name("linux.mcd.out.0_100_0x1d00_135_200000", settings)
    assert match is not None
    run_id = make_run_id(match.key("published"))
    assert run_id.startswith("memcached-linux_tuned-200000qps-itr100-0x1d00-135w-r0-")
    assert run_id == make_run_id(match.key("published"))
    assert run_id != make_run_id(match.key("other"))


def test_identity_columns_decode_the_knobs() -> None:
    settings = load_settings()
    match = match_name("np.out.2_64_5000_1_0xffff_135", settings)
    assert match is not None
    columns = identity_columns(match.key("d"), settings)
    assert columns["itr_us"] is None
    assert columns["itr_policy"] == "adaptive"
    assert (columns["dvfs_ghz"], columns["dvfs_policy"]) == (None, "governor")
    assert (columns["replicate"], columns["message_bytes"], columns["rapl_w"]) == (2, 64, 135.0)
    assert (columns["system_label"], columns["is_baseline"]) == ("Linux default", True)


@pytest.mark.parametrize(
    ("pattern", "beginning"),
    [
        (r"linux\.np\.(log|out)\.\d+", "linux.np."),
        ("run_[0-9]+", "run_"),
        ("ab*c", "a"),
        ("ab?", "a"),
        ("ab{2}", "a"),
        (r"a\.+b", "a"),
        ("a.b", "a"),
        ("a[|]b", "a"),
        (r"a\|b", "a"),
        ("a|b", ""),
        ("(x|y)z|b", ""),
        ("(x|y)z", ""),
        (r"\d+", ""),
        ("", ""),
    ],
)
def test_what_a_pattern_begins_with(pattern: str, beginning: str) -> None:
    assert literal_beginning(pattern) == beginning


@given(
    pattern=st.lists(
        st.sampled_from(["a", "b", r"\.", ".", "a*", "b?", "[ab]", "(a|b)", "(?:b)", "|", "a{2}"]),
        max_size=6,
    ).map("".join),
    text=st.text("ab.", max_size=6),
)
def test_a_path_without_a_patterns_beginning_does_not_fit(pattern: str, text: str) -> None:
    if re.fullmatch(pattern, text):
        assert literal_beginning(pattern) in text


@pytest.mark.parametrize(
    ("system", "label"),
    [
        ("ebbrt_tuned", "Library OS"),
        ("ebbrt_poll", "Library OS, polling"),
        ("ebbrt_poll_small", "Library OS, poll small"),
        ("ebbrt", "Library OS"),
        ("ebbrtbm", "ebbrtbm"),
        ("haiku", "haiku"),
    ],
)
def test_a_library_os_is_labelled_by_rule_unless_the_settings_say_otherwise(
    tmp_path: Path, system: str, label: str
) -> None:
    assert label_columns("memcached", system, load_settings())["system_label"] == label
    path = tmp_path / "wattlas.toml"
    path.write_text(f"[systems.{system}]\nlabel = 'Ours'\n")
    assert label_columns("memcached", system, load_settings(path))["system_label"] == "Ours"


def test_a_run_that_polls_has_no_delay_whatever_its_table_says() -> None:
    """The register's value has no meaning without interrupts; it stays part of the run's id."""
    for itr in (1, 50):
        key = RunKey("x", "memcached", "ebbrt_poll", (("itr", itr),), 0)
        row = identity_columns(key, load_settings())
        assert (row["itr_us"], row["itr_policy"]) == (None, "polling")
        assert f"-itr{itr}-" in row["run_id"]


@pytest.mark.parametrize(
    ("names", "place"),
    [
        # The number of a repeat stands behind the ending of a tool, or is one.
        (("out.fio-1", "out.perf-1"), "out-1"), (("out.fio-12",), "out-12"),
        (("log.txt.3",), "log.txt.3"), (("mix.wrk_2",), "mix_2"),
        # Digits of an ending are none, nor those of a date.
        (("a.h5", "a.mp4", "a.7z", "a.v2", "a.json.gz", "a.2024-11-27"), "a"),
        (("fio.json", "perf.txt"), ""),
    ],
)  # fmt: skip
def test_a_number_behind_an_ending_is_of_the_run(names: tuple[str, ...], place: str) -> None:
    assert {place_of(f"/raw/{name}", "/raw") for name in names} == {place}
