"""Text logs by declaration: one run a file or a block, found by regular expressions.

`log_presets.toml` and `benchmark_presets.toml` declare those of known tools; settings declare
others (`[[logs]]`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Final

from data.catalogue import SHIPPED
from data.declared import Column
from data.errors import FormatError
from data.schema import KNOBS
from ingest.declarations import LogDeclaration, LogHistogram, TableColumn
from ingest.files.text_lines import decode_text, whole_text
from ingest.formats.pasted import Output, add_settings, cut
from ingest.formats.trace_times import is_local, unix_seconds
from ingest.formats.written_numbers import (
    has_decimal_comma,
    is_either,
    with_points,
    without_blanks,
)
from ingest.records import Problem, ReadContext, Reading, UtcWindow
from ingest.settings.column_names import clean_name
from ingest.settings.layout import read_layer
from ingest.settings.logs import TIMES, build_log
from ingest.settings.tables import target_kinds
from ingest.settings.units import unit_of

_PRESETS: Final = ("log_presets.toml", "benchmark_presets.toml")
_COUNTS: Final = "perf_stat_text"
_NUMBER: Final = re.compile(r"[-+]?(?=\.?\d)(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][-+]?\d+)?")
_POINT_OR_COMMA: Final = re.compile(r"\d[.,]\d")
_MINUTES: Final = re.compile(r"(\d+)m(\d+(?:\.\d+)?)s")
_WITH_UNIT: Final = re.compile(rf"({_NUMBER.pattern})\s*([A-Za-zµμ%][A-Za-zµμ/]*)")
_PREFIXES: Final = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
# No number of a log is greater.
_MOST: Final = 2.0**63
_QUANTILES: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


@cache
def presets() -> tuple[LogDeclaration, ...]:
    """Return the logs of known tools."""
    kinds = target_kinds({})
    folder = Path(__file__).parent
    entries = [entry for name in _PRESETS for entry in read_layer(folder / name)["logs"]]
    return tuple(build_log(entry, number, kinds) for number, entry in enumerate(entries, 1))


class TextLog:
    """Sniffs and reads the logs of one declaration; without one, those that settings declare."""

    def __init__(self, declaration: LogDeclaration | None = None) -> None:
        self._declaration = declaration

    def sniff(self, name: str, head: bytes) -> bool:  # noqa: ARG002
        """Return whether a head has all marks of a preset."""
        known = self._declaration
        return known is not None and all(mark.encode() in head for mark in known.marks)

    def list_parts(self, blocks: Iterable[bytes], context: ReadContext) -> list[str]:
        """Return the names of the blocks of a log that each are a run.

        Raises:
            FormatError: As `read`.
        """
        text, declared, _ = self._text_of(blocks, context)
        parts = _parts(text, declared)
        is_block = declared.begin is not None and declared.begin.search(text) is not None
        return [*parts] if len(parts) > 1 or is_block else []

    def read(self, blocks: Iterable[bytes], context: ReadContext) -> Reading:
        """Read what the regular expressions find, in the units of the columns.

        Of several matches of one expression the last counts, of several expressions for one group
        the first that matches.

        Raises:
            FormatError: No declaration fits, or nothing is found.
        """
        text, declaration, unclear = self._text_of(blocks, context)
        parts = _parts(text, declaration)
        if not parts:
            raise FormatError(f"an empty text ({context.name})")
        output = parts.get(context.part or "", next(iter(parts.values())))
        block = output.text
        texts = found_texts(block, declaration)
        reading = Reading(problems=unclear)
        if len(parts) > 1 and context.part not in parts:
            detail = f"{len(parts)} blocks that are runs; only the first is read"
            reading.problems.append(Problem("several_blocks", "doubted", detail))
        is_naive = any(is_local(texts.get(name, "")) for name in TIMES)
        begin, end = (unix_seconds(texts.pop(name, "")) for name in TIMES)
        if begin < end:
            reading.utc_window = UtcWindow(begin, end, is_local=is_naive)
        for name, found in texts.items():
            _take(name, found, declaration, reading)
        if self._declaration is not None and (not declaration.begin or len(parts) < 2):
            _take_counts(block, reading)
        if declaration.output or not declaration.begin:
            add_settings(reading, output, [*parts.values()], partial(_stated, declaration))
        if declaration.histogram is not None:
            reading.measurements |= _percentiles(block, declaration.histogram)
        if not reading.measurements and not reading.knobs and reading.utc_window is None:
            raise FormatError(f"nothing that {declaration.name} declares ({context.name})")
        return reading

    def _text_of(
        self, blocks: Iterable[bytes], context: ReadContext
    ) -> tuple[str, LogDeclaration, list[Problem]]:
        """Return a text with decimal points, its declaration, and what is unclear of commas.

        The numbers that are found decide for the whole file.
        """
        text = without_blanks(whole_text(blocks, context.name))
        declaration = self._declared(context, text)
        found = found_texts(text, declaration) if "," in text else {}
        numbers = [each for each in found.values() if _POINT_OR_COMMA.search(each)]
        if any(map(has_decimal_comma, numbers)):
            return with_points(text), declaration, []
        wholes = {name for name, kind in declaration.kinds.items() if kind == "whole"}
        unclear = [each for name, each in found.items() if name not in wholes and is_either([each])]
        if not unclear or any("." in each for each in numbers):
            return text, declaration, []
        detail = (
            f"nothing says whether a comma is a decimal one, as in {unclear[0]}: it is read as "
        )
        detail += "a mark of thousands"
        return text, declaration, [Problem("unclear_comma", "doubted", detail)]

    def _declared(self, context: ReadContext, text: str) -> LogDeclaration:
        if self._declaration is not None:
            return self._declaration
        for known in context.logs:
            if all(mark in text for mark in known.marks):
                return known
        raise FormatError(f"no [[logs]] entry fits it ({context.name})")


def has_marks(head: bytes, logs: Iterable[LogDeclaration]) -> bool:
    """Return whether a head has all marks of one of these logs."""
    text = decode_text(head)
    return any(all(mark in text for mark in known.marks) for known in logs)


def _parts(text: str, declaration: LogDeclaration) -> dict[str, Output]:
    """Return the runs of a log by name.

    They are its outputs, or the blocks of each, below what is above the first block.
    """
    outputs = _outputs(text, declaration)
    parts: dict[str, Output] = {}
    for number, output in enumerate(outputs, 1):
        text = output.text
        blocks = [*declaration.begin.finditer(text)] if declaration.begin else []
        if not blocks:
            parts[str(number)] = output
        ends = [*(found.start() for found in blocks[1:]), len(text)]
        for at, (found, end) in enumerate(zip(blocks, ends, strict=False), 1):
            words = [word for word in found.groupdict().values() if word]
            name = "-".join(words) or str(at)
            name = f"{number}-{name}" if len(outputs) > 1 else name
            while name in parts:
                name = f"{name}-{at}"
            above = text[: blocks[0].start()]
            parts[name] = replace(output, text=above + text[found.start() : end])
    return parts


def _outputs(text: str, declaration: LogDeclaration) -> list[Output]:
    """Return the outputs of the tool in a text, with what stands above each."""
    begins = _begins(text, declaration)
    if len(begins) > 1 and not all(mark in text[begins[-1] :] for mark in declaration.marks):
        # The tool did not finish its last output, unless it writes its first mark on many lines.
        is_first = text.count(min(declaration.marks, key=text.find)) == len(begins)
        end = begins.pop()
        text = text[:end] if is_first or len(begins) > 1 else text
    ends = [*begins[1:], len(text)]
    spans = [
        (begin, max((m.end() for f in declaration.finds for m in f.finditer(text, begin, end)),
                    default=begin))
        for begin, end in zip(begins, ends, strict=True)
    ]  # fmt: skip
    outputs = cut(text, spans)
    return outputs if len(outputs) > 1 else [replace(each, text=text) for each in outputs]


def _begins(text: str, declaration: LogDeclaration) -> list[int]:
    """Return where the outputs of the tool begin.

    That is the line that `output` declares, else that of the first mark after all marks were there.
    """
    if declaration.output is not None:
        begins = [found.start() for found in declaration.output.finditer(text)]
        return begins or [0]
    if declaration.begin is not None or not declaration.marks:
        return [0]
    found = [(m.start(), mark) for mark in declaration.marks
             for m in re.finditer(re.escape(mark), text)]  # fmt: skip
    begins, seen = list[int](), {*declaration.marks}
    for at, mark in sorted(found):
        if seen >= {*declaration.marks} and mark == min(found)[1]:
            begins.append(text.rfind("\n", 0, at + 1) + 1)
            seen = set()
        seen.add(mark)
    return begins or [0]


def _stated(declaration: LogDeclaration, text: str) -> tuple[str | None, ...]:
    """Return what a tool says of what was set in an output."""
    texts = found_texts(text, declaration)
    set_to = [
        name for name, of in declaration.columns.items()
        if of.role == "knob" or (of.to or name) in KNOBS
    ]  # fmt: skip
    return tuple(map(texts.get, [*set_to, *(name for name in texts if name in KNOBS)]))


def found_texts(text: str, declaration: LogDeclaration) -> dict[str, str]:
    """Return the texts of the groups; those of totals are the sum of all matches."""
    texts: dict[str, str] = {}
    patterns = (*declaration.finds, *((declaration.begin,) if declaration.begin else ()))
    for pattern in patterns:
        fresh: dict[str, str] = {}
        for found in pattern.finditer(text):
            for name, value in found.groupdict().items():
                if value is None or name in texts:
                    continue
                if name in declaration.totals and name in fresh:
                    parts = [_number(part, name) for part in (fresh[name], value)]
                    if None in parts:
                        continue
                    value = str(sum(part for part in parts if part is not None))
                fresh[name] = value.strip()
        texts |= fresh
    return texts


def _take(name: str, text: str, declaration: LogDeclaration, reading: Reading) -> None:
    """Add one value to a reading: a measurement, a knob, or a label."""
    declared = declaration.columns.get(name, TableColumn())
    text = str(declared.values.get(text, text))
    if declared.is_dropped or not text:
        return
    target = declared.to or (name if name in declaration.kinds else None)
    metric = SHIPPED.metrics.get(target or "")
    number = _number(text, target or name)
    if number is None:
        number = _in_unit(text, metric.unit if metric else declared.unit)
    kind = declaration.kinds[target] if target else "text" if number is None else "real"
    if kind != "text" and number is None:
        return
    value: float | int | str = text
    if kind != "text":
        assert number is not None
        value = number * declared.scale
        value = round(value) if kind == "whole" else value
        if value == 0 and (target or "").startswith("latency_"):
            return  # Rounded by the tool.
    if target is None:
        role = declared.role or ("label" if kind == "text" else "metric")
        heading = declared.name or name
        target = clean_name(heading, kind, role=role)
        column = Column(target, role, "text" if kind == "text" else "real", heading, heading,
                        declared.unit, declared.better, is_given=declared.is_given)  # fmt: skip
        reading.columns = (*reading.columns, column)
        is_measured = role == "metric"
    else:
        is_measured = target not in KNOBS and target in SHIPPED.metrics
    if is_measured and not isinstance(value, str):
        reading.measurements[target] = value
    else:
        reading.knobs[target] = value


def _take_counts(text: str, reading: Reading) -> None:
    """Add what `perf stat` counted of the tool, where it wrote below what the tool did."""
    counts = next(known for known in presets() if known.name == _COUNTS)
    if not all(mark in text for mark in counts.marks):
        return
    taken = reading.measurements.keys() | reading.knobs.keys()
    of_perf = Reading()
    for name, found in found_texts(text, counts).items():
        _take(name, found, counts, of_perf)
    fresh = {n: v for n, v in of_perf.measurements.items() if n not in taken}
    reading.measurements |= fresh
    reading.columns += tuple(column for column in of_perf.columns if column.name in fresh)


def _number(text: str, name: str) -> float | None:
    """Return the number in a text; of several apart by blanks the least, the greatest or the mean.

    Args:
        name: The column: a minimum, a maximum, or another.
    """
    cells = text.split()
    if not cells or not all(_NUMBER.fullmatch(cell) and cell[-1].isdigit() for cell in cells):
        return None
    numbers = [float(cell.replace(",", "")) for cell in cells]
    if not all(abs(number) < _MOST for number in numbers):
        return None
    name_parts = name.split("_")
    if "min" in name_parts:
        return min(numbers)
    return max(numbers) if "max" in name_parts else sum(numbers) / len(numbers)


def _in_unit(text: str, unit: str) -> float | None:
    """Return a number behind which its unit is written, in another unit of the same quantity.

    Minutes may stand before seconds, as bash's `time` writes them: `1m2.5s`. A rate without a unit
    may have a prefix (`20 k`). None for any other text.
    """
    if (took := _MINUTES.fullmatch(text)) is not None and unit == "s":
        return 60 * float(took[1]) + float(took[2])
    written = _WITH_UNIT.fullmatch(text)
    if written is None or not written[1][-1].isdigit():
        return None
    number = float(written[1].replace(",", ""))
    if unit == "1/s" and written[2] in _PREFIXES:
        return number * _PREFIXES[written[2]]
    above, slash, below = written[2].partition("/")
    wanted, wanted_slash, wanted_below = unit.partition("/")
    found, own = unit_of(above), unit_of(wanted)
    if found is None or own is None or not found.quantity or found.quantity != own.quantity:
        return None
    if (slash, below) != (wanted_slash, wanted_below):
        return None
    return float(f"{number * found.scale / own.scale:.15g}")


def _percentiles(text: str, histogram: LogHistogram) -> Mapping[str, float | int]:
    """Return the number, the mean and the percentiles of the values of a histogram, us.

    A percentile beyond its last row is unknown, and the mean if a value is. A count of thousands
    of digits is infinite, and nothing is known then.
    """
    counts = [
        (float(row["value"]), sum(map(float, row["counts"].split())))
        for row in histogram.rows.finditer(text)
    ]
    overflows = (row[1].split() for row in histogram.overflow.finditer(text))
    beyond = sum(float(word) for words in overflows for word in words)
    total = sum(count for _, count in counts) + beyond
    if not 0 < total < _MOST or max(counts, default=(0.0, 0.0))[0] >= _MOST:
        return {}
    measured: dict[str, float | int] = {"requests": int(total)}
    if not beyond:
        mean = sum(value * count for value, count in counts) / total
        measured["latency_mean_us"] = mean * histogram.to_us
    for name, share in _QUANTILES.items():
        below = 0.0
        for value, count in sorted(counts):
            below += count
            if below >= share * total:
                measured[f"latency_{name}_us"] = value * histogram.to_us
                break
    return measured
