"""`sdcdsl diff --cells`: the effect of a change on the table by hand of `tests.cli.investment`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import cli
from tests.cli.investment import CELL, POLICY

FACT = "sensitive investment at (activity: II, region: C)"


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["diff", *map(str, arguments)], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def document(*arguments: object) -> dict[str, Any]:
    return json.loads(run(*arguments, "--json").stdout)


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Amounts are left out otherwise."""
    monkeypatch.setenv("SDCDSL_SHOW_VALUES", "1")


@pytest.fixture
def pair(tmp_path: Path):
    """Writes the policy twice, the second time with changes."""

    def write(*changes: tuple[str, str], levels: str = "lpl 10\n  upl 12\n  cost value") -> tuple[Path, Path]:
        old, new = tmp_path / "old.sdc", tmp_path / "new.sdc"
        text = POLICY.replace("LEVELS", levels)
        old.write_text(text, encoding="utf-8")
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        new.write_text(text, encoding="utf-8")
        return old, new

    return write


def test_nothing_changed(pair):
    old, new = pair()
    result = run(old, new, "--cells")
    assert result.exit_code == 0 and "nothing changes for any cell" in result.stdout


def test_what_follows_from_contributions_is_shown_to_those_who_ask(pair, monkeypatch: pytest.MonkeyPatch):
    """Levels of 10 % and 17 % of 22, a cost of twice the value, and what both releases cost."""
    old, new = pair(("lpl 10\n", "lpl 17% of value\n"), ("cost value", "cost 2 * value"))
    asked = run(old, new, "--protect", "--all").stdout
    assert "10 → 3.74" in asked and "190 → 380" in asked
    monkeypatch.delenv("SDCDSL_SHOW_VALUES")
    text, said = run(old, new, "--protect", "--all").stdout, run(old, new, "--protect", "--all", "--json").stdout
    effect = text.partition("cells of investment")[2]
    assert f"{CELL}: … → …" in effect
    for figure in ("3.74", "190", "380", "85", "59"):
        assert figure not in effect and figure not in json.dumps(json.loads(said)["cells"])
    cells = [line.strip() for line in effect.partition("cost changed")[2].splitlines()[1:17]]
    # The order of the table; by their amounts, 101 of region B would come before 45 of region A.
    assert [line.partition(":")[0] for line in cells[1:3]] == [
        "activity = Total, region = A",
        "activity = Total, region = B",
    ]


def test_without_the_option_no_data_is_needed(tmp_path: Path):
    path = tmp_path / "old.sdc"
    path.write_text(DATA, encoding="utf-8")  # whose file is not there
    assert run(path, path).exit_code == 0 and "cells" not in document(path, path)
    assert run(path, path, "--cells").exit_code == 3


def test_sensitive_cells_and_their_statements(pair):
    other = "sensitive investment at (activity: I, region: C)"
    old, new = pair((FACT, other), ("lpl 10", "lpl 9"))
    result = run(old, new, "--cells")
    assert result.exit_code == 7
    [block] = document(old, new, "--cells")["cells"]
    [came], [went] = block["newly_sensitive"], block["no_longer_sensitive"]
    assert came["cell"] == "activity = I, region = C" and came["why"][0]["statement"] == other
    assert went["cell"] == CELL and went["why"][0] == {"statement": FACT, "at": f"{old}:24:1"}
    assert block["levels"] == []  # of no cell that is sensitive on both sides


def test_a_waiver_is_named(pair):
    old, new = pair((FACT, f'{FACT}\nwaive investment at (activity: II, region: C) because "consent"'))
    # Nothing would be sensitive any more, which is an error of its own: another cell stays.
    for path in (old, new):
        text = path.read_text() + "sensitive investment at (activity: I, region: A)\n"
        path.write_text(text, encoding="utf-8")
    [block] = document(old, new, "--cells")["cells"]
    [went] = block["no_longer_sensitive"]
    assert went["cell"] == CELL and went["why"][0]["statement"].startswith("waive investment")


