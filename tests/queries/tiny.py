"""One lake for the query tests, drawn as text."""

from pathlib import Path

from tests.fixtures.lakes import runs_from_text, write_lake

# Two replicates of one configuration, one run each of four others, one run without energy, one
# without latency; another load; a closed loop.
TEXT = """
run_id  workload   load_qps  message_bytes  system         itr_us  dvfs_ghz  replicate  energy_j  latency_p99_us
a0      memcached  200000.0  -              linux_tuned    2.0     2.9       0          1000.0    62.0
a1      memcached  200000.0  -              linux_tuned    2.0     2.9       1          1010.0    64.0
b       memcached  200000.0  -              linux_tuned    50.0    1.3       0          700.0     110.0
c       memcached  200000.0  -              linux_tuned    -       1.3       0          720.0     90.0
d       memcached  200000.0  -              linux_default  -       -         0          2000.0    104.0
e       memcached  200000.0  -              ebbrt_tuned    2.0     2.9       0          900.0     60.0
f       memcached  200000.0  -              linux_tuned    50.0    2.9       0          -         100.0
g       memcached  200000.0  -              linux_tuned    50.0    1.9       0          800.0     -
h       memcached  400000.0  -              linux_tuned    2.0     2.9       0          1500.0    75.0
n       netpipe    -         8192           linux_tuned    4.0     2.9       0          7.5       -
"""  # noqa: E501


def tiny_lake(path: Path) -> Path:
    """Write it; gives its path."""
    return write_lake(path, runs_from_text(TEXT))
