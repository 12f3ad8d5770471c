"""Where it is a guess what was set, pages state what was measured and recommend nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.explore.best_words import sentences
from app.explore.defaults import default_state
from app.explore.layout_best import best_settings_table
from app.explore.views import asked_of, best_table, limit_domain, picture
from app.findings.answer import default_state as findings_state
from app.findings.answer import no_claim_words, sweeps
from app.findings.layout_claims import claims_block
from app.kit.context import Lakes
from app.kit.export import render
from app.kit.lake_view import LakeView
from app.kit.metric_choice import is_of_unstated, unstated_datasets
from app.kit.words import derived_words, guessed_words
from app.lake.settings_answers import settings_answers
from app.modes.answer import answer
from app.modes.evidence import evidence
from app.modes.layout_evidence import evidence_words
from app.modes.opening import default_state as modes_state
from data.catalogue import Catalogue
from data.declared import Column
from data.findings import claims
from data.selection import Selection
from ingest.__main__ import main
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.raw_runs import write_files

# Four policies, three runs each, 0.1 % apart; the third takes least.
JOULES = {"eager": 90.0, "fair": 80.0, "lazy": 60.0, "none": 70.0}
TABLE = "policy,energy_j,energy_j_std,time_s\n" + "".join(
    f"{policy},{joules * (1 + r / 1000):.4f},{joules / 30 + r / 7:.4f},"
    f"{joules / 10 * (1 + r / 500):.4f}\n"
    for policy, joules in JOULES.items()
    for r in range(3)
)
NOTE = (
    "What was set was guessed: policy. To correct it: python -m ingest correct policy=label --lake "
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that is added as it is, and once more when a person has checked the guess."""
    folder = tmp_path_factory.mktemp("guessed")
    write_files(folder / "study", {"runs.csv": TABLE})
    added = ["add", str(folder / "study"), "--lake"]
    assert main([*added, str(folder / "guessed")]) == 0
    proposal = folder / "study" / "wattlas.toml"
    assert main(["propose", str(folder / "study"), "-o", str(proposal)]) == 0
    lines = proposal.read_text("utf-8").splitlines()
    checked = [line for line in lines if not line.startswith("guessed = ")]
    assert len(checked) == len(lines) - 1
    proposal.write_text("\n".join(checked), "utf-8")
    assert main([*added, str(folder / "checked")]) == 0
    return folder


@pytest.fixture(scope="module")
def guessed(folder: Path) -> LakeView:
    return Lakes(folder / "guessed").at(None)


@pytest.fixture(scope="module")
def checked(folder: Path) -> LakeView:
    return Lakes(folder / "checked").at(None)


def lead(view: LakeView) -> tuple[str, str]:
    """The first sentence of Explore, and its table."""
    state = default_state(view)
    rows, asked = best_table(view, state), asked_of(view, state)
    return sentences(rows, asked)[0], render(best_settings_table(rows, asked))


def test_rows_with_deviations_are_means_of_a_number_that_they_do_not_state() -> None:
    units = {"energy_j_std": "J", "time_sd": "ms", "power_std": "W", "latency_std": "ms"}
    columns = [Column(n, "metric", "real", n, n, unit) for n, unit in units.items()]
    catalogue = Catalogue.of(tuple(columns))
    assert catalogue.means_of_unstated == ("energy_j_std", "time_sd")
    # Requests of one run have a p95 without a deviation.
    requests = dict.fromkeys(("latency_p95_ms_std", "latency_std_ms_mean", "latency_sd_ms"), "ms")
    own = Catalogue.of(
        tuple(Column(n, "metric", "real", n, n, unit) for n, unit in requests.items())
    )
    assert own.means_of_unstated == ("latency_p95_ms_std",)
    number = Column("aggregate_n", "label", "whole", "n", "n")
    counted = Catalogue.of((*columns, number))
    assert counted.means_of_unstated == ()


def test_a_mean_of_an_unstated_number_of_runs_is_no_single_run(tmp_path: Path) -> None:
    """Two settings, a row each, with the deviation of its energy; another dataset has runs."""
    sd = Column("energy_j_std", "metric", "real", "sd", "sd", "J")
    rows = [run(dataset="means", itr_us=itr, energy_j=joules, energy_j_std=1.5)
            for itr, joules in ((2.0, 40.0), (8.0, 50.0))]  # fmt: skip
    means = Lakes(write_lake(tmp_path / "means", rows, [sd])).at(None)
    first, table = lead(means)
    assert "40.0 J (n not stated)" in first
    assert "not stated" in table
    meta = picture("scatter", means, default_state(means))["figure"]["layout"]["meta"]
    assert meta["unstated"] is True
    cell = evidence(means, modes_state(means))
    assert cell is not None
    assert "n not stated: a comparison needs two or more" in cell.verdict
    rows += [run(dataset="runs", itr_us=itr, energy_j=joules) for itr, joules in ((2.0, 40.0),)]
    both = Lakes(write_lake(tmp_path / "both", rows, [sd])).at(None)
    assert unstated_datasets(both) == {"means"}
    assert not is_of_unstated(both, ["means", "runs"])


