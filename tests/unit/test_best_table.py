"""The table of best settings and the sentences that lead the page, as a reader sees them."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dash.html import Div

from app.explore.best_words import sentences
from app.explore.defaults import default_state
from app.explore.layout_best import best_settings_table
from app.explore.state import ExploreState
from app.explore.views import asked_of, best_notes, best_table, odd_change, picture
from app.kit.context import Lakes
from app.kit.encodings import title_of
from app.kit.export import render
from app.kit.lake_view import LakeView
from data.catalogue import SHIPPED
from data.declared import Column
from data.selection import Selection
from data.units import MINUS, MISSING
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.pictures import traces

LOAD = {"workload": ["memcached"], "load": [200_000]}


def replicates(
    itr_us: float | None, p99_us: float, energy_j: float, n: int = 3, **more: Any
) -> list:
    """Runs whose values are 0.1 % apart: deviations of 0.1 %."""
    dvfs = None if itr_us is None else 2.9
    return [
        run(itr_us=itr_us, dvfs_ghz=dvfs, replicate=i, latency_p99_us=p99_us * (1 + i / 1000),
            energy_j=energy_j * (1 + i / 1000), **more)
        for i in range(n)
    ]  # fmt: skip


# Linux tuned: ITR 2 is fast, ITR 50 cheap, ITR 51 as cheap, ITR 100 measured once and cheaper; nine
# in all, so that noise is shared. The library OS is cheaper still; the default is dear.
ROWS = [
    *replicates(2.0, 60.0, 1500.0),
    *replicates(50.0, 110.0, 1000.0),
    *replicates(52.0, 111.0, 1000.5),
    *replicates(100.0, 200.0, 990.0, n=1),
    *[row for i in range(8) for row in replicates(10.0 + i, 80.0 + i, 1300.0 + 10 * i)],
    *[row for i in range(11) for row in replicates(2.0 + i, 60.0 + i, 900.0 + 20 * i,
                                                   system="ebbrt_tuned")],
    *replicates(None, 104.0, 2000.0, system="linux_default"),
]  # fmt: skip


def view_of(path: Path, rows: list[dict[str, Any]] = ROWS) -> LakeView:
    return Lakes(write_lake(path / "lake", rows)).at(None)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    return view_of(tmp_path_factory.mktemp("best"))


def state(**more: Any) -> ExploreState:
    return ExploreState(Selection.of(**more.pop("filters", LOAD)), **more)


def table(view: LakeView, asked: ExploreState) -> list[list[str]]:
    """Texts of the table's cells, a list a row, as the exported HTML has them."""
    text = render(best_settings_table(best_table(view, asked), asked_of(view, asked)))
    cells = [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in re.findall(r"<tr.*?</tr>", text)
    ]
    return [[html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in line] for line in cells]


def by_system(view: LakeView, asked: ExploreState) -> dict[str, list[str]]:
    return {line[0]: line for line in table(view, asked)[1:]}


def test_what_it_says(view: LakeView) -> None:
    lines = table(view, state())
    assert lines[0] == [
        "System", "Recommended setting", "Energy", "p99 latency", "Not told apart", "Regret",
        "Energy vs default", "n",
    ]  # fmt: skip
    found = {line[0]: line for line in lines[1:]}
    library = found["Library OS"]
    assert library[1:6] == ["ITR 2 us \u00b7 2.9 GHz", "901 J", "60.1 us", "1 of 11", "0 %"]
    # 900.9 / 2,002 - 1 = -55 %.
    assert library[6].startswith(f"{MINUS}55.0 % [{MINUS}55.")
    assert library[7] == "3"
    assert found["Linux default"][4:7] == [MISSING, MISSING, "the default"]
    tuned = found["Linux tuned"]
    # Two settings cannot be told apart; ITR 100, measured once, cannot be ruled out.
    assert tuned[1] == "ITR 50 us \u00b7 2.9 GHz"
    assert tuned[4] == "2 of 11 + 1 once"
    assert tuned[5].startswith("\u2264 ")


