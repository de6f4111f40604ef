"""Verdicts against the truth: random statements, evaluated cell by cell in plain Python, must not contradict them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import at_least, compare, constant
from sdcdsl.policy.competition import moves
from sdcdsl.policy.diff import Verdict, diff, overall
from sdcdsl.policy.lint import lint
from sdcdsl.policy.meaning import simplified
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.verdicts import VerdictReason
from tests.policy.reading import TINY, change, policy
from tests.policy.reading import read as tolerant
from tests.policy.test_lint import TODAY
from tests.waiting import calls

ATTACKERS = ("external", "informed", "third")
# Zero, ends of conditions, and values on both sides of them.
VALUES = [0.0, 0.5, 1.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 33.0, 120.0]
VALUE = x.Name("value")

_shares = st.sampled_from(["0", "5", "10", "20", "200"])
_numbers = st.sampled_from(["0", "1", "3", "10"])
amounts = st.one_of(
    st.builds(lambda p: x.Binary("of", x.Percent(p), VALUE), _shares),
    st.builds(x.Number, _numbers),
    st.builds(lambda n, p: x.Binary("+", x.Number(n), x.Binary("of", x.Percent(p), VALUE)), _numbers, _shares),
    st.builds(
        lambda f, n, p: x.Call(
            f, (x.Argument(None, x.Number(n)), x.Argument(None, x.Binary("of", x.Percent(p), VALUE)))
        ),
        st.sampled_from(["min", "max"]),
        _numbers,
        _shares,
    ),
)
simple = st.builds(
    lambda op, n: x.Compare(op, VALUE, x.Number(n)), st.sampled_from(["<", ">=", "="]), st.sampled_from(["3", "5"])
)
conditions = st.one_of(
    st.none(),
    simple,
    simple,
    st.builds(x.Not, simple),
    st.builds(lambda a, b: x.Every((a, b)), simple, simple),
    st.just(x.Compare("<", x.Number("1"), x.Number("2"))),
    st.builds(lambda c: x.Every((c, x.Compare("<", x.Number("2"), x.Number("1")))), simple),
)
levels = st.builds(
    d.Level, st.just("upl"), amounts, st.one_of(st.none(), st.none(), st.sampled_from(ATTACKERS[:2])), conditions
)


def number(e: x.Expression | None, value: float) -> float:
    match e:
        case x.Number() | x.Percent():
            return e.value
        case x.Infinity():
            return float("inf")
        case x.Name("value"):
            return value
        case x.Negative(inner):
            return -number(inner, value)
        case x.Binary("of" | "*", a, b):
            return number(a, value) * number(b, value)
        case x.Binary("+", a, b):
            return number(a, value) + number(b, value)
        case x.Call(name, arguments):
            return {"min": min, "max": max}[name](number(a.value, value) for a in arguments)
    raise AssertionError(e)


def true(e: x.Expression | None, value: float) -> bool:
    match e:
        case None:
            return True
        case x.Compare(operator, a, b):
            left, right = number(a, value), number(b, value)
            return {"<": left < right, ">=": left >= right, "=": left == right, "!=": left != right}[operator]
        case x.Not(inner):
            return not true(inner, value)
        case x.Every(parts):
            return all(true(p, value) for p in parts)
        case x.Some(parts):
            return any(true(p, value) for p in parts)
    raise AssertionError(e)


def decides(statements, value: float, attacker: str | None = None):
    """R1 and S18, as they are written down."""
    said = [s for s in statements if true(s.where, value) and getattr(s, "against", None) in (None, attacker)]
    return said[-1] if said else None


def level(statement: d.Level | None, value: float) -> float:
    return number(statement.amount, value) if statement is not None else 0.0


def bounds(statement: d.Bounds | None, value: float) -> tuple[float, float]:
    if statement is None:
        return float("-inf"), float("inf")
    return number(statement.low, value), number(statement.high, value)


def with_levels(statements) -> Policy:
    attackers = {a: d.Block("attacker", a, (d.Bounds(x.Number("0"), x.Infinity()),)) for a in ATTACKERS}
    protect = d.Block("protect", "t", (*statements, d.Against(ATTACKERS)), ("t",))
    blocks: dict[str, dict[str, d.Block]] = {"dimension": {}, "data": {}, "scenario": {}}
    return Policy(
        blocks={**blocks, "table": {"t": d.Block("table", "t")}, "attacker": attackers, "protect": {"t": protect}}
    )


@st.composite
def versions(draw, one):
    """Two lists with much in common: statements go, come, move, and get another amount."""
    old = draw(st.lists(one, max_size=5))
    new = list(old)
    for _ in range(draw(st.integers(1, 3))):
        step = draw(st.sampled_from(["add", "remove", "swap", "change"]))
        if step == "add" or not new:
            new.insert(draw(st.integers(0, len(new))), draw(one))
        elif step == "remove":
            new.pop(draw(st.integers(0, len(new) - 1)))
        elif step == "swap":
            i, j = draw(st.integers(0, len(new) - 1)), draw(st.integers(0, len(new) - 1))
            new[i], new[j] = new[j], new[i]
        else:
            i = draw(st.integers(0, len(new) - 1))
            other = draw(one)
            where, against = new[i].where, getattr(new[i], "against", None)
            new[i] = (
                d.Level("upl", other.amount, against, where)
                if isinstance(other, d.Level)
                else d.Bounds(other.low, other.high, where)
            )
    # Verdicts go by the identity of statements, as two files read apart have it.
    return [_copy(s) for s in old], [_copy(s) for s in new]


def _copy(s):
    if isinstance(s, d.Level):
        return d.Level(s.level, s.amount, s.against, s.where)
    return d.Bounds(s.low, s.high, s.where)


NEAR = 1e-9


@settings(max_examples=300, deadline=None)
@given(versions(levels))
def test_verdicts_on_levels_are_never_contradicted(lists):
    old, new = lists
    edits = diff(with_levels(old), with_levels(new))
    found = {e.verdict for e in edits}
    for value in VALUES:
        for attacker in ATTACKERS:
            a, b = level(decides(old, value, attacker), value), level(decides(new, value, attacker), value)
            if found <= {Verdict.TIGHTER, Verdict.NEUTRAL}:
                assert b >= a - NEAR, (value, attacker, edits)
            if found <= {Verdict.LOOSER, Verdict.NEUTRAL}:
                assert b <= a + NEAR, (value, attacker, edits)


@settings(max_examples=300, deadline=None)
@given(versions(levels))
def test_each_verdict_holds_in_the_cells_its_statement_decides(lists):
    old, new = lists
    signs: dict[int, set] = {}
    moves(old, new, [(x.Number("0"),)], signs)
    for value in VALUES:
        for attacker in ATTACKERS:
            was, now = decides(old, value, attacker), decides(new, value, attacker)
            change = level(now, value) - level(was, value)
            for s in (was, now):
                found = signs.get(id(s))
                if found is None or None in found:
                    continue
                assert found, "a statement that decides a cell is not dead"
                assert -1 in found or change >= -NEAR, (value, attacker, s)
                assert 1 in found or change <= NEAR, (value, attacker, s)


_ends = st.one_of(
    st.builds(lambda p: x.Binary("of", x.Percent(p), VALUE), st.sampled_from(["0", "50", "100", "150"])),
    st.builds(lambda p: x.Negative(x.Binary("of", x.Percent(p), VALUE)), st.sampled_from(["10", "20"])),
    st.builds(x.Number, st.sampled_from(["0", "10"])),
)
_bounds = st.builds(
    d.Bounds,
    st.one_of(_ends, st.just(x.Negative(x.Infinity()))),
    st.one_of(_ends, st.just(x.Infinity())),
    conditions,
)


@settings(max_examples=300, deadline=None)
@given(versions(_bounds))
def test_verdicts_on_bounds_are_never_contradicted(lists):
    old, new = lists
    signs: dict[int, set] = {}
    moves(old, new, [(x.Negative(x.Infinity()), x.Negative(x.Infinity()))], signs)
    found = set().union(*signs.values()) if signs else set()
    if None in found:
        return
    for value in VALUES:
        (low, high), (low2, high2) = bounds(decides(old, value), value), bounds(decides(new, value), value)
        if -1 not in found:
            assert low2 >= low - NEAR
            assert high2 <= high + NEAR
        if 1 not in found:
            assert low2 <= low + NEAR
            assert high2 >= high - NEAR


@settings(max_examples=300, deadline=None)
@given(amounts, amounts)
def test_amounts_compare_as_their_values_do(a, b):
    sign = compare(a, b)
    for value in VALUES:
        one, other = number(a, value), number(b, value)
        if sign is not None:
            assert sign >= 0 or one <= other + NEAR
            assert sign <= 0 or one >= other - NEAR
            assert sign != 0 or abs(one - other) <= NEAR
        if value > 0 and at_least(a, b, more=True) and number(a, 1.0) != number(b, 1.0):
            assert one > other - NEAR


@settings(max_examples=200, deadline=None)
@given(st.recursive(conditions.filter(lambda c: c is not None), lambda c: st.one_of(
    st.builds(x.Not, c), st.builds(lambda a, b: x.Every((a, b)), c, c), st.builds(lambda a, b: x.Some((a, b)), c, c)
)))  # fmt: skip
def test_a_simplified_condition_says_the_same(condition):
    found = simplified(condition)
    for value in VALUES:
        assert true(condition, value) is (found if isinstance(found, bool) else true(found, value))


def test_a_dimension_in_a_dead_part_still_chooses_the_tables():
    always, region = x.Compare("<", x.Number("1"), x.Number("2")), x.Compare("=", x.Name("region"), x.Name("A"))
    assert simplified(x.Some((always, region))) is not True
    assert simplified(x.Every((always, region))) == region


@pytest.mark.parametrize(
    ("a", "b", "sign"),
    [
        ("10% of value", "0.1 * value", 0),
        ("0.7% of value", "0.007 * value", 0),
        ("value / 4", "20% of value", 1),
        ("max(needed, 5% of value)", "needed", 1),
        ("min(needed, 5% of value)", "5% of value", -1),
        ("value - 3 * sqrt(value)", "value - 2 * sqrt(value)", -1),
        ("10 + 5% of value", "10", 1),
        ("2 * log(value)", "log(value)", None),
        ("10", "10% of value", None),
        ("2 ^ 3", "8", 0),
        ("1 / 0", "1", None),
        ("inf", "value", 1),
        ("-inf", "-value", -1),
    ],
)
def test_amounts_compare_without_data(a: str, b: str, sign: int | None):
    def read(text: str) -> x.Expression:
        found, _ = tolerant(change("lpl 10\n", f"lpl {text}\n"))  # not all of these are sensible levels
        return found.protects["investment"].all(d.Level)[0].amount

    assert compare(read(a), read(b)) == sign


def test_huge_numbers_have_an_order():
    assert compare(x.Number("1e999"), x.Number("1")) == 1
    assert constant(x.Binary("*", x.Number("0"), x.Infinity())) is None


def test_every_reason_has_two_texts():
    for reason in VerdictReason:
        verdict, there, back = reason.value
        assert there and back
        assert (there == back) is (
            verdict in (Verdict.NEUTRAL, Verdict.NEEDS_DATA)
        ) or reason is VerdictReason.EXCHANGED


# ---- work ------------------------------------------------------------------------------------------------

SOME, TWICE = 400, 800


def grows_evenly(work) -> None:
    """Twice as much to look at is about twice the work, not four times."""
    work(4)  # what is loaded or compiled once
    assert calls(work(TWICE)) < 2.5 * calls(work(SOME))


def _levels(numbers, amount) -> str:
    lines = "".join(f"  lpl {amount(i)}% of value where value > {i}\n" for i in numbers)
    return change("  lpl 10\n", f"  lpl 10\n{lines}")


def test_differences_of_many_levels():
    def work(many: int):
        draw = random.Random(1)
        old = policy(_levels(range(many), lambda i: i % 90))
        new = policy(_levels(range(many), lambda i: i % 90 + draw.choice([0, 1])))
        turned = policy(_levels(reversed(range(many)), lambda i: i % 90))

        def compared() -> None:
            assert overall(diff(old, new)) is Verdict.TIGHTER
            assert overall(diff(old, turned)) is Verdict.NEEDS_DATA

        return compared

    grows_evenly(work)


def test_differences_of_many_facts():
    def facts(many: int, count: str) -> str:
        said = "".join(
            f'waive at (activity: I, region: A) until 2030-01-01 because "{i}"\n'
            f"sensitive investment where value > {i} and count < {count}\n"
            for i in range(many)
        )
        return change("sensitive investment at", f"{said}sensitive investment at")

    def work(many: int):
        old, new = policy(facts(many, "3")), policy(facts(many, "4"))

        def compared() -> None:
            assert len(diff(old, new)) == many

        return compared

    grows_evenly(work)


def test_advice_on_an_override_of_many_levels():
    def work(many: int):
        lines = "".join(f"  lpl {i % 90}% of value where value > {i}\n" for i in range(many))
        text = policy(TINY + f"override protect investment {{\n{lines}}}\n")

        def advised() -> None:
            assert sum(found.code == "SDC207" for found in lint(text, TODAY)) == many

        return advised

    grows_evenly(work)
