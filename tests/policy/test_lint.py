"""Advice: given when it should be, and only then."""

from __future__ import annotations

import datetime

import pytest

from sdcdsl.policy.lint import lint
from tests.policy.reading import TINY, change, policy

TODAY = datetime.date(2026, 1, 1)
# Without the seed that nothing uses and the attacker nobody is protected against.
CLEAN = TINY.replace("seed 1\n", "").replace("attacker informed {\n  bounds 50% of value .. 200% of value\n}\n", "")


def advice(text: str) -> list[str]:
    return sorted(d.code for d in lint(policy(text), TODAY))


def test_a_good_policy_gets_no_advice():
    assert advice(CLEAN) == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("sensitive investment", "attacker idle {\n  bounds 0 .. 1\n}\nsensitive investment", "SDC201"),
        ("sensitive investment", 'waive at (activity: I, region: A) because "x"\nsensitive investment', "SDC202"),
        (
            "sensitive investment",
            'waive at (activity: I, region: A) until 2025-12-31 because "x"\nsensitive investment',
            "SDC203",
        ),
        ('policy "tiny"\n', 'policy "tiny"\nseed 4\n', "SDC204"),
        ("  upl 12\n", "  upl 11\n  upl 12\n", "SDC206"),
        ('policy "tiny"\n', "", "SDC208"),
        ('  release csv "out.csv"\n', "", "SDC209"),
        ("method csp", "method cta", "SDC213"),
        ("lpl 10", "lpl needed", "SDC214"),
        ("  lpl 10\n", "  lpl 10 where value > 5\n  lpl 10 where value > 5\n", "SDC215"),
    ],
)
def test_one_smell_at_a_time(old: str, new: str, code: str):
    assert advice(change(old, new, CLEAN)) == [code]


def test_weights_of_two_norms_where_there_is_one():
    cta = "method cta {\n    NORM\n    omega2 3\n  }\n  assess B1"
    text = change('policy "tiny"\n', 'policy "tiny"\nseed 4\n', change("method csp", cta, CLEAN))
    assert advice(change("NORM", "norm L2", text)) == ["SDC216"]
    assert advice(change("    NORM\n", "", text)) == ["SDC216"]
    assert advice(change("NORM", "norm L1L2", text)) == []


def test_sliding_levels_of_a_table_that_is_adjusted():
    text = change("upl 12", "upl 12\n  spl 30", CLEAN)
    assert advice(text) == []
    seeded = change('policy "tiny"\n', 'policy "tiny"\nseed 4\n', text)
    adjusted = change("method csp", "method cta\n  assess B1", seeded)
    assert advice(adjusted) == ["SDC216"]
    assert advice(change("spl 30", "spl 0", adjusted)) == []


def test_symmetric_levels_reveal_the_midpoint():
    text = change("method csp", "method ip", change("upl 12", "upl 10", CLEAN))
    assert advice(text) == ["SDC205"]
    moved = change("method ip", "method ip {\n    avoid_centre\n  }", text)
    assert advice(change('policy "tiny"\n', 'policy "tiny"\nseed 7\n', moved)) == []  # and the seed is used
    assert advice(change("method csp", "method ip", CLEAN)) == []
    # In a scenario, or against one attacker only; behind `else` it may come to it as well.
    uneven = change("method csp", "method csp else ip", CLEAN)
    assert advice(uneven) == []
    scenario = "scenario worse {\n  against external\n  upl 10\n}\n"
    assert advice(change("  lpl 10", "  scenarios worse\n  lpl 10", uneven) + scenario) == ["SDC205"]
    assert advice(change("  upl 12\n", "  upl 12\n  upl 10 against external\n", uneven)) == ["SDC205"]


COUNTS = """sdc 1
policy "counts"
dimension area {
  codes A, B
  total All
}
dimension illness {
  codes flu, measles
  total Any
}
data people {
  csv "people.csv"
}
table patients {
  from people
  by area, illness
  count
}
sensitive by threshold(3)
attacker external {
  bounds 0 .. inf
}
protect patients {
  lpl needed
  upl needed
  against external
  method csp {
    time_limit 1 min
  }
  release csv "out.csv"
}
"""


def test_counts_without_a_rule_for_groups():
    assert advice(COUNTS) == ["SDC218"]
    said = change("  count\n", "  count\n  attribute illness\n", COUNTS)
    assert advice(said) == ["SDC218"]
    rule = "sensitive by threshold(3)\nsensitive by group_disclosure"
    assert advice(change("sensitive by threshold(3)", rule, said)) == []
    of_table = rule.replace("sensitive by g", "sensitive patients by g")
    assert advice(change("sensitive by threshold(3)", of_table, said)) == []
    # One dimension has no groups, and amounts count nobody.
    assert "SDC218" not in advice(change("  by area, illness\n", "  by illness\n", COUNTS))
    assert "SDC218" not in advice(change("  count\n", "  sum turnover\n", COUNTS))


def test_levels_of_zero():
    assert advice(change("upl 12", "upl 0", change("lpl 10", "lpl 0", CLEAN))) == ["SDC210"]


def test_overrides_that_loosen_are_named():
    text = CLEAN + "override protect investment {\n  lpl 5\n}\n"
    assert "SDC207" in advice(text)
    assert "SDC207" not in advice(CLEAN + "override protect investment {\n  lpl 15\n}\n")
    wider = CLEAN + "override attacker external {\n  bounds -5 .. inf where value > 3\n}\n"
    assert "SDC207" in advice(wider)


