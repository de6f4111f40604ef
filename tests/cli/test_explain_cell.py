"""`sdcdsl explain FILE --cell …` on tables whose right answers can be worked out by hand.

The table of `tests.cli.investment`. With II·A, II·C, III·A and III·C hidden, II·C lies in [5, 30]; if any of the other
three were published, everything would be known. With I·A and I·C hidden as well, publishing I·A gives I·C away and
leaves the same square as before: neither of the two is needed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import cli
from sdcdsl.cli.explain_text import _moves
from sdcdsl.pipeline.inferences import FeasibleTable, FeasibleValue
from sdcdsl.vocabulary.rules import RULES
from tests.cli.investment import CELL, FOUR, World

LEVELS = ("lpl 5", "upl 8")


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["explain", *map(str, arguments)], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def explained(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--json")
    out = json.loads(result.stdout)
    assert out["exit"] == result.exit_code == 0, result.output
    [cell] = out["cells"]
    return cell


def named(cell: str) -> str:
    activity, region = cell.split("·")
    return f"activity: {activity}, region: {region}"


# ---- what a hidden cell is for ---------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["II·A", "III·A", "III·C"])
def test_every_corner_of_the_square_is_needed(world: World, cell: str):
    found = explained(world.policy(*LEVELS), "--cell", named(cell), "--released", world.hidden(*FOUR))
    assert not found["sensitive"] and found["release"]["kind"] == "hidden"
    assert found["if_published"]["lost_pairs"] == found["if_published"]["lost_cells"] == 1
    [loss] = found["if_published"]["needed_for"]
    assert (loss["cell"], loss["attacker"], loss["attackers"]) == (CELL, "external", 1)
    assert (loss["now"]["low"], loss["now"]["high"], loss["now"]["verdict"]) == (5, 30, "protected")
    assert (loss["then"]["low"], loss["then"]["high"], loss["then"]["verdict"]) == (22, 22, "exposed")
    assert (loss["lpl"], loss["upl"], loss["left_below"], loss["left_above"]) == (5, 8, 0, 0)


@pytest.mark.parametrize("cell", ["I·A", "I·C", "III·A"])
def test_a_cell_that_could_be_published_by_itself(world: World, cell: str):
    """Without III·A the square of the first two rows is left: II·C in [2, 30]."""
    policy, released = world.policy(*LEVELS), world.hidden(*FOUR, "I·A", "I·C")
    found = explained(policy, "--cell", named(cell), "--released", released)
    assert found["if_published"]["connected_pairs"] == 1
    assert found["if_published"]["lost_pairs"] == 0 and found["if_published"]["needed_for"] == []
    text = run(policy, "--cell", named(cell), "--released", released).stdout
    assert "it could be published by itself" in text
    assert "stay protected without it" in text


def test_one_that_is_needed_beside_those_that_are_not(world: World):
    released = world.hidden(*FOUR, "I·A", "I·C")
    found = explained(world.policy(*LEVELS), "--cell", named("II·A"), "--released", released)
    [loss] = found["if_published"]["needed_for"]
    assert (loss["then"]["low"], loss["then"]["high"]) == (22, 22)


def test_a_cell_that_nothing_sensitive_is_connected_with(world: World):
    found = explained(world.policy(*LEVELS), "--cell", named("I·Total"), "--released", world.hidden(*FOUR, "I·Total"))
    assert found["if_published"]["connected_pairs"] == 0
    assert found["outsider"]["low"] == found["outsider"]["high"] == 80  # its row gives it away


def test_pairs_that_are_exposed_anyway_are_no_reason_to_hide(world: World):
    found = explained(world.policy("upl 12"), "--cell", named("III·A"), "--released", world.hidden(*FOUR))
    assert found["if_published"]["lost_pairs"] == 0 and found["if_published"]["exposed_anyway"] == 1
    [worse] = found["if_published"]["worse"]
    assert worse["now"]["verdict"] == "exposed" and (worse["now"]["high"], worse["then"]["high"]) == (30, 22)


# ---- what attackers infer --------------------------------------------------------------------------


def test_the_sensitive_cell(world: World):
    path = world.policy(*LEVELS)
    found = explained(path, "--cell", f"investment({named('II·C')})", "--released", world.hidden(*FOUR))
    assert found["sensitive"] and found["value"] == 22
    [rule] = found["rules"]
    line = path.read_text().splitlines().index("sensitive investment at (activity: II, region: C)") + 1
    assert rule["marks"] and rule["at"] == f"{path}:{line}:1"
    [external] = found["attackers"]
    assert (external["low"], external["high"], external["verdict"]) == (5, 30, "protected")
    assert external["slack"] == {"below": 12, "above": 0}
    assert external["asked_by"]["upl"]["statement"] == "upl 8"
    assert found["if_published"]["exposes_itself"] and found["outsider"] is None


def test_tables_that_cannot_be_ruled_out_are_tables(world: World):
    """They keep every sum: what II·C gains, II·A and III·C lose and III·A gains."""
    found = explained(world.policy(*LEVELS), "--cell", named("II·C"), "--released", world.hidden(*FOUR))
    tables = found["attackers"][0]["possible_tables"]
    assert len(tables) == 2 and min(t["value"] for t in tables) <= 17 and max(t["value"] for t in tables) >= 30
    for table in tables:
        by = table["value"] - 22
        moved = {m["cell"]: m["there"] - m["true"] for m in table["moves"]}
        assert moved == {
            "activity = II, region = A": -by,
            "activity = III, region = A": by,
            "activity = III, region = C": -by,
        }
        assert all(m["there"] >= 0 for m in table["moves"]) and table["moved"] == 3


def test_what_is_missing_is_said(world: World):
    path = world.policy("upl 12")
    found = explained(path, "--cell", named("II·C"), "--released", world.hidden(*FOUR))
    [external] = found["attackers"]
    assert external["verdict"] == "exposed" and external["slack"] == {"above": -4}
    assert "4 missing" in run(path, "--cell", named("II·C"), "--released", world.hidden(*FOUR)).stdout


def test_an_outsider_about_a_cell_that_is_not_sensitive(world: World):
    """II·A moves against II·C: 8 - t for t in [-17, 8]."""
    found = explained(world.policy(*LEVELS), "--cell", named("II·A"), "--released", world.hidden(*FOUR))
    assert found["attackers"] == []
    assert (found["outsider"]["low"], found["outsider"]["high"]) == (0, 25)
    assert {t["value"] for t in found["outsider"]["possible_tables"]} == {0, 25}


# ---- other forms of release ------------------------------------------------------------------------


def test_a_cell_that_is_published(world: World):
    found = explained(world.policy(*LEVELS), "--cell", named("I·B"), "--released", world.hidden(*FOUR))
    assert found["release"]["kind"] == "published" and found["release"]["value"] == 50
    assert found["if_published"] is None and found["outsider"] is None
    assert [r["not_published"] for r in found["relations"]] == [0, 0]


def test_rounded_to_ten(world: World):
    """II·A = 10 ± 10 told; narrowing it to 8 leaves II·C what its own rounding tells."""
    figures: dict[str, object] = {"II·A": 10, "II·C": 20, "III·A": 20, "III·C": 10}
    released = world.released(figures)
    found = explained(world.policy("lpl 1", "upl 1"), "--cell", named("II·A"), "--released", released, "--base", 10)
    assert found["release"]["kind"] == "changed"
    assert (found["release"]["value"], found["release"]["low"], found["release"]["high"]) == (10, 0, 20)
    [loss] = found["if_published"]["needed_for"]
    assert (loss["then"]["low"], loss["then"]["high"]) == (22, 22)


def test_changed_without_a_word_about_it_cannot_be_attacked(world: World):
    released = world.released({"II·A": 0, "II·C": 30, "III·A": 25, "III·C": 4})
    path = world.policy(*LEVELS)
    found = explained(path, "--cell", named("II·A"), "--released", released)
    assert found["release"]["kind"] == "changed" and not found["release"]["attacked"]
    assert found["if_published"] is None and found["outsider"] is None and found["attackers"] == []
    text = run(path, "--cell", named("II·A"), "--released", released).stdout
    assert "changed to 0 (-8)" in text and "no attacker can be simulated" in text


def test_without_a_release_the_policy_is_run_and_nothing_written(world: World):
    """Levels 10 and 12 with cost = value: II·B, III·B, II·C and III·C (paper 003, Figure 1), II·C in [0, 34]."""
    path = world.policy("lpl 10", "upl 12", against='against external\n  cost value\n  release csv "out.csv"')
    found = explained(path, "--cell", named("II·B"))
    assert found["release"]["kind"] == "hidden" and found["release"]["by"] == "csp"
    [loss] = found["if_published"]["needed_for"]
    assert (loss["now"]["low"], loss["now"]["high"]) == (0, 34)
    assert [p.name for p in world.folder.iterdir()] == [path.name]


# ---- rules and statements --------------------------------------------------------------------------

MICRODATA = """\
sdc 1
policy "Turnover"

