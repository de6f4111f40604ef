"""`sdcdsl audit` as a person runs it, on a table whose intervals can be worked out by hand.

           A    B    C  Total
    I     20   50   10     80
    II     8   19   22     49      II·C is sensitive
    III   17   32   12     61
    Total 45  101   44    190

With II·A, II·C, III·A and III·C hidden all else is known, and only one thing can move: t more in II·C and III·A, t less
in II·A and III·C. Nothing is negative, so t is at most 8 (II·A) and at least -17 (III·A): II·C lies in [5, 30].
"""

from __future__ import annotations

import csv
import io
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import cli
from sdcdsl.proof.certificate import Certificate
from tests.bind.test_shared_data import wide
from tests.conftest import SHARED_DATA

POLICIES = Path(__file__).resolve().parent.parent / "data_policies"

ROWS, COLUMNS = ("I", "II", "III", "Total"), ("A", "B", "C", "Total")
FIGURES = (20, 50, 10, 80, 8, 19, 22, 49, 17, 32, 12, 61, 45, 101, 44, 190)
TRUTH = {f"{row}·{column}": value for (row, column), value in zip(product(ROWS, COLUMNS), FIGURES, strict=True)}
FOUR = ("II·A", "II·C", "III·A", "III·C")
CELL = "activity = II, region = C"

