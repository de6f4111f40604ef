"""A block from another, and a period said once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from click.testing import CliRunner

from sdcdsl.cli import cli
from sdcdsl.diagnostics import Source, has_errors
from sdcdsl.diagnostics.render import render
from sdcdsl.policy import document as d
from sdcdsl.policy.diff import diff
from sdcdsl.policy.lint import lint
from sdcdsl.policy.read import read_text
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import option, statement
from tests.bind.policies import TODAY

HEAD = """sdc 1
policy "p"
%s
data d { csv "d-{quarter}.csv"; column unit = "id" }
dimension region { codes A, B, C; total T }
dimension size { codes a, b, c; total all }
table x { from d; by region, size; sum v }
table y { from d; by region, size; count }
sensitive x by threshold(3)
attacker e { bounds 0 .. inf }
attacker f { bounds 0 .. 9 }
protect x {
  lpl needed
  upl needed
  against e
  cost value
  method csp { time_limit 10 min }
  release csv "x-{quarter}.csv"
}
"""
PERIOD = 'period quarter "2025Q3" previous "2025Q2" { discount 30% }'
ALIKE = 'protect y like x { upl 5; against f; release csv "y-{quarter}.csv" }\n'


def read(text: str, **settings: str) -> Policy:
    policy, found = read_text(Source("p.sdc", text), Path("p.sdc"), settings=settings)
    assert not has_errors(found), render(found)
    return policy


def said(policy: Policy, block: str) -> list[str]:
    return [statement(s) for s in policy.protects[block].statements if not isinstance(s, d.MethodChain)]


def previous(policy: Policy, block: str) -> list[str]:
    [engine] = policy.protects[block].the(d.MethodChain).engines
    return [option(o) for o in engine.options if o.name.startswith("previous")]


def test_statements_of_the_other_come_first_and_releases_stay_there() -> None:
    policy = read(HEAD % PERIOD + ALIKE)
    assert said(policy, "y") == [
        "lpl needed",
        "upl needed",
        "against e",
        "cost value",
        "upl 5",
        "against f",
        'release csv "y-2025Q3.csv"',
    ]
    assert policy.protects["y"].the(d.Against).attackers == ("f",)


def test_an_override_of_the_one_counts_for_the_other() -> None:
    policy = read(HEAD % PERIOD + ALIKE + "override protect x { lpl 7 }\n")
    assert said(policy, "y")[4:6] == ["lpl 7", "upl 5"]


def test_chains_of_likeness() -> None:
    third = "protect y as z like y { lpl 1 }\n"
    policy = read(HEAD % PERIOD + ALIKE + third)
    assert said(policy, "z") == ["lpl needed", "upl needed", "against e", "cost value", "upl 5", "against f", "lpl 1"]


def test_what_it_replaces_is_no_idle_statement() -> None:
    policy = read(HEAD % PERIOD + ALIKE)
    assert "SDC206" not in [found.code for found in lint(policy, TODAY)]


def test_a_change_in_the_one_is_a_change_in_both() -> None:
    edits = diff(read(HEAD % PERIOD + ALIKE), read(HEAD.replace("lpl needed", "lpl 5") % PERIOD + ALIKE))
    assert [(e.where, e.old, e.new) for e in edits] == [
        ("protect x", "lpl needed", "lpl 5"),
        ("protect y", "lpl needed", "lpl 5"),
    ]


def test_the_period_names_the_file_of_the_last_one() -> None:
    policy = read(HEAD % PERIOD + ALIKE)
    assert previous(policy, "x") == ['previous "x-2025Q2.csv"', "previous_discount 30%"]
    assert previous(policy, "y") == ['previous "y-2025Q2.csv"', "previous_discount 30%"]
    assert policy.data["d"].the(d.Origin).file.path == "d-2025Q3.csv"


def test_the_next_period_is_set() -> None:
    policy = read(HEAD % PERIOD + ALIKE, quarter="2025Q4", previous="2025Q3")
    assert previous(policy, "x")[0] == 'previous "x-2025Q3.csv"'
    assert said(policy, "x")[-1] == 'release csv "x-2025Q4.csv"'


def test_what_a_method_says_itself_counts() -> None:
    own = HEAD.replace("time_limit 10 min", 'previous "old.csv"; previous_discount 10%')
    assert previous(read(own.replace("%s", PERIOD) + ALIKE), "x") == ['previous "old.csv"', "previous_discount 10%"]


def test_without_a_period_before_nothing_is_consistent() -> None:
    assert previous(read(HEAD % 'period quarter "2025Q3"' + ALIKE), "x") == []


def test_two_quarters(tmp_path: Path) -> None:
    """The second one reads what the first one released."""
    (tmp_path / "p.sdc").write_text(HEAD % 'period quarter "2025Q2"', encoding="utf-8")
    (tmp_path / "q.sdc").write_text(HEAD % 'period quarter "2025Q3" previous "2025Q2"', encoding="utf-8")
    rows = [(f"u{i}", "ABC"[i % 3], "abc"[i // 3 % 3], 10 + i) for i in range(40)]
    rows = [row for row in rows if row[1:3] != ("A", "a")] + [("one", "A", "a", 5)]
    for quarter in ("2025Q2", "2025Q3"):
        pl.DataFrame(rows, schema=["id", "region", "size", "v"], orient="row").write_csv(tmp_path / f"d-{quarter}.csv")
    for name in ("p", "q"):
        run = CliRunner().invoke(cli, ["protect", str(tmp_path / f"{name}.sdc"), "--no-report"])
        assert run.exit_code == 0, run.output
    assert "0 newly not published, 0 published again, against x-2025Q2.csv" in run.output
    assert (tmp_path / "x-2025Q3.csv").read_text() == (tmp_path / "x-2025Q2.csv").read_text()
