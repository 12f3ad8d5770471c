"""States of machines, line by line: what differs between the machines of two runs or systems.

A state is the text of the files that `ingest` found beside a run: `cpuinfo`, `lscpu`, `sysctl`,
`dmesg` and `cmdline`. Each becomes keys and values; values that change by themselves are left out:

- of `cpuinfo` and `lscpu` the present frequency, BogoMIPS, and the number of each processor, since
  the processors are compared together: the values of a key, each once;
- of `sysctl` counters, random identifiers, and what the kernel derives from the time of its start;
- of `cmdline` which disk the system is on;
- of `dmesg` the times, and lines about random numbers, audits, clocks and free memory. Lines that
  differ in numbers only have one key. A hexadecimal number is an address, so it is not compared.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from data.connection import Lake
from data.errors import DataError

TABLE: Final = "machine_states"
# Lines of each file.
State = Mapping[str, Sequence[str]]

_PAIR: Final = {
    "cpuinfo": re.compile(r"(?P<key>[^:]+?)\s*:\s*(?P<value>.*)"),
    "lscpu": re.compile(r"(?P<key>[^:]+?):\s*(?P<value>.*)"),
    "sysctl": re.compile(r"(?P<key>[^=]+?)\s*=\s*(?P<value>.*)"),
}
_NOISE: Final = {
    "cpuinfo": re.compile(r"processor|(initial )?apicid|cpu MHz|bogomips", re.IGNORECASE),
    "lscpu": re.compile(r"CPU MHz|CPU\(s\) scaling MHz|BogoMIPS", re.IGNORECASE),
    "sysctl": re.compile(
        r"kernel\.(random\..*|ns_last_pid|pty\.nr|tainted_since)"
        r"|fs\.(aio-nr|dentry-state|file-nr|inode-nr|inode-state|quota\..*)"
        r"|net\.netfilter\.nf_conntrack_count|net\.ipv4\.tcp_fastopen_key|.*\.stat_refresh"
    ),
    "cmdline": re.compile(r"root|resume|rootflags"),
    "dmesg": re.compile(
        r"random: |audit|bogomips|clocksource|tsc: |rtc|Memory: |systemd.*: (started|running)",
        re.IGNORECASE,
    ),
}
_TIME: Final = re.compile(r"^(<\d+>)?\[[^\]]*\]\s*")
_ADDRESS: Final = re.compile(r"\b0x[0-9a-f]+|\b[0-9a-f]{8,16}\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d+(\.\d+)?")


class StateDifference(NamedTuple):
    """A key of a file in which two states differ.

    Attributes:
        file: `cpuinfo`, `lscpu`, `sysctl`, `dmesg` or `cmdline`.
        key: The line's key; of `dmesg` its text with `#` for numbers.
        a, b: Values of either side; None where a side lacks the key.
    """

    file: str
    key: str
    a: str | None
    b: str | None


def state_of(lake: Lake, run_id: str) -> dict[str, list[str]]:
    """Return the lines of each file of a run's machine; empty for a run without such files.

    Raises:
        LakeError: The lake has no such run, or its file cannot be read.
    """
    rows = lake.scan(TABLE, [run_id]).order("file, line").fetchall()
    state: dict[str, list[str]] = {}
    for file, _, text in rows:
        state.setdefault(file, []).append(text)
    return state


def runs_of_states(lake: Lake, column: str, value: str) -> list[str]:
    """Return one run for each state of the runs with a value of a column, such as a system.

    Raises:
        DataError: The lake has no such column of a configuration.
    """
    if column not in lake.catalogue.configuration:
        raise DataError(f"no column {column!r} tells one configuration from another")
    rows = lake.sql(
        "SELECT min(run_id) FROM (SELECT run_id, unnest(files) AS file FROM _runs_all "
        f"WHERE {column}::VARCHAR = ?) WHERE file.table = ? GROUP BY file.path ORDER BY ALL",
        [value, TABLE],
    ).fetchall()
    return [run_id for (run_id,) in rows]


def compare_states(
    lake: Lake, a: str | Sequence[str], b: str | Sequence[str]
) -> list[StateDifference]:
    """Compare the machines of two runs, or of two sets of runs such as those of two systems.

    Args:
        a, b: Id of a run, or ids of several: as `runs_of_states` returns them.

    Returns:
        The keys in which they differ, sorted by file and key; empty if they do not differ, or if
        a side has no state. A file that only one side has is not compared.

    Raises:
        LakeError: As `state_of`.
    """
    sides = [
        [state_of(lake, run_id) for run_id in ([ids] if isinstance(ids, str) else ids)]
        for ids in (a, b)
    ]
    return state_differences(*sides)


def state_differences(a: Sequence[State], b: Sequence[State]) -> list[StateDifference]:
    """Compare two sets of states: a key differs if the sets of its values do."""
    first, second = _values(a), _values(b)
    differences = []
    for file in sorted(first.keys() & second.keys()):
        for key in sorted(first[file].keys() | second[file].keys()):
            values = first[file].get(key), second[file].get(key)
            if values[0] != values[1]:
                texts = (None if value is None else "; ".join(sorted(value)) for value in values)
                differences.append(StateDifference(file, key, *texts))
    return differences


def _values(states: Sequence[State]) -> dict[str, dict[str, set[str]]]:
    """Return the values of each key of each file, of all states together, without noise."""
    values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for state in states:
        for file, lines in state.items():
            for key, value in _facts(file, lines):
                if not _NOISE[file].match(key):
                    values[file][key].add(value)
    return values


def _facts(file: str, lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return the keys and values of a file's lines; a key may have several values."""
    if file == "cmdline":
        words = (word.partition("=") for line in lines for word in line.split())
        return [(key, value or "set") for key, _, value in words]
    if file == "dmesg":
        texts = (_ADDRESS.sub("0x#", _TIME.sub("", line)).strip() for line in lines)
        return [(_NUMBER.sub("#", text), text) for text in texts if text]
    pairs = (_PAIR[file].fullmatch(line.strip()) for line in lines)
    return [(pair["key"].strip(), pair["value"]) for pair in pairs if pair]
