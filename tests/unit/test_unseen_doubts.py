"""Tables in which less is said than it seems: what nothing decides is not read as more."""

from pathlib import Path

import pytest

from tests.fixtures.unseen import Studies, check_study

STUDIES: Studies = {
    "repetitions that are as many as threads": (
        {"t.csv": "benchmark,threads,latency_ms\n" + "".join(
            f"{b},{n},{n}.5\n" for b in ("fft", "lu") for n in (1, 2, 3))}
        | {f"traces/{b}_run{n}.csv": "time_s,power_w\n" + "".join(
            f"{k / 2},{n}.5\n" for k in range(20)) for b in ("fft", "lu") for n in (1, 2, 3)},
        "threads, energy_j", 12, [(1, None), (1, None), (2, None)],
    ),
    # A column is called as the others without their steps; at 100 W of a load power is lost.
    "steps beside a total": (
        {"t.csv": "app,energy_J_1.2GHz,energy_J_2.4GHz,time_s_1.2GHz,time_s_2.4GHz,time_s\n"
                  "a,1.5,2.5,9,5,3\nb,1.6,2.6,9.5,5.5,2\n"},
        "app, energy_j_1_2ghz, duration_s", 2, [("a", 1.5, 3.0), ("b", 1.6, 2.0)],
    ),
    "losses at loads": (
        {"t.csv": "psu,efficiency_100W,efficiency_200W,power_loss_100W,power_loss_200W\n"
                  "a,0.9,0.92,9.5,15.5\nb,0.85,0.88,8.5,14.5\n"},
        "psu, power_loss_100w", 2, [("a", 9.5), ("b", 8.5)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("style", STUDIES)
def test_a_table_says_no_more_than_is_written(style: str, tmp_path: Path) -> None:
    check_study(STUDIES, style, tmp_path)
