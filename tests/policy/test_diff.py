"""Which way a change of policy goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sdcdsl.policy import fact_verdicts
from sdcdsl.policy.diff import Verdict, diff, overall
from sdcdsl.policy.meaning import attackers_of
from sdcdsl.record import Record, record
from sdcdsl.vocabulary.option import Kind, option
from sdcdsl.vocabulary.rules import RULES
from tests.policy.reading import TINY, change, policy, read

RULED = """sdc 1
data d {
  csv "d.csv"
  column unit = "id"
}
dimension a {
  codes A, B
  total T
}
table t {
  from d
  by a
  sum x
}
sensitive by threshold(3)
sensitive by dominance(n: 2, k: 85%)
waive unit "u1" until 2030-01-01 because "consent"
publish where a = T
require upl >= 5% of value because "house"
attacker e {
  bounds 50% of value .. 200% of value
}
protect t {
  lpl 10% of value
  upl needed
  upl 20% of value where a = A
  against e
  cost value
  method csp {
    gap 1%
  }
}
"""
T, L, N, D = Verdict.TIGHTER, Verdict.LOOSER, Verdict.NEUTRAL, Verdict.NEEDS_DATA
CHANGES = [
    ("lpl 10% of value", "lpl 12% of value", T),
    ("lpl 10% of value", "lpl 5% of value", L),
    ("  lpl 10% of value\n", "  lpl 10% of value\n  conditional spl 5\n", T),
    ("lpl 10% of value", "lpl 0.1 * value", N),
    ("lpl 10% of value", "lpl 10", D),
    ("  lpl 10% of value\n", "", L),
    ("upl 20% of value where a = A", "upl 30% of value where a = A", T),
    ("  upl 20% of value where a = A\n", "", D),
    ("threshold(3)", "threshold(4)", T),
    ("threshold(3)", "threshold(2)", L),
    ("threshold(3)", "threshold(n: 3)", N),
    ("threshold(3)", "freq(3)", N),
    ("dominance(n: 2, k: 85%)", "dominance(n: 2, k: 80%)", T),
    ("dominance(n: 2, k: 85%)", "dominance(n: 1, k: 85%)", L),
    ("dominance(n: 2, k: 85%)", "dominance(n: 1, k: 80%)", D),
    ("sensitive by threshold(3)\n", "", L),
    ("sensitive by threshold(3)", "sensitive by threshold(3)\nsensitive by zero()", T),
    ("sensitive by threshold(3)", "sensitive by threshold(3) where value > 0", L),
    ('waive unit "u1" until 2030-01-01 because "consent"\n', "", T),
    ("until 2030-01-01", "until 2031-01-01", L),
    ("until 2030-01-01", "until 2029-01-01", T),
    (" until 2030-01-01", "", L),
    ('because "consent"', 'because "written consent"', N),
    ("publish where a = T\n", "", T),
    ("publish where a = T", "publish where a = T\nsuppress where a = B", T),
    ("publish where a = T", "publish where a = T\nfix where a = B", L),
    ("require upl >= 5% of value", "require upl >= 8% of value", T),
    ("require upl >= 5% of value", "require upl >= 2% of value", L),
    ('require upl >= 5% of value because "house"\n', "", L),
    ("bounds 50% of value .. 200% of value", "bounds 60% of value .. 200% of value", T),
    ("bounds 50% of value .. 200% of value", "bounds 0 .. inf", L),
    ("bounds 50% of value .. 200% of value", "bounds 60% of value .. 300% of value", D),
    ("bounds 50% of value", "knows zeros\n  bounds 50% of value", T),
    ("cost value", "cost sqrt(value)", N),
    ("gap 1%", "gap 2%", N),
    ("method csp", "method ip", D),
    ("method csp", "method suppression", N),
    ('csv "d.csv"', 'csv "e.csv"', D),
    ("codes A, B", "codes A, B, C", D),
    ("sdc 1\n", "sdc 1\nseed 4\n", N),
]


@pytest.mark.parametrize(("old", "new", "verdict"), CHANGES)
def test_verdicts(old: str, new: str, verdict: Verdict):
    before, after = policy(RULED), policy(change(old, new, RULED))
    edits = diff(before, after)
    assert overall(edits) is verdict, edits
    # Going back goes the other way.
    assert overall(diff(after, before)) is verdict.opposite


def test_layout_comments_and_order_of_declarations_do_not_count():
    head, attackers, protect = TINY.partition("attacker external")[0], "", ""
    rest = TINY[len(head) :]
    attackers, _, protect = rest.partition("protect")
    shuffled = head + "# why\nprotect" + protect.replace("  lpl 10", "\n\n  lpl   10 # ten") + attackers
    assert diff(policy(TINY), policy(shuffled)) == []


def test_attackers_come_and_go():
    more = policy(change("against external", "against external, informed"))
    edits = diff(policy(TINY), more)
    assert [(e.kind, e.verdict) for e in edits] == [("changed", Verdict.TIGHTER)]
    assert overall(diff(more, policy(TINY))) is Verdict.LOOSER


def test_the_order_of_competing_levels_counts():
    one = change("  lpl 10\n", "  lpl 10 where value > 5\n  lpl 20 where value > 9\n")
    other = change("  lpl 10\n", "  lpl 20 where value > 9\n  lpl 10 where value > 5\n")
    edits = diff(policy(one), policy(other))
    # Cells above 9 had 20 and get 10.
    assert [(e.verdict, e.why) for e in edits] == [(Verdict.LOOSER, "the level falls")]
    mixed = [text.replace("lpl 20", "lpl value") for text in (one, other)]
    edits = diff(*map(policy, mixed))
    assert [e.verdict for e in edits] == [Verdict.NEEDS_DATA]
    assert "order" in edits[0].why
    # Moving past what speaks of another attacker changes nothing.
    two = "  lpl 10 against external\n  lpl 20 against informed\n"
    turned = "  lpl 20 against informed\n  lpl 10 against external\n"
    both = change("against external", "against external, informed")
    assert diff(policy(change("  lpl 10\n", two, both)), policy(change("  lpl 10\n", turned, both))) == []


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("upl 15% of value where count < 3", "upl 15% of value where count < 3; upl 1% of value", D),
        ("upl 15% of value against e", "upl 15% of value against e; upl 1% of value", D),
        ("upl 15% of value", "upl 1% of value where count < 3; upl 15% of value", N),
        ("upl 15% of value", "upl 15% of value; upl 1% of value where count < 3", L),
        ("upl 15% of value", "upl 15% of value; upl 1% of value", L),
        ("upl 15% of value", "upl 15% of value; upl 20% of value against e", T),
        ("upl 15% of value", "upl 15% of value; upl 20% of value where 2 < 1", N),
        ("upl 15% of value", "upl 15% of value where 1 < 2", N),
        ("spl 0", "spl 0; spl 5 where count < 3", T),
    ],
)
def test_a_level_is_judged_by_its_place(before: str, after: str, verdict: Verdict):
    text = change("  upl needed\n  upl 20% of value where a = A\n", "  LEVELS\n", RULED).replace("csp", "cta")
    text = change('require upl >= 5% of value because "house"\n', "", text)
    old, new = (policy(change("LEVELS", said.replace("; ", "\n  "), text)) for said in (before, after))
    edits = diff(old, new)
    assert edits
    assert overall(edits) is verdict, edits
    assert overall(diff(new, old)) is verdict.opposite


_FILES = 'hierarchy hrc "{}.hrc"\n  hierarchy hrc "b.hrc"\n  total T'
DIMENSIONS = [
    ("codes A, B\n  codes C, D\n  total T", "codes A\n  codes C, D\n  total T"),
    (_FILES.format("a"), _FILES.format("c")),
    ("hierarchy T = A + B\n  hierarchy T = C + D", "hierarchy T = A + E\n  hierarchy T = C + D"),
]


@pytest.mark.parametrize(("before", "after"), DIMENSIONS)
def test_only_what_competes_is_collapsed(before: str, after: str):
    text = change("codes A, B\n  total T", "CODES", RULED)
    old, new = (read(change("CODES", said, text))[0] for said in (before, after))
    edits = diff(old, new)
    assert [e.kind for e in edits] == ["changed"]
    assert overall(edits) is Verdict.NEEDS_DATA


def test_several_only_and_releases_count():
    two = change("sum x", "sum x\n  only where y = 1\n  only where z = 1", RULED)
    edits = diff(read(two)[0], read(change("only where y = 1", "only where y = 2", two))[0])
    assert [(e.old, e.new) for e in edits] == [("only where y = 1", "only where y = 2")]
    both = change('release csv "out.csv"', 'release csv "out.csv"\n  release parquet "out.csv"')
    assert [e.kind for e in diff(read(both)[0], policy(TINY))] == ["removed"]


BOUNDS = [
    ("0 .. inf", "-10% of value .. inf", L),
    ("0 .. inf", "0 .. 200% of value", T),
    ("0 .. 200% of value", "10% of value .. 150% of value", T),
    ("0 .. 200% of value", "0 .. 150% of value", T),
    ("0 .. inf", "0 * value .. inf", N),
    ("10 .. inf", "10% of value .. inf", D),
    ("0 .. inf", "10% of value .. inf\n  bounds 0 .. inf", N),
    ("0 .. inf", "0 .. inf\n  bounds 10% of value .. inf where value > 3", T),
    ("0 .. inf where value > 3\n  bounds 0 .. 200% of value where value > 5",
     "0 .. 200% of value where value > 5\n  bounds 0 .. inf where value > 3", L),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "verdict"), BOUNDS)
def test_bounds_have_two_ends_and_an_order(before: str, after: str, verdict: Verdict):
    old, new = (policy(change("bounds 0 .. inf", f"bounds {said}")) for said in (before, after))
    assert overall(diff(old, new)) is verdict
    assert overall(diff(new, old)) is verdict.opposite


def test_the_last_against_counts():
    text = change("against external", "against external, informed")
    fewer = text + "override protect investment {\n  against external\n}\n"
    assert attackers_of(policy(fewer), policy(fewer).protects["investment"]) == ["external"]
    assert overall(diff(policy(text), policy(fewer))) is Verdict.LOOSER


def test_a_scenario_is_judged_behind_the_levels_of_its_block():
    text = change("against external", "against external\n  scenarios s")
    text += "scenario s {\n  against informed\n  upl 20\n}\n"
    more = change("upl 20", "upl 30", text)
    assert overall(diff(policy(text), policy(more))) is Verdict.TIGHTER
    # Without its own level the scenario has the block's 12.
    assert overall(diff(policy(text), policy(change("  upl 20\n", "", text)))) is Verdict.LOOSER
    # The block's level is covered in the scenario, and counts outside it.
    assert overall(diff(policy(text), policy(change("upl 12", "upl 11", text)))) is Verdict.LOOSER


def test_tables_that_leave_a_block():
    table = TINY[TINY.index("table investment") : TINY.index("sensitive")].replace("table investment", "table other")
    two = change("protect investment {", "protect investment, other {", change("sensitive", f"{table}sensitive"))
    one = change("protect investment, other {", "protect investment {", two)
    assert [e.verdict for e in diff(policy(two), policy(one))] == [Verdict.LOOSER]
    assert [e.verdict for e in diff(policy(one), policy(two))] == [Verdict.TIGHTER]


def test_an_argument_of_unknown_effect_needs_data(monkeypatch: pytest.MonkeyPatch):
    silent = replace(RULES["threshold"], arguments=_Silent)
    monkeypatch.setattr(fact_verdicts, "find_rule", lambda name: silent)
    old, new = policy(RULED), policy(change("threshold(3)", "threshold(4)", RULED))
    assert [e.verdict for e in diff(old, new)] == [Verdict.NEEDS_DATA]


@record
class _Silent(Record):
    n: Any = option(Kind.WHOLE, "a number")


def test_a_new_reason_is_no_new_protection():
    text = change("region: C)", 'region: C) because "a"')
    edits = diff(policy(text), policy(change('"a"', '"b"', text)))
    assert [(e.verdict, e.why) for e in edits] == [(Verdict.NEUTRAL, "only the reason changed")]


def test_every_edit_knows_its_line():
    edits = diff(policy(TINY), policy(change("upl 12", "upl 15")))
    assert [(e.old, e.new) for e in edits] == [("upl 12", "upl 15")]
    assert edits[0].old_span is not None
    assert edits[0].old_span.text == "upl 12"
    assert edits[0].where == "protect investment"
