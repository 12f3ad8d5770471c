"""Sidecars, sizes and places: which run a storage file is of when its name does not say it all."""

from pathlib import Path
from typing import Any

import pytest

from data.errors import FormatError
from ingest.discover.matching import match_part, match_run, place_of
from ingest.discover.names import NameMatch, identity_columns
from ingest.discover.sidecars import BadSidecarError, SidecarsByFolder, merged_values
from ingest.formats import FORMATS, find_format, sidecar
from ingest.records import ReadContext, UtcWindow
from ingest.settings.dataset import Settings
from ingest.settings.loading import load_settings
from ingest.settings.number_texts import parse_size
from tests.fixtures.names import match_name

FIO = next(known for known in FORMATS if known.name == "fio")
WRK, RDTSC = (next(known for known in FORMATS if known.name == name) for name in ("wrk", "rdtsc"))


@pytest.mark.parametrize(
    ("text", "size"),
    [("512", 512), ("4k", 4096), ("4K", 4096), ("128KiB", 131072), ("1m", 1 << 20), ("2gb", 2**31)],
)  # fmt: skip
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "k", "4x", "-4k", "4.5k", "4k8k"])
def test_bad_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="bad size"):
        parse_size(text)


def test_a_sidecar_is_told_by_its_name() -> None:
    for name in ("run.toml", "randread-4k.run.toml"):
        found = find_format(name, b"")
        assert found is not None
        assert found.role == "sidecar"
    assert find_format("dry-run.toml", b"") is None
    assert find_format("run.toml.bak", b"") is None


def test_every_key_of_a_sidecar_is_read_in_one_type() -> None:
    text = """
        workload = "fio"
        system = "linux"
        device = "optane"
        replicate = 3
        rw = "randread"
        request_bytes = "4k"
        threads = 8
        rapl_w = 135
        itr = 8
        hipri = true
        io_poll_delay = -1
        start_utc = 2022-03-01T10:00:00.250Z
        end_utc = "2022-03-01T12:00:30+02:00"
    """
    values = sidecar.read_values(text, "run.toml")
    assert (values["request_bytes"], values["rapl_w"], values["itr"]) == (4096, 135.0, 8)
    reading = sidecar.read([text.encode()], ReadContext("run.toml", 0.0))
    assert reading.utc_window == UtcWindow(1_646_128_800.25, 1_646_128_830.0)
    assert sidecar.read([b""], ReadContext("run.toml", 0.0)).utc_window is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mode = ", "not TOML"),
        ("mode = " + "[" * 5000, "not TOML"),
        ("moed = 'poll'", "unknown key 'moed', known: workload"),
        ("replicate = '3'", "replicate cannot be '3': expected a whole number"),
        ("replicate = true", "replicate cannot be True"),
        ("threads = -1", "expected a whole number >= 0"),
        ("replicate = 9223372036854775808", "expected a whole number <= 9223372036854775807"),
        ("request_bytes = 'big'", "bad size: 'big'"),
        ("request_bytes = '99999999p'", "over 63 bits"),
        ("mode = ''", "expected a text of length >= 1"),
        ("hipri = 1", "expected true or false"),
        ("load_qps = 'x'", "expected a number"),
        (
            "start_utc = 2022-03-01T10:00:00",
            "2022-03-01 10:00:00: expected a date and time with a timezone",
        ),
        ("start_utc = 10:00:00", "start_utc cannot be 10:00:00: expected a date and time"),
        ("start_utc = 2022-03-01T10:00:00Z", "go together"),
        ("start_utc = 2022-03-01T10:00:00Z\nend_utc = 2022-03-01T10:00:00Z", "is not after"),
    ],
)
def test_a_bad_sidecar_says_what_and_where(text: str, words: str) -> None:
    with pytest.raises(FormatError, match=words) as refusal:
        sidecar.read_values(text, "a.run.toml")
    assert "a.run.toml" in str(refusal.value)


