"""Rows for contributors whom a pattern leaves too little: who they are, against every pair looked at by itself, and
what a search with them gives, against audits of the problem with all pairs in its list."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import null_space

from sdcdsl.accelerate.csp import box_search, by_boxes
from sdcdsl.accelerate.csp.driver import solve
from sdcdsl.accelerate.csp.lazy_members import LeftOut
from sdcdsl.accelerate.csp.network_search import NetworkSearch
from sdcdsl.accelerate.csp.tuning import BOXES
from sdcdsl.audit import audit_release
from sdcdsl.bind import pairs
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import SolveContext
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.proof.witness import MoveMatrix
from sdcdsl.status import OPTIMAL
from tests.audit.test_families import both, world
from tests.bind.policies import problem_of
from tests.waiting import Looks

SEEDS = range(6)


def in_families(folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> TableProblem:
    monkeypatch.setattr(pairs, "MOST_LISTED", 0)
    return problem_of(world(folder, seed), folder)


def tables(problem: TableProblem, count: int, seed: int) -> MoveMatrix:
    """Random moves of a few units, each over the whole table."""
    rng = np.random.default_rng(seed)
    directions = null_space(Instance(problem).M.toarray())
    moves = (directions @ rng.normal(0, 3, (directions.shape[1], count))).T
    return MoveMatrix.sorted([(np.arange(problem.n), move) for move in moves], problem.n)


def left_out_of_all(problem: TableProblem, moves: np.ndarray) -> set[tuple[int, int]]:
    """Pair by pair: of families with a table on each side, members in whose box there is none that is far enough."""
    families, d = problem.families, problem.dataset
    assert families is not None
    a, listed = d["a"].values, set(zip(d["attacker_at"].values.tolist(), d["cell_at"].values.tolist(), strict=True))
    outside = set(zip(families.without_family.tolist(), families.without_attacker.tolist(), strict=True))
    out = set()
    for family, cell in enumerate(families.cell.tolist()):
        for sign, level in ((1.0, families.upl[family]), (-1.0, families.lpl[family])):
            anyone = int(families.anyone[families.of[family]])
            steps = [sign * level / move[cell] * move for move in moves if abs(move[cell]) > 1e-9]
            if not any(holds(problem, anyone, step) for step in steps) or level <= 0:
                continue
            for member in np.flatnonzero(families.class_of == families.of[family]).tolist():
                own = (family, member) in outside or (member, cell) in listed
                if not own and not any(holds(problem, member, step) for step in steps):
                    out.add((family, member))
    assert len(a)
    return out


def holds(problem: TableProblem, attacker: int, step: np.ndarray) -> bool:
    """Whether the box of an attacker holds the table."""
    d = problem.dataset
    view, a = int(d["view_of"].values[attacker]), d["a"].values
    low, high = d["low"].values[view].copy(), d["high"].values[view].copy()
    mine = d["known_attacker"].values == attacker
    np.maximum.at(low, d["known_cell"].values[mine], d["known_low"].values[mine])
    np.minimum.at(high, d["known_cell"].values[mine], d["known_high"].values[mine])
    return bool(((a + step >= low - 1e-7) & (a + step <= high + 1e-7)).all())


@pytest.mark.parametrize("seed", SEEDS)
def test_who_is_left_out_by_all_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    problem = in_families(tmp_path, seed, monkeypatch)
    assert problem.families is not None
    for count in (1, 4, 30):
        moves = tables(problem, count, seed)
        dense = np.zeros((count, problem.n))
        dense[moves.owner, moves.cell] = moves.move
        family, attacker = LeftOut(problem, problem.families).by(moves)
        assert set(zip(family.tolist(), attacker.tolist(), strict=True)) == left_out_of_all(problem, dense)


def test_who_has_a_row_is_not_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = 0
    for seed in SEEDS:
        problem = in_families(tmp_path, seed, monkeypatch)
        assert problem.families is not None
        moves, left_out = tables(problem, 3, seed), LeftOut(problem, problem.families)
        family, attacker = left_out.by(moves)
        found += len(family)
        half = len(family) // 2
        wider = problem.with_listed(family[:half], attacker[:half])
        left_out.listed(family[:half], attacker[:half])
        for one in (left_out, LeftOut(wider, problem.families)):
            rest = one.by(moves)
            assert np.array_equal(rest[0], family[half:]) and np.array_equal(rest[1], attacker[half:])
    assert found


@pytest.fixture(params=["linear programs", "boxes"])
def deadline(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Deadline:
    """Searches by witnesses, not by flows, which keep none: tables as small as these are networks."""
    monkeypatch.setattr(NetworkSearch, "of", lambda *_: None)
    if request.param == "linear programs":
        return Looks(60.0)
    monkeypatch.setattr(by_boxes, "BOXES", replace(BOXES, smallest=0, slice=10))
    monkeypatch.setattr(box_search, "BOXES", replace(BOXES, slice=10))
    return Looks(0.2)


@pytest.mark.parametrize("seed", SEEDS)
def test_searched_patterns_protect_every_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deadline: Deadline, seed: int
) -> None:
    """Against everybody at once: no audit has to name anybody first."""
    listed, few = both(tmp_path, seed, monkeypatch)
    made = solve(few, SolveContext({"gap": 0.0}, deadline))
    assert made.pattern is not None and made.objective is not None
    assert audit_release(listed, made.pattern, exact=False).verdict == "protected"
    least = solve(listed, SolveContext({"gap": 0.0}, Looks(60.0)))
    assert least.status == OPTIMAL and least.objective is not None
    assert made.bound is not None and made.bound <= least.objective * (1 + 1e-9) <= made.objective * (1 + 2e-9)
    assert made.status != OPTIMAL or made.objective == pytest.approx(least.objective)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_audit_needs_nothing_but_the_witnesses_of_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deadline: Deadline, seed: int
) -> None:
    few = in_families(tmp_path, seed, monkeypatch)
    made = solve(few, SolveContext({"gap": 0.0}, deadline))
    assert made.pattern is not None and made.moves is not None
    monkeypatch.setattr("sdcdsl.audit.families._Program.shortest", lambda *_: pytest.fail("a linear program"))
    judged = audit_release(few, made.pattern, exact=False, hints=made.moves)
    assert judged.verdict == "protected"


def test_a_search_without_time_gives_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = in_families(tmp_path, 0, monkeypatch)
    made = solve(few, SolveContext({}, Looks(1e-3)))
    assert made.pattern is None or (made.pattern.status != EXACT).any()
