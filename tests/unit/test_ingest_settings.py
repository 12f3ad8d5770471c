"""Settings: layers, every refusal, and the values that the published data needs."""

import json
from pathlib import Path

import pytest

from data.errors import SettingsError
from ingest.__main__ import main
from ingest.settings.layout import settings_schema
from ingest.settings.loading import load_settings
from ingest.settings.power import PowerSettings


def _write(folder: Path, text: str, name: str = "own.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_shipped_default_is_the_published_machine() -> None:
    settings = load_settings()
    assert settings.machine.tsc_hz == 2_899_999_000
    assert settings.machine.energy_unit_j == 2**-16
    assert settings.machine.energy_counter_bits == 32
    assert settings.machine.package_of(14) == 0
    assert settings.machine.package_of(1) == 1
    assert settings.machine.package_of(16) is None
    assert settings.expected_cores("memcached") == tuple(range(16))
    assert settings.expected_cores("netpipe") == (1,)
    assert settings.systems["linux_default"].baseline
    assert not settings.systems["linux_tuned"].baseline
    assert settings.workloads["memcached"].performance_metric == "latency_p99_us"
    assert settings.workloads["nodejs"].loop == "closed"


def test_a_layer_changes_what_it_names_and_leaves_the_rest(tmp_path: Path) -> None:
    own = _write(
        tmp_path,
        """
        [dataset]
        name = "lab"
        synthetic = true
        [machine]
        tsc_khz = 2000000
        [machine.packages]
        0 = [0, 1]
        [systems.linux_tuned]
        label = "Ours"
        aliases = ["tuned"]
        """,
    )
    settings = load_settings(own)
    assert (settings.dataset, settings.synthetic) == ("lab", True)
    assert settings.machine.tsc_hz == 2e9
    assert settings.machine.cores == (0, 1)
    assert settings.machine.energy_unit_j == 2**-16
    assert settings.systems["linux_tuned"].label == "Ours"
    assert settings.aliases == {"tuned": "linux_tuned"}
    assert settings.systems["ebbrt_tuned"].label == "Library OS"


def test_the_topmost_layer_wins(tmp_path: Path) -> None:
    below = _write(tmp_path, '[dataset]\nname = "below"\nsynthetic = true\n', "below.toml")
    above = _write(tmp_path, '[dataset]\nname = "above"\n', "above.toml")
    settings = load_settings(below, above)
    assert (settings.dataset, settings.synthetic) == ("above", True)


def test_storage_has_no_logs_and_modes_have_several_names(tmp_path: Path) -> None:
    own = _write(tmp_path, '[modes.poll]\naliases = ["spin"]\n[workloads.idle]\nlogged = true\n')
    settings = load_settings(own)
    assert not settings.workloads["fio"].logged
    assert settings.workloads["idle"].logged
    assert settings.workloads["memcached"].logged
    assert settings.workloads["fio"].performance_metric == "latency_mean_us"
    assert (settings.modes["spin"], load_settings().modes["classic"]) == ("poll", "poll")
    assert "classic" not in settings.modes, "lists are taken whole"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[machin]\n", "'machin'"),
        ("[machine]\ntsc_mhz = 1\n", "machine.tsc_mhz"),
        ("[machine]\ntsc_khz = 0\n", "machine.tsc_khz"),
        ('[machine]\ntsc_khz = "fast"\n', "machine.tsc_khz"),
        ("[machine]\nenergy_counter_bits = true\n", "machine.energy_counter_bits"),
        ("[machine.packages]\n0 = [0, 1]\n1 = [1]\n", "core 1 is in two packages"),
        ("[machine.packages]\n0 = []\n", "machine.packages.0"),
        ("[machine.packages]\nfirst = [0]\n", "machine.packages.first"),
        ('[dataset]\nname = "../up"\n', "dataset.name"),
        ("[systems.x]\nlable = 1\n", "systems.x.lable"),
        ("[modes.poll]\naliases = [1]\n", "modes.poll.aliases"),
        ('[subsystems.x]\npaths = "block/"\n', "subsystems.x.paths"),
        ("[functions]\ntable = 3\n", "functions.table"),
        ('[workloads.fio]\nlogged = "no"\n', "workloads.fio.logged"),
        ('[workloads.x]\nloop = "ajar"\nperformance_metric = "duration_s"\n', "workloads.x.loop"),
        ('[workloads.x]\nloop = "open"\nperformance_metric = "joy"\n', "performance_metric"),
        ('[workloads.x]\nloop = "open"\n', "lacks 'performance_metric'"),
        ('[[names]]\npattern = "("\nworkload = "nodejs"\nsystem = "s"\n', "names[1].pattern"),
        ('[[names]]\npattern = "(?P<itre>x)"\nworkload = "nodejs"\nsystem = "s"\n', "'itre'"),
        ('[[names]]\npattern = "x"\nsystem = "s"\n', "lacks 'workload'"),
        ('[[names]]\npattern = "x"\nworkload = "chess"\nsystem = "s"\n', "'chess'"),
        ('[workloads.fio]\naliases = "f"\n', "workloads.fio.aliases"),
        ('[[tables]]\npattern = "x"\nfactors = 1\n', "tables[1].factors"),
        ('[[tables]]\npattern = "x"\n[tables.columns]\na = {role = "king"}\n', "columns.a"),
        ('[[tables]]\npattern = "x"\n[tables.columns]\na = {wraps_at = 0}\n', "columns.a"),
        ('[[tables]]\npattern = "x"\n[tables.columns]\na = {unit = 3}\n', "columns.a"),
        ("names = 3\n", "names cannot be 3: expected a list"),
        ("[machine]\nenergy_counter_bits = 64\n", "cannot be 64: expected a whole number <= 48"),
        ('[workloads.fio]\ncores = [0, "1"]\n', "workloads.fio.cores[2] cannot be '1'"),
        ("[systems]\nlinux = 'x'\n", "systems.linux cannot be 'x': expected a table"),
        ("[systems.x]\nlable = 1\n", "known: label, baseline, aliases"),
        ("not toml", "not TOML"),
        ("a = " + "[" * 5000 + "]" * 5000, "not TOML"),
    ],
)
def test_what_is_wrong_is_said_with_key_and_file(tmp_path: Path, text: str, said: str) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(SettingsError) as error:
        load_settings(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)