POLICY = """\
sdc 1
policy "Investment"

dimension activity {
  codes I, II, III
  total Total
}

dimension region {
  codes A, B, C
  total Total
}

table investment {
  by activity, region
  values
    | activity \\ region |  A |   B |  C | Total |
    | I                 | 20 |  50 | 10 |    80 |
    | II                |  8 |  19 | 22 |    49 |
    | III               | 17 |  32 | 12 |    61 |
    | Total             | 45 | 101 | 44 |   190 |
}

sensitive investment at (activity: II, region: C)

attacker external {
  bounds 0 .. inf
}

attacker informed {
  bounds 80% of value .. 120% of value
}

protect investment {
  LEVELS
  against external
  method csp
}
"""


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["audit", *map(str, arguments)], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def document(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--output", "json")
    out = json.loads(result.stdout)
    assert out["exit"] == result.exit_code
    return out


class World:
    """A folder with the policy and the released tables of one test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def policy(self, *levels: str, **changes: str) -> Path:
        text = POLICY.replace("LEVELS", "\n  ".join(levels))
        for old, new in changes.items():
            assert CHANGES[old] in text
            text = text.replace(CHANGES[old], new)
        path = self.folder / "investment.sdc"
        path.write_text(text, encoding="utf-8")
        return path

    def released(self, changes: dict[str, object], leave_out: tuple[str, ...] = ()) -> Path:
        shown = {**TRUTH, **changes}
        lines = [f"{','.join(cell.split('·'))},{figure}" for cell, figure in shown.items() if cell not in leave_out]
        return self.write("\n".join(["activity,region,value", *lines]) + "\n")

    def hidden(self, *cells: str) -> Path:
        return self.released(dict.fromkeys(cells, "x"))

    def write(self, text: str, name: str = "released.csv") -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


CHANGES = {
    "against": "against external",
    "sensitive": "sensitive investment at (activity: II, region: C)",
    "protect": POLICY[POLICY.index("protect investment") :].replace("LEVELS", "lpl 1"),
    "figures": "22 |    49 |",
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# ---- verdicts ----------------------------------------------------------------------------------------------


def test_protected_to_the_last_unit(world):
    result = run(world.policy("lpl 17", "upl 8", "spl 25"), "--released", world.hidden(*FOUR))
    assert result.exit_code == 0
    assert "investment: PROTECTED" in result.stdout


@pytest.mark.parametrize(
    ("levels", "short"),
    [
        (("lpl 18", "upl 8"), {"short_below": 1}),
        (("lpl 17", "upl 12"), {"short_above": 4}),
        (("spl 26",), {"short_width": 1}),
        (("lpl 20", "upl 10", "spl 30"), {"short_below": 3, "short_above": 2, "short_width": 5}),
    ],
)
def test_exposed_and_by_how_much(world, levels, short):
    found = document(world.policy(*levels), "--released", world.hidden(*FOUR))
    assert (found["verdict"], found["exit"]) == ("exposed", 6)
    [pair] = found["pairs"]
    assert (pair["cell"], pair["attacker"], pair["value"]) == (CELL, "external", 22)
    assert (pair["low"], pair["high"]) == (5, 30)
    fell = {key: pair[key] for key in ("short_below", "short_above", "short_width") if pair[key]}
    assert fell == short


def test_the_text_shows_the_computation_of_the_attacker(world):
    result = run(world.policy("lpl 10", "upl 12"), "--released", world.hidden(*FOUR))
    assert result.exit_code == 6
    shown = [line.strip() for line in result.stdout.splitlines()]
    at = shown.index("activity = II, region = C, against external")
    assert shown[at + 1] == "possible 5 .. 30; needed 12 .. 34: 4 short above"
    # 30 = 49 - 19 - II·A, which is at least 0
    assert shown[at + 2] == "at most 30 =   49  activity = II, region = Total"
    assert shown[at + 3] == "− 19  activity = II, region = B"


def test_a_lone_hidden_cell_is_recomputed(world):
    policy = world.policy("lpl 10", "upl 12")
    [pair] = document(policy, "--released", world.hidden("II·C"))["pairs"]
    assert (pair["low"], pair["high"]) == (22, 22)
    by_row = {"activity = II, region = Total", "activity = II, region = A", "activity = II, region = B"}
    by_column = {"activity = Total, region = C", "activity = I, region = C", "activity = III, region = C"}
    assert set(pair["given_away_by"]) in (by_row, by_column)
    text = run(policy, "--released", world.hidden("II·C")).stdout
    assert "1 known exactly" in text
    assert "exactly 22; needed 12 .. 34: 10 short below, 12 short above" in text


def test_no_released_table_means_that_only_sensitive_cells_are_hidden(world):
    result = run(world.policy("lpl 10", "upl 12"))
    assert result.exit_code == 6
    assert result.stdout.startswith("No released table was given")
    assert "exactly 22" in result.stdout


def test_nothing_to_check_is_said_aloud(world):
    policy = world.policy("lpl 10", sensitive="sensitive investment where value > 1000")
    result = run(policy, "--released", world.hidden(*FOUR))
    assert result.exit_code == 0
    assert "investment: NOTHING TO CHECK" in result.stdout
    assert "nothing is claimed" in result.stdout
    assert "SDC331" in result.stderr
    found = document(policy)
    assert (found["verdict"], found["pairs"]) == ("nothing to check", [])
    assert [d["code"] for d in found["diagnostics"]] == ["SDC331"]


def test_several_attackers(world):
    """`informed` knows every cell within 20 %: II·A leaves t at most 1.6 both ways, the others leave more."""
    policy = world.policy("lpl 3", "upl 3", against="against external, informed")
    found = document(policy, "--released", world.hidden(*FOUR))
    by = {pair["attacker"]: pair for pair in found["pairs"]}
    assert by["external"]["verdict"] == "protected"
    assert by["informed"]["verdict"] == "exposed"
    assert (by["informed"]["low"], by["informed"]["high"]) == (pytest.approx(20.4), pytest.approx(23.6))
    assert by["informed"]["short_below"] == pytest.approx(1.4)
    assert found["blocks"][0]["counts"] == {"protected": 1, "exposed": 1, "not_proven": 0}
    text = run(policy, "--released", world.hidden(*FOUR)).stdout
    assert f"{CELL}, against informed\n" in text


def test_whole_numbers_tighten_the_ends(world):
    policy = world.policy("lpl 1", "upl 1", against="against informed")
    [pair] = document(policy, "--released", world.hidden(*FOUR), "--integer")["pairs"]
    assert (pair["low"], pair["high"], pair["verdict"]) == (21, 23, "protected")
    policy = world.policy("lpl 1.5", "upl 1.5", against="against informed")
    plain, whole = (document(policy, "--released", world.hidden(*FOUR), *more) for more in ((), ("--integer",)))
    assert (plain["verdict"], whole["verdict"]) == ("protected", "exposed")  # 20.5 and 23.5 are no whole numbers
    assert whole["pairs"][0]["short_above"] == 1


def test_whole_numbers_must_be_whole(world):
    text = POLICY.replace("LEVELS", "lpl 1").replace("22 |    49 |", "22.5 |  49.5 |")
    path = world.write(text.replace("44 |   190 |", "44.5 | 190.5 |"), "half.sdc")
    found = document(path, "--integer")
    assert found["exit"] == 3
    assert [d["code"] for d in found["diagnostics"]] == ["SDC408"]
    assert CELL in found["diagnostics"][0]["notes"][0]


def test_verdicts_alone_are_the_same(world):
    for levels in (("lpl 17", "upl 8"), ("lpl 17", "upl 9")):
        policy, released = world.policy(*levels), world.hidden(*FOUR)
        exact, quick = (document(policy, "--released", released, *more) for more in ((), ("--verdict-only",)))
        assert exact["verdict"] == quick["verdict"]
        assert [b["exact_intervals"] for b in (*exact["blocks"], *quick["blocks"])] == [True, False]
        assert document(policy, "--released", released, "--jobs", 2)["pairs"] == exact["pairs"]


# ---- beside the pairs --------------------------------------------------------------------------------------


def test_cells_that_are_revealed_though_nobody_marked_them(world):
    """II·C follows from its column, then II·A from its row."""
    policy, released = world.policy("lpl 10"), world.hidden("II·A", "II·C")
    [row] = document(policy, "--released", released)["revealed"]
    assert (row["cell"], row["value"], row["attacker"]) == ("activity = II, region = A", 8, "external")
    assert "activity = II, region = A: 8" in run(policy, "--released", released).stdout


def test_sums_of_sensitive_cells(world):
    both = "sensitive investment at (activity: II, region: A), (activity: II, region: C)"
    policy = world.policy("lpl 1", "upl 1", sensitive=both)
    found = document(policy, "--released", world.hidden(*FOUR))
    [row] = found["pinned_sums"]
    assert row["cells"] == ["activity = II, region = A", CELL]
    assert row["value"] == 8 + 22
    assert f"30 = (activity = II, region = A) + ({CELL})" in run(policy, "--released", world.hidden(*FOUR)).stdout


def test_a_hidden_total_and_part_give_no_sum_away(world):
    both = "sensitive investment at (activity: Total, region: C), (activity: II, region: C)"
    found = document(world.policy("lpl 1", "upl 1", sensitive=both), "--released", world.hidden("Total·C", "II·C"))
    assert found["pinned_sums"] == []


# ---- released tables ---------------------------------------------------------------------------------------


def argus() -> str:
    letters = {"II·C": "U", **dict.fromkeys(("II·A", "III·A", "III·C"), "M")}
    return "".join(f"{','.join(c.split('·'))},{v},{letters.get(c, 'S')}\n" for c, v in TRUTH.items())


def sdctable() -> str:
    letters = {"II·C": "u", **dict.fromkeys(("II·A", "III·A", "III·C"), "x")}
    rows = "".join(f"{','.join(c.split('·'))},{v},{letters.get(c, 's')}\n" for c, v in TRUTH.items())
    return f"activity,region,investment,sdcStatus\n{rows}"


def semicolons() -> str:
    rows = "".join(f"{v if c not in FOUR else '...'};{';'.join(reversed(c.split('·')))}\n" for c, v in TRUTH.items())
    return f"Investment;REGION;Activity\n{rows}"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (argus, ()),
        (argus, ("--format", "argus")),
        (sdctable, ()),
        (semicolons, ()),
        (lambda: semicolons().replace("...", "geheim"), ("--hidden", "geheim")),
        (lambda: semicolons().replace("Activity", "branch"), ("--column", "activity=branch")),
    ],
)
def test_files_of_other_programs(world, text, options):
    [pair] = document(world.policy("lpl 17", "upl 8"), "--released", world.write(text()), *options)["pairs"]
    assert (pair["low"], pair["high"], pair["verdict"]) == (5, 30, "protected")


def jj(statuses: dict[str, str]) -> str:
    """The same table as a JJ file: cells by number, levels 17 and 8 for II·C."""
    cells = list(TRUTH)
    lines = ["0", str(len(cells))]
    for i, (cell, value) in enumerate(TRUTH.items()):
        levels = "17 8 0" if cell == "II·C" else "0 0 0"
        lines.append(f"{i} {value} 1 {statuses.get(cell, 's')} 0 1000 {levels}")
    sums = [[f"{row}·{c}" for c in COLUMNS] for row in ROWS] + [[f"{r}·{column}" for r in ROWS] for column in COLUMNS]
    lines.append(str(len(sums)))
    for *parts, total in sums:
        terms = " ".join([f"{cells.index(total)} (-1)", *(f"{cells.index(part)} (1)" for part in parts)])
        lines.append(f"0.0 4 : {terms}")
    return "\n".join(lines) + "\n"


def test_jj_files(world):
    pattern = jj({"II·C": "u", "II·A": "m", "III·A": "m", "III·C": "m"})
    alone = world.write(jj({"II·C": "u"}), "alone.jj")
    for arguments in ((world.write(pattern, "pattern.jj"),), (alone, "--released", world.write(pattern, "out.jj"))):
        [pair] = document(*arguments)["pairs"]
        assert (pair["cell"], pair["low"], pair["high"], pair["verdict"]) == ("cell 6", 5, 30, "protected")
    [pair] = document(alone)["pairs"]
    assert (pair["low"], pair["high"], pair["verdict"]) == (22, 22, "exposed")
    result = run(world.folder / "nowhere.jj")
    assert (result.exit_code, "SDC302" in result.stdout) == (3, True)
    assert run(world.write("0\n2\nx\n", "torn.jj")).exit_code == 3


def test_published_intervals(world):
    released = world.released({**dict.fromkeys(FOUR, "x"), "II·C": "10..40"})
    [pair] = document(world.policy("lpl 1"), "--released", released)["pairs"]
    assert (pair["low"], pair["high"]) == (10, 30)


ROUNDED = {cell: 5 * round(value / 5) for cell, value in TRUTH.items()}


@pytest.mark.parametrize(
    ("figures", "options", "low", "high"),
    [
        (ROUNDED, ("--base", 5), 15, 25),
        (ROUNDED, ("--deviation", 3), 17, 23),
        ({}, ("--alpha", 0.1, "--beta", "10%"), 22 / 1.1, 22 / 0.9),
    ],
)
def test_changed_figures_with_a_promise(world, figures, options, low, high):
    """II·C is shown as 20, or as 22. The other cells leave enough room for both ends of its own interval."""
    found = document(world.policy("lpl 1", "upl 1"), "--released", world.released(figures), *options)
    [pair] = found["pairs"]
    assert (pair["low"], pair["high"]) == (pytest.approx(low), pytest.approx(high))
    assert pair["released"] == figures.get("II·C", 22)
    assert found["blocks"][0]["published"]


@pytest.mark.parametrize(
    ("moved", "verdict", "headline"), [(12, "protected", "FAR ENOUGH"), (2, "exposed", "TOO NEAR")]
)
def test_adjusted_without_a_word_about_it(world, moved, verdict, headline):
    changes = {"II·C": 22 + moved, "II·B": 19 - moved, "III·C": 12 - moved, "III·B": 32 + moved}
    policy, released = world.policy("lpl 10", "upl 12"), world.released(changes)
    found = document(policy, "--released", released)
    [block] = found["blocks"]
    assert (found["verdict"], block["method"], block["exact_intervals"]) == (verdict, "distance", False)
    assert "not claimed" in block["not_claimed"]
    assert (found["pairs"][0]["low"], found["pairs"][0]["released"]) == (None, 22 + moved)
    result = run(policy, "--released", released)
    assert f"investment: {headline}" in result.stdout
    assert "no attacker was simulated" in " ".join(result.stdout.split())
    certificate = world.folder / "no.cert"
    result = run(policy, "--released", released, "--certificate", certificate)
    assert result.exit_code == 3
    assert "SDC408" in result.stderr
    assert headline in result.stdout
    assert not certificate.exists()


LINKED = """\
sdc 1
policy "Two tables with one margin"

dimension region {
  codes A, B
  total T
}

dimension size {
  codes S, L
  total T
}

dimension form {
  codes X, Y
  total T
}

table by_size {
  by region, size
  values
    | region \\ size |  S |  L |
    | A             | 30 | 70 |
    | B             | 20 | 40 |
  measure turnover
}

table by_form {
  by region, form
  values
    | region \\ form |  X |  Y |
    | A             | 55 | 45 |
    | B             | 25 | 35 |
  measure turnover
}

sensitive by_size at (region: A, size: S)

attacker external {
  bounds 0 .. inf
}

protect by_size, by_form as turnover {
  lpl 30
  upl 20
  against external
  method csp
}
"""
BY_SIZE = "region,size,value\nA,S,x\nA,L,x\nA,T,100\nB,S,x\nB,L,x\nB,T,60\nT,S,50\nT,L,110\nT,T,160\n"
BY_FORM = "region,form,value\nA,X,55\nA,Y,45\nA,T,100\nB,X,25\nB,Y,35\nB,T,60\nT,X,80\nT,Y,80\nT,T,160\n"


def test_linked_tables(world):
    """A·S and B·L up, A·L and B·S down: by 20 at most (B·S), and by 30 the other way (A·S)."""
    policy, size = world.write(LINKED, "linked.sdc"), world.write(BY_SIZE, "size.csv")
    form = world.write(BY_FORM, "form.csv")
    both = ("--released", f"by_size={size}", "--released", f"by_form={form}")
    [pair] = document(policy, *both)["pairs"]
    assert (pair["low"], pair["high"], pair["verdict"]) == (0, 50, "protected")
    world.write(BY_FORM.replace("A,T,100", "A,T,x"), "form.csv")
    found = document(policy, *both)
    assert [d["code"] for d in found["diagnostics"]] == ["SDC406"]
    found = document(policy, "--released", f"by_size={size}")
    assert [d["code"] for d in found["diagnostics"]] == ["SDC309"]
    result = run(policy, "--released", size)
    assert result.exit_code == 2
    assert "by_size, by_form" in result.stderr


# ---- what is wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "leave_out", "codes", "named"),
    [
        ({"II·C": "30..40"}, (), ["SDC403", "SDC407"], CELL),
        # Column C leaves 44 - 10 for II·C and III·C together, which the figures allow: readers cannot tell.
        ({**dict.fromkeys(FOUR, "x"), "III·C": "13..20"}, (), ["SDC403"], "activity = III, region = C"),
        ({**dict.fromkeys(FOUR, "x"), "III·C": "60..70"}, (), ["SDC403", "SDC407"], "activity = III, region = C"),
        ({"I·B": 51, "II·C": "x"}, (), ["SDC405"], "activity = I, region = Total"),
        ({"II·C": "x"}, ("I·A", "III·B"), ["SDC309"], "activity = III, region = B"),
        ({"II·C": "40..10"}, (), ["SDC404"], CELL),
        ({"II·C": "about 20"}, (), ["SDC306"], CELL),
    ],
)
def test_releases_that_are_wrong(world, changes, leave_out, codes, named):
    policy, released = world.policy("lpl 1", "upl 1"), world.released(changes, leave_out)
    found = document(policy, "--released", released)
    assert (found["exit"], found["verdict"], found["pairs"]) == (3, None, [])
    assert [d["code"] for d in found["diagnostics"]] == codes
    result = run(policy, "--released", released)
    assert result.exit_code == 3
    assert named in result.stdout or codes == ["SDC306"]
    as_table = run(policy, "--released", released, "--output", "csv")
    assert (as_table.exit_code, as_table.stdout) == (3, "")
    assert codes[0] in as_table.stderr


def test_what_absent_cells_mean(world):
    policy, released = world.policy("lpl 17", "upl 8"), world.released({}, leave_out=FOUR)
    assert document(policy, "--released", released, "--absent", "hidden")["verdict"] == "protected"
    found = document(policy, "--released", released, "--absent", "zero")
    assert [d["code"] for d in found["diagnostics"]] == ["SDC309"]


def test_codes_that_the_data_does_not_have(world):
    world.write("I\nII\nIII\n", "activity.hrc")
    text = POLICY.replace("LEVELS", "lpl 1").replace("codes I, II, III", 'hierarchy hrc "activity.hrc"')
    path = world.write(text.replace(CHANGES["sensitive"], 'sensitive where activity = "IV"'), "codes.sdc")
    found = document(path)
    assert found["exit"] == 3
    assert "SDC116" in {d["code"] for d in found["diagnostics"]}


def test_a_wrong_policy_is_reported_as_by_check(world):
    policy = world.policy("lpl 10")
    policy.write_text(policy.read_text().replace("method csp", "method cps"))
    assert run(policy).exit_code == 1
    assert "SDC106" in run(policy).stdout
    found = document(policy)
    assert [d["code"] for d in found["diagnostics"]] == ["SDC106"]
    assert run(world.folder / "nowhere.sdc").exit_code == 1


def test_a_policy_that_protects_nothing(world):
    policy = world.policy("lpl 1", protect="")
    found = document(policy)
    assert (found["exit"], [d["code"] for d in found["diagnostics"]]) == (3, ["SDC408"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--released", "FILE", "--base", 5, "--deviation", 2), "a base, a largest deviation"),
        (("--released", "FILE", "--alpha", 0.1), "alpha and beta"),
        (("--released", "FILE", "--base", 0), "above zero"),
        (("--released", "FILE", "--alpha", "a lot", "--beta", 1), "neither a number nor a percentage"),
        (("--base", 5), "--base"),
        (("--absent", "hidden"), "--absent"),
        (("--released", "FILE", "--released", "FILE"), "two released files for table `investment`"),
        (("--released", "invest=FILE"), "did you mean `investment`?"),
        (("--released", "FILE", "--column", "value"), "NAME=COLUMN"),
        (("--released", "FILE", "--column", "activty=x"), "did you mean `activity`?"),
        (("--block", "invest"), "did you mean `investment`?"),
        (("--jobs", 0), "--jobs"),
        (("--data", "investmnt=x"), "did you mean `investment`?"),
    ],
)
def test_wrong_usage(world, options, said):
    released = str(world.hidden(*FOUR))
    result = run(world.policy("lpl 1"), *(str(option).replace("FILE", released) for option in options))
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in " ".join(result.stderr.split())


# ---- blocks and formats ------------------------------------------------------------------------------------

TWO_BLOCKS = """
protect investment as strict {
  lpl 20
  upl 20
  against external
  method csp
}
"""


def test_blocks(world):
    policy = world.policy("lpl 17", "upl 8")
    policy.write_text(policy.read_text() + TWO_BLOCKS)
    released = ("--released", world.hidden(*FOUR))
    found = document(policy, *released)
    assert {b["name"]: b["verdict"] for b in found["blocks"]} == {"investment": "protected", "strict": "exposed"}
    assert (found["verdict"], found["exit"]) == ("exposed", 6)
    assert document(policy, *released, "--block", "investment")["exit"] == 0
    certificate = world.folder / "both.cert"
    found = document(policy, *released, "--certificate", certificate)
    assert (found["exit"], found["diagnostics"][0]["help"]) == (3, "--block investment")
    assert not certificate.exists()
    assert document(policy, *released, "--block", "strict", "--certificate", certificate)["exit"] == 6
    assert certificate.exists()


def test_csv(world):
    result = run(world.policy("lpl 10", "upl 12"), "--released", world.hidden(*FOUR), "--output", "csv")
    assert result.exit_code == 6
    [row] = csv.DictReader(io.StringIO(result.stdout))
    assert (row["block"], row["cell"], row["attacker"], row["verdict"]) == ("investment", CELL, "external", "exposed")
    assert (row["low"], row["high"], row["needed_low"], row["needed_high"]) == ("5", "30", "12", "34")
    assert row["given_away_by"] == "activity = II, region = Total; activity = II, region = B"


def test_documents_have_the_promised_keys(world):
    found = document(world.policy("lpl 10"), "--released", world.hidden(*FOUR))
    assert {"verdict", "blocks", "pairs", "revealed", "pinned_sums", "certificate", "diagnostics", "exit"} == set(found)
    wanted = {"cell", "attacker", "low", "high", "needed_low", "needed_high", "verdict"}
    assert wanted <= set(found["pairs"][0])


# ---- certificates ------------------------------------------------------------------------------------------


def verify(path: Path) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(cli, ["verify", str(path), "--json"])
    return result.exit_code, json.loads(result.stdout)


def test_certificates_name_what_they_are_about(world):
    certificate = world.folder / "investment.cert"
    result = run(world.policy("lpl 17", "upl 8"), "--released", world.hidden(*FOUR), "--certificate", certificate)
    assert (result.exit_code, "investment.cert" in result.stdout) == (0, True)
    code, found = verify(certificate)
    assert (code, found["ok"], found["protected"], found["exact"]) == (0, True, 1, True)
    assert [(i["what"], i["name"]) for i in found["inputs"]] == [
        ("policy", "investment.sdc"),
        ("released investment", "released.csv"),
    ]


def test_certificates_that_cannot_be_written(world):
    policy, released = world.policy("lpl 17"), world.hidden(*FOUR)
    before = released.read_bytes()
    for path in (world.folder / "nowhere" / "x.cert", released / "x.cert", released, policy):
        found = document(policy, "--released", released, "--certificate", path)
        assert (found["exit"], [d["code"] for d in found["diagnostics"]]) == (3, ["SDC408"])
    assert run(policy, "--certificate", world.folder).exit_code == 2
    assert released.read_bytes() == before


def test_nothing_is_left_of_a_certificate_that_was_broken_off(world, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Certificate, "verdicts", interrupted)
    policy, released = world.policy("lpl 17"), world.hidden(*FOUR)
    before = sorted(world.folder.iterdir())
    result = run(policy, "--released", released, "--certificate", world.folder / "investment.cert")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Aborted" in result.stderr
    assert sorted(world.folder.iterdir()) == before


def test_a_certificate_of_a_large_table(shared_data, tmp_path):
    certificate = tmp_path / "hier13.cert"
    found = document(shared_data / "csplib" / "hier13.jj", "--verdict-only", "--certificate", certificate)
    code, verified = verify(certificate)
    assert (code, verified["ok"]) == (found["exit"], True)
    assert verified["pairs"] == len(found["pairs"]) == 112
    assert verified["exposed"] == sum(pair["verdict"] == "exposed" for pair in found["pairs"])
    lines = certificate.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith('{"cells":['))
    values = json.loads(lines[at])["cells"]
    values[values.index(max(values))] += 1
    lines[at] = json.dumps({"cells": values}) + "\n"
    certificate.write_text("".join(lines))
    code, verified = verify(certificate)
    assert (code, verified["ok"]) == (3, False)


# ---- all the common data -----------------------------------------------------------------------------------

RTAUARGUS, SSB, BENCH = SHARED_DATA / "tables" / "rtauargus", SHARED_DATA / "tables" / "ssbtools", SHARED_DATA / "bench"
TABLES = {
    "ACTIVITY": RTAUARGUS / "activity_corr_table.csv",
    "NUTS": RTAUARGUS / "nuts23_fr_corr_table.csv",
    **{name: RTAUARGUS / f"turnover_{name}.csv" for name in ("act_size", "act_cj", "nuts_size", "act_nuts_size")},
}
DATA: dict[str, tuple[str, dict[str, Path]]] = {
    **{path.stem: ("csplib", {"t": path}) for path in sorted(SHARED_DATA.glob("csplib/*.jj"))},
    "tables": ("rtauargus-tables", TABLES),
    "linked": ("rtauargus-linked", {name: path for name, path in TABLES.items() if name != "act_nuts_size"}),
    "microdata": ("rtauargus-microdata", dict.fromkeys(("ACTIVITY", "enterprises"), RTAUARGUS / "indiv_dt.csv")),
    "z1": ("z1", {"people": SSB / "z1.csv"}),
    **{
        name: (name, dict.fromkeys(("people", "region", "region.kind", "mnd"), SSB / f"{name}.csv"))
        for name in ("z2", "z3", "sosialFiktiv")
    },
    **{
        f"{size} {kind}": (
            f"bench-{kind}",
            {d: BENCH / size / f"{d}.hrc" for d in ("REG", "IND", "SIZE")} | {"source": BENCH / size / f"{kind}.csv"},
        )
        for size in ("small", "mid")
        for kind in ("micro", "table")
    },
}


def cox3(folder: Path) -> Path:
    """The files have a column for each column of the table; the policy wants a row for each cell."""
    values, levels = (wide(SHARED_DATA / "tables" / "cox3" / f"{name}.csv") for name in ("values", "protection"))
    path = folder / "cells.csv"
    rows = [f"{','.join(c)},{v or 0},{'u' if levels[c] else 's'},{levels[c] or 0}" for c, v in values.items()]
    path.write_text("\n".join(["plane,row,column,VALUE,STATUS,LEVEL", *rows]) + "\n")
    return path


@pytest.mark.parametrize("name", [*DATA, "cox3"])
def test_the_common_data_with_only_sensitive_cells_hidden(shared_data, tmp_path, name):
    policy, files = DATA[name] if name in DATA else ("cox3", {"cells": cox3(tmp_path)})
    path = POLICIES / f"{policy}.sdc"
    text = path.read_text()
    used = {what: file for what, file in files.items() if what.rpartition(".")[2] in text}
    data = [word for what, file in used.items() for word in ("--data", f"{what}={file}")]
    planned = CliRunner().invoke(cli, ["plan", str(path), "--json", *data])
    assert planned.exit_code == 0, planned.output
    pairs = {block["name"]: block["counts"]["pairs"] for block in json.loads(planned.stdout)["blocks"]}
    found = document(path, "--verdict-only", *data)
    assert found["exit"] in (0, 6)
    assert {b["name"]: sum(b["counts"].values()) for b in found["blocks"]} == pairs
    assert len(found["pairs"]) == sum(pairs.values())
    assert all(pair["given_away_by"] for pair in found["pairs"] if pair["verdict"] == "exposed")