def test_levels_costs_attackers_and_statuses(pair):
    old, new = pair(
        ("upl 12", "upl 3"),
        ("cost value", "cost 2 * value"),
        ("bounds 0 .. inf", "bounds 0 .. 1000"),
        ("against external", "against external, informed"),
        (FACT, f"fix where value = 50\n{FACT}"),
        ("lpl 10", "lpl 4"),
    )
    result = run(old, new, "--cells")
    assert result.exit_code == 7
    [block] = document(old, new, "--cells")["cells"]
    changed = {level["level"]: level["looser"] for level in block["levels"]}
    assert changed["upl"] == [{"cell": CELL, "old": 12, "new": 3}]
    assert changed["lpl"] == [{"cell": CELL, "old": 10, "new": 4}]
    assert (block["cost"][0]["old"], block["cost"][0]["new"]) == (190, 380) and len(block["cost"]) == 16
    assert [f["cell"] for f in block["newly_fixed"]] == ["activity = I, region = B"]
    who = {a["attacker"]: a for a in block["attackers"]}
    assert (who["informed"]["old"], who["informed"]["new"]) == (None, 1)
    assert (who["external"]["knows_more"], who["external"]["knows_less"]) == (15, 0)  # not of the one that is fixed
    assert "upl looser against external: 1 cell" in result.stdout
    assert "… and 11 more; --all lists them" in result.stdout
    assert "more; --all" not in run(old, new, "--cells", "--all").stdout


def test_other_codes_are_cells_of_one_side(pair):
    row = "    | III               | 17 |  32 | 12 |    61 |\n"
    old, new = pair(
        (row, ""), ("codes I, II, III", "codes I, II"), ("    | Total             | 45 | 101 | 44 |   190 |\n", "")
    )
    [block] = document(old, new, "--cells")["cells"]
    assert {row["cell"] for row in block["only_old"]} == {
        f"activity = III, region = {r}" for r in ("A", "B", "C", "Total")
    }
    assert block["only_new"] == [] and block["cells_in_both"] == 12
    totals = {row["cell"]: (row["old"], row["new"]) for row in block["value"]}
    assert totals["activity = Total, region = C"] == (44, 32)


def test_with_both_releases(pair):
    """Levels 10 and 12 cost 85, hiding II·B and III·B; 5 and 8 cost 59, hiding II·A and III·A (paper 003, Figure 1)."""
    old, new = pair(("lpl 10", "lpl 5"), ("upl 12", "upl 8"))
    [block] = document(old, new, "--protect")["cells"]
    made = block["protection"]
    assert (made["old"]["objective"], made["new"]["objective"]) == (85, 59)
    assert made["old"]["verdict"] == made["new"]["verdict"] == "protected"
    assert set(made["newly_published"]) == {"activity = II, region = B", "activity = III, region = B"}
    assert set(made["no_longer_published"]) == {"activity = II, region = A", "activity = III, region = A"}
    text = run(old, new, "--protect").stdout
    assert "cost: 85 → 59 (-26)" in text


DATA = """\
sdc 1
policy "Cells from a file"

dimension region {
  codes A, B
  total T
}

table t {
  from cells
  by region
  sum x
}

data cells {
  csv "DATA"
  column unit = "firm"
}

sensitive by threshold(2)

attacker external {
  bounds 0 .. inf
}

protect t {
  lpl needed
  upl needed
  against external
  method csp
}
"""


def test_other_data_for_both(tmp_path: Path):
    for name, text in (
        ("one.csv", "firm,region,x\na,A,5\nb,B,7\nc,B,9\n"),
        ("two.csv", "firm,region,x\na,A,5\nb,B,7\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    old, new = tmp_path / "old.sdc", tmp_path / "new.sdc"
    old.write_text(DATA.replace("DATA", "one.csv"), encoding="utf-8")
    new.write_text(DATA.replace("DATA", "two.csv"), encoding="utf-8")
    [block] = document(old, new, "--cells")["cells"]
    assert [row["cell"] for row in block["newly_sensitive"]] == ["region = B"]
    result = run(old, new, "--data", f"cells={tmp_path / 'two.csv'}")  # the statements differ, the cells do not
    assert result.exit_code == 7 and "nothing changes for any cell" in result.stdout
    assert run(old, new, "--data", "sells=x.csv").exit_code == 2
    assert run(old, new, "--data", f"cells={tmp_path / 'three.csv'}").exit_code == 3