def test_labels_do_not_change_the_fingerprint_but_the_machine_does(tmp_path: Path) -> None:
    label = _write(tmp_path, '[systems.linux_tuned]\nlabel = "Ours"\n', "label.toml")
    clock = _write(tmp_path, "[machine]\ntsc_khz = 1\n", "clock.toml")
    assert load_settings(label).fingerprint == load_settings().fingerprint
    assert load_settings(clock).fingerprint != load_settings().fingerprint


def test_power_settings_have_defaults_and_change_the_fingerprint(tmp_path: Path) -> None:
    plain = load_settings()
    assert plain.power == PowerSettings()
    path = tmp_path / "wattlas.toml"
    path.write_text("[power]\nclock_offset_s = -1.5\nramp_s = 2\n")
    own = load_settings(path)
    assert own.power == PowerSettings(clock_offset_s=-1.5, ramp_s=2)
    assert own.fingerprint != plain.fingerprint
    path.write_text("[power]\nclock_offset_s = 0\n")
    assert load_settings(path).fingerprint == plain.fingerprint


@pytest.mark.parametrize(
    "line",
    [
        'clock_offset_s = "fit"',
        "ramp_s = -1",
        "most_gap_pct = 101",
        "utc_offset_h = 20",
        'meter_pattern = "("',
        'meter_pattern = "(?P<replicate>x)"',
        'date_order = "myd"',
        "offset = 3",
    ],
)
def test_power_settings_that_cannot_be_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "wattlas.toml"
    path.write_text(f"[power]\n{line}\n")
    with pytest.raises(SettingsError, match=r"power\."):
        load_settings(path)


def test_the_schema_for_editors_has_every_key_with_its_limits() -> None:
    schema = settings_schema()
    tables = schema["$defs"]
    assert tables["SettingsFile"]["additionalProperties"] is False
    assert {"dataset", "machine", "names", "power"} <= set(tables["SettingsFile"]["properties"])
    bits = tables["Machine"]["properties"]["energy_counter_bits"]
    assert (bits["type"], bits["minimum"], bits["maximum"]) == ("integer", 1, 48)
    assert tables["Workload"]["properties"]["loop"]["enum"] == ["closed", "open"]
    assert tables["FileNames"]["required"] == ["pattern", "workload", "system"]
    assert tables["PowerSettings"]["properties"]["ramp_s"]["minimum"] == 0


def test_the_command_writes_the_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == settings_schema()
    assert main(["schema", "-o", str(tmp_path / "schema.json")]) == 0
    assert json.loads((tmp_path / "schema.json").read_text()) == settings_schema()
