"""Each rule against the attack it is about, played out from the microdata in exact arithmetic."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.holdings import cells_of
from sdcdsl.bind.microdata import Columns, without_contributors
from sdcdsl.bind.rules import (
    PQ,
    RULES,
    ContributorsRule,
    Dominance,
    PPercent,
    RequestRule,
    Rule,
    RuleCells,
    Threshold,
    Zero,
    combined,
)
from sdcdsl.bind.tabulate import tabulate
from sdcdsl.vocabulary.option import options_of
from sdcdsl.vocabulary.rules import RULES as VOCABULARY
from tests.bind.small_worlds import contributors_by_cell, holder_of, worlds

shares = st.sampled_from([Fraction(n, 20) for n in (1, 2, 3, 8, 15, 17, 19)])


def tabulated(world, k=4, holders=None):
    """The cells as rules see them, and for each the exact absolute contributions of its holdings."""
    dims, frame = world
    table, found = tabulate(frame, dims, Columns(tuple(d.name for d in dims), "x", "unit", "group", "w"), k=k)
    assert found == []
    assert table is not None
    weighted = (frame["x"] * frame["w"]).to_list()
    holders = holder_of(frame, unit=True, group=True) if holders is None else holders
    who = [mine for _, mine in contributors_by_cell(dims, frame, holders, weighted)]
    return cells_of(table), [[abs(Fraction(c)) for c in mine.values()] for mine in who], who


def agrees(judgement, expected: list[Fraction | None]):
    """`None`: not sensitive; otherwise the level asked for, below and above."""
    assert judgement.sensitive.tolist() == [e is not None for e in expected]
    levels = [float(e) if e is not None else 0.0 for e in expected]
    np.testing.assert_allclose(judgement.upper, levels, rtol=1e-9)
    np.testing.assert_allclose(judgement.lower, levels, rtol=1e-9)


def best_estimate(xs: list[Fraction], p: Fraction, n: int) -> Fraction | None:
    """Every coalition of n contributors subtracts its own from the total to estimate everybody else."""
    total, worst = sum(xs), None
    for target in range(len(xs)):
        others = [i for i in range(len(xs)) if i != target]
        for coalition in combinations(others, min(n, len(others))):
            estimate = total - sum(xs[i] for i in coalition)
            if estimate - xs[target] < p * xs[target]:
                # How much higher the attackers' bound on the cell must be for the estimate to be p too high.
                missing = (1 + p) * xs[target] - estimate
                worst = missing if worst is None else max(worst, missing)
    return worst


@settings(max_examples=120, deadline=None)
@given(worlds(most_dims=2), shares, st.integers(0, 3))
def test_p_percent(world, p, n):
    cells, contributions, _ = tabulated(world)
    agrees(PPercent(float(p), n).judge(cells), [best_estimate(xs, p, n) for xs in contributions])


@settings(max_examples=120, deadline=None)
@given(worlds(most_dims=2), shares, st.integers(1, 4))
def test_dominance(world, k, n):
    cells, contributions, _ = tabulated(world)

    def literal(xs):
        groups = [sum(g) for g in combinations(xs, min(n, len(xs)))]
        broken = [g for g in groups if g > k * sum(xs)]
        return max(g / k - sum(xs) for g in broken) if broken else None

    agrees(Dominance(n, float(k)).judge(cells), [literal(xs) for xs in contributions])


def posterior_breach(xs: list[Fraction], p: Fraction, q: Fraction) -> bool:
    """Some contributor subtracts itself and everybody's prior lower bound, and is within p of another."""
    for target in range(len(xs)):
        for attacker in {i for i in range(len(xs)) if i != target} or {None}:
            rest = [x for i, x in enumerate(xs) if i not in (target, attacker)]
            own = xs[attacker] if attacker is not None else 0
            estimate = sum(xs) - own - sum((1 - q) * x for x in rest)
            if estimate - xs[target] < p * xs[target]:
                return True
    return False


@settings(max_examples=120, deadline=None)
@given(worlds(most_dims=2), shares, shares)
def test_pq(world, p, q):
    p, q = (p, q) if p < q else (p / 2, p)
    cells, contributions, _ = tabulated(world)
    judgement = PQ(float(p), float(q)).judge(cells)
    for cell, xs in enumerate(contributions):
        assert judgement.sensitive[cell] == posterior_breach(xs, p, q)
        if judgement.sensitive[cell]:
            # Were the others larger by the level, the rule would just be satisfied.
            first, _, *others = [*sorted(xs, reverse=True), Fraction(0)]
            level = Fraction(judgement.upper[cell])
            assert q * (sum(others) + level * Fraction(1001, 1000)) >= p * first
            assert q * (sum(others) + level * Fraction(999, 1000)) < p * first
            assert judgement.lower[cell] == judgement.upper[cell]


