"""Boxes: products of vectors over hierarchies add up, every pattern on the way is valid, and the books agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from sdcdsl.accelerate.csp import by_boxes
from sdcdsl.accelerate.csp.box_arrays import SLACK, SLOTS
from sdcdsl.accelerate.csp.box_search import BoxSearch
from sdcdsl.accelerate.csp.box_state import Move, packed
from sdcdsl.accelerate.csp.box_through_cell import BIG, box
from sdcdsl.accelerate.csp.by_boxes import ByBoxes
from sdcdsl.accelerate.csp.heuristics import ByMoves
from sdcdsl.accelerate.csp.product_table import ProductTable
from sdcdsl.accelerate.csp.tuning import BOXES
from sdcdsl.audit import Audit, audit_release
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.pattern_check import falling_short
from sdcdsl.outcome import SAFE
from sdcdsl.pattern import hidden as pattern_of
from sdcdsl.proof.witness import MoveMatrix
from tests.bind.policies import problem_of
from tests.methods.tiny_tables import tiny_table
from tests.waiting import Looks

SEEDS = [0, 1]
SHAPES = [((2, 2), (3,)), ((2, 2), (2,), (3,)), ((2,), (2, 2), (2, 2))]
TELLING = ((3, 2), (2, 2)), 5, "external", ""  # its first pattern tells a sensitive sum
ATTACKERS = {
    "external": "attacker external {\n  bounds 0 .. inf\n}\n",
    "narrow": "attacker external {\n  bounds 20% of value .. 300% of value\n}\n",
    "respondent": "attacker respondent {\n  each unit\n  knows own contribution\n  bounds 0 .. 300% of value\n}\n",
}


def table(
    folder: Path, shape: tuple[tuple[int, ...], ...], seed: int, attacker: str = "external", part: str = " / 4"
) -> TableProblem:
    """A table of few contributors; a side of two numbers is a hierarchy of so many codes with so many parts each.
    `part`: of the level that rules give."""
    draw = np.random.default_rng(seed)
    names = [f"D{k}" for k in range(len(shape))]
    columns, blocks = [], []
    for name, side in zip(names, shape, strict=True):
        outer = [f"{name.lower()}{i}" for i in range(side[0])]
        leaves = [f"{code}{j}" for code in outer for j in range(side[1])] if len(side) > 1 else outer
        lines = [line for code in outer for line in (code, *(f"@{leaf}" for leaf in leaves if leaf.startswith(code)))]
        (folder / f"{name}.hrc").write_text("\n".join(lines if len(side) > 1 else outer) + "\n")
        blocks.append(f'dimension {name} {{\n  hierarchy hrc "{name}.hrc"\n  total Total\n}}\n')
        share = draw.gamma(1.2, 1, len(leaves))
        columns.append(draw.choice(leaves, 4 * len(leaves) * len(shape), p=share / share.sum())[: 20 * len(shape)])
    rows = min(map(len, columns))
    values = np.ceil(draw.lognormal(3, 1, rows)).astype(int)
    lines = [",".join([*(c[i] for c in columns), str(values[i]), f"u{i}"]) for i in range(rows)]
    (folder / "m.csv").write_text("\n".join([",".join([*names, "value", "unit"]), *lines]) + "\n")
    who = "respondent" if attacker == "respondent" else "external"
    return problem_of(
        'sdc 1\npolicy "boxes"\n\ndata m {\n  csv "m.csv"\n  column unit = "unit"\n}\n\n'
        + "\n".join(blocks)
        + f"\ntable t {{\n  from m\n  by {', '.join(names)}\n  sum value\n}}\n\nsensitive by threshold(2)\n"
        + f"sensitive by p_percent(10%)\n\n{ATTACKERS[attacker]}\nprotect t {{\n  lpl max(1, needed){part}\n"
        + f"  upl max(1, needed){part}\n  against {who}\n  cost value\n  method csp\n}}\n",
        folder,
    )


def search(problem: TableProblem, seed: int = 1) -> BoxSearch:
    instance = Instance(problem)
    product = ProductTable.of(instance)
    assert product is not None
    return BoxSearch(instance, product, instance.requirements, instance.w, seed)


def assert_in_order(made: BoxSearch) -> None:
    """Users, certificates and cost are those of the moves; and the moves add up, whatever they are for."""
    moves = made.moves()
    users = np.bincount(np.concatenate([cells for cells, _ in moves]), minlength=made.instance.n)
    assert np.array_equal(users, made.users)
    assert made.cost == pytest.approx(made.weight[users > 0].sum())
    assert made.secondary == np.count_nonzero((users > 0) & ~made.must)
    for cells, d in moves:
        whole = np.zeros(made.instance.n)
        whole[cells] = d
        assert np.abs(made.instance.M @ whole).max() <= 1e-9 * np.abs(d).max()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_patterns_of_boxes_are_valid_and_never_become_dearer(shape, seed: int, tmp_path: Path):
    problem = table(tmp_path, shape, seed)
    made = search(problem)
    made.complete(Deadline())
    certified = {k for k in range(len(made.requirements)) if made.certifies(k)}
    assert certified or not len(made.requirements)
    made.prune()
    assert certified == {k for k in range(len(made.requirements)) if made.certifies(k)}
    before = made.cost
    for _ in range(3):
        made.improve(5, 0.0)
        assert_in_order(made)
        assert made.cost <= before * (1 + 1e-9)
        before = made.cost
    if made.valid:
        assert made.proved()
        assert not falling_short(made.instance, made.hidden)


@pytest.mark.parametrize("attacker", ATTACKERS)
def test_a_move_certifies_what_attackers_are_driven_to_with_its_cells_hidden(attacker: str, tmp_path: Path):
    made = search(table(tmp_path, SHAPES[1], 5, attacker))
    made.complete(Deadline())
    short = {(clash.pair, clash.side) for clash in falling_short(made.instance, made.hidden)}
    of = made.requirements
    for k in range(len(of)):
        if made.certifies(k):
            assert (int(of.pair[k]), int(of.side[k])) not in short


def test_worse_patterns_are_passed_through_only_within_what_is_allowed(tmp_path: Path):
    made = search(table(tmp_path, SHAPES[2], 3))
    made.complete(Deadline())
    most = made.cost + 1.0
    for _ in range(3):
        made.improve(5, 5.0, most)
        assert made.cost <= most
        assert_in_order(made)


def test_the_same_seed_gives_the_same_pattern(tmp_path: Path):
    patterns = []
    for seed in (4, 4):
        made = search(table(tmp_path, SHAPES[1], 2), seed)
        made.complete(Deadline())
        made.improve(5, 0.0)
        patterns.append(made.hidden)
    assert np.array_equal(patterns[0], patterns[1])


def test_moves_outlive_the_space_they_were_written_in(tmp_path: Path):
    made = search(table(tmp_path, SHAPES[1], 2))
    made.complete(Deadline())
    hidden, cost, moves = made.hidden, made.cost, len(made.moves())
    made._counts[SLOTS] = len(made._pool[2]) - 1000  # as if many had been given up
    made._make_space()
    assert len(made.moves()) == moves
    assert np.array_equal(made.hidden, hidden)
    assert made.cost == pytest.approx(cost)
    made.improve(5, 0.0)
    assert_in_order(made)


def test_the_loops_give_the_same_cheapest_box_as_all_boxes_in_a_flat_table(tmp_path: Path):
    """2 × 2 × 3 parts: the box through an inner cell that costs least, against every other one."""
    problem = table(tmp_path, ((2,), (2,), (3,)), 1)
    made = search(problem)
    n = made.instance.n
    draw = np.random.default_rng(0)
    price = draw.random(n)
    made._cells["now"][:-1] = price
    lattice = problem.tables[0].lattice
    assert lattice is not None
    slack = np.full(n, np.inf, dtype=SLACK)
    made._draw()
    for p in np.flatnonzero(lattice.is_leaf):
        at = [int(lattice.codes_at(np.array([p]), k)[0]) for k in range(3)]
        others = [[i for i in range(1, size) if i != at[k]] for k, size in enumerate(lattice.shape)]
        best = min(
            sum(
                price[sum(s * c for s, c in zip(lattice.stride, (i, j, k), strict=True))]
                for i in (at[0], x)
                for j in (at[1], y)
                for k in (at[2], z)
            )
            for x in others[0]
            for y in others[1]
            for z in others[2]
        )
        found, count = box.plain(
            p, 1.0, 30, 0.0, made._table, slack, made._cells, made._work, 1.0, 0.0, made._counts, 1e-3
        )
        assert found <= best * (1 + 1e-9)  # totals may be hidden too
        d = np.zeros(n)
        corners = made._work[2][0][:count]
        d[corners["cell"]] = corners["sign"]
        assert found == pytest.approx(price[d != 0].sum())
        assert not (made.instance.M[:, : lattice.size] @ d[: lattice.size]).any() or made.instance.n > lattice.size


def test_a_pattern_is_the_same_with_its_moves_given_anew(tmp_path: Path):
    made = search(table(tmp_path, SHAPES[1], 2))
    made.complete(Deadline())
    hidden, cost, moves, valid = made.hidden, made.cost, made.moves(), made.valid
    made.clear()
    assert not made.moves()
    assert made.cost == 0.0
    made.take(packed(moves, made.table.size))
    assert np.array_equal(made.hidden, hidden)
    assert made.cost == pytest.approx(cost)
    assert made.valid == valid
    assert_in_order(made)


def test_only_products_of_trees_are_taken_for_them(tmp_path: Path):
    instance = Instance(table(tmp_path, SHAPES[0], 0))
    product = ProductTable.of(instance)
    assert product is not None
    assert product.holds(instance.M)
    wrong = csr_array(instance.M.copy())
    wrong.data[0] *= 2
    assert not product.holds(wrong)
    assert ProductTable.of(Instance(tiny_table(0))) is None  # of no lattice


def test_the_finder_has_a_valid_pattern_at_every_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(by_boxes, "BOXES", replace(BOXES, slice=10))
    problem = table(tmp_path, SHAPES[2], 1)
    instance = Instance(problem)
    deadline = Deadline()
    product = ProductTable.of(instance)
    assert product is not None
    moves = ByMoves(instance, instance.w, deadline, lambda progress: None, 0)
    finder = ByBoxes(instance, product, instance.w, deadline, lambda progress: None, moves)
    found = finder.first()
    for _ in range(6):
        assert found is not None
        assert not falling_short(instance, found[0])
        if finder._by_boxes:
            assert finder.proves(found[0])
            other = finder.complete(instance.may_open)
            assert other is not None
            assert not falling_short(instance, other[0])
        found = finder.better(Deadline())


def _finder(problem: TableProblem, deadline: Deadline, sums: bool = True) -> ByBoxes:
    instance = Instance(problem)
    product = ProductTable.of(instance)
    assert product is not None
    moves = ByMoves(instance, instance.w, deadline, lambda progress: None, 0)
    return ByBoxes(instance, product, instance.w, deadline, lambda progress: None, moves, sums)


def _audited(problem: TableProblem, hidden: np.ndarray, moves: list[Move]) -> Audit:
    hints = MoveMatrix.sorted(moves, problem.n)
    return audit_release(problem, pattern_of(problem.dataset["a"].values, hidden), exact=False, hints=hints)


def test_patterns_tell_no_sensitive_sum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whatever the linear programs and boxes that improve them hide. Without that one of them does."""
    monkeypatch.setattr(by_boxes, "BOXES", replace(BOXES, slice=10))
    problem = table(tmp_path, *TELLING)
    told = 0
    for sums in (True, False):
        finder = _finder(problem, Deadline(), sums)
        found = finder.first()
        for _ in range(3):
            assert found is not None
            made = _audited(problem, found[0], finder.known_moves())
            assert finder.tells_no_sums == sums
            if sums:
                assert made.verdict in SAFE
                assert made.problem is problem
            told += made.problem is not problem
            found = finder.better(Deadline())
    assert told


