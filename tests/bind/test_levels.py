"""Levels, scenarios and bounds against a literal reading of S18, S19 and S21, cell by cell and attacker by attacker."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bind.policies import bind_text, problem_of

VALUES = {
    ("I", "A"): 20,
    ("I", "B"): 50,
    ("I", "C"): 10,
    ("II", "A"): 8,
    ("II", "B"): 19,
    ("II", "C"): 22,
    ("III", "A"): 17,
    ("III", "B"): 32,
    ("III", "C"): 12,
}
for one in ("I", "II", "III"):
    VALUES[one, "Total"] = sum(VALUES[one, c] for c in "ABC")
for two in ("A", "B", "C", "Total"):
    VALUES["Total", two] = sum(VALUES[r, two] for r in ("I", "II", "III"))
CELLS = list(VALUES)

HEAD = """sdc 1
policy "levels"
dimension activity { codes I, II, III; total Total }
dimension region { codes A, B, C; total Total }
table t {
  by activity, region
  values
    | activity \\ region | A | B | C |
    | I | 20 | 50 | 10 |
    | II | 8 | 19 | 22 |
    | III | 17 | 32 | 12 |
}
"""

# A condition as the policy writes it, and as Python does.
WHERE = {
    "": lambda a, r: True,
    " where value > 20": lambda a, r: VALUES[a, r] > 20,
    " where activity = II": lambda a, r: a == "II",
    " where region under Total": lambda a, r: r != "Total",
    " where not (activity at level 2)": lambda a, r: a == "Total",
    " where region in (A, B) and value >= 19": lambda a, r: r in "AB" and VALUES[a, r] >= 19,
}
AMOUNT = {
    "0": lambda v: 0.0,
    "3": lambda v: 3.0,
    "10% of value": lambda v: 0.1 * v,
    "max(2, 5% of value)": lambda v: max(2.0, 0.05 * v),
    "if value > 25 then 1 otherwise 7": lambda v: 1.0 if v > 25 else 7.0,
}
ATTACKERS = ("one", "two", "three")

level = st.tuples(
    st.sampled_from(["lpl", "upl", "spl"]),
    st.sampled_from(list(AMOUNT)),
    st.sampled_from([None, *ATTACKERS]),
    st.sampled_from(list(WHERE)),
)
some = st.lists(st.sampled_from(ATTACKERS), min_size=1, max_size=3, unique=True)


def written(statements) -> str:
    return "".join(
        f"  {name} {amount}{f' against {against}' if against else ''}{where}\n"
        for name, amount, against, where in statements
    )


def literal(statements, attacker: str, name: str, cell: tuple[str, str]) -> float:
    """The last statement that matches both cell and attacker; zero if none does."""
    out = 0.0
    for n, amount, against, where in statements:
        if n == name and against in (None, attacker) and WHERE[where](*cell):
            out = AMOUNT[amount](VALUES[cell])
    return out


@given(
    st.sets(st.sampled_from(CELLS), min_size=1, max_size=5),
    st.lists(level, min_size=1, max_size=5),
    some,
    st.lists(st.tuples(some, st.lists(level, max_size=3)), max_size=2),
)
@settings(max_examples=120, deadline=None)
def test_every_attacker_meets_the_largest_of_its_levels(sensitive, own, against, scenarios):
    known = {a for names in (against, *(s for s, _ in scenarios)) for a in names}
    own = [s for s in own if s[2] is None or s[2] in known] or [("lpl", "3", None, "")]
    scenarios = [(names, [s for s in more if s[2] is None or s[2] in names]) for names, more in scenarios]
    text = HEAD + "".join(f"attacker {a} {{ bounds -inf .. inf }}\n" for a in ATTACKERS)
    text += "".join(f"sensitive t at (activity: {a}, region: {r})\n" for a, r in sensitive)
    for i, (names, more) in enumerate(scenarios):
        text += f"scenario s{i} {{\n  against {', '.join(names)}\n{written(more)}}}\n"
    text += f"protect t {{\n{written(own)}  against {', '.join(against)}\n"
    if scenarios:
        text += f"  scenarios {', '.join(f's{i}' for i in range(len(scenarios)))}\n"
    text += "  method csp\n}\n"
    problems, found = bind_text(text)
    sets = [(against, own), *((names, [*own, *more]) for names, more in scenarios)]
    expected = {}
    for cell, attacker in product(sensitive, known):
        levels = tuple(
            max(literal(statements, attacker, name, cell) for names, statements in sets if attacker in names)
            for name in ("lpl", "upl", "spl")
        )
        if any(levels):
            expected[f"activity = {cell[0]}, region = {cell[1]}", attacker] = pytest.approx(levels)
    bare = [c for c in sensitive if not any(f"activity = {c[0]}, region = {c[1]}" == label for label, _ in expected)]
    if bare:
        assert [d.code for d in found] == ["SDC330"]
        assert not problems
        return
    d = problems["t"].dataset
    pairs = zip(*(d[n].values for n in ("cell_at", "attacker_at", "lpl", "upl", "spl")), strict=True)
    made = {
        (problems["t"].label(int(c)), problems["t"].attackers[int(k)]): tuple(map(float, rest)) for c, k, *rest in pairs
    }
    assert made == expected


BOUNDS = {
    "0 .. inf": lambda v: (0.0, math.inf),
    "50% of value .. 150% of value": lambda v: (0.5 * v, 1.5 * v),
    "value - sqrt(value) .. value + 3": lambda v: (v - math.sqrt(v), v + 3),
    "value .. value": lambda v: (v, v),
    "-inf .. if value > 20 then 2 * value otherwise inf": lambda v: (-math.inf, 2.0 * v if v > 20 else math.inf),
}


@given(
    st.lists(st.tuples(st.sampled_from(list(BOUNDS)), st.sampled_from(list(WHERE))), min_size=1, max_size=4),
    st.sampled_from(list(WHERE)),
)
@settings(max_examples=80, deadline=None)
def test_bounds_contain_the_truth_and_fixed_cells_are_known(statements, fixed):
    text = HEAD + "attacker a {\n" + "".join(f"  bounds {b}{where}\n" for b, where in statements) + "}\n"
    text += "sensitive t at (activity: II, region: C)\n"
    if fixed:
        text += f"fix{fixed} and not (activity = II and region = C)\n"
    problem = problem_of(text + "protect t {\n  spl 1\n  against a\n  method csp\n}\n")
    low, high, a = problem.dataset["low"].values[0], problem.dataset["high"].values[0], problem.dataset["a"].values
    assert (low <= a).all() and (a <= high).all()
    [table] = problem.tables
    assert table.lattice is not None
    for cell, v in VALUES.items():
        c = table.lattice.cell({"activity": cell[0], "region": cell[1]})
        expected = (-math.inf, math.inf)
        for b, where in statements:
            if WHERE[where](*cell):
                expected = BOUNDS[b](v)
        if fixed and WHERE[fixed](*cell) and cell != ("II", "C"):
            expected = (v, v)
            assert problem.dataset["status"].values[c] == "z"
        assert (low[c], high[c]) == pytest.approx(expected)


def test_zeros_may_be_known():
    text = HEAD.replace("| I | 20 | 50 | 10 |", "| I | 0 | 50 | 10 |") + "sensitive t at (activity: II, region: C)\n"
    text += "attacker a { bounds -5 .. inf; knows zeros }\nprotect t { lpl 1; against a; method csp }\n"
    problem = problem_of(text)
    zero = problem.dataset["a"].values == 0
    assert zero.sum() == 1
    assert (problem.dataset["low"].values[0][zero], problem.dataset["high"].values[0][zero]) == (0, 0)
    assert (problem.dataset["low"].values[0][~zero] == -5).all()


# ---- what a JJ file gives (S31) ----------------------------------------------------------------------------

JJ = """0
4
0 60 6 s 0 100 0 0 0
1 10 1 u 2 30 3 4 9
2 20 2 u 5 50 6 7 8
3 30 3 z 0 90 0 0 0
1
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
"""


def jj(tmp_path, body: str, more: str = ""):
    (tmp_path / "t.jj").write_text(JJ)
    return problem_of(f'sdc 1\ntable t {{\n  jj "t.jj"\n}}\n{more}protect t {{\n{body}  method csp\n}}\n', tmp_path)


def levels_of(problem):
    d = problem.dataset
    return [tuple(map(float, row)) for row in zip(d["lpl"].values, d["upl"].values, d["spl"].values, strict=True)]


def test_a_jj_file_brings_levels_bounds_weights_and_statuses(tmp_path):
    problem = jj(tmp_path, "")
    d = problem.dataset
    assert levels_of(problem) == [(3, 4, 9), (6, 7, 8)]
    assert d["low"].values[0].tolist() == [0, 2, 5, 30]
    assert d["high"].values[0].tolist() == [100, 30, 50, 30]
    assert d["w"].values.tolist() == [6, 1, 2, 3]
    assert d["status"].values.tolist() == ["s", "u", "u", "z"]


def test_statements_come_after_what_a_jj_file_gives(tmp_path):
    problem = jj(tmp_path, "  lpl 1 where value > 15\n  cost 5 where value > 50\n")
    assert levels_of(problem) == [(3, 4, 9), (1, 7, 8)]
    assert problem.dataset["w"].values.tolist() == [5, 1, 2, 3]
    attacker = "attacker a {\n  bounds 0 .. inf where value = 20\n}\n"
    problem = jj(tmp_path, "  against a\n", attacker)
    assert levels_of(problem) == [(3, 4, 9), (6, 7, 8)]
    assert problem.dataset["low"].values[0].tolist() == [0, 2, 0, 30]
    assert problem.dataset["high"].values[0].tolist() == [100, 30, math.inf, 30]


def test_cells_of_a_jj_file_may_be_sensitive_together(tmp_path):
    problem = jj(tmp_path, "  lpl 4\n", "sensitive t together at (cell: 1), (cell: 2)\n")
    assert problem.dataset["a"].values.tolist() == [60, 10, 20, 30, 30]
    assert problem.dataset["published"].values.tolist() == [True] * 4 + [False]
    assert levels_of(problem) == [(4, 4, 9), (4, 7, 8), (4, 0, 0)]
    assert (problem.dataset["low"].values[0][4], problem.dataset["high"].values[0][4]) == (-math.inf, math.inf)


def test_conditional_levels_are_for_cells_that_are_neither_sensitive_nor_fixed(tmp_path):
    body = "  conditional upl 10% of value\n  conditional spl 5 where value > 50\n"
    problem = jj(tmp_path, body)
    d = problem.dataset
    assert d["cell_at"].values.tolist() == [0, 1, 2]
    assert d["conditional"].values.tolist() == [True, False, False]
    assert levels_of(problem) == [(0, 6, 5), (3, 4, 9), (6, 7, 8)]
    assert "conditional" not in jj(tmp_path, "").dataset


def test_a_conditional_level_beyond_the_bounds_is_no_mistake(tmp_path):
    problem = jj(tmp_path, "  conditional lpl 70\n")  # 60 lies at 60 above 0: it can never be touched
    assert levels_of(problem)[0] == (70, 0, 0)