def test_sentences_lead_with_what_the_runs_prove(view: LakeView) -> None:
    asked = state(limit=150.0)
    first, second = sentences(best_table(view, asked), asked_of(view, asked))
    assert first.startswith("Under 150 us at 200k QPS, Library OS saves 55.0 % [")
    assert "of the default's energy (n = 3 and 3)" in first
    assert "it is the best of 11 settings measured at least twice" in first
    assert second.startswith("Under 150 us at 200k QPS, Linux tuned saves 50.0 % [")
    assert "2 of 11 settings measured at least twice may be the best" in second
    assert "ruled out" not in second  # the one that was measured once breaks the limit
    assert "recommended: ITR 50 us \u00b7 2.9 GHz (at most " in second


def test_a_metric_of_which_more_is_better_is_not_saved(tmp_path: Path) -> None:
    """The default serves 1000/s; tuned settings twice as many, and in another lake a tenth less."""
    found, changes = [], []
    for name, rate in (("double", 2000.0), ("less", 900.0)):
        usual = replicates(None, 60.0, 900.0, system="linux_default")
        first, second = (replicates(itr_us, 60.0, 900.0) for itr_us in (2.0, 50.0))
        rows = [
            row | {"throughput_qps": served + row["replicate"]}
            for of, served in ((usual, 1000.0), (first, rate), (second, rate - 0.5))
            for row in of
        ]
        view, asked = view_of(tmp_path / name, rows), state(cost="throughput_qps")
        best = best_table(view, asked)
        found += sentences(best, asked_of(view, asked))
        tuned = best.filter(system="linux_tuned").row(0, named=True)
        changes.append([tuned[f"change{end}_pct"] for end in ("_low", "", "_high")])
    assert re.match(r".*Linux tuned has 99\.\d % \[.*\] more throughput than the default", found[0])
    assert re.search(r"recommended: .* \(the best has at most [\d.]+ % more\)", found[0])
    assert re.match(r".*Linux tuned has 9\.\d+ % \[.*\] less throughput than the default", found[1])
    assert all(low < middle < high for low, middle, high in changes)
    assert [change[1] > 0 for change in changes] == [True, False]


def test_one_setting_measured_twice_is_called_the_only_one(tmp_path: Path) -> None:
    rows = replicates(2.0, 60.0, 900.0) + replicates(50.0, 60.0, 890.0)[:1]
    view, asked = view_of(tmp_path, rows), state()
    (found,) = sentences(best_table(view, asked), asked_of(view, asked))
    assert found == (
        "At 200k QPS, Linux tuned has energy 901 J (n = 3); it is the only setting measured at "
        "least twice, 1 measured once cannot be judged; its setting: ITR 2 us."
    )


def test_many_sentences_are_counted(tmp_path: Path) -> None:
    loads = [200_000.0, 400_000.0, 600_000.0, 800_000.0]
    rows = [row for load in loads for row in replicates(2.0, 60.0, 900.0, load_qps=load)]
    view, asked = view_of(tmp_path, rows), state(filters={"workload": ["memcached"]})
    found = sentences(best_table(view, asked), asked_of(view, asked))
    assert len(found) == 4  # one setting a load recommends nothing
    assert found[0] == "At 200k QPS, Linux tuned has one setting, with energy 901 J (n = 3)."
    assert found[3] == "1 more in Best settings."
    # The first load's row is marked, though a later one may take less: loads do not compete.
    falling = [row | {"energy_j": row["energy_j"] * 2e5 / row["load_qps"]} for row in rows]
    lower = view_of(tmp_path / "lower", falling)
    text = render(best_settings_table(best_table(lower, asked), asked_of(lower, asked)))
    (marked,) = re.findall(r"<tr[^>]*data-best[^>]*>(.*?)</tr>", text, re.S)
    assert "200k QPS" in marked
    # 50 us takes less energy than 2 us at each load but the last.
    rows += [
        row for load in loads
        for row in replicates(50.0, 60.0, 1200.0 if load == loads[-1] else 600.0, load_qps=load)
    ]  # fmt: skip
    view = view_of(tmp_path / "two", rows)
    found = sentences(best_table(view, asked), asked_of(view, asked))
    assert found[3] == "1 more in Best settings. Recommended in 3 of 4: ITR 50 us."
    assert [line[0] for line in table(view, asked)[1:]] == [
        f"Linux tuned \u00b7 {k}k QPS" for k in (200, 400, 600, 800)
    ]
    # Two of the loads have one setting.
    few = [row for row in rows if row["itr_us"] == 2.0 or row["load_qps"] in loads[:2]]
    view = view_of(tmp_path / "few", few)
    found = sentences(best_table(view, asked), asked_of(view, asked))
    assert [sentence.split(",")[0] for sentence in found[:2]] == ["At 200k QPS", "At 400k QPS"]
    assert found[2:] == ["2 in Best settings have one setting: nothing to compare."]