@settings(max_examples=80, deadline=None)
@given(worlds(most_dims=2), st.integers(1, 5), shares)
def test_threshold_and_contributors(world, n, level):
    cells, contributions, _ = tabulated(world)
    few = [level * sum(xs) if 0 < len(xs) < n else None for xs in contributions]
    agrees(Threshold(n, float(level)).judge(cells), few)
    something = [[x for x in xs if x] for xs in contributions]
    few = [level * sum(xs) if 0 < len(xs) < n else None for xs in something]
    agrees(ContributorsRule(n, float(level)).judge(cells), few)


def test_threshold_in_a_frequency_table_must_not_exclude_a_safe_count():
    count = np.array([0, 1, 2, 3, 4])
    cells = RuleCells(count.astype(float), count, count, count.astype(float), np.zeros((5, 0)), frequency=True)
    judgement = Threshold(3).judge(cells)
    assert judgement.sensitive.tolist() == [False, True, True, False, False]
    assert judgement.upper.tolist() == [0, 2, 1, 0, 0]
    assert judgement.lower.tolist() == [0, 1, 1, 0, 0]


@settings(max_examples=60, deadline=None)
@given(worlds(most_dims=2))
def test_zero(world):
    cells, contributions, _ = tabulated(world)
    judgement = Zero(7.0).judge(cells)
    expected = [bool(xs) and not any(xs) for xs in contributions]
    assert judgement.sensitive.tolist() == expected
    assert judgement.upper.tolist() == [7.0 * e for e in expected]
    assert not judgement.lower.any()


@settings(max_examples=60, deadline=None)
@given(worlds(most_dims=2), st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 2)]))
def test_request(world, share):
    dims, frame = world
    _, contributions, who = tabulated(world)
    columns = Columns(tuple(d.name for d in dims), "x", "unit", "group", "w")
    everybody, _ = tabulate(frame, dims, columns)
    asked, _ = tabulate(frame.filter(frame["group"].is_in(["h0", "h1"])), dims, columns, k=1)
    assert everybody is not None
    assert asked is not None
    judgement = RequestRule(float(share), 0.1).judge(cells_of(everybody, requested=asked))
    expected = []
    for xs, mine in zip(contributions, who, strict=True):
        theirs = [abs(c) for h, c in mine.items() if h in ("h0", "h1")]
        expected.append(sum(xs) / 10 if any(c > share * sum(xs) for c in theirs) else None)
    agrees(judgement, expected)


@settings(max_examples=60, deadline=None)
@given(worlds(most_dims=2), shares)
def test_waived_contributors_neither_need_nor_give_cover(world, p):
    dims, frame = world
    rest = without_contributors(frame, "group", ["h0"])
    cells, _, _ = tabulated((dims, rest.collect()))
    _, _, who = tabulated(world)
    without = [[abs(Fraction(c)) for h, c in mine.items() if h != "h0"] for mine in who]
    agrees(PPercent(float(p)).judge(cells), [best_estimate(xs, p, 1) for xs in without])


def test_secret_weights_leave_the_represented_others_in_the_remainder():
    """Own contributions 100 and 50, weights 3 and 1: X = 350, the second largest errs by 200 about the largest."""
    cells = RuleCells(np.array([350.0]), np.array([2]), np.array([2]), np.array([350.0]), np.array([[100.0, 50.0]]))
    assert not PPercent(0.5).judge(cells).sensitive[0]
    known = RuleCells(np.array([350.0]), np.array([2]), np.array([2]), np.array([350.0]), np.array([[300.0, 50.0]]))
    assert PPercent(0.5).judge(known).upper[0] == 150.0


def test_exact_ties_are_not_sensitive():
    total, three = np.array([0.7 + 0.33 + 0.07]), np.array([3])
    cells = RuleCells(total, three, three, total, np.array([[0.7, 0.33]]))
    assert not PPercent(0.1).judge(cells).sensitive[0]


def test_rules_know_what_they_look_at():
    assert all(isinstance(made, Rule) for made in (PQ(0.1, 0.5), Zero(), Threshold(3)))
    assert (PPercent(0.1).largest_needed, Dominance(3, 0.8).largest_needed) == (2, 3)


def test_every_rule_of_the_vocabulary_is_here_with_its_arguments():
    described = {name: set(options_of(r.arguments)) for name, r in VOCABULARY.items() if name != "status"}
    assert described == {name: {f.name for f in fields(cls)} for name, cls in RULES.items()}


@pytest.mark.parametrize(
    "wrong",
    [
        Threshold(0),
        Threshold(3, 0),
        Dominance(0, 0.5),
        Dominance(1, 2),
        PPercent(0),
        PQ(0.5, 0.4),
        Zero(0),
        RequestRule(2),
    ],
)
def test_parameters_that_make_no_sense_are_said_in_words(wrong):
    assert wrong.faults()
    assert not PPercent(0.1).faults()


def test_combined_takes_the_largest_level():
    cells = RuleCells(np.array([10.0]), np.array([2]), np.array([2]), np.array([10.0]), np.array([[9.0, 1.0]]))
    one, two = Threshold(3, 0.5).judge(cells), PPercent(0.1).judge(cells)
    both = combined([one, two])
    assert both.upper.tolist() == [5.0]
    assert both.sensitive.tolist() == [True]
