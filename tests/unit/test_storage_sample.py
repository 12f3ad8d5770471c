"""The page on the sample's own sweep: its published anchors come out as it measures them."""

import polars as pl
import pytest

from app.kit.context import Lakes
from app.storage.answer import StorageAnswer, answer
from app.storage.published import IDLE, NOT_MEASURED, PERFORMANCE, SWITCHES, Line, judged_claims
from app.storage.study import Study, default_state
from data.analysis.verdicts import HOLDS, IN_PART, UNDECIDED
from data.reference.loads_stores import NAME as LOADS_STORES
from ingest.__main__ import main as ingest
from ingest.sample.storage import write_storage

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, StorageAnswer]:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "raw").mkdir()
    write_storage(folder / "raw", "tiny", 7, lambda: None)
    assert ingest(["add", str(folder / "raw"), "--lake", str(folder / "lake")]) in (0, 3)
    view = Lakes(folder / "lake").at(None)
    found = answer(view, default_state(view))
    return found.study, found


def test_every_view_has_something_to_show(sweep: tuple[Study, StorageAnswer]) -> None:
    kinds = {name: f["layout"]["meta"]["kind"] for name, f in sweep[1].figures.items()}
    assert set(kinds.values()) == {"storage"}, kinds
    assert sweep[0].state.at_device == "optane"


def compared(found: StorageAnswer) -> dict[str, list[Line]]:
    return found.compared


@pytest.mark.parametrize(
    ("table", "percent"), [(PERFORMANCE, 2.0), (IDLE, 1.0), (LOADS_STORES, 5.0)]
)
def test_published_values_come_out(
    sweep: tuple[Study, StorageAnswer], table: str, percent: float
) -> None:
    lines = compared(sweep[1])[table]
    assert len(lines) > 4
    for line in lines:
        assert line.measured != NOT_MEASURED, line
        if not line.value:
            assert line.mean == 0
            continue
        change = float(line.change.split()[0].replace("\N{MINUS SIGN}", "-"))
        assert abs(change) < percent, line


def test_context_switches_are_one_per_io_but_for_classic_polling(
    sweep: tuple[Study, StorageAnswer],
) -> None:
    means = sweep[0].here.group_by("mode").agg(pl.col("context_switches_per_io").mean()).rows()
    assert dict(means) == pytest.approx({"interrupt": 1, "hybrid": 1, "poll": 0}, abs=1e-3)
    assert len(compared(sweep[1])[SWITCHES]) == 3


def test_a_disk_never_draws_a_third_of_the_power_that_the_system_can_draw(
    sweep: tuple[Study, StorageAnswer],
) -> None:
    """The system's most is 159 W (optane, writing, 32 in flight), the disk's own 42 W here."""
    most = sweep[0].proportions[0].group_by("device", "rw").agg(pl.col("power_share").max())
    shares = {(d, rw): share for d, rw, share in most.iter_rows()}
    assert shares["disk", "randread"] == pytest.approx(0.266, abs=0.002)
    assert shares["optane", "randread"] == pytest.approx(0.535, abs=0.005)


def test_claims_come_out_as_the_model_has_them(sweep: tuple[Study, StorageAnswer]) -> None:
    """No flash device is SATA's, interrupts were counted once, depths end at 32."""
    judged = judged_claims(sweep[0])
    found = {one.claim.name: one.verdict for one in judged}
    held = [name for name, verdict in found.items() if verdict.outcome == HOLDS]
    assert held == [*(f"000-O{n}" for n in range(1, 7)), "004-O1"]
    assert {n for n, v in found.items() if v.outcome == UNDECIDED} == {"004-O6", "004-O7", "004-C8"}
    assert found["004-O5"].parts[0].words.startswith("n: no two runs")
    # Writing costs more processor time than reading, by a request's work.
    assert found["004-O5"].outcome == IN_PART
    assert "SATA flash" in found["004-C8"].words
