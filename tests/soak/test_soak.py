"""The short form of the soak: a case of every method, and that the soak sees what should not be."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sdcdsl.notebook import load
from tests.soak.case import METHODS, make_case
from tests.soak.checks import Tale, judge
from tests.soak.counting import Tally
from tests.soak.oracle import second_opinion
from tests.soak.running import run

SEED = 4


@pytest.mark.parametrize("number", range(len(METHODS)))
def test_one_case_of_every_method(number, tmp_path):
    tale = judge(make_case(SEED, number), tmp_path)
    assert tale.findings == []
    assert tale.end in ("released", "infeasible", "limit", "data does not fit")


def test_a_case_is_the_same_whenever_it_is_made():
    for number in range(20):
        one, again = make_case(SEED, number), make_case(SEED, number)
        assert one.wanted == again.wanted
        assert one.world.files == again.world.files


def released_by_suppression(folder: Path) -> tuple[Path, Path]:
    """A policy and its released file with hidden cells in it, all of them checked by the oracle."""
    for number in range(0, 200, len(METHODS)):
        case = make_case(SEED, number, METHODS)
        place = folder / str(number)
        file = place / "out" / "out.csv"
        if case.world.kind != "inline" or judge(case, place).end != "released":
            continue
        if ",hidden" in file.read_text():
            return place / "soak.sdc", file
    raise AssertionError("no case in which something is hidden")


def test_the_oracle_sees_a_secret_that_was_printed(tmp_path):
    policy, file = released_by_suppression(tmp_path)
    [problem] = load(policy).problems.values()
    assert second_opinion(problem.bound, {"main": file}).complaints == []
    rows = list(csv.reader(file.read_text().splitlines()))
    values = problem.bound.dataset["a"].values
    for cell, row in enumerate(rows[1:]):
        if row[-1] == "hidden":
            row[-4], row[-1] = repr(float(values[cell])), "published"
    with file.open("w", newline="") as out:
        csv.writer(out).writerows(rows)
    told = second_opinion(problem.bound, {"main": file})
    assert told.asked
    assert told.complaints


def test_files_beside_a_refusal_are_found(tmp_path):
    refused = next(
        c for c in (make_case(SEED, n) for n in range(300)) if judge(c, tmp_path / c.name).end == "infeasible"
    )
    out = tmp_path / "again" / "out"
    out.mkdir(parents=True)
    (out / "half.csv").write_text("half a release")
    assert [kind for kind, _ in judge(refused, tmp_path / "again").findings] == ["files without a release"]


def test_a_case_without_an_end_is_found():
    [tale] = run(SEED, minutes=1, cases=1, patience=0.01)
    assert tale["end"] == "lost"
    assert tale["findings"] == [("a case without an end", "no answer after 0 s")]


def test_counts_add_up():
    tally = Tally(SEED)
    good, bad = (
        Tale("4-0", "csp", "inline", end="released", audits=2, oracle=True),
        Tale("4-1", "ip", "jj", end="limit"),
    )
    bad.complain("a solver failed", "why")
    for tale in (good, bad):
        tally.add(tale.as_json())
    said = tally.as_json()
    assert (said["total"]["cases"], said["total"]["ends"]) == (2, {"released": 1, "limit": 1})
    assert said["methods"]["csp"]["audits_of_released_files"] == 2
    assert [finding["case"] for finding in said["findings"]] == ["4-1"]
    assert "1 × a solver failed" in tally.text()
