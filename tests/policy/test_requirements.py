"""Requirements that the policy's own amounts break (SDC142)."""

from __future__ import annotations

import pytest

from tests.policy.reading import TINY, change, codes

S = "  scenarios s\n"


def broken(condition: str, levels: str, more: str = "") -> bool:
    text = change("  lpl 10\n  upl 12\n", "".join(f"  {level}\n" for level in levels.split("; ")), TINY)
    text = change("protect inv", f'require {condition} because "house"\nprotect inv', text)
    found = codes(text + more)
    assert set(found) <= {"SDC142"}
    return bool(found)


@pytest.mark.parametrize(
    ("condition", "levels", "expected"),
    [
        ("upl >= 5% of value", "upl 3% of value", True),
        ("upl >= 5% of value", "upl 5% of value", False),
        ("upl >= 5% of value", "upl 4", False),  # the data must tell
        ("upl != 4", "upl 4", True),
        ("upl != 4", "upl 5", False),
        ("upl = 4", "upl 5", True),
        ("upl = 4", "upl 4", False),
        ("upl > 4", "upl 4", True),
        ("upl < 4", "upl 4", True),
        ("upl <= 4", "upl 4", False),
        ("4 <= upl", "upl 3", True),
        ("not (upl < 4)", "upl 3", True),
        ("lpl >= 5% of value and upl >= 5% of value", "lpl 6% of value; upl 4% of value", True),
        ("lpl >= 5% of value and upl >= 5% of value", "lpl 6% of value; upl 6% of value", False),
        ("lpl >= 5% of value or upl >= 5% of value", "lpl 6% of value; upl 4% of value", False),
        ("lpl >= 5% of value", "upl 9% of value", True),  # a level that nothing states is 0
        ("upl >= 5% of value", "upl 9% of value; upl 4% of value where value > 10", True),
        ("upl >= 5% of value", "upl 4% of value where value > 10; upl 9% of value", False),  # dead
        ("upl >= 5% of value", "upl 9% of value; upl 4% of value against external", True),
        ("upl >= 5% of value", "upl 4% of value; upl 9% of value against external", False),  # dead for all there are
        ("lpl + upl >= 10", "lpl 4; upl 5", True),
        ("lpl + upl >= 10", "lpl 4; upl 6", False),
        ("upl >= needed", "upl needed", False),
        ("upl >= 5% of value", "upl max(needed, 5% of value)", False),
        ("upl >= 5% of value", "upl max(needed, 4% of value)", False),
        ("upl >= 5% of value", "upl min(needed, 4% of value)", True),
    ],
)
def test_what_breaks_a_requirement(condition: str, levels: str, expected: bool):
    assert broken(condition, levels) is expected


@pytest.mark.parametrize(
    ("levels", "own", "expected"),
    [
        ("upl 4", "upl 6", False),  # against the same attacker the larger level counts
        ("upl 6", "upl 4", False),
        ("upl 4", "upl 3", True),
    ],
)
def test_scenarios_on_top_of_a_block(levels: str, own: str, expected: bool):
    scenario = f"scenario s {{\n  against external\n  {own}\n}}\n"
    override = "override protect investment {\n  scenarios s\n}\n"
    assert broken("upl >= 5", levels, scenario + override) is expected
    other = scenario.replace("external", "informed")
    assert broken("upl >= 5", levels, other + override) is True  # two attackers, one of them too low
