"""Presets: hosts, the figures of the two papers, and their published numbers."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from data.models.schemes.normal import cliff_kpps
from data.models.simulation.frame_sizes import default_frame_sizes, frame_time_us
from data.reference.tables import PublishedTable, read_tables

_FOLDER: Final = Path(__file__).resolve().parents[2] / "data" / "models" / "published"
# Kpps of a link load of 1: frames of mean 557 bytes with gap and preamble at 1 Gb/s.
LINK_KPPS: Final = 1e3 / frame_time_us(np.array(default_frame_sizes()))

# Values that differ from the defaults, which are the study's of 2007.
HOSTS: Final[dict[str, dict[str, Any]]] = {
    "paper2007": {"title": "2007 paper", "values": {}, "note": "the study's measured host"},
    "measured": {
        "title": "measured host",
        "values": None,
        "note": "1/r and 1/mu fitted to the runs that the filters leave",
    },
    "82599": {
        "title": "10 GbE (82599)",
        "values": {
            "service_us": 1.0, "interrupt_us": 1.5, "register_us": 0.25, "ring": 512,
            "quota": 64, "delay_us": 10.24, "poll_period_us": 20,
        },
        "note": "assumed: ixgbe's ring of 512 and weight of 64; ITR 10 is 10.24 us; costs of a "
        "host of about 2013",
    },
}  # fmt: skip
_FIGURE_7: Final = [
    {"scheme": "ideal"},
    {"scheme": "normal"},
    {"scheme": "disable_enable"},
    {"scheme": "pure_polling"},
    {"scheme": "napi"},
    {"scheme": "count_coalescing", "over": {"count": 1}, "label": "coalescing, 1 packet"},
    {"scheme": "count_coalescing", "over": {"count": 8}, "label": "coalescing, 8 packets"},
    {"scheme": "time_coalescing", "over": {"delay_us": 0}, "label": "coalescing, 0 us"},
    {"scheme": "time_coalescing", "over": {"delay_us": 50}, "label": "coalescing, 50 us"},
]


def _variants(schemes: tuple[str, ...], name: str, values: tuple, word: str) -> list[dict]:
    titles = {"pure_polling": "polling, ", "napi": "NAPI, "}
    return [
        {"scheme": s, "over": {name: v}, "label": f"{titles.get(s, '')}{word.format(v)}"}
        for s in schemes
        for v in values
    ]


_POLLS: Final = ("pure_polling", "napi")
# Interrupts: `curves` replace the legend's schemes, `values` are set with them. `to` is the end of
# the load axis (Kpps), `latency_to` the end of a linear latency axis (us).
FIGURES: Final[dict[str, dict[str, Any]]] = {
    "7": {"title": "figure 7: Poisson", "curves": _FIGURE_7, "values": {"traffic": "poisson"}},
    "7c": {
        "title": "figure 7c: latency at low load",
        "curves": _FIGURE_7,
        "values": {"traffic": "poisson"},
        "to": 120,
        "latency_to": 100,
    },
    "10": {
        "title": "figure 10: bursty (simulated only)",
        "curves": _FIGURE_7,
        "values": {"traffic": "bursty"},
        "to": 220,
    },
    "11a": {
        "title": "figure 11 a-c: counts and delays",
        "curves": _variants(("count_coalescing",), "count", (1, 2, 4, 8, 16, 32), "{} packets")
        + _variants(("time_coalescing",), "delay_us", (0, 10, 20, 50, 100), "{} us"),
        "values": {"traffic": "poisson"},
    },
    "11d": {
        "title": "figure 11 d-f: quotas",
        "curves": _variants(_POLLS, "quota", (2, 3, 4), "Q = {}"),
        "values": {"traffic": "poisson"},
    },
    "11g": {
        "title": "figure 11 g-i: periods at Q = 4",
        "curves": _variants(_POLLS, "poll_period_us", (10, 20, 30, 40), "{} us"),
        "values": {"traffic": "poisson", "quota": 4},
    },
    "table1": {
        "title": "table 1: 50 us, bursty (published points)",
        "curves": [
            {"scheme": "time_coalescing", "over": {"delay_us": 50}, "label": "coalescing, 50 us"}
        ],
        "values": {"traffic": "bursty"},
        "to": 220,
    },
}
# The published values hold for a host with the default values of these costs.
PUBLISHED_COSTS: Final = ("service_us", "interrupt_us", "ring")
# Energy: small multiples over alpha and beta.
MULTIPLES: Final[dict[str, dict[str, Any]]] = {
    "": {"title": "one curve", "alphas": [], "betas": []},
    "10": {"title": "figure 10", "alphas": [-1.0, -0.5, 0.0], "betas": [0.0]},
    "11": {"title": "figure 11", "alphas": [-1.0, -0.5, 0.0], "betas": [-1.0, 0.0, 1.0]},
}
DETECT_SHARES: Final = (0.0, 0.1, 0.2, 0.3)


def published_tables() -> dict[str, PublishedTable]:
    """Return the published numbers; raises errors as `read_tables`."""
    return read_tables(_FOLDER)


def stars() -> list[dict[str, Any]]:
    """Return the published numbers as points: panel, x, y, words, traffic."""
    tables = published_tables()
    marks = []
    for row in tables["greatest_throughput"].rows:
        is_small = row["packet_bytes"] == 64
        service_us = 5.34 if is_small else 5.25 + 557 / 748
        at = cliff_kpps(service_us, 3.73) if row["quantity"] == "cliff" else row["value_kpps"]
        marks.append(
            {
                "panel": "throughput",
                "x": at,
                "y": row["value_kpps"],
                "words": f"{row['quantity']}: {row['value_kpps']:g} Kpps, "
                f"{row['packet_bytes']:g}-byte packets",
                "traffic": "poisson" if is_small else "bursty",
            }
        )
    marks += [
        {
            "panel": "latency",
            "x": row["load"] * LINK_KPPS,
            "y": row["mean_ms"] * 1e3,
            "low": row["lower_ms"] * 1e3,
            "high": row["upper_ms"] * 1e3,
            "words": f"table 1: coalescing 50 us at a load of {row['load']:g}",
            "traffic": "table1",
        }
        for row in tables["latency_time_coalescing"].rows
    ]
    return marks


def shown_stars(figure: str, traffic: str, most_kpps: float) -> list[dict[str, Any]]:
    """Return the published points of a figure or, without one, of a kind of traffic.

    Args:
        most_kpps: End of the load axis.
    """
    wanted = "table1" if figure == "table1" else traffic
    return [star for star in stars() if star["traffic"] == wanted and star["x"] <= most_kpps * 1.01]
