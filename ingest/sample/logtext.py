"""Text of per-interrupt logs in the variants that the real systems wrote."""

from pathlib import Path

import numpy as np
import polars as pl

from ingest.sample.corelog import CUMULATIVE, NIC_COLUMNS, Counts

_LINUX = (*NIC_COLUMNS, *CUMULATIVE, "c1", "c1e", "c3", "c6", "c7", "joules", "tsc")
_LINUX_17 = (*NIC_COLUMNS, *CUMULATIVE, "c0", "c1", "c1e", "c3", "c6", "c7", "joules", "tsc")
_SHORT = (*NIC_COLUMNS, *CUMULATIVE, "c3", "c6", "c7", "joules", "tsc")
_EBBRT_HEADER = (
    "i rx_desc rx_bytes tx_desc tx_bytes instructions cycles ref_cycles llc_miss"
    " c3 c6 c7 joules timestamp\n"
)
_DEVICELOG_HEADER = "i rxdesc rxbytes txdesc txbytes ins cyc refcyc llcm C3 C6 C7 JOULE TSC\n"
_LINES_A_BLOCK = 200_000


def write_linux_log(path: Path, columns: dict[str, Counts]) -> None:
    """Write a 16-column log without header, as memcached's runs under Linux have it."""
    _write(path, "", _frame(columns, _LINUX, 0))


def write_linux_17_log(path: Path, columns: dict[str, Counts]) -> None:
    """Write a 17-column log without header, with C0, as node.js's runs under Linux have it."""
    _write(path, "", _frame(columns, _LINUX_17, 0))


def write_ebbrt_log(path: Path, columns: dict[str, Counts], first_line: int) -> None:
    """Write a 14-column log with a header; the library OS's line numbers may start above 0."""
    _write(path, _EBBRT_HEADER, _frame(columns, _SHORT, first_line))


def write_device_log(path: Path, columns: dict[str, Counts], core: int, printed_s: float) -> None:
    """Write a `dmesg_devicelog`: kernel prefixes, two heading lines, a first entry without counts.

    Args:
        printed_s: Kernel time at which the driver printed the log, seconds.
    """
    entries = len(columns["tsc"])
    columns = columns | {
        name: np.concatenate([[0], columns[name][1:]])
        for name in (*NIC_COLUMNS, *CUMULATIVE, "c3", "c6", "c7")
    }
    stamps = printed_s + 1.07e-6 * np.arange(entries + 2)
    text = _kernel_prefixes(stamps)
    heading = f"{text[0]} Core={core} itr_cnt={entries}\n{text[1]} {_DEVICELOG_HEADER}"
    _write(path, heading, _frame(columns, _SHORT, 0).insert_column(0, text[2:].alias("prefix")))


def _kernel_prefixes(stamps_s: np.ndarray) -> pl.Series:
    """Format kernel times as `[ 2283.800345]`."""
    micros = np.rint(stamps_s * 1e6).astype(np.int64)
    frame = pl.DataFrame({"s": micros // 1_000_000, "us": micros % 1_000_000})
    seconds = pl.col("s").cast(pl.String).str.pad_start(5)
    fraction = pl.col("us").cast(pl.String).str.zfill(6)
    return frame.select(prefix=pl.format("[{}.{}]", seconds, fraction))["prefix"]


def _frame(columns: dict[str, Counts], names: tuple[str, ...], first_line: int) -> pl.DataFrame:
    lines = np.arange(first_line, first_line + len(columns["tsc"]))
    return pl.DataFrame({"i": lines} | {name: columns[name] for name in names})


def _write(path: Path, heading: str, frame: pl.DataFrame) -> None:
    with path.open("wb") as file:
        file.write(heading.encode())
        for block in frame.iter_slices(_LINES_A_BLOCK):
            block.write_csv(file, include_header=False, separator=" ", quote_style="never")
