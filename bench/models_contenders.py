"""M/M/1/B in SimPy and ciw: a script for an interpreter that has them.

It imports nothing of wattlas, and prints one JSON line per simulator: name, customers per second.
"""

import json
import random
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any


def process_a_customer(rate: float, work: float, ring: int, customers: int) -> None:
    """Simulate as the manual of SimPy does: customers are processes, the server is a resource."""
    import simpy

    env = simpy.Environment()
    server = simpy.Resource(env, capacity=1)
    latencies: list[float] = []

    def customer() -> Iterator[Any]:
        arrived = env.now
        with server.request() as request:
            yield request
            yield env.timeout(random.expovariate(work))
        latencies.append(env.now - arrived)

    def source() -> Iterator[Any]:
        for _ in range(customers):
            yield env.timeout(random.expovariate(rate))
            if len(server.queue) + server.count < ring:
                env.process(customer())

    env.process(source())
    env.run()


def two_processes(rate: float, work: float, ring: int, customers: int) -> None:
    """Simulate in the fastest form of SimPy: a process of arrivals, one of service, and a deque."""
    import simpy

    env = simpy.Environment()
    waiting: deque[float] = deque()
    latencies: list[float] = []
    timeout, draw = env.timeout, random.expovariate
    wake = [env.event()]

    def source() -> Iterator[Any]:
        for _ in range(customers):
            yield timeout(draw(rate))
            if len(waiting) < ring:
                waiting.append(env.now)
                if len(waiting) == 1:
                    wake[0].succeed()

    def server() -> Iterator[Any]:
        while True:
            if not waiting:
                wake[0] = env.event()
                yield wake[0]
            yield timeout(draw(work))
            latencies.append(env.now - waiting.popleft())

    env.process(server())
    env.process(source())
    env.run()


def with_ciw(rate: float, work: float, ring: int, customers: int) -> None:
    """ciw's queueing network of one node."""
    import ciw

    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate)],
        service_distributions=[ciw.dists.Exponential(work)],
        number_of_servers=[1],
        queue_capacities=[ring - 1],
    )
    ciw.seed(1)
    ciw.Simulation(network).simulate_until_max_customers(customers)


CONTENDERS: dict[str, Callable[[float, float, int, int], None]] = {
    "simpy_process_a_customer": process_a_customer,
    "simpy_two_processes": two_processes,
    "ciw": with_ciw,
}


def main() -> None:
    """Measure each simulator. Arguments: rate, service rate, ring, customers, repeats."""
    rate, work = map(float, sys.argv[1:3])
    ring, customers, repeats = map(int, sys.argv[3:6])
    for _ in range(repeats):
        for name, run in CONTENDERS.items():
            count = customers // 10 if name == "ciw" else customers
            random.seed(1)
            start = time.perf_counter()
            run(rate, work, ring, count)
            elapsed_s = time.perf_counter() - start
            print(json.dumps({"name": name, "rate": count / elapsed_s}), flush=True)


if __name__ == "__main__":
    main()