def test_a_limit_that_nobody_meets_names_the_nearest(view: LakeView) -> None:
    asked = state(limit=50.0)
    found = by_system(view, asked)
    nearest = "none meets 50.0 us; nearest: ITR 2 us \u00b7 2.9 GHz"
    limits = {"Library OS": 60.1, "Linux tuned": 60.1}
    for name, limit in limits.items():
        assert found[name][1] == f"{nearest}limit {limit} us"
        assert "none meets" not in by_system(view, state(limit=limit))[name][1]
    assert found["Linux tuned"][4:] == [MISSING, MISSING, "3"]  # nothing has a change
    # The row nearest to the limit is marked: its points stand in the table of selected ones.
    text = render(best_settings_table(best_table(view, asked), asked_of(view, asked)))
    (marked,) = re.findall(r"<tr[^>]*data-best[^>]*>(.*?)</tr>", text, re.S)
    assert "Library OS" in marked
    assert "limit 60.1 us" in marked
    first, *_ = sentences(best_table(view, asked), asked_of(view, asked))
    assert first == (
        "No setting of Library OS meets 50.0 us at 200k QPS: the lowest p99 latency is 60.1 us "
        "(ITR 2 us \u00b7 2.9 GHz)."
    )


def test_another_system_is_compared_with(view: LakeView) -> None:
    asked = state(against="ebbrt_tuned")
    assert table(view, asked)[0][7] == "vs Library OS"
    found = by_system(view, asked)
    # 1,001 / 900.9 = +11.1 %.
    assert found["Linux tuned"][7].startswith("+11.1 % [+")
    assert found["Library OS"][7] == MISSING


def test_undecided_says_how_many_runs_would_decide(tmp_path: Path) -> None:
    rows = [
        run(system=system, itr_us=2.0 + i, replicate=r, latency_p99_us=60.0,
            energy_j=energy * (1 + (r - 0.5) * 0.06) * (1 + i))
        for system, energy in (("linux_tuned", 103.0), ("ebbrt_tuned", 100.0))
        for i in range(10) for r in range(2)
    ]  # fmt: skip
    found = by_system(view_of(tmp_path, rows), state(against="ebbrt_tuned"))
    assert re.fullmatch(r"undecided about \d+ more runs of each", found["Linux tuned"][6])


def test_runs_that_were_never_repeated_are_unproven(tmp_path: Path) -> None:
    rows = [row for i in range(4) for row in replicates(2.0 + i, 60.0, 900.0 + i, n=1)]
    view, asked = view_of(tmp_path, rows), state()
    (line,) = table(view, asked)[1:]
    assert line[1] == "ITR 2 us \u00b7 unproven"
    assert line[4] == "not judged"
    (words,) = sentences(best_table(view, asked), asked_of(view, asked))
    assert words.endswith("recommended: ITR 2 us (n = 1: unproven).")


def test_a_row_selects_its_set(view: LakeView) -> None:
    asked = state()
    text = render(best_settings_table(best_table(view, asked), asked_of(view, asked)))
    keys = [json.loads(html.unescape(key)) for key in re.findall(r'data-config="([^"]*)"', text)]
    assert keys[-1] == {"system": "linux_tuned", "dvfs_ghz": 2.9, "itr_us": [50, 52]}
    assert text.count('tabindex="0"') == 3