def test_a_search_whose_time_ends_keeps_what_tells_no_sum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Wherever it ends: before sums are protected, while they are, or while the pattern is improved."""
    monkeypatch.setattr(by_boxes, "BOXES", replace(BOXES, slice=2))
    problem = table(tmp_path, *TELLING)
    kept = 0
    for looks in (1, 5, 10, 20, 40):
        deadline = Looks(1e-3 * looks)
        finder = _finder(problem, deadline)
        found = finder.first()
        while found is not None and not deadline.expired:
            found = finder.better(deadline)
        if finder.tells_no_sums:
            assert finder._best is not None
            kept += 1
            made = _audited(problem, finder._best[0], finder.known_moves())
            assert made.verdict in SAFE
            assert made.problem is problem
            assert finder.proves(finder._best[0])
    assert kept


def test_a_cell_whose_neighbours_have_too_little_takes_what_it_adds_up_to_along(tmp_path: Path):
    """All other boxes go down somewhere, and nothing but this cell has anything to go down by."""
    problem = table(tmp_path, ((2,), (2,), (3,)), 1)
    made = search(problem)
    lattice = problem.tables[0].lattice
    assert lattice is not None
    p = int(np.flatnonzero(lattice.is_leaf)[0])
    slack = np.zeros(made.instance.n, dtype=SLACK)
    slack["up"] = np.inf
    made._draw()
    found, count = box.plain(p, 1.0, 4, 0.0, made._table, slack, made._cells, made._work, 1.0, 1.0, made._counts, 1e-3)
    assert found < BIG
    assert count == 8  # the cell, its sums in one, two and three dimensions
    corners = made._work[2][0][:count]
    assert (corners["sign"] > 0).all()
    assert p in corners["cell"]


def test_every_cell_can_go_down_with_what_it_is_the_sum_of(tmp_path: Path):
    """Nothing has anything to go up by, so that only a box of one sign is left, down to a part that is not empty."""
    problem = table(tmp_path, ((2, 2), (3,)), 1)
    made = search(problem)
    lattice = problem.tables[0].lattice
    assert lattice is not None
    a = problem.dataset["a"].values
    slack = np.zeros(made.instance.n, dtype=SLACK)
    slack["down"] = a
    made._draw()
    for p in np.flatnonzero(a[: lattice.size] > 0):
        found, count = box.plain(
            p, -1.0, 2, 0.0, made._table, slack, made._cells, made._work, 1.0, 0.5, made._counts, 1e-3
        )
        assert found < BIG
        corners = made._work[2][0][:count]
        assert (corners["sign"] < 0).all()
        assert (a[corners["cell"]] >= 0.5).all()


def test_what_boxes_cannot_finish_is_checked_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In a large table, where linear programs over all of it take too long."""
    monkeypatch.setattr(by_boxes, "BOXES", replace(BOXES, whole=0))
    instance = Instance(table(tmp_path, SHAPES[1], 1))
    product = ProductTable.of(instance)
    assert product is not None
    moves = ByMoves(instance, instance.w, Deadline(), lambda progress: None, 0)
    finder = ByBoxes(instance, product, instance.w, Deadline(), lambda progress: None, moves)
    monkeypatch.setattr(finder, "_others", lambda *_: False)
    monkeypatch.setattr(finder.search, "complete", lambda *_: False)
    found = finder.first()
    assert found is not None  # no box was looked for: everything
    assert np.array_equal(found[0], instance.may_open)
    assert not falling_short(instance, found[0])
    assert finder.better(Deadline()) is None


def test_without_time_there_is_no_pattern_and_no_end_is_waited_for(tmp_path: Path):
    made = search(table(tmp_path, SHAPES[1], 2))
    deadline = Looks(0.0)
    assert not made.complete(deadline) or not len(made.requirements)
    assert not made.moves()
