"""Each rule against the attack it is about, played out from the microdata in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.holdings import cells_of
from sdcdsl.bind.microdata import Columns, without_contributors
from sdcdsl.bind.rules.cells import Judgement, RuleCells, combined, malformed
from sdcdsl.bind.rules.contributors import ContributorsRule
from sdcdsl.bind.rules.dominance import Dominance
from sdcdsl.bind.rules.p_percent import PPercent
from sdcdsl.bind.rules.pq import PQ
from sdcdsl.bind.rules.request import RequestRule
from sdcdsl.bind.rules.threshold import Threshold
from sdcdsl.bind.rules.zero import Zero
from sdcdsl.bind.tabulate import tabulate
from sdcdsl.vocabulary.rules import RULES
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
    agrees(PPercent(p=float(p), n=n).judge(cells), [best_estimate(xs, p, n) for xs in contributions])


@settings(max_examples=120, deadline=None)
@given(worlds(most_dims=2), shares, st.integers(1, 4))
def test_dominance(world, k, n):
    cells, contributions, _ = tabulated(world)

    def literal(xs):
        groups = [sum(g) for g in combinations(xs, min(n, len(xs)))]
        broken = [g for g in groups if g > k * sum(xs)]
        return max(g / k - sum(xs) for g in broken) if broken else None

    agrees(Dominance(n=n, k=float(k)).judge(cells), [literal(xs) for xs in contributions])


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
    judgement = PQ(p=float(p), q=float(q)).judge(cells)
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
    agrees(Threshold(n=n, level=float(level)).judge(cells), few)
    something = [[x for x in xs if x] for xs in contributions]
    few = [level * sum(xs) if 0 < len(xs) < n else None for xs in something]
    agrees(ContributorsRule(n=n, level=float(level)).judge(cells), few)


def test_threshold_in_a_frequency_table_must_not_exclude_a_safe_count():
    count = np.array([0, 1, 2, 3, 4])
    cells = RuleCells(count.astype(float), count, count, count.astype(float), np.zeros((5, 0)), frequency=True)
    judgement = Threshold(n=3).judge(cells)
    assert judgement.sensitive.tolist() == [False, True, True, False, False]
    assert judgement.upper.tolist() == [0, 2, 1, 0, 0]
    assert judgement.lower.tolist() == [0, 1, 1, 0, 0]


@settings(max_examples=60, deadline=None)
@given(worlds(most_dims=2))
def test_zero(world):
    cells, contributions, _ = tabulated(world)
    judgement = Zero(level=7.0).judge(cells)
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
    judgement = RequestRule(share=float(share), level=0.1).judge(cells_of(everybody, requested=asked.largest))
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
    agrees(PPercent(p=float(p)).judge(cells), [best_estimate(xs, p, 1) for xs in without])


def test_secret_weights_leave_the_represented_others_in_the_remainder():
    """Own contributions 100 and 50, weights 3 and 1: X = 350, the second largest errs by 200 about the largest."""
    cells = RuleCells(np.array([350.0]), np.array([2]), np.array([2]), np.array([350.0]), np.array([[100.0, 50.0]]))
    assert not PPercent(p=0.5).judge(cells).sensitive[0]
    known = RuleCells(np.array([350.0]), np.array([2]), np.array([2]), np.array([350.0]), np.array([[300.0, 50.0]]))
    assert PPercent(p=0.5).judge(known).upper[0] == 150.0


def test_exact_ties_are_not_sensitive():
    total, three = np.array([0.7 + 0.33 + 0.07]), np.array([3])
    cells = RuleCells(total, three, three, total, np.array([[0.7, 0.33]]))
    assert not PPercent(p=0.1).judge(cells).sensitive[0]


def test_rules_know_what_they_look_at():
    assert (PPercent(p=0.1).largest_needed, Dominance(n=3, k=0.8).largest_needed) == (2, 3)


def test_every_rule_is_described_and_judges():
    for name, rule in RULES.built_in.items():
        assert (rule.name, rule.incomplete()) == (name, None)
        assert (rule.formula is None) == rule.reads_status


def test_what_a_rule_says_must_have_the_form_of_a_judgement():
    one, two = np.array([True, False]), np.array([0.0, 1.0])
    assert malformed(Judgement(one, two, two), 2) is None
    assert "returns a list" in (malformed([True], 1) or "")
    assert "each of the 3 cells" in (malformed(Judgement(one, two, two), 3) or "")
    assert "whether they are sensitive" in (malformed(Judgement(two, two, two), 2) or "")
    assert "below zero" in (malformed(Judgement(one, two - 1, two), 2) or "")
    assert "not finite" in (malformed(Judgement(one, np.array([0.0, np.nan]), two), 2) or "")


@pytest.mark.parametrize(
    "wrong",
    [
        Threshold(n=0),
        Threshold(n=3, level=0),
        Dominance(n=0, k=0.5),
        Dominance(n=1, k=2),
        PPercent(p=0),
        PQ(p=0.5, q=0.4),
        Zero(level=0),
        RequestRule(share=2),
    ],
)
def test_parameters_that_make_no_sense_are_said_in_words(wrong):
    assert wrong.faults()
    assert not PPercent(p=0.1).faults()


def test_combined_takes_the_largest_level():
    cells = RuleCells(np.array([10.0]), np.array([2]), np.array([2]), np.array([10.0]), np.array([[9.0, 1.0]]))
    one, two = Threshold(n=3, level=0.5).judge(cells), PPercent(p=0.1).judge(cells)
    both = combined([one, two])
    assert both.upper.tolist() == [5.0]
    assert both.sensitive.tolist() == [True]
