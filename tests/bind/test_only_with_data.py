"""What a policy says about codes, units and records can be right or wrong, and only the data tells."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli

FILED = """sdc 1
data d {
  csv "d.csv"
  column unit = "id"
}
dimension a {
  hierarchy hrc "a.hrc"
  total T
}
dimension b {
  codes x, y
  total T
}
table t {
  from d
  by a, b
  sum v
}
sensitive by threshold(3)
attacker e {
  bounds 0 .. inf
}
attacker r {
  each unit
  knows own contribution
  bounds 0 .. inf
}
protect t {
  lpl needed
  upl needed
  against e, r
  method csp
}
"""
ROWS = "id,a,b,v\n" + "".join(f"u{i},{'AB'[i % 2]},{'xy'[i % 3 == 0]},{10 + i}\n" for i in range(9))


def document_of(folder, policy: str, records: str = ROWS):
    (folder / "p.sdc").write_text(policy, encoding="utf-8")
    (folder / "d.csv").write_text(records, encoding="utf-8")
    (folder / "a.hrc").write_text("A\nB\n", encoding="utf-8")
    result = CliRunner().invoke(cli, ["plan", str(folder / "p.sdc"), "--json"])
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    "condition", ["publish where a = ZZ", "suppress where a in (A, ZZ)", 'waive where a under ZZ because "x"']
)
def test_codes_that_only_the_hierarchy_file_knows(tmp_path, condition: str):
    document = document_of(tmp_path, FILED + condition + "\n")
    assert [d["code"] for d in document["diagnostics"] if d["severity"] == "error"] == ["SDC116"]
    assert document["exit"] == 3


def test_a_waiver_is_looked_for_among_all_records(tmp_path):
    policy = FILED.replace("  sum v\n", "  sum v\n  only where v > 14\n")
    document = document_of(tmp_path, policy + 'waive unit u0 until 2099-01-01 because "x"\n')
    assert document["exit"] == 0
    document = document_of(tmp_path, policy + 'waive unit u77 until 2099-01-01 because "x"\n')
    (found,) = document["diagnostics"]
    assert (found["code"], found["marks"][0]["label"]) == ("SDC325", "waived here")


def test_one_negative_record_blinds_nobody_elsewhere(tmp_path):
    before = document_of(tmp_path, FILED)["blocks"][0]
    negative = document_of(
        tmp_path, FILED.replace("bounds 0 .. inf", "bounds -inf .. inf"), ROWS.replace("u0,A,y,10", "u0,A,y,-10")
    )["blocks"][0]
    # u0 is the only one to lose what it knew, and others only in the cells it is in.
    assert before["attackers"]["r"] > 1
    assert negative["attackers"]["r"] > 1


def test_a_filter_by_an_unquoted_code(tmp_path):
    document = document_of(tmp_path, FILED.replace("  sum v\n", "  sum v\n  only where b = x\n"))
    assert document["exit"] == 0, document["diagnostics"]
