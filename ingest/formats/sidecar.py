"""Sidecars `run.toml` and `NAME.run.toml`: facts of a run that no other file states."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta

from data.errors import FormatError
from data.knob_table import STATED
from ingest.files.text_lines import whole_text
from ingest.records import LONGEST_WINDOW_S, ReadContext, Reading, UtcWindow
from ingest.settings.checked import Count, Text, checked, parse_toml, table_of
from ingest.settings.knobs import AUTOMATIC_DELAY, decode_hybrid_delay
from ingest.settings.number_texts import parse_size, whole_number

FILE_NAME: Final = "run.toml"
_NAME: Final = re.compile(r"(?:(?P<stem>.+)\.)?run\.toml")
# Keys for the time of a run; all others identify the run.
TIMES: Final = ("start_utc", "end_utc")


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
    table = checked(parse_toml(text, name, FormatError), SidecarFile, name, FormatError)
    values = {key: value for key in KEYS if (value := getattr(table, key)) is not UNSET}
    for key, convert in _CONVERTED.items():
        if key in values:
            try:
                values[key] = convert(values[key])
            except (ValueError, FormatError) as error:
                raise FormatError(f"{key} cannot be {values[key]!r}: {error} ({name})") from error
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


def _size(value: int | str) -> int:
    return whole_number(parse_size(value)) if isinstance(value, str) else value


def _delay(value: float | str) -> str:
    text = value if isinstance(value, str) else f"{value:.12g}"
    decode_hybrid_delay(text)
    return text


_TYPES: Final = {"text": Text, "whole": Count, "real": float, "size": Count | Text}
_Moment = Annotated[datetime, Meta(tz=True)]
_KINDS: Final[dict[str, Any]] = {
    "workload": Text,
    "system": Text,
    **{knob.stated_as: _TYPES[knob.stated_kind] for knob in STATED},
    "hybrid_delay": float | Text,
    "variant": Text,
    "replicate": Count,
    "knobs": dict[str, str | int | float],
    "hipri": bool,
    "io_poll_delay": Annotated[int, Meta(ge=-(2**31), lt=2**31)],
    "start_utc": _Moment,
    "end_utc": _Moment,
}
KEYS: Final = tuple(_KINDS)
SidecarFile: Final = table_of("SidecarFile", _KINDS)
# Values that are not used as they are written.
_CONVERTED: Final[dict[str, Callable[[Any], Any]]] = {
    **{knob.stated_as: _size for knob in STATED if knob.stated_kind == "size"},
    "hybrid_delay": _delay,
}
