"""What a scheme of interrupt handling is: its solutions and its answers."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from data.errors import DataError
from data.models.parameters import KNOWN, Parameter, Value
from data.models.simulation.machine import Machine

if TYPE_CHECKING:
    from data.models.simulation.replications import Simulated

Kind = Literal["paper", "exact", "simulated"]
# Packets per microsecond in one Kpps.
PER_KPPS: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Point:
    """The solution at one arrival rate; rates in packets per microsecond.

    Attributes:
        mean_packets: Mean number in the ring, the one in service included; `latency_us` may stand
            for it where a formula gives the latency itself.
        interrupts: Interrupts per microsecond; NaN where the solution does not say.
    """

    throughput: float
    cpu_left: float
    interrupt_share: float
    protocol_share: float
    loss_share: float
    mean_packets: float = math.nan
    latency_us: float = math.nan
    interrupts: float = math.nan


@dataclass(frozen=True, slots=True)
class Answer:
    """A scheme's results over arrival rates; all arrays have the shape of `rates_kpps`, (n,).

    Attributes:
        kind: `paper`, `exact` or `simulated`.
        parameters: The values that were used, defaults included.
        cpu_left: Share of the CPU that is left for users, 0 to 1.
        interrupt_share: Share of the CPU in interrupts and the overhead of polls.
        protocol_share: Share of the CPU in protocol work.
        latency_mean_us: From a packet's arrival in memory to the end of its protocol work, over
            accepted packets.
        loss_share: Share of the arrivals that find the ring full.
        interrupts_per_s: NaN where the solution does not say.
    """

    scheme: str
    kind: Kind
    parameters: Mapping[str, Value]
    rates_kpps: np.ndarray
    throughput_kpps: np.ndarray
    cpu_left: np.ndarray
    interrupt_share: np.ndarray
    protocol_share: np.ndarray
    latency_mean_us: np.ndarray
    loss_share: np.ndarray
    interrupts_per_s: np.ndarray


@dataclass(frozen=True, slots=True)
class SimulatedAnswer(Answer):
    """Means over replications; each `_half_width` is half a 95 % interval (Student's t).

    Attributes:
        latency_p50_us: The percentiles are of latency over packets, means over replications.
        is_slow: Rates whose latency has not reached the precision: slow to converge.
        stopped: Why each rate's simulation ended: `precision`, `events` or `time`.
        events: Events that were simulated, warm-up included.
        offered_kpps: The arrival rate that was measured.
    """

    throughput_kpps_half_width: np.ndarray
    cpu_left_half_width: np.ndarray
    interrupt_share_half_width: np.ndarray
    protocol_share_half_width: np.ndarray
    latency_mean_us_half_width: np.ndarray
    loss_share_half_width: np.ndarray
    interrupts_per_s_half_width: np.ndarray
    latency_p50_us: np.ndarray
    latency_p50_us_half_width: np.ndarray
    latency_p99_us: np.ndarray
    latency_p99_us_half_width: np.ndarray
    latency_p999_us: np.ndarray
    latency_p999_us_half_width: np.ndarray
    offered_kpps: np.ndarray
    is_slow: np.ndarray
    stopped: tuple[str, ...]
    events: np.ndarray


# From an arrival rate in packets per microsecond and the values of the parameters.
Solution = Callable[[float, SimpleNamespace], Point]


@dataclass(frozen=True, slots=True)
class Scheme:
    """One scheme of interrupt handling.

    Attributes:
        sentence: What it does.
        formulas: By kind, how it is solved, and the source.
        solutions: The solutions in formulas: `paper`, `exact`.
        machine: From the parameters to what the simulator runs; None: not simulated.
        refuse: Raises DataError for parameters that make no sense together.
    """

    name: str
    title: str
    sentence: str
    parameters: tuple[Parameter, ...]
    formulas: Mapping[Kind, str]
    solutions: Mapping[Kind, Solution]
    machine: Callable[[SimpleNamespace], Machine] | None = None
    refuse: Callable[[SimpleNamespace], None] | None = None

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Which of `paper`, `exact` and `simulated` it offers."""
        return tuple(
            kind
            for kind in get_args(Kind)
            if kind in self.solutions or (kind == "simulated" and self.machine)
        )

    def values(self, **given: Any) -> SimpleNamespace:
        """Check the given parameters and fill in the defaults of the others.

        A parameter that only other schemes have is checked by nobody and left out, so that one
        set of parameters serves several schemes.

        Raises:
            DataError: No scheme has such a parameter, or its value is refused.
        """
        if unknown := sorted(set(given) - KNOWN):
            own = ", ".join(p.name for p in self.parameters)
            raise DataError(f"no parameter {unknown[0]!r}; {self.name} has {own}")
        values = SimpleNamespace(
            **{p.name: p.check(given.get(p.name, p.default)) for p in self.parameters}
        )
        if self.refuse:
            self.refuse(values)
        return values

    def solve(
        self,
        kind: Kind,
        rates_kpps: ArrayLike,
        *,
        seed: int = 1,
        replications: int = 10,
        precision: float = 0.1,
        most_events: float = 4e7,
        time_limit_s: float | None = None,
        threads: int = 1,
        frame_sizes: Sequence[tuple[float, float]] | None = None,
        **parameters: Any,
    ) -> Any:
        """Solve the scheme at some arrival rates.

        Args:
            rates_kpps: Arrival rates, thousands of packets a second, shape (n,).
            seed: Of the simulation; the same seed gives the same digits.
            replications: Independent runs of each rate, at least 2.
            precision: Relative half width of the mean latency's interval at which a rate ends.
            most_events: Events of one rate after which it ends without that precision.
            time_limit_s: Wall time after which the simulation ends; results then depend on the
                machine. None: no limit.
            threads: How many run at once; the results do not depend on it.
            frame_sizes: Bytes and share of each frame size of bursty traffic; None: the default.
            parameters: By the names of `parameters`; those left out have their defaults.

        Returns:
            An `Answer`; of `simulated` a `SimulatedAnswer`.

        Raises:
            DataError: The kind is not offered, a rate is not positive, or a value is refused.
        """
        values = self.values(**parameters)
        rates = _checked_rates(rates_kpps)
        if kind not in self.kinds:
            raise DataError(f"{self.name} has no {kind!r} solution; it has {', '.join(self.kinds)}")
        head: dict[str, Any] = {
            "scheme": self.name,
            "kind": kind,
            "parameters": vars(values),
            "rates_kpps": rates,
        }
        if kind == "simulated":
            assert self.machine
            # Imported here: Numba takes 50 MB.
            from data.models.simulation.replications import Effort, simulate

            effort = Effort(seed, replications, precision, most_events, time_limit_s, threads)
            found = simulate(self.machine(values), rates * PER_KPPS, effort, frame_sizes)
            return SimulatedAnswer(**head, **_simulated_fields(found))
        if getattr(values, "traffic", "poisson") != "poisson":
            raise DataError(
                f"traffic is {values.traffic!r}; the {kind} solution is for Poisson arrivals"
            )
        solution = self.solutions[kind]
        points = [solution(rate * PER_KPPS, values) for rate in rates.tolist()]
        return Answer(**head, **_fields(points))


def _checked_rates(rates_kpps: ArrayLike) -> np.ndarray:
    rates = np.atleast_1d(np.asarray(rates_kpps, dtype=np.float64))
    if rates.ndim != 1 or not rates.size:
        raise DataError(f"rates_kpps has the shape {rates.shape}; expected some rates in a row")
    bad = rates[~((rates > 0) & np.isfinite(rates))]
    if bad.size:
        raise DataError(f"rates_kpps holds {bad[0]:g}; an arrival rate must be above 0 and finite")
    return rates


def _fields(points: list[Point]) -> dict[str, Any]:
    """Return the arrays of an answer, in its units."""

    def column(name: str) -> np.ndarray:
        return np.array([getattr(point, name) for point in points])

    throughput, latency = column("throughput"), column("latency_us")
    return {
        "throughput_kpps": throughput / PER_KPPS,
        "cpu_left": column("cpu_left"),
        "interrupt_share": column("interrupt_share"),
        "protocol_share": column("protocol_share"),
        "latency_mean_us": np.where(
            np.isnan(latency), column("mean_packets") / throughput, latency
        ),
        "loss_share": column("loss_share"),
        "interrupts_per_s": column("interrupts") * 1e6,
    }


def _simulated_fields(simulated: "Simulated") -> dict[str, Any]:
    fields: dict[str, Any] = {}
    scales = {"throughput_kpps": 1 / PER_KPPS, "interrupts_per_s": 1e6}
    for name in (
        "throughput_kpps", "cpu_left", "interrupt_share", "protocol_share", "latency_mean_us",
        "loss_share", "interrupts_per_s", "latency_p50_us", "latency_p99_us", "latency_p999_us",
    ):  # fmt: skip
        scale = scales.get(name, 1.0)
        fields[name] = simulated.mean(name) * scale
        fields[f"{name}_half_width"] = simulated.half_width(name) * scale
    fields["offered_kpps"] = simulated.mean("offered_kpps") / PER_KPPS
    return {
        **fields, "is_slow": simulated.is_slow, "stopped": simulated.stopped,
        "events": simulated.events,
    }  # fmt: skip
