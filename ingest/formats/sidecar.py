"""Sidecars `run.toml` and `NAME.run.toml`: facts of a run that no other file states."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time
from typing import Any, Final

from data.errors import FormatError
from data.knob_table import STATED
from ingest.files.text_lines import whole_text
from ingest.records import LONGEST_WINDOW_S, ReadContext, Reading, UtcWindow
from ingest.settings.knobs import AUTOMATIC_DELAY, decode_hybrid_delay
from ingest.settings.number_texts import parse_size, whole_number

FILE_NAME: Final = "run.toml"
_NAME: Final = re.compile(r"(?:(?P<stem>.+)\.)?run\.toml")
# Keys for the time of a run; all others identify the run.
TIMES: Final = ("start_utc", "end_utc")
_Value = str | int | float | bool | datetime


def stem_of(name: str) -> str | None:
    """Return the prefix of the files that a sidecar describes; empty: all; None: not a sidecar."""
    found = _NAME.fullmatch(name) if name.endswith(FILE_NAME) else None
    return (found["stem"] or "") if found else None


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the name is that of a sidecar; any TOML could be the content."""
    return stem_of(name) is not None


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the time of the run and its polling mode; other code reads the keys that identify it.

    Raises:
        FormatError: As `read_values`.
    """
    values = read_values(whole_text(blocks, context.name), context.name)
    polling: dict[str, bool | int] = {
        key: value for key, value in values.items() if key in ("hipri", "io_poll_delay")
    }
    start, end = values.get("start_utc"), values.get("end_utc")
    if start is None or end is None:
        return Reading(polling=polling)
    return Reading(utc_window=UtcWindow(start.timestamp(), end.timestamp()), polling=polling)


def read_values(text: str, name: str) -> dict[str, Any]:
    """Read a sidecar's keys and convert each value to its type.

    Args:
        name: File name for errors.

    Raises:
        FormatError: Not TOML, an unknown key, an invalid value, or only one of start and end.
    """
    try:
        table = tomllib.loads(text)
    # Also raised for a number of over 4,300 digits, and for what is nested too deeply.
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not TOML: {error} ({name})") from error
    values = {}
    for key, value in table.items():
        if key not in KEYS:
            raise FormatError(f"unknown key {key!r}, known: {', '.join(KEYS)} ({name})")
        try:
            values[key] = KEYS[key](value)
        except (ValueError, TypeError, FormatError) as error:
            shown = value if isinstance(value, date | time) else repr(value)
            raise FormatError(f"{key} cannot be {shown}: {error} ({name})") from error
    _check_span(values, name)
    return values


def polled_mode(values: Mapping[str, Any]) -> str | None:
    """Return the completion mode of `hipri` with `io_poll_delay`; None if one is missing.

    Without `hipri` a request completes by an interrupt. With it, a delay of -1 always polls; 0
    first sleeps for half of the mean time, and n > 0 for n microseconds: both are hybrid.

    Source: Linux, Documentation/ABI/stable/sysfs-block, `queue/io_poll_delay`.
    """
    if values.get("hipri") is False:
        return "interrupt"
    delay = values.get("io_poll_delay")
    if values.get("hipri") is None or delay is None:
        return None
    return "poll" if delay < 0 else "hybrid"


def hybrid_delay(values: Mapping[str, Any]) -> str | None:
    """Return the sleep before hybrid polling, as `decode_hybrid_delay` takes it; None if unknown.

    Source: As `polled_mode`.
    """
    delay = values.get("io_poll_delay")
    return None if delay is None or delay < 0 else str(delay or AUTOMATIC_DELAY)


def _check_span(values: Mapping[str, Any], name: str) -> None:
    start, end = values.get("start_utc"), values.get("end_utc")
    if (start is None) != (end is None):
        raise FormatError(f"start_utc and end_utc go together ({name})")
    if start is not None and end is not None and end <= start:
        raise FormatError(f"end_utc {end} is not after start_utc {start} ({name})")
    if start is not None and end is not None and (end - start).total_seconds() > LONGEST_WINDOW_S:
        raise FormatError(f"end_utc {end} is over a year after start_utc {start} ({name})")


def _text(value: _Value) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError("expected text")
    return value


def _whole(value: _Value) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("expected a whole number")
    return whole_number(value)


def _count(value: _Value) -> int:
    if _whole(value) < 0:
        raise ValueError("expected 0 or more")
    return _whole(value)


def _real(value: _Value) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("expected a number")
    return float(value)


def _size(value: _Value) -> int:
    return _whole(parse_size(value)) if isinstance(value, str) else _count(value)


def _delay(value: _Value) -> str:
    text = value if isinstance(value, str) else f"{_real(value):.12g}"
    decode_hybrid_delay(text)
    return text


def _knobs(value: Any) -> dict[str, str | int | float]:
    if not isinstance(value, dict) or not all(type(v) in (str, int, float) for v in value.values()):
        raise TypeError("expected a table of texts and numbers")
    return dict(value)


def _flag(value: _Value) -> bool:
    if not isinstance(value, bool):
        raise TypeError("expected true or false")
    return value


def _time(value: _Value) -> datetime:
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(moment, datetime):
        raise TypeError("expected a date and time")
    if moment.tzinfo is None:
        raise ValueError("a time without an offset from UTC, such as Z or +01:00")
    return moment


_READERS: Final = {"text": _text, "whole": _count, "real": _real, "size": _size}
KEYS: Final[dict[str, Callable[[Any], Any]]] = {
    "workload": _text,
    "system": _text,
    "replicate": _count,
    **{knob.stated_as: _READERS[knob.stated_kind] for knob in STATED},
    "hybrid_delay": _delay,
    "variant": _text,
    "knobs": _knobs,
    "hipri": _flag,
    "io_poll_delay": _whole,
    "start_utc": _time,
    "end_utc": _time,
}
