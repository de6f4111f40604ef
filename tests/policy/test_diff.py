"""Which way a change of policy goes."""

from __future__ import annotations

import pytest

from sdcdsl.policy.diff import Verdict, diff, overall
from tests.policy.reading import TINY, change, policy

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
    assert [e.verdict for e in edits] == [Verdict.NEEDS_DATA]
    assert "order" in edits[0].why


def test_every_edit_knows_its_line():
    edits = diff(policy(TINY), policy(change("upl 12", "upl 15")))
    assert [(e.old, e.new) for e in edits] == [("upl 12", "upl 15")]
    assert edits[0].old_span is not None
    assert edits[0].old_span.text == "upl 12"
    assert edits[0].where == "protect investment"