def test_a_cost_that_is_the_limited_metric_has_one_column(view: LakeView) -> None:
    lines = table(view, state(cost="latency_p99_us"))
    assert lines[0][2:4] == ["p99 latency", "Not told apart"]


def test_nothing_to_compare(tmp_path: Path) -> None:
    rows = [{**row, "energy_j": None} for row in replicates(2.0, 60.0, 900.0)]
    view, asked = view_of(tmp_path, rows), state()
    text = render(best_settings_table(best_table(view, asked), asked_of(view, asked)))
    assert "Nothing to compare: no run has both energy and the metric." in text
    assert sentences(best_table(view, asked), asked_of(view, asked)) == []
    assert odd_change(view, asked) == ""


def test_a_cost_without_direction_has_no_best(view: LakeView) -> None:
    asked = state(cost="start_unix_s")
    text = render(best_settings_table(best_table(view, asked), asked_of(view, asked)))
    assert "whether less or more start is better is not declared" in text
    assert "best" in picture("scatter", view, state())["columns"]["knobs"]
    assert "best" not in picture("scatter", view, asked)["columns"]["knobs"]


def test_a_label_is_text_not_markup(tmp_path: Path) -> None:
    rows = replicates(2.0, 60.0, 900.0)
    for row in rows:
        row["system_label"] = "<img src=x onerror=alert(1)>"
    view, asked = view_of(tmp_path, rows), state()
    text = render(best_settings_table(best_table(view, asked), asked_of(view, asked)))
    assert "<img" not in text
    assert "&lt;img" in text


def test_attributes_come_in_one_order() -> None:
    """Dash holds some of them in a set; two exports of one view must still be the same file."""
    part = Div("x", className="c", id="i", **{f"data-{name}": name for name in "gfedcba"})
    listed = re.findall(r" ([a-z-]+)=", render(part))
    assert listed == ["class", *[f"data-{name}" for name in "abcdefg"], "id"]


def test_the_level_and_the_margin_stand_in_the_link() -> None:
    asked = ExploreState.from_query("v=2&alpha=0.01&margin=5&vs=ebbrt_tuned", SHIPPED)
    assert (asked.alpha, asked.margin_pct, asked.against) == (0.01, 5.0, "ebbrt_tuned")
    assert asked.to_query() == "v=2&alpha=0.01&margin=5&vs=ebbrt_tuned"


def test_a_smaller_level_gives_a_larger_set(tmp_path: Path) -> None:
    rows = [row for i in range(12) for row in replicates(2.0 + i, 60.0, 900.0 + i)]
    view = view_of(tmp_path, rows)
    sizes = [best_table(view, state(alpha=alpha))["members"][0] for alpha in (0.4, 0.05, 1e-4)]
    assert sizes[0] < sizes[1] < sizes[2]


def test_a_limit_on_what_was_not_measured_says_so(tmp_path: Path) -> None:
    rows = [{**row, "latency_p99_us": None} for row in replicates(2.0, 60.0, 900.0)]
    view, asked = view_of(tmp_path, rows), state(limit=100.0)
    (words,) = sentences(best_table(view, asked), asked_of(view, asked))
    assert words == "Linux tuned at 200k QPS has no p99 latency."


def test_choices_beyond_the_most_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.explore.studies.MOST_CHOICES", 2)
    rows = [row for load in (1e5, 2e5, 3e5) for row in replicates(2.0, 60.0, 900.0, load_qps=load)]
    view, asked = view_of(tmp_path, rows), state(filters={"workload": ["memcached"]})
    assert len(best_table(view, asked)) == 2
    words = "The first 2 of 3 systems and loads are judged; filter for others."
    assert best_notes(view, asked) == words