data firms {
  csv "firms.csv"
  column unit = "firm"
}

dimension place {
  codes North, South, "East, by the sea"
  total Country
}

dimension kind {
  codes A, B
  total All
}

table turnover {
  from firms
  by place, kind
  sum turnover
}

sensitive by threshold(2)
sensitive by p_percent(10%)
sensitive by dominance(2, 85%)

waive turnover at (place: South, kind: A) because "public"
fix turnover at (place: South, kind: B) because "known"

attacker external {
  bounds 0 .. inf
}

protect turnover {
  lpl max(needed, 1)
  upl max(needed, 1)
  against external
  method csp
}
"""
FIRMS = """\
firm,place,kind,turnover
n1,North,A,90
n2,North,A,8
n3,North,A,2
n4,North,B,30
n5,North,B,30
n6,North,B,30
s1,South,A,70
s2,South,B,40
s3,South,B,40
s4,South,B,40
e1,"East, by the sea",A,50
e2,"East, by the sea",A,40
e3,"East, by the sea",A,30
e4,"East, by the sea",B,55
e5,"East, by the sea",B,45
e6,"East, by the sea",B,35
"""


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    (tmp_path / "firms.csv").write_text(FIRMS, encoding="utf-8")
    path = tmp_path / "firms.sdc"
    path.write_text(MICRODATA, encoding="utf-8")
    return path


def test_rules_say_their_figures(firms: Path):
    found = explained(firms, "--cell", "place: North, kind: A")
    rules = {r["statement"]: r for r in found["rules"]}
    assert {s: r["marks"] for s, r in rules.items()} == {
        "sensitive by threshold(2)": False,
        "sensitive by p_percent(10%)": True,
        "sensitive by dominance(2, 85%)": True,
    }
    assert rules["sensitive by threshold(2)"]["figures"] == "3 contributors, 2 needed"
    # R = 100 - 90 - 8 = 2, and 2 / 90 = 2.22 %; the level is 10 % of 90 less 2.
    p = rules["sensitive by p_percent(10%)"]
    assert "within 2.22 %" in p["figures"] and "10 % required" in p["figures"]
    assert (p["needed_lower"], p["needed_upper"]) == (7, 7)
    dominance = rules["sensitive by dominance(2, 85%)"]
    assert "98 % (98 of 100)" in dominance["figures"] and "85 % allowed" in dominance["figures"]
    assert dominance["needed_upper"] == pytest.approx(98 / 0.85 - 100)
    [seat] = found["tables"]
    assert seat["contributors"] == 3
    assert [(x["amount"], x["who"]) for x in seat["largest"]] == [(90, "n1"), (8, "n2"), (2, "n3")]


def test_waived_cells_and_fixed_ones(firms: Path):
    waived = explained(firms, "--cell", "place: South, kind: A")
    assert not waived["sensitive"] and any(r["marks"] for r in waived["rules"])
    assert [s["word"] for s in waived["stated"]] == ["waive"]
    assert "waived by another" in run(firms, "--cell", "place: South, kind: A").stdout
    fixed = explained(firms, "--cell", "kind = B, place = South")
    assert [s["word"] for s in fixed["stated"]] == ["fix"] and fixed["release"]["kind"] == "published"


def test_codes_in_quotation_marks(firms: Path):
    found = explained(firms, "--cell", 'place: "East, by the sea", kind: A')
    assert found["value"] == 120


def test_every_rule_has_its_formula_on_its_page():
    for name, rule in RULES.built_in.items():
        page = run(name).stdout
        assert ("## Formula" in page) == (rule.formula is not None) == (name != "status")  # a status column has none
        assert rule.formula is None or (rule.formula.sensitive in page and rule.formula.level in page)


# ---- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "code", "words"),
    [
        ("activity: IIII, region: A", "SDC116", "did you mean `III`?"),
        ("activity: II", "SDC118", '--cell "activity: II, region: Total"'),
        ("activty: II, region: A", "SDC101", "did you mean `activity`?"),
        ("investmnt(activity: II, region: A)", "SDC102", "did you mean `investment`?"),
        ("the cell in the middle", "SDC118", "DIMENSION: CODE"),
        ("activity: II, activity: III", "SDC118", "named twice"),
        ("cell 17", "SDC101", "no dimension `cell`"),
    ],
)
def test_cells_that_do_not_exist(world: World, cell: str, code: str, words: str):
    result = run(world.policy(*LEVELS), "--cell", cell, "--released", world.hidden(*FOUR))
    assert result.exit_code == 2
    assert f"error[{code}]" in result.stdout and words in result.stdout


def test_files_that_are_not_there_or_do_not_fit(world: World):
    path = world.policy(*LEVELS)
    assert run(world.folder / "other.sdc", "--cell", named("I·A")).exit_code == 1
    assert run(world.folder / "other.jj", "--cell", "cell 1").exit_code == 3
    gone = run(path, "--cell", named("I·A"), "--released", world.released({}, leave_out=("I·B",)))
    assert gone.exit_code == 3 and "error[" in gone.stdout
    assert run(path).exit_code == 2
    assert run("p_percent", "--cell", named("I·A")).exit_code == 2


JJ = """\
0
4
0 10 1 z 10 10 0 0 0
1 2 1 u 0 10 1 1 0
2 3 1 s 0 10 0 0 0
3 5 1 s 0 10 0 0 0
1
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
"""


def test_a_jj_file(tmp_path: Path):
    """10 = 2 + 3 + 5; with cells 1 and 2 hidden, cell 2 is needed: without it cell 1 is known."""
    path = tmp_path / "small.jj"
    path.write_text(JJ, encoding="utf-8")
    (tmp_path / "hidden.jj").write_text(JJ.replace("2 3 1 s", "2 3 1 m"), encoding="utf-8")
    found = explained(path, "--cell", "cell 2", "--released", tmp_path / "hidden.jj")
    assert found["cell"] == "cell 2" and found["relations"] == [
        {"relation": "relation 0", "total": False, "others": 3, "not_published": 1}
    ]
    [loss] = found["if_published"]["needed_for"]
    assert (loss["cell"], loss["now"]["low"], loss["now"]["high"]) == ("cell 1", 0, 5)
    sensitive = explained(path, "--cell", "cell 1", "--released", tmp_path / "hidden.jj")
    assert "levels 1 below and 1 above" in sensitive["rules"][0]["figures"]


def test_one_more_cell_and_more_cells():
    move = FeasibleValue(0, 1.0, 2.0)
    assert _moves(FeasibleTable(1.0, (move,), 2)) == ", with these and 1 more cell changed"
    assert _moves(FeasibleTable(1.0, (move,), 3)) == ", with these and 2 more cells changed"