def test_a_note_says_of_how_many_samples_means_are(tmp_path: Path) -> None:
    rows = "".join(
        f"{policy},{size},{joules},{joules / 30},{joules / 10}\n"
        for policy, size, joules in (("eager", 50, 90.25), ("fair", 47, 80.5), ("lazy", 1, 60.75))
    )
    header = "policy,sample_size,mean_energy_j,std_energy_j,mean_time_s\n"
    write_files(tmp_path / "study", {"runs.csv": header + rows})
    assert main(["add", str(tmp_path / "study"), "--lake", str(tmp_path / "lake")]) == 0
    view = Lakes(tmp_path / "lake").at(None)
    selection = default_state(view).selection
    note = guessed_words(view, selection)
    assert "What was set was guessed: policy. " in note
    assert "are means of runs or repetitions, 1 to 50 by the table: n counts rows." in note


def test_pages_say_that_an_energy_is_computed(tmp_path: Path) -> None:
    """Of one of two workloads no energy was measured; of the other one of one run."""
    flags = {"fft": ["energy_derived"], "lu": None}
    rows = [run(workload=w, itr_us=itr, energy_j=50.0 + itr, power_w=25.0, duration_s=2.0,
                flags=["energy_derived"] if itr == 2 else flags[w], replicate=n)
            for w in flags for itr in (2.0, 8.0) for n in (0, 1)]  # fmt: skip
    view = Lakes(write_lake(tmp_path, rows)).at(None)
    note = "Energy is computed as power x time: it was not measured."
    notes = [derived_words(view, Selection.of(workload=[each]), ("energy_j",)) for each in flags]
    assert notes == [note, ""]
    assert derived_words(view, Selection.of(), ("energy_j",)) == ""
    assert derived_words(view, Selection.of(workload=["fft"]), ("power_w", "duration_s")) == ""
    state = replace(modes_state(view), selection=Selection.of(workload=["fft"]))
    assert note in answer(view, state).conclusions


def test_explore_recommends_only_what_was_declared(guessed: LakeView, checked: LakeView) -> None:
    sentence, table = lead(guessed)
    assert sentence == (
        "study has its least energy at policy lazy: 60.1 J (n = 3), among 4 settings, "
        "if all do the same work."
    )
    assert "Setting with least energy" in table
    assert "Recommended" not in table
    sentence, table = lead(checked)
    assert "its least energy with 60.1 J (n = 3); it is the best of 4 settings" in sentence
    assert "recommended: policy lazy" in sentence
    assert "Recommended setting" in table
    note = guessed_words(guessed, default_state(guessed).selection)
    assert note.startswith(NOTE)
    assert note.endswith(" Deviations that a table states are not used: energy_j_std.")
    assert "are means of runs or repetitions, whose number is not stated" in note
    assert guessed_words(checked, default_state(checked).selection) == ""


def test_modes_calls_none_the_best_of_what_may_not_compete(
    guessed: LakeView, checked: LakeView
) -> None:
    titles = []
    for view in (guessed, checked):
        drawn = answer(view, modes_state(view))
        titles.append(drawn.winners["layout"]["title"]["text"].partition(",")[0])
        assert drawn.conclusions[-1].startswith(NOTE) == (view is guessed)
    assert titles == [
        "Energy (less is better) by policy", "Energy (less is better): best policy",
    ]  # fmt: skip


def test_a_claim_on_totals_says_its_condition(guessed: LakeView, checked: LakeView) -> None:
    of_guess, declared = (claims(view.lake) for view in (guessed, checked))
    assert [claim.metric for claim in of_guess] == ["energy_j"] * 3 + ["duration_s"] * 3
    assert all(
        f"in {claim.metric_words}, if both do the same work: " in claim.sentence
        or f" against {claim.reference}, if both do the same work: " in claim.sentence
        for claim in of_guess
    )
    assert not any("same work" in claim.sentence for claim in declared)
    assert [(one.effect, one.low) for one in of_guess] == [
        (one.effect, one.low) for one in declared
    ]
    texts = [render(claims_block(view, findings_state(view))[0]) for view in (guessed, checked)]
    assert [("may be quoted" in text, NOTE in text) for text in texts] == [
        (False, True), (True, False),
    ]  # fmt: skip


