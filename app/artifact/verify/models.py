"""The models of interrupt handling; rates in packets a microsecond."""

import math
from functools import cache
from operator import mul
from typing import Any

import duckdb

from app.artifact.verify.report import TOLERANCE, Report, Row, rows_of, words_of_key

# Weights of a chain are divided by this before they are too large for a float.
LARGE = 1e200
MODELS = "data/models.parquet"
MODEL_VALUES = ("throughput_kpps", "cpu_left", "latency_mean_us")


def check_models(lake: duckdb.DuckDBPyConnection, report: Report) -> None:
    """Compare the values that have a formula; those of simulations are taken as they are."""
    for row in rows_of(lake, f"FROM read_parquet('{MODELS}') WHERE kind <> 'simulated'"):
        at = words_of_key([*row], tuple(None if n in MODEL_VALUES else v for n, v in row.items()))
        values = dict(zip(MODEL_VALUES, solved(row), strict=True))
        for name, value in values.items():
            report.compare(f"{MODELS}: {name} of {at}", row[name], value, TOLERANCE)


def curves_of(
    lake: duckdb.DuckDBPyConnection, given: dict[str, Any], keys: list[str]
) -> list[tuple[Any, ...]]:
    """Return the values of each curve of a picture at the rates that its table has."""
    asked = f"FROM read_parquet('{given['file']}') WHERE NOT ({given['skip']})"
    answer = []
    for row in rows_of(lake, asked):
        own = given["curves"][row["curve"]]
        rate = row["rate_kpps"]
        point = own | {"kind": row["kind"], "rate_kpps": rate}
        throughput, left, latency_us = curve_point(*point.items())
        work = throughput * 1e-3 * own["service_us"]
        values = {
            "throughput_kpps": throughput, "cpu_left": left, "latency_mean_us": latency_us,
            "loss_share": 1 - throughput / rate, "protocol_share": work,
            "interrupt_share": 1 - left - work,
        }  # fmt: skip
        answer.append((*(row[key] for key in keys), *(values[name] for name in given["columns"])))
    return answer


@cache
def curve_point(*parameters: tuple[str, Any]) -> tuple[float, float, float]:
    """Return what `solved` does; several pictures have the same curves."""
    return solved(dict(parameters))


def solved(row: Row) -> tuple[float, float, float]:
    """Return throughput in Kpps, the CPU that is left, and mean latency in microseconds."""
    scheme, rate = row["scheme"], row["rate_kpps"] * 1e-3
    if scheme == "hybrid":
        scheme = "pure_polling" if row["rate_kpps"] >= row["switch_kpps"] else "disable_enable"
    if scheme == "disable_enable":
        return of_states(*disable_enable(rate, row), row["service_us"])
    if scheme == "pure_polling":
        return polled(rate, row)
    if scheme == "normal" and row["kind"] == "exact":
        return of_states(*interrupted(rate, row), row["service_us"])
    return shared(rate, row)


def of_states(
    idle: float, work: list[float], others: list[float], service_us: float
) -> tuple[float, float, float]:
    """Reduce the weights of a chain: empty, and with 1 and more packets, at work or not."""
    total = idle + math.fsum(work) + math.fsum(others)
    throughput = math.fsum(work) / total / service_us
    packets = math.fsum(n * (a + b) for n, (a, b) in enumerate(zip(work, others, strict=True), 1))
    return throughput * 1e3, idle / total, packets / total / throughput


def interrupted(rate: float, row: Row) -> tuple[float, list[float], list[float]]:
    """Solve normal interruption: each level of the ring holds a ratio of the one below."""
    ring, load, cost = row["ring"], rate * row["service_us"], rate * row["interrupt_us"]
    ratio = load + cost / (1 + cost)
    below = [ratio ** (n - (ring - 1 if ratio > 1 else 0)) for n in range(ring)]
    work = [load * level for level in below]
    handlers = [level * cost / (1 + cost) for level in below]
    handlers[-1] = cost * (below[-1] + (work[-1] if row["drops_interrupt"] else 0))
    return below[0], work, handlers


def disable_enable(rate: float, row: Row) -> tuple[float, list[float], list[float]]:
    """Solve the chain in which set-up and first packet are one time, a part of it work."""
    ring, service_us = row["ring"], row["service_us"]
    first_us = row["register_us"] + row["interrupt_us"] + service_us
    more = rate * first_us / (1 + rate * first_us)
    first, later = [1.0], [0.0]
    for n in range(1, ring + 1):
        # Packets become n as often as they become n - 1 again.
        entered = more * first[-1] if n < ring else 0.0
        later.append(rate * service_us * (later[-1] + entered))
        first.append(first[-1] * (more if n < ring else rate * first_us))
        if later[-1] > LARGE:
            first, later = ([value / LARGE for value in each] for each in (first, later))
    share = service_us / first_us
    work = [a + share * b for a, b in zip(later[1:], first[1:], strict=True)]
    return first[0], work, [(1 - share) * value for value in first[1:]]


def shared(rate: float, row: Row) -> tuple[float, float, float]:
    """Solve M/M/1/B with the CPU that interrupts leave, one for each so many packets."""
    interrupt_us, packets = row.get("interrupt_us") or 0.0, 1
    if row["scheme"] == "count_coalescing":
        packets = row["count"]
    elif row["scheme"] == "time_coalescing":
        packets = max(1, math.ceil(rate * row["delay_us"] - 1e-9))
    taken = rate * interrupt_us / (rate * interrupt_us + packets)
    service_us, ring = row["service_us"] / (1 - taken), row["ring"]
    load = rate * service_us
    idle, *work = [load ** (n - (ring if load > 1 else 0)) for n in range(ring + 1)]
    throughput, left, in_ring_us = of_states(idle, work, [0.0] * ring, service_us)
    wait_us = (packets - 1) / (2 * rate) + interrupt_us
    return throughput, (1 - taken) * left, wait_us + in_ring_us


def polled(rate: float, row: Row) -> tuple[float, float, float]:
    """Solve M/D/1/B at the rate of the polls, by what departing packets leave behind."""
    ring, service_us, period_us = row["ring"], row["service_us"], row["poll_period_us"]
    left = 1 - row["poll_overhead_us"] / period_us
    most = min(row["quota"] / period_us, left / service_us)
    load = rate / most
    arrivals = [math.exp(-load)]
    while arrivals[-1] > 1e-20 or len(arrivals) < load:
        arrivals.append(arrivals[-1] * load / len(arrivals))
    # more[k]: probability of over k arrivals during one service.
    more = [math.fsum(arrivals[k + 1 :]) for k in range(len(arrivals))]
    behind = [1.0]
    for n in range(ring - 1):
        above = math.fsum(map(mul, more[1:], behind[:0:-1]))
        above += behind[0] * more[n] if n < len(more) else 0.0
        behind.append(above / arrivals[0])
        if behind[-1] > LARGE:
            behind = [value / LARGE for value in behind]
    total = math.fsum(behind)
    scale = behind[0] / total + load
    packets = math.fsum(n * value for n, value in enumerate(behind)) / total
    packets = (packets + ring * (scale - 1)) / scale
    throughput = most * load / scale
    wait_us = period_us * (1.0 if row["wait"] == "upper" else 0.5) * behind[0] / total / scale
    return throughput * 1e3, left - min(rate, most) * service_us, packets / throughput + wait_us
