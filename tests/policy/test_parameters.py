"""Parameters: what they stand for, where, and what is said when they are set or named wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcdsl.diagnostics import Source
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.diff import diff
from sdcdsl.policy.read import read_policy, read_text
from sdcdsl.policy.resolve import Policy

POLICY = """\
sdc 1
policy "Turnover {year}"
param year = 2025
param share = 10%
param focus = "A"
param limit = 5 min
data e {
  csv "turnover-{year}.csv"
  column unit = "id {{old}}"
}
dimension region {
  codes A, B
  total T
}
table t {
  from e
  by region
  sum turnover
  only where year = "{year}"
}
sensitive by p_percent(share)
publish at (region: "{focus}")
attacker x {
  bounds 0 .. inf
}
protect t {
  lpl share of value
  upl 2 * (share of value)
  against x
  cost value
  method csp {
    time_limit limit
  }
  release csv "out-{year}.csv"
}
"""


def policy_of(text: str = POLICY, **settings: str) -> Policy:
    policy, found = read_text(Source("p.sdc", text), Path("p.sdc"), settings=settings)
    assert not found, [one.headline for one in found]
    return policy


def headlines(text: str = POLICY, **settings: str) -> list[tuple[str, str]]:
    return [(one.code, one.headline) for one in read_text(Source("p.sdc", text), Path("p.sdc"), settings=settings)[1]]


def written_out(year: str = "2025", share: str = "10%", limit: str = "5 min") -> str:
    text = "".join(line for line in POLICY.splitlines(keepends=True) if not line.startswith("param"))
    text = text.replace('"{year}"', year).replace("{year}", year).replace("share", share).replace("{focus}", "A")
    return text.replace("time_limit limit", f"time_limit {limit}")


def said(policy: Policy):
    return policy.title, policy.blocks, policy.facts


@pytest.mark.parametrize(
    "settings", [{}, {"year": "2026"}, {"share": "12.5%", "limit": "90 s"}, {"year": "2027", "share": "1%"}]
)
def test_a_policy_says_what_it_says_with_values_written_out(settings):
    assert said(policy_of(**settings)) == said(policy_of(written_out(**settings)))


def test_doubled_braces_mean_themselves():
    (column,) = policy_of().data["e"].all(d.Column)
    assert column.column == "id {old}"


def test_a_text_that_is_a_parameter_has_its_kind():
    (only,) = policy_of(year="2031").tables["t"].all(d.Only)
    assert only.where == x.Compare("=", x.Name("year"), x.Number("2031"))


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("year", "20x6", "a whole number"),
        ("year", "2026.5", "a whole number"),
        ("year", "9" * 50, "a whole number"),
        ("share", "12", "a percentage"),
        ("share", "0.12", "a percentage"),
        ("share", "-5%", "a percentage"),
        ("limit", "5", "a time"),
        ("focus", "A\nB", "a text"),
    ],
)
def test_a_value_of_another_kind_is_refused(name, text, kind):
    ((code, headline),) = headlines(**{name: text})
    assert code == "SDC150"
    assert headline.startswith(f"parameter `{name}` is {kind}, and was set to ")


def test_a_parameter_that_nobody_declares_is_refused():
    assert headlines(yaer="2026") == [("SDC149", "the policy has no parameter `yaer` to set")]


def test_numbers_may_be_set_below_zero():
    text = "sdc 1\nparam low = -2.5\nattacker x {\n  bounds low .. inf\n}\n"
    (bounds,) = policy_of(text, low="-4").attackers["x"].all(d.Bounds)
    assert bounds.low == x.Negative(x.Number("4"))


def test_parameters_of_a_used_file_have_its_prefix(tmp_path):
    house = 'sdc 1\nparam p = 10%\nsensitive by p_percent(p) because "{p} at least"\n'
    (tmp_path / "house.sdc").write_text(house, encoding="utf-8")
    own = tmp_path / "own.sdc"
    own.write_text('sdc 1\nuse "house.sdc" as office\npolicy "at {office.p}"\n', encoding="utf-8")
    policy, found = read_policy(own, settings={"office.p": "15%"})
    assert not found
    assert policy.title == "at 15%"
    (rule,) = policy.facts_of(d.Sensitive)
    assert rule.because == "15% at least"
    assert rule.rule is not None
    assert rule.rule.arguments[0].value == x.Percent("15")
    assert read_policy(own, settings={"p": "15%"})[1][0].code == "SDC149"


def test_a_changed_parameter_is_one_change():
    (edit,) = diff(policy_of(), policy_of(POLICY.replace("10%", "12%")))
    assert (edit.old, edit.new, edit.verdict) == ("param share = 10%", "param share = 12%", "tighter")
    assert edit.why.startswith("3 statements name it: ")
    (edit,) = diff(policy_of(), policy_of(year="2026"))
    assert (edit.old, edit.new, edit.verdict) == ("param year = 2025", "param year = 2026", "needs data")


def test_other_changes_stay_apart_from_that_of_a_parameter():
    edits = diff(policy_of(), policy_of(POLICY.replace("10%", "12%").replace("cost value", "cost 2 * value")))
    assert [e.new for e in edits] == ["cost 2 * value", "param share = 12%"]


def test_values_that_stay_the_same_are_no_change():
    edits = diff(policy_of(), policy_of(written_out()))
    assert {(e.kind, e.verdict.value) for e in edits} == {("removed", "neutral")}
    assert len(edits) == 4