def test_a_mean_of_unlike_runs_is_no_setting_s(tmp_path: Path) -> None:
    """10, 100 and 1000 J: the geometric mean is 100 J, the standard deviation a factor of 10."""
    rows = [run(replicate=r, energy_j=10.0**r) for r in (1, 2, 3)]
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    asked = default_state(view)
    (sentence,) = sentences(best_table(view, asked), asked_of(view, asked))
    assert sentence == (
        "At 200k QPS, Linux tuned has 3 runs that no setting tells apart: energy about 100 J "
        "(geometric mean, times or divided by 10.0; n = 3)."
    )


def test_the_kind_of_mean_is_named_where_the_pictures_have_another(tmp_path: Path) -> None:
    """800 and 1,250 J: 1,000 J and 1,025 J; 9,000 J twice is one number."""
    rows = [run(itr_us=itr, replicate=r, energy_j=energy)
            for itr, energies in ((2.0, (800.0, 1250.0)), (50.0, (9000.0, 9000.0)))
            for r, energy in enumerate(energies)]  # fmt: skip
    view, asked = view_of(tmp_path, rows), state()
    (sentence,) = sentences(best_table(view, asked), asked_of(view, asked))
    assert "with 1.00 kJ (geometric mean, n = 2); " in sentence
    assert table(view, asked)[1][2] == "1.00 kJ geometric mean"
    assert table(view_of(tmp_path / "b", rows[2:]), asked)[1][1] == "9.00 kJ"


def test_settings_of_one_value_have_no_winner(tmp_path: Path) -> None:
    rows = [run(itr_us=itr, energy_j=500.0) for itr in (2.0, 4.0, 8.0)]
    view, asked = view_of(tmp_path / "all", rows), state()
    assert sentences(best_table(view, asked), asked_of(view, asked)) == [
        "At 200k QPS, Linux tuned has the same energy at all 3 settings: 500 J (n = 1)."
    ]
    assert table(view, asked)[1][1] == "all equal"
    marks = traces(picture("scatter", view, asked)["figure"], "winner")
    assert {m["meta"]["winner"]: len(m["x"]) for m in marks}["energy"] == 0
    view = view_of(tmp_path / "two", [*rows[:2], run(itr_us=8.0, energy_j=900.0)])
    (sentence,) = sentences(best_table(view, asked), asked_of(view, asked))
    assert "2 settings have just this value" in sentence


def test_a_name_may_be_blank_in_lakes_of_earlier_versions(tmp_path: Path) -> None:
    column = (Column("form", "knob", "text", title="form", short="form"),)
    rows = [run(form=form, energy_j=500.0 + len(form)) for form in ("", "wide")]
    view = Lakes(write_lake(tmp_path, rows, column)).at(None)
    asked = replace(default_state(view), colour="c_form")
    assert len(traces(picture("scatter", view, asked)["figure"], "points")) == 2


def test_a_study_without_systems_names_none(tmp_path: Path) -> None:
    """Ingest names the system of such runs like their dataset."""
    column = (Column("task", "knob", "text", title="task", short="task", is_given=True),)
    rows = [run(system="own", dataset="own", load_qps=None, itr_us=itr, task=task, energy_j=energy)
            for task in ("a", "b") for itr, energy in ((2.0, 500.0), (4.0, 400.0))]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows, column)).at(None)
    asked = default_state(view)
    lines = table(view, asked)
    assert (lines[0][0], lines[1][0]) == ("Place", "task a")
    (first, _) = sentences(best_table(view, asked), asked_of(view, asked))
    assert first.startswith("At task a, own has its least energy with 400 J (n = 1)")
    assert "own" not in title_of(picture("heatmap", view, asked)["figure"])


