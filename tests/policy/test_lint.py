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


def test_symmetric_levels_reveal_the_midpoint():
    text = change("method csp", "method ip", change("upl 12", "upl 10", CLEAN))
    assert advice(text) == ["SDC205"]
    assert advice(change("method ip", "method ip {\n    avoid_centre\n  }", text)) == []
    assert advice(change("method csp", "method ip", CLEAN)) == []


def test_levels_of_zero():
    assert advice(change("upl 12", "upl 0", change("lpl 10", "lpl 0", CLEAN))) == ["SDC210"]


def test_overrides_that_loosen_are_named():
    text = CLEAN + "override protect investment {\n  lpl 5\n}\n"
    assert "SDC207" in advice(text)
    assert "SDC207" not in advice(CLEAN + "override protect investment {\n  lpl 15\n}\n")
    wider = CLEAN + "override attacker external {\n  bounds -5 .. inf where value > 3\n}\n"
    assert "SDC207" in advice(wider)


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
