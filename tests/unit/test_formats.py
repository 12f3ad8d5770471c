"""Which format a file is, over all formats, and the texts that several of them share."""

import codecs
import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FormatError
from ingest.files.text_lines import iterate_lines, unwrap_literal, whole_text, without_mark
from ingest.formats import FORMATS, find_format
from ingest.records import ReadContext
from tests.fixtures.format_cases import FormatCase, format_cases
from tests.fixtures.real import PUBLISHED, real_data
from tests.fixtures.whole_files import read_whole

# All formats together take up to 2 s of processor time.
MOST_SNIFFED_S = 2.0


def test_names_are_unique() -> None:
    names = [known.name for known in FORMATS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n\n",
        b"# Title\n\nSome words about 3 things.\n",
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
        b'{"version": "3.33", "jobs": []}\n',
        b"# begun on Sun Apr 28 19:51:03 2024\n\n248396588503,,instructions\n",
        b"a,b,c\n1,2\n",
        b"\xff\xfe\x00",
    ],
)
def test_foreign_files_are_nobodys(head: bytes) -> None:
    assert find_format("README.md", head) is None


@given(st.binary(max_size=400))
def test_sniffing_survives_any_bytes(head: bytes) -> None:
    for known in FORMATS:
        known.sniff("x", head)


@pytest.mark.parametrize("piece", [" ", "\n", "\t", "| ", "9", ",", "x: 5 ", "Energy", "Energy]"])
def test_a_head_of_one_piece_is_told_at_once(piece: str) -> None:
    """A pattern that tries every two or three parts of it takes from a minute to days."""
    head = (piece * (1 << 16))[: 1 << 16].encode()
    begin_s = time.process_time()
    for known in FORMATS:
        known.sniff("x.log", head)
    assert time.process_time() - begin_s < MOST_SNIFFED_S


_BEGINNINGS = (
    b"", b"Function,Loads\n", b"CPU0 CPU1\n 1: 2 3 nvme0q1\n", b"7,,cycles,9,100.00,,\n",
    b'{"fio version": "3", "jobs": [', b"start_utc = 2020-01-01T00:00:00Z\n", b"#type avg 99th\n",
)  # fmt: skip


@pytest.mark.parametrize("name", [f.name for f in FORMATS if f.open_log is None])
@given(
    beginning=st.sampled_from(_BEGINNINGS), rest=st.binary(max_size=200) | st.text().map(str.encode)
)
def test_reading_survives_any_bytes(name: str, beginning: bytes, rest: bytes) -> None:
    """What is no such file is refused in words; nothing else is ever raised."""
    known = next(f for f in FORMATS if f.name == name)
    with suppress(FormatError):
        read_whole(known, [beginning + rest], ReadContext("before", 1e9))


@given(st.text(max_size=60))
def test_a_byte_literal_is_unwrapped_whole(text: str) -> None:
    ascii_text = text.encode("ascii", "ignore").decode().replace("\0", "")
    printable = "".join(c for c in ascii_text if c.isprintable() or c in "\n\t\r")
    assert unwrap_literal(repr(printable.encode())) == printable


@given(st.lists(st.text(alphabet="ab é", max_size=5)), st.integers(1, 9))
def test_lines_come_whole_out_of_blocks_of_any_size(lines: list[str], block: int) -> None:
    data = "".join(f"{line}\r\n" for line in lines).encode()
    blocks = [data[i : i + block] for i in range(0, len(data), block)]
    assert list(iterate_lines(blocks)) == lines


# An input of each format, and its numbers, which are bytes of a binary one.
INPUTS = {case.format.name: case for case in format_cases() if "error" not in case.expected}
NUMBERS_OF = {"intlog_binary": rb"."}


def test_every_format_has_a_folder_of_inputs() -> None:
    assert set(INPUTS) == {known.name for known in FORMATS}


@pytest.mark.parametrize("text", ["", "\ufeff", "\ufeffa", "a\ufeff", "\ufeff\ufeffa"])
@pytest.mark.parametrize("block", [1, 2, 3, 4, 9])
def test_one_mark_at_the_beginning_is_left_out(text: str, block: int) -> None:
    data = text.encode()
    blocks = [data[at : at + block] for at in range(0, len(data), block)]
    assert b"".join(without_mark(blocks)) == data.removeprefix(codecs.BOM_UTF8)


NUMBERS = (
    "9" * 20,
    "9" * 400,
    "9" * 5000,
    "\u00b2",
    "\u0663",
    "-1",
    "1e999",
    "nan",
    "",
    "\0",
    "0x1",
    "1_0",
)


@pytest.mark.parametrize("case", INPUTS.values(), ids=INPUTS)
@given(data=st.data())
def test_a_number_that_cannot_be_is_refused_in_words(case: FormatCase, data: st.DataObject) -> None:
    """Any number of a good file becomes one that is none, or that nothing can hold."""
    content = case.content
    pattern = NUMBERS_OF.get(case.format.name, rb"[0-9][0-9.]*")
    numbers = list(re.finditer(pattern, content, re.DOTALL))
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.sampled_from(numbers))
        instead = data.draw(st.sampled_from(NUMBERS)).encode()
        changed = content[: number.start()] + instead + content[number.end() :]
        case.format.sniff(case.context.name, changed)
        with suppress(FormatError):
            read_whole(case.format, [changed], case.context)


def test_a_last_line_without_newline_is_a_line() -> None:
    assert list(iterate_lines([b"a\nb"])) == ["a", "b"]


def test_an_output_of_gigabytes_is_refused_before_it_is_held() -> None:
    blocks = (b"x" * (1 << 20) for _ in range(10**6))
    with pytest.raises(FormatError, match=r"output too large.*\(node_out\)"):
        whole_text(blocks, "node_out")


@pytest.mark.real
def test_every_published_file_is_told_from_its_content_alone() -> None:
    """The README is no file of measurements."""
    heads = {path: (real_data() / path).read_bytes()[: 1 << 16] for path in PUBLISHED}
    found = {path: find_format("x", head) for path, head in heads.items()}
    assert {path: known and known.name for path, known in found.items()} == PUBLISHED