@pytest.mark.parametrize(("second", "judged"), [((60.0, 260.0), ""), ((50.0,), " that ran twice")])
def test_no_setting_is_recommended_whose_mean_misses_the_limit(
    second: tuple[float, ...], judged: str, tmp_path: Path
) -> None:
    """Runs of 60 and 260 us leave open whether the mean of more would be under 100 us."""
    rows = [run(replicate=r, latency_p99_us=p99, itr_us=itr, energy_j=900.0 + itr + r)
            for itr, of in ((2.0, (60.0, 260.0)), (50.0, second))
            for r, p99 in enumerate(of)]  # fmt: skip
    view, asked = view_of(tmp_path, rows), state(limit=100.0)
    assert sentences(best_table(view, asked), asked_of(view, asked)) == [
        f"No setting of Linux tuned{judged} meets 100 us at 200k QPS in the mean; the runs of "
        f"{len(second)} {'setting' if len(second) == 1 else 'settings'} do not rule it out."
    ]


def test_the_setting_to_take_is_not_called_the_least_where_another_mean_is_less(
    tmp_path: Path,
) -> None:
    """The geometric mean of 600 and 1,300 J is 883 J, but nothing bounds it."""
    rows = replicates(2.0, 60.0, 900.0)
    rows += [run(itr_us=50.0, dvfs_ghz=2.9, replicate=r, energy_j=energy, latency_p99_us=60.0)
             for r, energy in enumerate((600.0, 1300.0))]  # fmt: skip
    view, asked = view_of(tmp_path, rows), state()
    (sentence,) = sentences(best_table(view, asked), asked_of(view, asked))
    assert "Linux tuned has energy 901 J at the setting to take (n = 3)" in sentence


def test_places_have_the_names_of_what_was_given_beyond_the_first_choices(tmp_path: Path) -> None:
    """All 60 judged choices are of one device; those of another are not judged."""
    rows = [
        row
        for device in ("disk-a", "disk-b")
        for machine in range(60)
        for itr_us in (2.0, 50.0)
        for row in replicates(itr_us, 60.0, 900.0 + itr_us, n=2, device=device,
                              machine=f"node-{machine}")
    ]  # fmt: skip
    view = view_of(tmp_path, rows)
    state = replace(default_state(view), selection=Selection())
    table = best_table(view, state)
    assert table["device"].n_unique() == 1
    assert len(table) == 60
    places = [s for s in sentences(table, asked_of(view, state)) if s.startswith("At ")]
    assert places
    assert all("disk-a" in place.partition(",")[0] for place in places)


def test_runs_that_are_no_replicates_are_not_judged(tmp_path: Path) -> None:
    """Both settings have geometric standard deviations of 10 and more."""
    energies = {2.0: (2.0, 30.0, 800.0), 8.0: (500.0, 5e3, 5e4), 50.0: (505.0, 510.0, 515.0)}
    rows = [
        run(itr_us=itr, replicate=r, energy_j=joules)
        for itr, own in energies.items() for r, joules in enumerate(own)
    ]  # fmt: skip
    view = view_of(tmp_path / "lake", rows[:6])
    (sentence,) = sentences(best_table(view, state()), asked_of(view, state()))
    assert re.search(r"is not judged: the 3 runs of ITR \d us are no replicates", sentence)
    assert not re.search("recommended|more runs|told from", sentence)
    cells = [cell for row in table(view, state()) for cell in row]
    assert any("no replicates: not judged" in cell for cell in cells)
    alike = view_of(tmp_path / "alike", [rows[0], *rows[6:]])
    assert "not judged" not in str(sentences(best_table(alike, state()), asked_of(alike, state())))


def test_the_least_of_a_system_is_not_told_as_the_least_of_all(tmp_path: Path) -> None:
    own = [run(system=system, itr_us=itr, energy_j=energy + itr)
           for system, energy in (("linux_tuned", 400.0), ("ebbrt_tuned", 100.0))
           for itr in (2.0, 4.0)]  # fmt: skip
    view, asked = view_of(tmp_path / "two", own), state()
    told = sentences(best_table(view, asked), asked_of(view, asked))
    assert sum("has the least energy of its own 2 settings with" in text for text in told) == 2
    view = view_of(tmp_path / "one", own[:2])
    (sentence,) = sentences(best_table(view, asked), asked_of(view, asked))
    assert sentence.startswith("At 200k QPS, Linux tuned has its least energy with 402 J")
