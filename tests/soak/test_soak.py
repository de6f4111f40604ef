"""The short form of the soak: a case of every method, and that the soak sees what should not be."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sdcdsl.notebook import load
from tests.soak.case import METHODS, Case, make_case
from tests.soak.checks import Tale, judge
from tests.soak.counting import Tally
from tests.soak.least import better_release
from tests.soak.oracle import second_opinion
from tests.soak.reading import read
from tests.soak.running import run
from tests.tiers import short

SEED = 4
RELEASES = {"cta": 5}  # of norms and senses; of other methods two are enough
TRIES = 20


@pytest.mark.parametrize("method", short(2, METHODS))
def test_every_method_releases_and_is_judged(method: str, tmp_path: Path):
    """Cases of the method until some were released: each of them is audited, judged by the oracle, and priced from its
    file. What is not released says why."""
    released: list[Tale] = []
    for case in (make_case(SEED, number, (method,)) for number in range(TRIES)):
        tale = judge(case, tmp_path / case.name)
        assert tale.findings == [], case.name
        assert tale.end in ("released", "infeasible", "limit", "data does not fit")
        if tale.end == "released":
            assert tale.oracle in ("exact", "LP", "distance")
            assert tale.audits
            released.append(tale)
        if len({one.engine for one in released}) >= RELEASES.get(method, 1) and len(released) >= 2:
            break
    assert len(released) >= 2
    assert len({one.engine for one in released}) >= RELEASES.get(method, 1)
    assert method == "chain" or any(one.priced for one in released)


@pytest.mark.parametrize("method", short(2, [method for method in METHODS if method not in ("ecta", "chain")]))
def test_a_valid_release_of_our_own_is_found(method: str, tmp_path: Path):
    """The search that bounds and costs are held against finds releases, so that it can say something."""
    for number in range(2 * TRIES):
        case = make_case(SEED, number, (method,))
        chosen = case.wanted.of(method)
        [problem] = load(case.write(tmp_path / case.name)).problems.values() if case.wanted.joint is None else [None]
        if problem is None or problem.bound is None or chosen is None:
            continue
        found = better_release(case, problem.bound, chosen)
        if found is not None and problem.bound.dataset.sizes["pair"]:
            assert found[1] >= 0
            assert second_opinion(case, problem.bound, found[0]).complaints == []
            return
    raise AssertionError("nothing to hold a bound against")


def test_a_case_is_the_same_whenever_it_is_made():
    for number in range(20):
        one, again = make_case(SEED, number), make_case(SEED, number)
        assert one.wanted == again.wanted
        assert one.world.files == again.world.files


def released_as(word: str, folder: Path, method: str) -> tuple[Case, Path]:
    """A case and its released file with such a cell in it, held to be right by the oracle."""
    for number in range(60):
        case = make_case(SEED, number, (method,))
        place = folder / str(number)
        file = place / "out" / "out.csv"
        if case.world.kind == "inline" and judge(case, place).end == "released" and f",{word}" in file.read_text():
            return case, file
    raise AssertionError(f"no case with a cell that is {word}")


def opinion(case: Case, file: Path) -> list[str]:
    [problem] = load(file.parent.parent / "soak.sdc").problems.values()
    return second_opinion(case, problem.bound, read(problem.bound, {"main": file})).complaints


def rewritten(file: Path, change) -> None:
    """The file with rows changed; `change` is given the true values as well."""
    [problem] = load(file.parent.parent / "soak.sdc").problems.values()
    values = problem.bound.dataset["a"].values
    head, *rows = csv.reader(file.read_text().splitlines())
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([head, *(change(row, float(values[cell])) for cell, row in enumerate(rows))])


def test_the_oracle_sees_a_secret_that_was_printed(tmp_path):
    case, file = released_as("hidden", tmp_path, "csp")
    assert opinion(case, file) == []
    rewritten(file, lambda row, a: [*row[:-4], repr(a), "", "", "published"] if row[-1] == "hidden" else row)
    assert any("lies in" in one for one in opinion(case, file))


def test_the_oracle_sees_figures_that_do_not_add_up_or_stayed(tmp_path):
    case, file = released_as("adjusted", tmp_path, "cta")
    assert opinion(case, file) == []
    rewritten(file, lambda row, a: [*row[:-4], repr(a), *row[-3:]])
    assert any("moved by 0.0" in one for one in opinion(case, file))
    rewritten(file, lambda row, a: [*row[:-4], repr(a + 1), *row[-3:]])
    assert any("does not add up" in one for one in opinion(case, file))


def test_the_oracle_sees_a_box_without_the_truth(tmp_path):
    case, file = released_as("changed", tmp_path, "rounding")
    assert opinion(case, file) == []
    rewritten(file, lambda row, a: [*row[:-3], repr(a + 1), repr(a + 2), row[-1]] if row[-1] == "changed" else row)
    assert any("excludes the truth" in one for one in opinion(case, file))


def test_files_beside_a_refusal_are_found(tmp_path):
    refused = next(
        case
        for case in (make_case(SEED, number, ("rounding",)) for number in range(100))
        if judge(case, tmp_path / case.name).end == "infeasible"
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
        Tale("4-0", "csp", "inline", end="released", audits=2, oracle="exact"),
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