@pytest.mark.parametrize(
    ("block", "said", "does"),
    [
        ("attacker informed", "bounds 0 .. inf", "loosens"),
        ("attacker informed", "bounds 50% of value .. 300% of value where value > 3", "loosens"),
        ("attacker informed", "bounds 60% of value .. 150% of value", None),
        ("protect investment", "upl 1 against informed", "loosens"),
        ("protect investment", "upl 1 where value > 3", "loosens"),
        ("protect investment", "lpl 20% of value", "may loosen"),
        ("protect investment", "against external", "loosens"),
        ("protect investment", "against external, informed", None),
        ("protect investment", "lpl 1\n  lpl 20", None),
    ],
)
def test_overrides_are_judged_as_a_diff_would(block: str, said: str, does: str | None):
    text = change("against external", "against external, informed") + f"override {block} {{\n  {said}\n}}\n"
    found = [d.headline for d in lint(policy(text), TODAY) if d.code == "SDC207"]
    kind, name = block.split()
    assert found == ([f"this override {does} {kind} `{name}`"] if does else [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  upl 12\n", "  upl 11 where value > 5\n  upl 12\n"),
        ("  upl 12\n", "  upl 12\n  upl 11 where value > 5\n  upl 13 where value > 5\n"),
        ("  upl 12\n", "  upl 11 against external where value > 5\n  upl 12\n"),
        ("  upl 12\n", "  upl 11 against external\n  upl 12 where value > 4\n  upl 12 against external\n"),
        ("bounds 0 .. inf", "bounds 0 .. inf\n  bounds 0 .. 900 where not (2 < 1 and value > 3)"),
        ("  upl 12\n", "  upl 12\n  upl 13 where 1 < 2 or 3 < 1\n"),
        ("sensitive investment at", "suppress investment where 1 > 2\nsensitive investment at"),
    ],
)
def test_dead_statements_and_constant_conditions(old: str, new: str):
    assert set(advice(change(old, new, CLEAN))) == {"SDC206"}


def test_a_seed_is_used_by_what_draws_numbers():
    seeded = change('policy "tiny"\n', 'policy "tiny"\nseed 4\n', CLEAN)
    assert advice(change("method csp", "method csp {\n    gap 1%\n  }", seeded)) == ["SDC204"]
    assert "SDC204" not in advice(change("method csp", "method ecta", seeded))
    assert advice(change("method csp", "method cta\n  assess B1", seeded)) == []


def test_thresholds_of_two():
    text = """sdc 1
policy "house rules"
sensitive by threshold(2)
"""
    assert advice(text) == ["SDC212"]
    assert advice(text.replace("2)", "3)")) == []


def test_waivers_are_judged_by_the_given_day():
    text = change(
        "sensitive inv", 'waive at (activity: I, region: A) until 2026-01-01 because "x"\nsensitive inv', CLEAN
    )
    assert [d.code for d in lint(policy(text), datetime.date(2026, 1, 1))] == []
    assert [d.code for d in lint(policy(text), datetime.date(2026, 1, 2))] == ["SDC203"]


AGAIN = """
protect investment as again {
  lpl 10
  upl 12
  cost value
  against external
  method csp
  release csv "again.csv"
}
"""
OTHER = """
data firms {
  csv "firms.csv"
}

table one {
  from firms
  by region
  sum turnover
}

table two {
  from firms
  by activity
  sum COLUMN
}

protect one, TABLE {
  lpl 1
  upl 1
  cost 1
  against external
  method csp {
    time_limit 1 min
  }
  release csv "one.csv"
}
"""
ALONE = OTHER[OTHER.index("protect") :].replace("one, TABLE", "two").replace("one.csv", "two.csv")


def test_the_same_figures_in_two_releases():
    assert advice(CLEAN + AGAIN) == ["SDC217"]
    assert advice(CLEAN + AGAIN.replace('  release csv "again.csv"\n', "")) == ["SDC209"]  # nobody gets to see it
    separate = CLEAN + OTHER.replace(", TABLE", "") + ALONE
    assert advice(separate.replace("COLUMN", "turnover")) == ["SDC217"]
    assert advice(separate.replace("COLUMN", "staff")) == []  # another quantity
    others = separate.replace("sum COLUMN", "sum turnover\n  only where year = 2024")
    assert advice(others) == []  # of other records
    assert advice(CLEAN + OTHER.replace("TABLE", "two").replace("COLUMN", "turnover")) == []  # together


def test_costs_that_nobody_states():
    assert "SDC221" in advice(change("  cost value\n", "", CLEAN))
    assert "SDC221" not in advice(CLEAN)
    assert "SDC221" not in advice(COUNTS)  # each count costs the same


def test_levels_on_one_side():
    assert "SDC219" in advice(change("  lpl 10\n", "", CLEAN))
    assert "SDC219" not in advice(change("  lpl 10\n", "  lpl 0\n", CLEAN))


def test_weights_that_say_nothing():
    rule = "sensitive by p_percent(10%)"
    text = change('  csv "people.csv"\n', '  csv "people.csv"\n  column weight = "w"\n', COUNTS)
    text = change("sensitive by threshold(3)", rule, change("  count\n", "  sum x\n", text))
    assert "SDC220" in advice(text)
    assert "SDC220" not in advice(change('weight = "w"', 'weight = "w" counts units', text))
    assert "SDC220" not in advice(change(rule, "sensitive by threshold(3)", text))  # it counts those who answered
