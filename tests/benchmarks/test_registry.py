"""The registry has every suite, and a row of every suite runs and can be kept."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import asking
import pytest
import registry
import report
import runner
from measuring import plain
from registry import PHASES, Columns, Entry, Setting, Suite

from tests.tiers import long

SUITES = registry.suites()
# A small row of every suite: instance, method, seconds, options.
SMALL = {
    "startup": ("check", "startup", {"repeat": 1}),
    "binding": ("relations-20000", "bind", {"repeat": 1}),
    "protect": ("made-500", "cta", {}),
    "csp": ("business-0", "csp", {}),
    "ip": ("lookalike-1-symmetric", "ip", {"first_model_limit": 1.0}),
    "cta": ("L2-cube-33", "L2", {}),
    "cta_senses": ("targus", "cta", {"alone": 1}),
    "ecta": ("targus", "ecta", {}),
    "rounding": ("protected-1-5", "rounding", {}),
    "audit": ("tiny", "interval, valid", {"sample": 2, "repeat": 1}),
    "peers": ("business-0", "sdcdsl csp, 10 s", {"minutes": 1, "patience": 10.0, "their_audits": 0}),
    "paper_000": ("1-asymmetric", "cta", {}),
    "paper_002": ("business", "L1, Δ 0.2", {"replications": 1}),
    "paper_003": ("Figure 2", "csp", {}),
    "paper_004": ("figure-1-L1", "cta", {}),
    "scaling": ("cta-L1-100", "cta-L1", {}),
    "accelerators": ("cells-20", "cta", {}),
    "contributors": ("shops-651", "csp", {}),
    "variants": ("network-10000", "closest in L∞: by cuts on the maxima", {}),
}


def test_interpreters_of_peers_are_found_from_anywhere(tmp_path, monkeypatch):
    """`make bench-quick` names their folder as it is seen from the project; peers run in folders of their own."""
    home = tmp_path / "cache" / "gconfid"
    home.mkdir(parents=True)
    (home / "installed").touch()
    monkeypatch.chdir(tmp_path)
    found = asking.Workshop(Path("cache")).python("gconfid")
    assert isinstance(found, Path) and found.is_absolute() and found.parent.parent == home


def test_every_suite_has_a_small_row():
    assert set(SMALL) == set(SUITES) == set(registry.MODULES)


@pytest.mark.parametrize("name", SUITES)
def test_entries_are_told_apart_and_say_what_they_time(name):
    suite = SUITES[name]
    entries = list(suite.entries({}))
    keys = [entry.key for entry in entries]
    assert len(set(keys)) == len(keys) > 0
    for entry in entries:
        assert entry.kind in suite.tables
        assert entry.phases and set(entry.phases) <= set(PHASES)
        assert entry.quick is None or 0 < entry.quick <= 60


@pytest.mark.parametrize("name", SUITES)
def test_the_quick_run_has_rows_of_every_suite(name):
    entries = list(SUITES[name].entries({}))
    assert any(entry.quick for entry in entries)
    assert {entry.series for entry in entries} == {entry.series for entry in entries if entry.quick}


def test_the_quick_run_needs_no_data_from_outside():
    needed = {"csp", "ip", "cta", "rounding", "audit", "peers", "protect", "binding", "startup", "scaling"}
    made = {name for name, suite in SUITES.items() for e in suite.entries({}) if e.quick is not None and e.here}
    assert needed <= made


def test_the_quick_run_ends_in_ten_minutes():
    """Seconds that methods may take, if all of them take what they may; rows that only time something take less."""
    searching = [
        entry.quick
        for suite in SUITES.values()
        for entry in suite.entries({})
        if entry.quick is not None and entry.quick <= 20 and "solve" in entry.phases
    ]
    assert sum(searching) < 600


@pytest.mark.parametrize("name", [pytest.param(s, marks=long if s in ("csp", "peers") else ()) for s in SUITES])
def test_a_small_row_runs(name):
    instance, method, options = SMALL[name]
    entry = SUITES[name].find(instance, method)
    if not entry.here:
        pytest.skip(f"the data of {instance} is not beside the repository")
    row = runner.measure(entry, Setting(3.0, options=options))
    row["kind"] = entry.kind
    row |= entry.judge(row)
    stored = json.loads(json.dumps(row, default=plain))
    assert (stored["instance"], stored["method"]) == entry.key
    assert stored["status"] in runner.ENDED
    assert stored["cpu"] > 0
    assert 0.02 < stored["memory"] < 20  # GB
    assert set(report.timed(stored)) <= set(PHASES)
    lines = SUITES[name].tables[entry.kind].lines([stored])
    assert len({line.count(" | ") for line in lines}) == 1  # as many words as there are columns


def test_a_row_of_its_own_process():
    suite = SUITES["paper_003"]
    row = runner.apart(suite.name, suite.find("Figure 2", "csp"), Setting(10.0))
    assert row is not None
    assert (row["low"], row["high"]) == (5.0, 30.0)  # what the paper prints


def test_a_row_that_crashes_costs_only_itself():
    entry = Entry("kind", "no such row", "csp", lambda setting: {}, 1.0)
    row = runner.apart("paper_003", entry, Setting(1.0))
    assert row is not None and row["status"] == "failed" and row["notes"]


def test_the_command_is_kept_without_paths():
    words = ["--json", "/tmp/x.json", "--only", "a*", "--cache", "/home/me/peers", "--limit", "5"]
    assert runner._told(words) == ["--only", "a*", "--cache", "FOLDER", "--limit", "5"]


# ---- which rows are run ----------------------------------------------------------------------------------------------


def _run(entries, **changed):
    options = {"only": "*", "limit": None, "clock": "cpu", "cache": "", "no_peers": False, "quick": False}
    run = runner.Run(argparse.Namespace(**{**options, "within": None, **changed}))
    suite = Suite("made", None, lambda done: entries, {"kind": Columns(("instance",), lambda row: (row["instance"],))})
    done, chosen = {}, []
    for entry, setting in run._wanted(suite, done):
        chosen.append((entry.instance, setting.limit))
        done[entry.key] = {"status": "optimal", "cpu": float(entry.about or 0), "size": entry.size}
    return chosen


def _entry(name, **more):
    return Entry("kind", name, "m", lambda setting: {}, 10.0, **more)


def test_rows_without_their_data_are_named_and_left_out(capsys):
    assert _run([_entry("here"), _entry("away", here=False)]) == [("here", 10.0)]
    assert "away left out, its data is not beside the repository" in capsys.readouterr().err


def test_a_series_ends_with_the_first_row_that_took_too_long():
    series = [_entry(f"s-{n}", series="s", about=str(cpu)) for n, cpu in ((1, 2), (2, 11), (3, 1))]
    assert [name for name, _ in _run([*series, _entry("other")])] == ["s-1", "s-2", "other"]


def test_what_a_series_would_take_is_foreseen():
    assert registry.foreseen([(10, 1.0), (100, 4.0), (1, 1.0)], 1000) == pytest.approx(16.0)
    assert registry.foreseen([(100, 4.0)], 1000) is None
    assert registry.foreseen([(10, 1.0), (100, 0.0)], 1000) is None


def test_rows_of_a_series_that_would_take_far_too_long_are_not_begun(capsys):
    """Time grows with the square: 0.06, 0.6, 6 s, then 60 where 10 are allowed."""
    grown = [(1, 0.06), (10**0.5, 0.6), (10, 6), (10**1.5, 60), (100, 600)]
    series = [_entry(f"s-{n:.0f}", series="s", size=n, about=str(cpu)) for n, cpu in grown]
    assert [name for name, _ in _run([*series, _entry("other")])] == ["s-1", "s-3", "s-10", "other"]
    assert "s-32 left out, it would take 60 s" in capsys.readouterr().err


def test_nothing_is_foreseen_from_what_took_next_to_nothing():
    """0.01 s, then 0.1 s with a kernel to compile: a hundred times as many cells need not take a hundred seconds."""
    done = {(f"s-{n}", "m"): {"size": n, "cpu": cpu, "memory": 0.1} for n, cpu in ((1, 0.01), (3, 0.1))}
    assert runner._hopeless(_entry("s-300", series="s", size=300), done, 10.0) == ""


def test_rows_of_a_series_that_would_need_all_memory_are_not_begun(monkeypatch):
    """Memory grows with the size: 0.4 and 4 GB, then 40 where 20 are there."""
    monkeypatch.setattr(runner, "memory_here", lambda: 20.0)
    done = {(f"s-{n}", "m"): {"size": n, "cpu": 1.0, "memory": 0.4 * n} for n in (1, 10)}
    last = _entry("s-100", series="s", size=100)
    assert runner._hopeless(last, done, 10.0) == "40 GB"
    assert runner._hopeless(replace(last, size=40), done, 10.0) == ""  # 16 GB


def test_a_row_that_the_end_of_the_run_cuts_off_is_left_out(tmp_path, capsys):
    """It says nothing about the row, so nothing of it may be kept."""
    suite = SUITES["paper_003"]
    assert runner.apart(suite.name, suite.find("Figure 2", "csp"), Setting(10.0), most=0.01) is None
    arguments = ["--only", "Figure 2", "--within", "0.01", "--json", str(tmp_path / "rows.json")]
    runner.main([suite], None, arguments)
    assert not (tmp_path / "rows.json").exists()
    assert "1 rows left out" in capsys.readouterr().err


@pytest.mark.long
def test_suites_side_by_side_show_whose_rows_are_whose(tmp_path, capsys):
    chosen = [SUITES["paper_003"], SUITES["paper_004"]]
    asked = ["--jobs", "2", "--only", "Figure 2,figure-3-L1", "--results", str(tmp_path)]
    runner.main(chosen, None, asked)
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("###")]
    assert sorted(heads) == ["### paper_003: Patterns of paper 003", "### paper_004: Figures of paper 004"]
    kept = {name: json.loads((tmp_path / f"{name}.json").read_text())["rows"] for name in ("paper_003", "paper_004")}
    assert [row["instance"] for row in kept["paper_003"]] == ["Figure 2"]
    assert [row["instance"] for row in kept["paper_004"]] == ["figure-3-L1"]


def test_limits_names_and_the_quick_run():
    entries = [_entry("a", quick=2.0), _entry("b"), _entry("p", peer=True)]
    assert _run(entries, quick=True) == [("a", 2.0)]
    assert _run(entries, limit=5.0, only="b,p:*") == [("b", 5.0)]
    assert _run(entries, cache="somewhere", only="p") == [("p", 10.0)]
    assert _run(entries, within=0.0) == []
