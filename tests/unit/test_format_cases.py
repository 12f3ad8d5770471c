"""What each format's reader makes of its folder of inputs, however the input is cut into blocks."""

import codecs
from dataclasses import replace

import pytest

from ingest.formats import find_format
from tests.fixtures.format_cases import FormatCase, format_cases

CASES: dict[str, list[FormatCase]] = {}
for each in format_cases():
    CASES.setdefault(each.format.name, []).append(each)


@pytest.mark.parametrize("name", CASES)
def test_inputs_are_read_as_expected(name: str) -> None:
    for case in CASES[name]:
        said = ("about", "is_told_by_content", "parts")
        expected = {k: v for k, v in case.expected.items() if k not in said}
        for block in (1, 7, 1 << 20):
            assert case.read(block) == expected, case.name
        if "error" not in expected:
            known = find_format(case.context.name, case.content[: 1 << 16])
            is_told = case.expected.get("is_told_by_content", True)
            assert (known is case.format) is is_told, case.name
        if parts := case.expected.get("parts"):
            assert case.format.list_parts, case.name
            assert [*case.format.list_parts([case.content], case.context)] == parts, case.name


@pytest.mark.parametrize("name", sorted({*CASES} - {"intlog_binary"}))
def test_a_byte_order_mark_changes_nothing(name: str) -> None:
    for case in CASES[name]:
        plain = case.content.removeprefix(codecs.BOM_UTF8)
        marked = replace(case, content=codecs.BOM_UTF8 + plain)
        for block in (2, 3, 1 << 20):
            assert marked.read(block) == case.read(1 << 20), case.name
