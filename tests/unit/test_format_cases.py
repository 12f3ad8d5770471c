"""What each format's reader makes of its folder of inputs, however the input is cut into blocks."""

import codecs
from dataclasses import replace

import pytest

from ingest.formats import find_format
from tests.fixtures.format_cases import FormatCase, format_cases

CASES = format_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.format.name}: {case.name}")
def test_an_input_is_read_as_expected(case: FormatCase) -> None:
    said = ("about", "is_told_by_content", "parts")
    expected = {k: v for k, v in case.expected.items() if k not in said}
    for block in (1, 7, 1 << 20):
        assert case.read(block) == expected
    if "error" not in expected:
        known = find_format(case.context.name, case.content[: 1 << 16])
        assert (known is case.format) is case.expected.get("is_told_by_content", True)
    if parts := case.expected.get("parts"):
        assert case.format.list_parts
        assert [*case.format.list_parts([case.content], case.context)] == parts


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.format.name != "intlog_binary"],
    ids=lambda case: f"{case.format.name}: {case.name}",
)
def test_a_byte_order_mark_changes_nothing(case: FormatCase) -> None:
    plain = case.content.removeprefix(codecs.BOM_UTF8)
    marked = replace(case, content=codecs.BOM_UTF8 + plain)
    for block in (2, 3, 1 << 20):
        assert marked.read(block) == case.read(1 << 20)