@pytest.mark.parametrize(
    ("values", "mode"),
    [
        ({"hipri": False}, "interrupt"),
        ({"hipri": False, "io_poll_delay": -1}, "interrupt"),
        ({"hipri": True, "io_poll_delay": -1}, "poll"),
        ({"hipri": True, "io_poll_delay": 0}, "hybrid"),
        ({"hipri": True, "io_poll_delay": 4}, "hybrid"),
        ({"hipri": True}, None),
        ({"io_poll_delay": -1}, None),
        ({}, None),
    ],
)
def test_the_kernels_knobs_make_a_mode(values: dict[str, Any], mode: str | None) -> None:
    assert sidecar.polled_mode(values) == mode


@pytest.mark.parametrize(
    ("folder", "text", "knobs"),
    [
        ("poll", 'ioengine = "io_uring"', {"ioengine": "io_uring"}),
        (
            "poll", 'io_scheduler = "none"\nfile_system = "ext4"',
            {"io_scheduler": "none", "file_system": "ext4"},
        ),
        ("hybrid", "io_poll_delay = 0", {"hybrid_delay": "automatic"}),
        ("hybrid", "io_poll_delay = 4", {"hybrid_delay": "4"}),
        ("hybrid", "hybrid_delay = 2.5", {"hybrid_delay": "2.5"}),
        ("hybrid", "hybrid_delay = 8\nio_poll_delay = 4", {"hybrid_delay": "8"}),
        ("x", "hipri = true\nio_poll_delay = 4", {"mode": "hybrid", "hybrid_delay": "4"}),
        ("poll", "io_poll_delay = 4", {}),
    ],
)  # fmt: skip
def test_engine_scheduler_file_system_and_delay_are_part_of_the_key(
    tmp_path: Path, folder: str, text: str, knobs: dict[str, Any]
) -> None:
    known = {"mode": folder, "device": "nvme0", "rw": "randread", "request_bytes": 4096}
    place = tmp_path / "nvme0" / folder / "randread-4k-r0" if folder != "x" else tmp_path / "x"
    path = write(place, run=text) / "fio.json"
    found = dict(match(path, tmp_path).knobs)
    wanted = (known if folder != "x" else {"variant": "x"}) | knobs
    assert found == wanted


def test_a_pattern_names_them_and_columns_follow(tmp_path: Path) -> None:
    (tmp_path / "wattlas.toml").write_text(
        "[[names]]\nworkload = 'fio'\nsystem = 'linux'\nset = { file_system = 'xfs' }\n"
        "pattern = '(?P<ioengine>\\w+)/(?P<io_scheduler>[a-z-]+)/(?P<mode>hybrid)"
        "(?P<hybrid_delay>\\d+|automatic)/fio.json'\n"
    )
    settings = load_settings(tmp_path / "wattlas.toml")
    rows, names = [], ("io_uring/mq-deadline/hybrid5", "libaio/none/hybridautomatic")
    for name in names:
        found = match_name(f"{name}/fio.json", settings)
        assert found is not None
        rows.append(identity_columns(found.key("x"), settings))
    columns = ("ioengine", "io_scheduler", "file_system", "hybrid_delay_us", "hybrid_delay_policy")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("io_uring", "mq-deadline", "xfs", 5.0, "fixed"),
        ("libaio", "none", "xfs", None, "automatic"),
    ]
    assert rows[0]["run_id"].startswith("fio-linux-hybrid-delay5-io_uring-mq_deadline-xfs-rx-")
    assert len({row["run_id"] for row in rows}) == 2


