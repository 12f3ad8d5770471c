"""Presets: hosts, the figures of the two papers, and their published numbers."""

from pathlib import Path
from typing import Any, Final

from data.models.schemes.itr_throttle import US_PER_ITR_US
from data.models.schemes.normal import cliff_kpps
from data.models.simulation.bursts import link_kpps
from data.reference.tables import PublishedTable, read_tables

_FOLDER: Final = Path(__file__).resolve().parents[2] / "data" / "models" / "published"
# Kpps of a link load of 1: frames of mean 557 bytes with gap and preamble at 1 Gb/s.
LINK_KPPS: Final = link_kpps()

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
    # The figure leaves the analysis of pure polling out.
    {"scheme": "pure_polling", "is_simulated": True},
    {"scheme": "napi"},
    {"scheme": "count_coalescing", "over": {"count": 1}, "label": "coalescing, 1 packet"},
    {"scheme": "count_coalescing", "over": {"count": 8}, "label": "coalescing, 8 packets"},
    {"scheme": "time_coalescing", "over": {"delay_us": 0}, "label": "coalescing, 0 us"},
    {"scheme": "time_coalescing", "over": {"delay_us": 50}, "label": "coalescing, 50 us"},
    {"scheme": "hybrid"},
]


def _variants(schemes: tuple[str, ...], name: str, values: tuple, word: str) -> list[dict]:
    titles = {"pure_polling": "polling, ", "napi": "NAPI, "}
    return [
        {"scheme": s, "over": {name: v}, "label": f"{titles.get(s, '')}{word.format(v)}"}
        for s in schemes
        for v in values
    ]


def published_tables() -> dict[str, PublishedTable]:
    """Return the published numbers; raises errors as `read_tables`."""
    return read_tables(_FOLDER)


def table_1() -> tuple[dict[str, Any], ...]:
    """Return the rows of table 1, times in ms."""
    return tuple(published_tables()["latency_time_coalescing"].rows)


_POLLS: Final = ("pure_polling", "napi")
# Interrupts: `curves` replace the legend's schemes, `values` are set with them. `to` is the end of
# the load axis (Kpps), `latency_to` the end of a linear latency axis (us), `loads` the simulated
# loads of the link, `focus` the view that is the figure, `tab` its tab, `chosen` what the study
# does not print.
_POISSON: Final = {"curves": _FIGURE_7, "values": {"traffic": "poisson"}}
# The link's load ends at 1, whatever its frames.
_BURSTY: Final = {
    "curves": _FIGURE_7,
    "values": {"traffic": "bursty", "switch_kpps": 110},
    "to": 220,
}
_TO_400: Final = {"to": 400, "chosen": "the load axis, 0 to 400 Kpps"}
_SIZES: Final = "shares of frame sizes: 5 % even, 10 % of 570, 15 % of 594 bytes"
_READING: Final = "what load is: the time that the link is busy"
FIGURES: Final[dict[str, dict[str, Any]]] = {
    "7": {**_POISSON, "title": "figure 7: Poisson, all panels"},
    "7a": {**_POISSON, **_TO_400, "title": "figure 7a: throughput", "focus": "throughput"},
    "7b": {**_POISSON, **_TO_400, "title": "figure 7b: CPU left", "focus": "cpu"},
    "7c": {
        **_POISSON,
        "title": "figure 7c: latency at low load",
        "to": 120,
        "latency_to": 100,
        "focus": "latency",
        "chosen": "the axes, 0 to 120 Kpps and 0 to 100 us",
    },
    "7d": {**_POISSON, **_TO_400, "title": "figure 7d: latency at high load", "focus": "latency"},
    "8": {
        **_BURSTY,
        "title": "figure 8: ON/OFF sources",
        "tab": "traffic",
        "focus": "sources",
        "chosen": "the load and the 200 us shown",
    },
    "9": {
        **_BURSTY,
        "title": "figure 9: frame sizes",
        "tab": "traffic",
        "focus": "sizes",
        "chosen": _SIZES,
    },
    "10": {
        **_BURSTY,
        "title": "figure 10: bursty, simulated only",
        "chosen": f"{_READING}; {_SIZES}",
    },
    "11a": {
        "title": "figure 11 a-c: counts and delays",
        "curves": _variants(("count_coalescing",), "count", (1, 2, 4, 8, 16, 32), "{} packets")
        + _variants(("time_coalescing",), "delay_us", (0, 10, 20, 50, 100), "{} us"),
        "values": {"traffic": "poisson"},
        "chosen": "all counts and delays",
    },
    "11d": {
        "title": "figure 11 d-f: quotas",
        "curves": _variants(_POLLS, "quota", (2, 3, 4), "Q = {}"),
        "values": {"traffic": "poisson"},
        "chosen": "Q = 3 beside 2 and 4",
    },
    "11g": {
        "title": "figure 11 g-i: periods at Q = 4",
        "curves": _variants(_POLLS, "poll_period_us", (10, 20, 30, 40), "{} us"),
        "values": {"traffic": "poisson", "quota": 4},
        "chosen": "all periods but 20 us",
    },
    "table1": {
        **_BURSTY,
        "title": "table 1: 50 us, bursty",
        "curves": [
            {"scheme": "time_coalescing", "over": {"delay_us": 50}, "label": "coalescing, 50 us"}
        ],
        "tab": "traffic",
        "focus": "table1",
        "loads": [float(row["load"]) for row in table_1()],
        "chosen": f"{_READING}; when the timer runs",
    },
    "itr": {
        "title": "ITR from 0 to 400 us",
        # A step of the register is 1.024 us.
        "curves": [
            {
                "scheme": "itr_throttle",
                "over": {"delay_us": round(itr * US_PER_ITR_US, 3)},
                "label": f"ITR {itr} us",
            }
            for itr in (0, 10, 50, 100, 200, 400)
        ],
        "values": {"traffic": "poisson"},
        "chosen": "all delays; the study has no throttle",
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
MULTIPLES_CHOSEN: Final = "alpha, beta, the shares of detection and work, D from 0.45"


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
        for row in table_1()
    ]
    return marks


def shown_stars(figure: str, traffic: str, most_kpps: float) -> list[dict[str, Any]]:
    """Return the published points of a figure or, without one, of a kind of traffic.

    Args:
        most_kpps: End of the load axis.
    """
    wanted = "table1" if figure == "table1" else traffic
    return [star for star in stars() if star["traffic"] == wanted and star["x"] <= most_kpps * 1.01]
