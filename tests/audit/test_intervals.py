"""Ends of intervals by hand: those that something else than the cell's own interval makes, at values of a billion and
of a millionth, for whole numbers, and what is said where an end is not proved."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.audit import audit
from sdcdsl.audit.intervals import AT_LEAST, AT_MOST, EXACT, Intervals, spelled
from sdcdsl.audit.problem import stated
from sdcdsl.audit.proving import Proofs
from sdcdsl.cli.audit_rows import Rows
from sdcdsl.pattern import hidden, intervals
from tests.methods.tiny_tables import made

INF = np.inf
PARTS = [[(-1.0, 0), (1.0, 1), (1.0, 2)]]  # cell 0 = cell 1 + cell 2
CHAIN = [*PARTS, [(-1.0, 2), (1.0, 3), (1.0, 4)]]  # and cell 2 = cell 3 + cell 4


def wide(a: np.ndarray, below: list[float], above: list[float]):
    return intervals(a - np.array(below), a + np.array(above))


@pytest.mark.parametrize("level", [1.0, 4.0, 30.0])
def test_a_level_that_the_own_interval_misses_does_not_hide_a_nearer_end(level: float):
    """Published as 3 .. 24, but its total is published, and its sibling is between 6 and 6.5: 11.5 .. 12."""
    a = np.array([18.0, 12.0, 6.0])
    problem = made(3, PARTS, a, [(0, 1)], levels=np.array([[level], [level], [0.0]]))
    result = audit(problem, wide(a, [0, 9, 0], [0, 12, 0.5]))
    assert result.exact
    assert (result.low[0], result.high[0]) == (11.5, 12.0)
    rows = Rows("table", result)
    assert (rows.low[0], rows.high[0], rows.short_above[0]) == (11.5, 12.0, level)
    assert rows.short_below[0] == max(level - 0.5, 0.0)


@pytest.mark.parametrize("level", [1.0, 10.0, 20.0, 34.0])
@pytest.mark.parametrize("size", [1.0, 1e3, 1e9])
def test_an_end_does_not_depend_on_the_level_or_on_how_large_values_are(level: float, size: float):
    """The sensitive total is hidden; its parts are intervals of a few units around billions: −10 − 25 and 2 + 5."""
    a = np.array([5.0 * size, 2.0 * size, 3.0 * size, size, 2.0 * size])
    problem = made(5, CHAIN, a, [(0, 0)], levels=np.array([[level], [1.0], [0.0]]), views=[(a - INF, a + INF)])
    pattern = wide(a, [INF, 10, INF, 20, 5], [INF, 2, INF, 3, 2])
    result = audit(problem, pattern)
    assert result.exact
    assert (result.low[0] - a[0], result.high[0] - a[0]) == (-35.0, 7.0)


def test_an_end_beyond_what_a_verdict_looks_at():
    """A verdict stops at a million times the level; the end of the interval is a billion away."""
    a = np.array([3e9, 1e9, 2e9])
    problem = made(3, PARTS, a, [(0, 1)], levels=np.array([[1.0], [1.0], [0.0]]))
    result = audit(problem, hidden(a, np.array([False, True, True])))
    assert result.exact
    assert (result.low[0], result.high[0]) == (0.0, 3e9)


@pytest.mark.parametrize(("value", "width", "exactly"), [(1e9, 1.0, False), (1e-6, 1e-10, False), (1e9, 0.0, True)])
def test_known_exactly_is_a_point(value: float, width: float, exactly: bool):
    """One in 1e9 is slack, however large the value is, and so is a ten-thousandth of a millionth."""
    a = np.array([3 * value, value, 2 * value])
    problem = made(3, PARTS, a, [(0, 1)], levels=np.array([[value], [value], [0.0]]))
    result = audit(problem, wide(a, [0, width, width], [0, width, width]))
    assert bool(Rows("table", result).known_exactly[0]) == exactly
    assert result.high[0] - result.low[0] == pytest.approx(2 * width, rel=1e-3)


@pytest.mark.parametrize("size", [1e3, 1e9])
def test_whole_numbers_are_not_rounded_by_the_size_of_the_value(size: float):
    """Half a unit less than 3 and 5 away: 2 and 4, at a thousand and at a billion."""
    a = np.array([3 * size, size, 2 * size])
    problem = made(3, PARTS, a, [(0, 1)], levels=np.array([[1.0], [1.0], [0.0]]))
    result = audit(problem, wide(a, [0, 2.5, 9], [0, 4.5, 9]), integer=True)
    assert (result.low[0] - size, result.high[0] - size) == (-2.0, 4.0)
    assert result.exact


def test_verdicts_alone_call_nothing_exact():
    a = np.array([18.0, 12.0, 6.0])
    problem = made(3, PARTS, a, [(0, 1)], levels=np.array([[1.0], [1.0], [0.0]]))
    result = audit(problem, wide(a, [0, 9, 0], [0, 12, 0.5]), exact=False)
    assert not result.exact
    assert AT_MOST in result.intervals.kind[:, 0]  # one side that falls short is enough for the verdict
    assert set(result.intervals.kind.ravel().tolist()) <= {AT_LEAST, AT_MOST}


def half_proved() -> Intervals:
    """Between 2 and 5 below, 3 and 3 above; 7 above would be needed."""
    a = np.array([18.0, 12.0, 6.0])
    problem = made(3, PARTS, a, [(0, 1)], levels=np.array([[1.0], [7.0], [0.0]]))
    proofs = Proofs.none(stated(problem, hidden(a, np.array([False, True, True]))))
    proofs.least[:, 0], proofs.most[:, 0] = [2.0, 2.5], [5.0, 3.0]
    proofs.most_up[0] = 3.0
    return Intervals(proofs, True, False)


def test_ends_that_are_not_proved_from_both_sides():
    found = half_proved()
    assert found.kind[:, 0].tolist() == [AT_LEAST, AT_MOST]
    assert (found.low[0], found.high[0]) == (10.0, 15.0)


def test_a_proof_from_both_sides_may_leave_a_share_of_1e_9():
    found = half_proved()
    found.proofs.least[:, 0], found.proofs.most[:, 0] = [5.0 * (1 - 2e-9), 3.0 * (1 - 5e-10)], [5.0, 3.0]
    assert found.kind[:, 0].tolist() == [AT_LEAST, EXACT]


@pytest.mark.parametrize(
    ("low_is", "high_is", "text"),
    [
        (EXACT, EXACT, "3 .. 9"),
        (AT_LEAST, AT_LEAST, "3 or less .. 9 or more (at least this wide)"),
        (AT_MOST, AT_MOST, "3 or more .. 9 or less (at most this wide)"),
        (EXACT, AT_LEAST, "3 .. 9 or more (at least this wide)"),
        (AT_LEAST, AT_MOST, "3 or less .. 9 or less"),
    ],
)
def test_words(low_is: str, high_is: str, text: str):
    assert spelled("3", "9", low_is, high_is) == text