def write(folder: Path, **texts: str) -> Path:
    """Write sidecars into a folder: `run='...'` is run.toml, `a='...'` is a.run.toml."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, text in texts.items():
        (folder / ("run.toml" if stem == "run" else f"{stem}.run.toml")).write_text(text)
    return folder


def said(path: Path, top: Path) -> dict[str, Any]:
    return merged_values(SidecarsByFolder().of(str(path), str(top)))


def test_the_nearest_sidecar_holds(tmp_path: Path) -> None:
    write(tmp_path, run="device = 'disk'\nsystem = 'far'")
    write(tmp_path / "d", run="device = 'flash'\nmode = 'poll'", a="mode = 'interrupt'")
    everything = {"device": "flash", "system": "far", "mode": "interrupt"}
    assert said(tmp_path / "d" / "a.json", tmp_path) == everything
    assert said(tmp_path / "d" / "a.interrupts.before", tmp_path) == everything
    assert said(tmp_path / "d" / "a.run.toml", tmp_path) == everything
    assert said(tmp_path / "d" / "ab.json", tmp_path)["mode"] == "poll"
    assert said(tmp_path / "d" / "e" / "a.json", tmp_path)["mode"] == "poll"
    assert said(tmp_path / "b.json", tmp_path) == {"device": "disk", "system": "far"}


def test_a_sidecar_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_bytes("device = 'disk'\r\nmode = 'poll'\r\n".encode("utf-8-sig"))
    assert said(tmp_path / "a.json", tmp_path) == {"device": "disk", "mode": "poll"}


def test_nobody_looks_above_the_top(tmp_path: Path) -> None:
    write(tmp_path, run="device = 'disk'")
    assert said(tmp_path / "d" / "a.json", tmp_path / "d") == {}


def test_a_bad_sidecar_is_bad_for_all_that_it_speaks_for(tmp_path: Path) -> None:
    write(tmp_path, run="device = 3", good="mode = 'poll'")
    with pytest.raises(BadSidecarError, match=r"run\.toml.*device cannot be 3"):
        said(tmp_path / "good.json", tmp_path)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("sweep/poll/fio.json", "sweep/poll"),
        ("sweep/poll/interrupts.before", "sweep/poll"),
        ("sweep/poll/perf.csv", "sweep/poll"),
        ("sweep/poll/run.toml", "sweep/poll"),
        ("sweep/randread-4k.json", "sweep/randread-4k"),
        ("sweep/randread-4k.json.gz", "sweep/randread-4k"),
        ("sweep/randread-4k.interrupts.after", "sweep/randread-4k"),
        ("sweep/randread-4k.perf.csv", "sweep/randread-4k"),
        ("sweep/randread-4k.perf-stat.csv", "sweep/randread-4k"),
        ("sweep/randread-4k.vtune.csv", "sweep/randread-4k"),
        ("sweep/randread-4k.run.toml", "sweep/randread-4k"),
        ("sweep/randread-4k.fio.json", "sweep/randread-4k"),
        ("sweep/r.1.json", "sweep/r.1"),
        ("run1.json", "run1"),
        ("fio.json", ""),
    ],
)
def test_files_of_one_place(path: str, place: str) -> None:
    assert place_of(f"/raw/{path}", "/raw") == place


def match(path: Path, top: Path, form: Any = FIO, settings: Settings | None = None) -> NameMatch:
    found = match_run(
        path.as_posix(),
        settings or load_settings(),
        form,
        SidecarsByFolder().of(str(path), str(top)),
        str(top),
    )
    assert found is not None
    return found


def test_the_shipped_layout_says_device_mode_and_knobs() -> None:
    settings = load_settings()
    found = match_name("/raw/optane/classic/randread-4k-t8-qd16-r3/fio.json", settings)
    assert found is not None
    assert (found.workload, found.system, found.replicate) == ("fio", "linux", 3)
    assert dict(found.knobs) == {
        "request_bytes": 4096, "io_depth": 16, "threads": 8, "rw": "randread", "device": "optane",
        "mode": "poll",
    }  # fmt: skip
    for name in ("interrupts.before", "interrupts.after", "perf.csv", "vtune.csv", "run.toml"):
        beside = f"/raw/optane/classic/randread-4k-t8-qd16-r3/{name}"
        assert match_name(beside, settings) == found
    bare = match_name("/raw/hdd/interrupt/write-1m-r0/fio.json", settings)
    assert bare is not None
    assert dict(bare.knobs) == {
        "request_bytes": 1 << 20, "rw": "write", "device": "hdd", "mode": "interrupt"
    }  # fmt: skip
    other = match_name("/raw/server/nvme0/write-1m-r0/fio.json", settings)
    assert other is None, "nvme0 is no completion mode"
    idle = match_name("/raw/optane/idle-r1/run.toml", settings)
    assert idle is not None
    assert (idle.workload, idle.replicate, dict(idle.knobs)) == ("idle", 1, {"device": "optane"})


@pytest.mark.parametrize(
    ("word", "mode"),
    [("classic", "poll"), ("Polling", "poll"), ("irq", "interrupt"), ("sqpoll", "sqpoll")],
)
def test_words_for_a_completion_mode(tmp_path: Path, word: str, mode: str) -> None:
    write(tmp_path, run=f"mode = '{word}'")
    found = match(tmp_path / "a.json", tmp_path)
    assert identity_columns(found.key("d"), load_settings())["mode"] == mode


def test_without_a_pattern_a_file_is_of_its_place(tmp_path: Path) -> None:
    found = match(tmp_path / "sweep" / "a.json", tmp_path)
    assert (found.workload, found.system, found.replicate) == ("fio", "", None)
    # Nothing names the system: it is called as the dataset.
    assert found.key("disks").system == "disks"
    assert dict(found.knobs) == {"variant": "sweep/a"}
    assert found == match(tmp_path / "sweep" / "a.perf.csv", tmp_path)
    assert found != match(tmp_path / "sweep" / "b.json", tmp_path)


def test_what_nothing_ties_to_a_workload_is_of_none(tmp_path: Path) -> None:
    path = (tmp_path / "a.out").as_posix()
    sidecars = SidecarsByFolder().of(path, str(tmp_path))
    found = match_run(path, load_settings(), WRK, sidecars, str(tmp_path))
    assert found is not None
    assert (found.workload, found.knobs) == ("unknown", (("variant", "a"),))
    assert match_run(path, load_settings(), RDTSC, sidecars, str(tmp_path)) is None
    assert match_run(path, load_settings(), None, sidecars, str(tmp_path)) is None


def test_a_sidecar_holds_over_the_name(tmp_path: Path) -> None:
    folder = tmp_path / "optane" / "poll" / "randread-4k-t8-r3"
    write(folder, run="mode = 'hybrid'\nreplicate = 9\nsystem = 'other'\ndvfs = '0x1D00'")
    found = match(folder / "fio.json", tmp_path)
    assert (found.system, found.replicate) == ("other", 9)
    knobs = dict(found.knobs)
    assert (knobs["mode"], knobs["device"], knobs["dvfs_code"]) == ("hybrid", "optane", "0x1d00")


@pytest.mark.parametrize(
    ("text", "words"), [("workload = 'dd'", "workload 'dd' has no"), ("itr = 5000", "bad ITR")]
)
def test_a_sidecar_cannot_say_what_cannot_be(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path, run=text)
    with pytest.raises(FormatError, match=words):
        match(tmp_path / "a.json", tmp_path)


def test_a_part_of_a_document_is_a_run_whose_requests_only_the_document_knows() -> None:
    whole = match_name("/raw/optane/poll/randread-4k-t8-r3/fio.json", load_settings())
    assert whole is not None
    part = match_part(whole, "w8k")
    assert dict(part.knobs) == {"device": "optane", "mode": "poll", "variant": "w8k"}
    assert part.replicate == 3
    assert dict(match_part(part, "x").knobs)["variant"] == "w8k/x"


def test_a_size_in_a_name_that_cannot_be_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        "[[names]]\npattern = '(?P<request_bytes>[a-z0-9]+)\\.fio'\n"
        'workload = "fio"\nsystem = "linux"\n'
    )
    assert dict(match(tmp_path / "4k.fio", tmp_path, settings=load_settings(own)).knobs) == {
        "request_bytes": 4096
    }
    for name in ("huge", "99999999p", "9" * 30):
        with pytest.raises(FormatError, match=f"bad request_bytes in the name: '{name}'"):
            match(tmp_path / f"{name}.fio", tmp_path, settings=load_settings(own))
