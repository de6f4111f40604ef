"""Verdicts, intervals and revealed cells of random problems, pair by pair, against exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from sdcdsl.audit import audit
from sdcdsl.pattern import adjusted, hidden
from sdcdsl.pattern.pattern import EXACT
from tests.attack.oracle import INF, simplex_range, whole
from tests.attack.tables import COX, World, cross, flat
from tests.audit.cases import Case, cases

CLOSE = 1e-9


def close(mine: float, exact, scale: float) -> bool:
    return mine == exact if math.isinf(exact) else abs(mine - float(exact)) <= CLOSE * scale


def overall(verdicts: list[str]) -> str:
    if not verdicts:
        return "nothing to check"
    return "exposed" if "e" in verdicts else "protected"


def scale_of(case: Case) -> float:
    ends = [case.world.a, case.pattern.low, case.pattern.high, *(side for view in case.views for side in view)]
    return float(max(1.0, *(np.abs(x[np.isfinite(x)]).max(initial=0.0) for x in ends)))


@given(case=cases())
@settings(max_examples=150, deadline=None)
def test_exact_intervals_and_verdicts(case):
    result = audit(case.problem, case.pattern, exact=True)
    assert list(result.verdicts) == case.verdicts()
    assert result.verdict == overall(case.verdicts())
    scale = scale_of(case)
    assert result.exact
    for i, (low, high) in enumerate(case.ends):
        assert close(result.low[i], low, scale) and close(result.high[i], high, scale), case.pairs[i]


@given(case=cases())
@settings(max_examples=150, deadline=None)
def test_verdicts_alone(case):
    """Less is computed, the verdicts are the same, nothing is called exact, and the ends are on the side they are said
    to be on."""
    result = audit(case.problem, case.pattern, exact=False)
    assert list(result.verdicts) == case.verdicts()
    assert result.verdict == overall(case.verdicts())
    scale = scale_of(case)
    for i, (low, high) in enumerate(case.ends):
        below, above = result.intervals.kind[:, i]
        assert {below, above} <= {"at least", "at most"}
        inside = result.low[i] - float(low), float(high) - result.high[i]
        assert all(
            (x if kind == "at least" else -x) >= -CLOSE * scale for x, kind in zip(inside, (below, above), strict=True)
        )
        if result.verdicts[i] == "p":
            a, (lpl, upl, spl) = float(case.world.a[case.pairs[i][1]]), case.levels[i]
            assert result.low[i] <= a - lpl + CLOSE * scale and result.high[i] >= a + upl - CLOSE * scale
            assert result.high[i] - result.low[i] >= spl - CLOSE * scale


@pytest.mark.long
@given(case=cases())
@settings(max_examples=100, deadline=None)
def test_revealed_cells(case):
    """Not sensitive, not published as it is, and yet determined by what everybody with some view knows."""
    result = audit(case.problem, case.pattern, exact=True)
    expected = set()
    for low, high in case.views:
        system = case.world.system(*case.pattern.seen(low, high))
        for cell in set(range(case.world.n)) - set(case.sensitive):
            least, most = simplex_range(system, cell)
            if case.pattern.status[cell] != EXACT and most - least <= 1e-12 * scale_of(case):
                expected.add(cell)
    assert set(result.revealed.tolist()) == expected


@given(case=cases(kinds=["whole", "sparse", "signed"]))
@settings(max_examples=100, deadline=None)
def test_whole_numbers(case):
    """Somebody who knows that figures are whole rounds the ends of the interval inwards."""
    result = audit(case.problem, case.pattern, exact=True, integer=True)
    scale = scale_of(case)
    for i, ends in enumerate(case.ends):
        low, high = whole(ends)
        assert close(result.low[i], low, scale) and close(result.high[i], high, scale), case.pairs[i]
    assert list(result.verdicts) == case.verdicts(integer=True)


# ---- cases by hand ------------------------------------------------------------------------------------------------


def known_case(levels: tuple[float, float, float], cells: list[tuple[int, int]]) -> Case:
    """II·C is sensitive; the given cells of the table everybody knows are hidden from who knows nothing is negative."""
    world = World(*cross([flat(3), flat(3)]), COX.ravel(), "whole")
    out = np.zeros(COX.shape, dtype=bool)
    out[tuple(np.array(cells).T)] = True
    view = np.zeros(16), np.full(16, INF)
    return Case(world, [view], [0], {}, [11], [(0, 11)], [levels], hidden(world.a, out.ravel()))


SQUARE = [(2, 1), (2, 3), (3, 1), (3, 3)]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("levels", "verdict"),
    [
        ((17.0, 8.0, 25.0), "protected"),
        ((17.1, 8.0, 0.0), "exposed"),
        ((17.0, 8.1, 0.0), "exposed"),
        ((0.0, 0.0, 25.1), "exposed"),
        ((0.0, 0.0, 25.0), "protected"),
    ],
)
def test_the_table_everybody_knows(levels, verdict, exact):
    case = known_case(levels, SQUARE)
    result = audit(case.problem, case.pattern, exact=exact)
    assert result.verdict == verdict
    if exact:
        assert (result.low[0], result.high[0]) == pytest.approx((5.0, 30.0), rel=CLOSE)


def test_a_lone_hidden_cell_is_recomputed():
    case = known_case((1.0, 1.0, 0.0), [(2, 3)])
    result = audit(case.problem, case.pattern, exact=True)
    assert result.verdict == "exposed"
    assert (result.low[0], result.high[0]) == (22.0, 22.0)


def test_hidden_in_vain():
    case = known_case((1.0, 1.0, 0.0), [*SQUARE, (1, 2)])
    result = audit(case.problem, case.pattern, exact=True)
    assert result.revealed.tolist() == [6]  # I·B is the only hidden cell of its row


def test_nothing_is_claimed():
    """An adjusted table without any promise: nobody is attacked, only the distance from the truth is looked at."""
    case = known_case((1.0, 1.0, 0.0), SQUARE)
    result = audit(case.problem, adjusted(case.world.a, np.zeros(16, dtype=bool)))
    assert result.distance is not None
    assert result.verdict == "exposed"  # the sensitive cell still stands there as it is


def test_no_pairs():
    case = known_case((1.0, 1.0, 0.0), SQUARE)
    bare = replace(case, pairs=[], levels=[])
    assert audit(bare.problem, bare.pattern).verdict == "nothing to check"
