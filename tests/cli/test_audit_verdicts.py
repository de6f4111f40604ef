"""What an audit finds, by hand."""

from __future__ import annotations

import pytest

from tests.cli.investment import CELL, FOUR, POLICY, document, run


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
    assert shown[at + 1] == "feasible 5 .. 30; needed 12 .. 34: 4 short above"
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
