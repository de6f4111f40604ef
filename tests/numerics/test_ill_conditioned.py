"""Tables on which floating point could go wrong, by hand: every verdict against exact rational arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.numerics.simplex.tableau import CLOSED, REACHED, Tableau
from sdcdsl.pattern import Pattern, hidden, intervals
from tests.attack.oracle import System, protected, simplex_range
from tests.attack.tables import Relation, cross, flat
from tests.methods.tiny_tables import made
from tests.waiting import HANGS

INF = np.inf


def exact(problem: TableProblem, pattern: Pattern) -> str:
    """The verdicts of the oracle."""
    d = problem.dataset
    out = []
    for cell, who, *levels in zip(*(d[n].values for n in ("cell_at", "attacker_at", "lpl", "upl", "spl")), strict=True):
        view = int(d["view_of"].values[who])
        box = pattern.seen(d["low"].values[view], d["high"].values[view])
        system = System(d["a"].values, d["coefficient"].values, d["cell_of"].values, d["equation_of"].values, *box)
        ends = simplex_range(system, int(cell))
        out.append("p" if protected(ends, float(d["a"].values[cell]), *map(float, levels)) else "e")
    return "".join(out)


def agree(problem: TableProblem, pattern: Pattern) -> str:
    ours = "".join(audit(problem, pattern, exact=False).verdicts)
    assert ours == exact(problem, pattern)
    return ours


def table(n: int, relations: list[Relation], leaves: dict[int, float]) -> np.ndarray:
    a = np.zeros(n)
    for cell, value in leaves.items():
        a[cell] = value
    for relation in [*reversed(relations)] * 3:
        (sign, total), *parts = relation
        if total not in leaves:
            a[total] = sum(s * a[c] for s, c in parts) / -sign
    return a


def levelled(a: np.ndarray, relations: list[Relation], cells: list[int], share: float, **more) -> TableProblem:
    pairs = [(0, cell) for cell in cells]
    levels = share * np.stack([a[cells], a[cells], 2 * a[cells]])
    return made(len(a), relations, a, pairs, levels=levels, **more)


SIZES = [1e12, 5.0, 3e8, 530.0, 842324.0, 17.0, 1.0, 4e10, 10185.0]


def of_all_sizes() -> tuple[np.ndarray, list[Relation], list[int]]:
    """3 × 3 cells from 1 to 1e12 with all their totals; all inner cells are sensitive."""
    n, relations = cross([flat(3), flat(3)])
    inner = [4 * i + j for i in range(1, 4) for j in range(1, 4)]
    return table(n, relations, dict(zip(inner, SIZES, strict=True))), relations, inner


@pytest.mark.parametrize("share", [0.1, 1 / 7, 0.9, 1.0])
def test_values_from_one_to_a_trillion(share):
    a, relations, inner = of_all_sizes()
    problem = levelled(a, relations, inner, share)
    assert agree(problem, hidden(a, np.ones(len(a), dtype=bool))) == "p" * 9
    totals = np.ones(len(a), dtype=bool)
    totals[[0, 4, 1]] = False  # some totals are published
    agree(problem, hidden(a, totals))


@pytest.mark.parametrize("method", ["csp", "ip"])
def test_methods_on_values_from_one_to_a_trillion(method):
    a, relations, inner = of_all_sizes()
    problem = levelled(a, relations, inner, 0.2, w=np.log1p(a))
    result = run(problem, method, SolveContext({}, Deadline(HANGS), seed=1))
    assert result.status in ("optimal", "feasible")
    assert result.pattern is not None
    assert agree(problem, result.pattern) == "p" * 9


@pytest.mark.parametrize("level", [1.0, 1e-3, 1e-6])
def test_levels_far_below_the_value(level):
    """A level of 1e-9 of the value, and less, beside cells that need all of theirs."""
    n, relations = cross([flat(2), flat(2)])
    a = table(n, relations, {4: 1e9, 5: 2e9, 7: 3e9, 8: 4e9})
    pairs = [(0, 4), (0, 8)]
    problem = made(n, relations, a, pairs, levels=np.array([[level, 1e9], [level, 1e9], [0.0, 0.0]]))
    out = np.zeros(n, dtype=bool)
    out[[4, 5, 7, 8]] = True
    assert agree(problem, hidden(a, out)) == "pp"
    out[8] = False
    assert agree(problem, hidden(a, out)) == "ee"


def nearly_parallel(off: float) -> tuple[TableProblem, Pattern]:
    """x + y + z and x + (1 + off) y + z are both published: with any `off` but 0 that tells y, and x + z."""
    relations: list[Relation] = [
        [(-1.0, 3), (1.0, 0), (1.0, 1), (1.0, 2)],
        [(-1.0, 4), (1.0, 0), (1.0 + off, 1), (1.0, 2)],
    ]
    a = table(5, relations, {0: 100.0, 1: 200.0, 2: 300.0})
    return levelled(a, relations, [0, 1, 2], 0.1), hidden(a, np.array([True, True, True, False, False]))


@pytest.mark.parametrize(("off", "verdict"), [(0.0, "ppp"), (1e-3, "pep"), (1e-6, "pep"), (1e-8, "pep")])
def test_relations_that_are_nearly_parallel(off, verdict):
    assert agree(*nearly_parallel(off)) == verdict


def test_coefficients_that_no_audit_tells_apart():
    """A stated limit: tables may break relations by 1e-9 of a level, so coefficients closer than that are the same."""
    problem, pattern = nearly_parallel(1e-12)
    assert exact(problem, pattern) == "pep"
    assert "".join(audit(problem, pattern, exact=False).verdicts) == "ppp"


@pytest.mark.parametrize("factor", [3.0, 1e-7, 1e7])
def test_relations_that_say_the_same_again(factor):
    n, relations = cross([flat(3), flat(2)])
    again = [[(s * factor, c) for s, c in relation] for relation in relations[:3]]
    a = table(n, relations, {cell: 10.0 + cell for cell in (4, 5, 7, 8, 10, 11)})
    out = np.isin(np.arange(n), [4, 5, 7, 8])
    before = agree(levelled(a, relations, [4, 8], 0.3), hidden(a, out))
    assert agree(levelled(a, [*relations, *again], [4, 8], 0.3), hidden(a, out)) == before == "pp"


def test_a_degenerate_table():
    """Zeros everywhere but in one cell: every move meets several ends at once."""
    n, relations = cross([flat(3), flat(3)])
    a = table(n, relations, {5: 10.0, **dict.fromkeys((6, 7, 9, 10, 11, 13, 14, 15), 0.0)})
    levels = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0] * 3])
    problem = made(n, relations, a, [(0, 5), (0, 6), (0, 10)], levels=levels)
    agree(problem, hidden(a, np.ones(n, dtype=bool)))
    agree(problem, hidden(a, np.isin(np.arange(n), [5, 6, 9, 10])))


@pytest.mark.parametrize("far", [1e6, 1e12, 1e15, 1e30])
def test_huge_bounds(far):
    n, relations = cross([flat(2), flat(2)])
    a = table(n, relations, {4: 5.0, 5: 20.0, 7: 30.0, 8: 40.0})
    out = np.isin(np.arange(n), [4, 5, 7, 8])
    problem = levelled(a, relations, [4, 8], 0.2, views=[(np.full(n, -far), np.full(n, far))])
    assert agree(problem, hidden(a, out)) == "pp"


def test_intervals_beside_huge_bounds():
    """A level of 0.6 beside bounds of 1e15: flows must not be computed in units of the latter."""
    n, relations = cross([flat(2), flat(2)])
    a = table(n, relations, {4: 6.0, 5: 4e8, 7: 3e9, 8: 5e5})
    view = np.zeros(n), np.where(a > 10, 1e15, 12.0)
    problem = made(n, relations, a, [(0, 4)], levels=np.array([[0.6], [0.9], [0.0]]), views=[view])
    result = run(problem, "ip", SolveContext({}, Deadline(HANGS), seed=1))
    assert result.status == "optimal"
    assert result.pattern is not None
    assert agree(problem, result.pattern) == "p"


def test_a_tableau_whose_rows_have_become_dependent_starts_anew():
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
    ends = np.array([1.0, 2.0, 2.5, 6.0])
    tableau = Tableau(rows, -ends, ends)
    tableau._nonbasic = np.array([tableau._column[2], tableau._column[3]])  # one says the same as the other
    tableau._freshen()
    ended, _ = tableau.push(2, 1.0, np.inf, *tableau.box(-ends, ends))
    assert ended in (CLOSED, REACHED)
    assert tableau.x[2] * tableau.slack[2] == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("lacking", "verdict"), [(0.0, "protected"), (3e-10, "protected"), (8e-10, "protected"), (3e-9, "exposed")]
)
@pytest.mark.parametrize("size", [1.0, 951328.0, 1e9])
def test_a_hair_below_the_level(lacking, verdict, size):
    """Audits forgive a share of 1e-9 of a level, and nothing lies between protected and exposed: an interval whose end
    is a hair too near must not be `not proven`."""
    n, relations = cross([flat(2)])
    a = table(n, relations, {1: size, 2: 3 * size})
    problem = made(n, relations, a, [(0, 1)], levels=np.array([[0.0], [size], [0.0]]))
    width = np.array([0.0, size * (1 - lacking), size])
    assert audit(problem, intervals(a - np.array([0.0, size, size]), a + width), exact=False).verdict == verdict


@pytest.mark.parametrize(("more", "verdict"), [(4.5e-8, "p"), (0.0, "p"), (-4.5e-7, "e")])
def test_a_sliding_level_needs_the_last_digits_of_both_sides(more: float, verdict: str):
    """Two cells with 4.5 below and a little more than 4.5 above: taken for whole multiples of 4.5, either side loses
    what the other one gains."""
    a = np.array([100.0, 30.0, 70.0])
    problem = made(3, [[(-1.0, 0), (1.0, 1), (1.0, 2)]], a, [(0, 1)], levels=np.array([[1.5], [4.0], [9.0]]))
    low, high = a - np.array([0.0, 4.5, 4.5 + more]), a + np.array([0.0, 4.5 + more, 4.5])
    assert agree(problem, intervals(low, high)) == verdict
