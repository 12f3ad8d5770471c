"""Which format a file is, over all formats, and the texts that several of them share."""

import codecs
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import FormatError
from ingest.discover.names import strip_compression
from ingest.files.blocks import MeteredFile
from ingest.files.text_lines import iterate_lines, unwrap_literal, whole_text, without_mark
from ingest.formats import FORMATS, Format, find_format
from ingest.records import ReadContext, SummaryTable
from ingest.sample import write_sample
from tests.fixtures.real import PUBLISHED, real_data
from tests.fixtures.tool_outputs import (
    KERNEL_TUNER,
    MEMTIER,
    POWERSTAT,
    TURBOSTAT,
    WULT,
    captured,
)
from tests.fixtures.whole_files import read_whole


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


CAPTURED = {
    "iperf3": "iperf3_udp.json",
    "sockperf": "sockperf_under_load.txt",
    "hdr_percentiles": "hdr_python.hgrm",
}
# Only the settings say that a table is a meter's.
TEXT_FORMATS = [f for f in FORMATS if f.name not in ("intlog_binary", "meter_table")]


@pytest.fixture(scope="module")
def sample_texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, bytes]]:
    """Name and content of a file of each text format, as the sample has them."""
    folder = tmp_path_factory.mktemp("texts") / "raw"
    write_sample(folder, "tiny", 1)
    times = b"start_utc = 2022-03-01T10:00:00Z\nend_utc = 2022-03-01T10:00:30Z\nhipri = true\n"
    found = {"sidecar": ("run.toml", times), "table": ("t.csv", b"x,y\n1,2\n3,4.5\n")}
    found["memtier"] = ("memtier.json", MEMTIER.encode())
    found["turbostat"] = ("turbostat.txt", TURBOSTAT.encode())
    found["wult"] = ("datapoints.csv", WULT.encode())
    found["powerstat"] = ("power.txt", POWERSTAT.encode())
    found["kernel_tuner"] = ("cache.json", KERNEL_TUNER.encode())
    for form, name in CAPTURED.items():
        found[form] = (name, captured(name))
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = b"".join(MeteredFile(path).blocks())
            name = strip_compression(path.name)
            known = find_format(name, content[:65536])
            if known is not None:
                found.setdefault(known.name, (name, content))
    return found


@pytest.mark.parametrize("known", TEXT_FORMATS, ids=lambda known: known.name)
@pytest.mark.parametrize("block", [1, 2, 3, 1 << 20])
def test_a_byte_order_mark_changes_nothing(
    sample_texts: dict[str, tuple[str, bytes]], known: Format, block: int
) -> None:
    name, content = sample_texts[known.name]
    marked = codecs.BOM_UTF8 + content
    assert find_format(name, marked[:65536]) is known
    context = ReadContext(name, 2.9e9)
    blocks = [marked[at : at + block] for at in range(0, len(marked), block)]
    assert _shown(read_whole(known, blocks, context)) == _shown(
        read_whole(known, [content], context)
    )


def _shown(content: Any) -> str:
    """The content as text; the rows of a table in it."""
    if isinstance(content, SummaryTable):
        content = replace(content, rows=list(content.rows))
    return str(content)


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


@pytest.mark.parametrize("known", TEXT_FORMATS, ids=lambda known: known.name)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_number_that_cannot_be_is_refused_in_words(
    sample_texts: dict[str, tuple[str, bytes]], known: Format, data: st.DataObject
) -> None:
    """Any number of a good file becomes one that is none, or that nothing can hold."""
    name, content = sample_texts[known.name]
    content = content[:20_000]
    numbers = list(re.finditer(rb"[0-9][0-9.]*", content))
    for _ in range(data.draw(st.integers(1, 3))):
        found = data.draw(st.sampled_from(numbers))
        instead = data.draw(st.sampled_from(NUMBERS)).encode()
        changed = content[: found.start()] + instead + content[found.end() :]
        known.sniff(name, changed)
        with suppress(FormatError):
            read_whole(known, [changed], ReadContext(name, 2.9e9))


def test_a_last_line_without_newline_is_a_line() -> None:
    assert list(iterate_lines([b"a\nb"])) == ["a", "b"]


def test_an_output_of_gigabytes_is_refused_before_it_is_held() -> None:
    blocks = (b"x" * (1 << 20) for _ in range(10**6))
    with pytest.raises(FormatError, match=r"output too large.*\(node_out\)"):
        whole_text(blocks, "node_out")


@pytest.mark.real
@pytest.mark.parametrize(("path", "name"), PUBLISHED.items(), ids=PUBLISHED)
def test_every_published_file_is_told_from_its_content_alone(path: str, name: str | None) -> None:
    """The README is no file of measurements."""
    found = find_format("x", (real_data() / path).read_bytes()[: 64 * 1024])
    assert (found.name if found else None) == name
