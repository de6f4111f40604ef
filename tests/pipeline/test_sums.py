"""Hidden parts of a relation count whoever hid them: releases against a literal check from the microdata."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.investment import document as audited
from tests.cli.protecting import protect
from tests.pipeline.literal_sums import World, released, told, world
from tests.tiers import short

WITHOUT = ("--no-report", "--no-lock")


def protected(made: World, folder: Path, method: str, *options: str) -> tuple[Path, dict]:
    path = made.write(folder, method)
    return path, protect(path, *WITHOUT, *options)


MANY = [
    case
    for method, shown, most in (("csp", 5, 16), ("combined", 5, 10), ("ip", 1, 6))
    for case in short(shown, [(method, seed) for seed in range(most)])
]
FEW = [(method, seed) for method in ("rounding", "perturb", "ecta") for seed in range(3)]


@pytest.mark.parametrize(("method", "seed"), [*MANY, *FEW])
def test_no_release_tells_a_sensitive_sum(tmp_path, seed, method):
    """With the levels of the rule, by linear programs over the released file; and the audit says the same of it."""
    made = world(seed)
    path, found = protected(made, tmp_path, method)
    if method not in ("ecta", "perturb"):  # which may find that no table is near enough and far enough
        assert found["exit"] == 0, found["diagnostics"]
    if found["exit"] == 0:
        assert told(made, tmp_path / "t.csv") == []
        assert audited(path, "--released", tmp_path / "t.csv", "--verdict-only")["exit"] == 0


def test_the_check_finds_sums_that_are_told(tmp_path):
    """With `unions off` nobody looks: the literal check does, and the audit of a policy without it."""
    seen = 0
    for seed in (1, 5, 7, 8, 10):
        made, folder = world(seed), tmp_path / str(seed)
        folder.mkdir()
        path = made.write(folder, "ip")
        text = path.read_text()
        path.write_text(text.replace("method ip", "method ip {\n    unions off\n  }"))
        assert protect(path, *WITHOUT)["exit"] == 0
        path.write_text(text)
        narrow = told(made, folder / "t.csv")
        assert audited(path, "--released", folder / "t.csv", "--verdict-only")["exit"] == (6 if narrow else 0)
        seen += bool(narrow)
    assert seen >= 2


# ---- one primary and one secondary cell ----------------------------------------------------------------------

# R0·C0 is A's alone. Its cheapest partner in the row is R0·C1, 12 of small ones: together 112 of which A has 100, and
# all but A and the next largest have 2 < 10 % of 100. The row's total tells the sum: 8 short. With R0·C2 it is safe.
SINGLETON = World(
    {"RT": ["R0", "R1"]},
    {"CT": ["C0", "C1", "C2"]},
    [
        (f"U{i}", "", r, c, value)
        for i, (r, c, value) in enumerate(
            [
                *(("R0", "C0", 100), ("R0", "C1", 10), ("R0", "C1", 1), ("R0", "C1", 1)),
                *(("R0", "C2", 300), ("R0", "C2", 290), ("R0", "C2", 280)),
                *(("R1", "C0", 200), ("R1", "C0", 210), ("R1", "C0", 190)),
                *(("R1", "C1", 20), ("R1", "C1", 19), ("R1", "C1", 18)),
                *(("R1", "C2", 400), ("R1", "C2", 410), ("R1", "C2", 420)),
            ]
        )
    ],
    ("p_percent", 0.1, 0),
)
SMALL, LARGE = {("R0", "C1"), ("R1", "C1")}, {("R0", "C2"), ("R1", "C2")}
CORNERS = {("R0", "C0"), ("R1", "C0")}


def hidden(path: Path) -> set[tuple[str, str]]:
    return {cell for cell, row in released(path).items() if row["status"] == "hidden"}


def test_a_singleton_is_not_told_with_its_secondary_cell(tmp_path):
    _, found = protected(SINGLETON, tmp_path, "csp")
    [block] = found["blocks"]
    assert hidden(tmp_path / "t.csv") == CORNERS | LARGE
    # By hand: the other way to hide four cells costs 100 + 600 + 12 + 57, and tells the sum; more cells cost more.
    assert (block["status"], block["objective"], block["bound"]) == ("optimal", 2800, pytest.approx(2800))
    assert any("1 sum of cells" in note for note in block["notes"])


def test_without_unions_it_is_told_and_the_policy_says_so(tmp_path):
    path = SINGLETON.write(tmp_path, "csp")
    path.write_text(path.read_text().replace("method csp", "method csp {\n    unions off\n  }"))
    assert protect(path, *WITHOUT)["exit"] == 0
    assert hidden(tmp_path / "t.csv") == CORNERS | SMALL
    assert audited(path, "--released", tmp_path / "t.csv")["exit"] == 0  # the same policy asks for no sums


def test_an_audit_shows_the_sum_that_is_told(tmp_path):
    path = SINGLETON.write(tmp_path, "csp")
    text = path.read_text()
    path.write_text(text.replace("method csp", "method csp {\n    unions off\n  }"))
    protect(path, *WITHOUT)
    path.write_text(text)
    found = audited(path, "--released", tmp_path / "t.csv")
    exposed = [row for row in found["pairs"] if row["verdict"] == "exposed"]
    assert found["exit"] == 6
    assert [(row["cell"], row["value"], row["low"], row["high"]) for row in exposed] == [
        ("r = R0, c = C0 + r = R0, c = C1", 112, 112, 112)
    ]
    assert [(row["needed_low"], row["needed_high"]) for row in exposed] == [(104, 120)]


def test_one_respondent_in_both_cells(tmp_path):
    """A holding with all of R0·C0 and most of R0·C1, which is safe alone: 6 of 3 units, none above half."""
    records = [r for r in SINGLETON.records if (r[2], r[3]) != ("R0", "C1")]
    parts = [("V1", "H", 5), ("V2", "", 4), ("V3", "", 4)]
    records += [(unit, holding, "R0", "C1", value) for unit, holding, value in parts]
    records = [(u, "H" if (r, c) == ("R0", "C0") else h, r, c, v) for u, h, r, c, v in records]
    made = World(SINGLETON.rows, SINGLETON.columns, records, ("p_percent", 0.1, 0))
    _, found = protected(made, tmp_path, "csp")
    assert found["exit"] == 0
    assert told(made, tmp_path / "t.csv") == []
    assert hidden(tmp_path / "t.csv") == CORNERS | LARGE


@pytest.mark.parametrize("method", ["csp", "ip"])
def test_where_every_way_out_is_forbidden_nothing_is_released(tmp_path, method):
    path = SINGLETON.write(tmp_path, method)
    fixed = "publish where c in (C2, CT)\nattacker e"
    path.write_text(path.read_text().replace("attacker e", fixed))
    found = protect(path, *WITHOUT)
    assert found["exit"] == 4  # the pair asks for less than its sensitive cell: it is asked of every release
    assert not (tmp_path / "t.csv").exists()
    notes = [note for one in found["diagnostics"] for note in one["notes"]]
    assert any("the rules call sensitive" in note for note in notes)


def test_a_time_limit_is_one_for_all_searches(tmp_path):
    """No time at all: nothing valid is found, and nothing released that tells a sum."""
    _, found = protected(SINGLETON, tmp_path, "csp", "--time-limit", "0s")
    if found["exit"] == 0:
        assert told(SINGLETON, tmp_path / "t.csv") == []
    else:
        assert found["exit"] == 5 and not (tmp_path / "t.csv").exists()


def test_cta_moves_the_sum_as_well(tmp_path):
    """About an adjusted table nothing is published: the sum of what was changed has to be as far off as a cell."""
    _, found = protected(SINGLETON, tmp_path, "cta")
    assert found["exit"] == 0, found["diagnostics"]
    truth = {cell: sum(mine.values()) for cell, mine in SINGLETON.contributions.items()}
    move = {cell: float(row["value"]) - truth[cell] for cell, row in released(tmp_path / "t.csv").items()}
    changed = [("R0", c) for c in ("C0", "C1", "C2") if abs(move["R0", c]) > 1e-6]
    if len(changed) == 2:
        level = SINGLETON.judge([SINGLETON.contributions[cell] for cell in changed])
        assert level is None or abs(sum(move[cell] for cell in changed)) >= level - 1e-6
    assert np.isclose(sum(move["R0", c] for c in ("C0", "C1", "C2")), move["R0", "CT"])