def test_settings_that_cannot_be_told_from_the_least_are_counted(tmp_path: Path) -> None:
    """100, 101 and 150 J, twice each; then the least ran once, and nothing is told from it."""
    rows = [
        run(itr_us=itr, replicate=r, energy_j=joules + 2 * r)
        for itr, joules in ((2.0, 100.0), (4.0, 101.0), (8.0, 150.0))
        for r in (0, 1)
    ]
    once = [*rows, run(itr_us=16.0, energy_j=90.0)]
    found = []
    for path, runs in (("twice", rows), ("once", once)):
        view = Lakes(write_lake(tmp_path / path, runs)).at(None)
        view.lake.__dict__["guessed"] = frozenset({"tiny"})
        found.append(lead(view)[0])
    assert found == [
        "At 200k QPS, Linux tuned has its least energy at ITR 2 us: 101 J (n = 2), among 3 "
        "settings, if all do the same work; 1 of the 2 others measured at least twice cannot be "
        "told from it.",
        "At 200k QPS, Linux tuned has its least energy at ITR 16 us: 90.0 J (n = 1), among 4 "
        "settings, if all do the same work.",
    ]


def test_claims_on_runs_of_unlike_work_are_of_an_item(tmp_path: Path) -> None:
    """Five times the frames in one mode: its energy is larger, that of a frame is smaller."""
    own = [
        Column("pin", "knob", "text", "pin", "pin"),
        Column("frame_mj", "metric", "real", "energy per frame", "frame", "mJ/frame", "less"),
    ]
    rows = [
        run(itr_us=None, pin=pin, replicate=r, energy_j=frames * joules / 1000 + r / 100,
            frame_mj=joules + r / 100, latency_p99_us=None, performance_metric="duration_s")
        for pin, frames, joules in (("true", 5000, 30.0), ("false", 1000, 40.0)) for r in (0, 1)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, own)).at(None)
    energies = {one.metric: one for one in claims(view.lake) if one.metric != "duration_s"}
    assert list(energies) == ["frame_mj"]
    assert energies["frame_mj"].sentence.startswith("pin true lowers energy per frame against pin ")
    assert "holds alone; 1 of 1 claim)" in energies["frame_mj"].sentence
    # A bare value says nothing without the name of what was set.
    assert answer(view, modes_state(view)).conclusions[0] == (
        "pin true has least energy per frame in 1 of 1 cell."
    )
    cell = evidence(view, modes_state(view))
    assert cell is not None
    assert cell.verdict.startswith("pin true wins over pin false (")


def test_why_there_is_no_claim(tmp_path: Path) -> None:
    own = [Column("mode_text", "knob", "text", "mode", "mode")]
    rows = [
        run(itr_us=None, mode_text=mode, replicate=r, energy_j=joules + r, latency_p99_us=None,
            duration_s=None, performance_metric=None)
        for mode, joules, n in (("b", 90.0, 2), ("c", 80.0, 1), ("d", 70.0, 1))
        for r in range(n)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, own)).at(None)
    assert no_claim_words(view, findings_state(view)) == (
        "There is no claim: 2 of 3 settings have one run (n = 1), and too few were repeated to "
        "tell differences from noise."
    )


def test_the_agreed_limit_is_none_of_a_guess(tmp_path: Path) -> None:
    """The network study agreed on 500 us; a stranger's requests take seconds."""
    rows = [
        run(itr_us=itr, replicate=r, energy_j=90 * itr + r, latency_p99_us=1e6 / itr + r)
        for itr in (2.0, 4.0, 8.0)
        for r in (0, 1)
    ]
    found = []
    for guessed in (frozenset[str](), frozenset({"tiny"})):
        view = Lakes(write_lake(tmp_path / str(len(guessed)), rows)).at(None)
        view.lake.__dict__["guessed"] = guessed
        kinds = {claim.kind for claim in claims(view.lake)}
        (sweep,) = sweeps(view, findings_state(view))
        found.append(
            ("limit met" in kinds, sweep.choice.limit is not None,
             "agreed" in limit_domain(view, default_state(view)))
        )  # fmt: skip
        limited = {claim.kind for claim in claims(view.lake, limit=("latency_p99_us", 3e5))}
        assert "limit met" in limited
    assert found == [(True, True, True), (False, False, False)]


