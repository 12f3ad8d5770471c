"""Texts for workloads, configurations, loads and axes, in titles and hovers."""

import polars as pl

from data.metrics import metric
from data.units import format_bytes, format_load

WORKLOAD_TITLES = {"netpipe": "NetPIPE", "nodejs": "node.js", "memcached-silo": "memcached-silo"}


def itr_word(itr_us: float | None) -> str:
    """Return `ITR 2 us` or `ITR adaptive`."""
    return "ITR adaptive" if _missing(itr_us) else f"ITR {itr_us:g} us"


def dvfs_word(dvfs_ghz: float | None) -> str:
    """Return `2.9 GHz` or `governor`."""
    return "governor" if _missing(dvfs_ghz) else f"{dvfs_ghz:g} GHz"


def configuration_words(row: dict) -> str:
    """Return the knobs of one row of `points_query`: `ITR 2 us · 2.9 GHz · 135 W`.

    For storage runs: `poll · optane · randread · 4 KiB · depth 8 · 8 threads`, without ITR, and
    without DVFS if the governor chose.
    """
    storage = _storage_words(row)
    words = list(storage)
    if not storage or not _missing(row["itr_us"]):
        words.append(itr_word(row["itr_us"]))
    if not storage or not _missing(row["dvfs_ghz"]):
        words.append(dvfs_word(row["dvfs_ghz"]))
    if not _missing(row.get("rapl_w")):
        words.append(f"{row['rapl_w']:g} W")
    return " · ".join(words)


def _storage_words(row: dict) -> list[str]:
    words = [str(row[name]) for name in ("mode", "device", "rw") if row.get(name) is not None]
    if not _missing(row.get("request_bytes")):
        words.append(format_bytes(row["request_bytes"]))
    if not _missing(row.get("io_depth")):
        words.append(f"depth {row['io_depth']:g}")
    if not _missing(row.get("threads")):
        words.append(f"{row['threads']:g} thread{'' if row['threads'] == 1 else 's'}")
    return words


def lowered(title: str) -> str:
    """Return a metric's title for use inside a sentence: `mean latency`, but `IOs per joule`."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def load_words(load_qps: float | None, message_bytes: float | None) -> str:
    """Return `200k QPS` or `512 KiB`; empty if the workload has neither."""
    words = []
    if not _missing(load_qps):
        words.append(format_load(load_qps))
    if not _missing(message_bytes):
        words.append(format_bytes(message_bytes))
    return " · ".join(words)


def subject(points: pl.DataFrame, named_loads: int = 3) -> str:
    """Return what the points show: `memcached at 200k QPS`, with at most `named_loads` loads."""
    workloads = [WORKLOAD_TITLES.get(w, w) for w in points["workload"].unique().sort()]
    text = ", ".join(workloads)
    pairs = points.select("load_qps", "message_bytes").unique().sort("load_qps", "message_bytes")
    loads = [load_words(q, m) for q, m in pairs.iter_rows()]
    loads = [word for word in loads if word]
    if not loads:
        return text
    return f"{text} at {', '.join(loads) if len(loads) <= named_loads else f'{len(loads)} loads'}"


def axis_words(x: str, y: str) -> str:
    """Return `Energy against p99 latency`, for the columns along x and y."""
    title = metric(x).title
    return (
        f"{metric(y).title} against {title if title[:1] == 'p' else title[:1].lower() + title[1:]}"
    )


def synthetic_note(points: pl.DataFrame) -> str:
    """Return the warning for synthetic runs; empty for measured runs."""
    share = points["is_synthetic"]
    if not share.any():
        return ""
    return "synthetic data" if share.all() else "partly synthetic data"


def _missing(value: float | None) -> bool:
    return value is None or value != value