def test_the_points_of_a_guess_or_of_one_setting_are_not_called_the_best(tmp_path: Path) -> None:
    rows = [
        run(itr_us=itr, replicate=r, energy_j=90 * itr + r) for itr in (2.0, 4.0) for r in (0, 1)
    ]
    words = []
    for path, runs, guessed in (("a", rows, ""), ("b", rows, "tiny"), ("c", rows[:2], "")):
        view = Lakes(write_lake(tmp_path / path, runs)).at(None)
        view.lake.__dict__["guessed"] = frozenset({guessed})
        words.append("may be the best" in lead(view)[1])
    assert words == [True, False, False]


def test_a_value_whose_unit_is_a_guess_says_so_once(tmp_path: Path) -> None:
    """60,000 to 90,000 without a unit may be joules, and millijoules as well."""
    table = "policy,energy,score\n" + "".join(
        f"{policy},{1000 * joules + 7 * r:.0f},{joules / 3 + r}\n"
        for policy, joules in JOULES.items()
        for r in range(3)
    )
    write_files(tmp_path / "study", {"runs.csv": table})
    assert main(["add", str(tmp_path / "study"), "--lake", str(tmp_path / "lake")]) == 0
    view = Lakes(tmp_path / "lake").at(None)
    assert view.catalogue.metric("energy_j").doubt == "unit guessed in study"
    sentence, best = lead(view)
    cell = answer(view, modes_state(view))
    asked = evidence(view, modes_state(view))
    state = default_state(view)
    titles = picture("scatter", view, state)["figure"]["layout"]["meta"]["titles"]
    energy = view.catalogue.metric("energy_j")
    (extremes,) = (
        text for title, text in settings_answers(view, state.selection, energy) if "most" in title
    )
    assert asked is not None
    assert sentence == (
        "study has its least energy at policy lazy: 60.0 kJ (unit guessed, n = 3), among 4 "
        "settings, if all do the same work."
    )
    assert "Energy, unit guessed</th>" in best
    assert titles["energy_j"] == "Energy, unit guessed"
    assert "kJ less, unit guessed" in asked.verdict
    assert "95 % CI, unit guessed" in render(evidence_words(asked))
    assert cell.cells is not None
    assert cell.cells["metric"]["doubt"] == "unit guessed in study"
    assert extremes.startswith("Least policy lazy: 60.0 kJ (unit guessed, n = 3); most ")
    assert extremes.count("guessed") == 1
    # Another dataset states its unit: neither its axes nor its cells have the doubt.
    write_files(tmp_path / "other", {"runs.csv": table.replace("energy", "energy (J)")})
    assert main(["add", str(tmp_path / "other"), "--lake", str(tmp_path / "lake")]) == 0
    view, axes = Lakes(tmp_path / "lake").at(None), []
    for dataset in ("study", "other"):
        seen = replace(state, selection=Selection.of(dataset=[dataset]))
        axes.append(picture("scatter", view, seen)["figure"]["layout"]["yaxis"]["title"]["text"])
        cell = answer(view, replace(modes_state(view), selection=seen.selection))
        assert cell.cells is not None
        axes.append(cell.cells["metric"]["doubt"])
    assert axes == [
        "Energy, J, unit guessed in study (less is better)", "unit guessed in study",
        "Energy, J (less is better)", "",
    ]  # fmt: skip


def test_a_doubt_of_a_unit_is_of_each_column_of_it_in_all_tables(tmp_path: Path) -> None:
    """As MW both would be of a power station; that of the idle machine is not the run's power."""
    rows = [(mode, n) for mode in ("eco", "fast") for n in range(3)]
    before = "".join(f"{mode},{4100 + 7 * n},{5200 + 9 * n}\n" for mode, n in rows)
    after = "".join(f"{mode},{6100 + 5 * n},{41 - n}.5\n" for mode, n in rows)
    files = {"before.csv": f"mode,IdleMeanMW,LoadMeanMW\n{before}",
             "after.csv": f"mode,PostMeanMW,temp_c\n{after}"}  # fmt: skip
    write_files(tmp_path / "study", files)
    assert main(["add", str(tmp_path / "study"), "--lake", str(tmp_path / "lake")]) == 0
    metrics = Lakes(tmp_path / "lake").at(None).catalogue.metrics
    assert metrics["idlemeanmw"].doubt == metrics["power_w"].doubt == "unit guessed in study"
    assert not any("guessed" in metrics[n].axis_title for n in metrics if n.startswith("temp"))
