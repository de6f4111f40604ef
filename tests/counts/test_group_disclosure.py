"""Groups of which all, or all but a few, are in one category: found, and protected against who counts every table."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bind.policies import problem_of
from tests.cli.protecting import protect
from tests.counts.every_table import consistent, people, recorded, told_to_members, told_to_strangers, typed
from tests.tiers import short

WITHOUT = ("--no-report", "--no-lock")
METHODS = {
    "csp": "method csp",
    "ip": "method ip",
    "rounding": "method rounding {\n    base 3\n  }",
    "perturb": "method perturb {\n    range -2 .. 2\n  }",
}
MOST = 6  # tables with more in a cell are not looked at: fewer tables to hide among


def drawn(seed: int) -> np.ndarray:
    """Rows that disclose: nearly all in one category."""
    random = np.random.default_rng(seed)
    counts = random.integers(0, 4, (2, 3))
    counts[0] = [random.integers(1, 4), *random.permutation([0, random.integers(0, 2)])]
    return counts


def released(tmp_path, text: str, counts: np.ndarray) -> np.ndarray | None:
    """All tables that are left, or None where nothing is released."""
    (tmp_path / "p.sdc").write_text(text)
    (tmp_path / "people.csv").write_text(people(counts))
    found = protect(tmp_path / "p.sdc", *WITHOUT)
    return consistent(tmp_path / "t.csv", MOST) if found["exit"] == 0 else None


def test_the_row_nine_none_none(tmp_path):
    """The row of the issue: today's release says it, and each of the methods takes it back."""
    counts = np.array([[9, 0, 0], [4, 6, 12]])
    for method in METHODS.values():
        (tmp_path / "p.sdc").write_text(typed(counts, method, 1).replace("base 3", "base 5"))
        found = protect(tmp_path / "p.sdc", *WITHOUT)
        assert (found["exit"], found["blocks"][0]["verdict"]) == (0, "protected")
        assert "no cell of" not in str(found["diagnostics"])
    plain = typed(counts, "method csp", 1).replace("sensitive by group_disclosure(coalition: 1)\n", "")
    (tmp_path / "p.sdc").write_text(plain)
    assert "SDC331" in {d["code"] for d in protect(tmp_path / "p.sdc", *WITHOUT)["diagnostics"]}


@pytest.mark.parametrize(
    ("method", "k", "seed"),
    [case for m in METHODS for case in short(2, [(m, k, seed) for seed in range(4) for k in (1, 0)])],
)
def test_no_stranger_can_tell(tmp_path, method, k, seed):
    counts = drawn(seed)
    tables = released(tmp_path, typed(counts, METHODS[method], k), counts)
    if tables is not None:
        assert (tables == counts).all(axis=(1, 2)).any()
        assert told_to_strangers(counts, tables, k) == []


@pytest.mark.parametrize("seed", short(2, list(range(8))))
def test_no_member_can_tell(tmp_path, seed):
    """Each member is an attacker who knows in which cell it is."""
    counts = drawn(seed)
    tables = released(tmp_path, recorded("method csp", 1), counts)
    assert tables is not None
    assert told_to_members(counts, tables) == []


def test_the_literal_check_sees_what_an_open_table_tells(tmp_path):
    counts = np.array([[3, 1, 0], [1, 2, 3]])
    assert told_to_strangers(counts, counts[None], 1) == ["A x"]
    assert told_to_members(counts, counts[None]) == ["A y of A: x"]


TREE = """sdc 1
dimension area {
  codes A, B
  total All
}
dimension illness {
  hierarchy Any = infection + injury
  hierarchy infection = flu + measles
}
table t {
  by area, illness
  values
    | area \\ illness | flu | measles | injury |
    | A | 9 | ONE | 0 |
    | B | 4 | 6 | 12 |
  integer
  attribute illness
}
sensitive by group_disclosure(coalition: 1)
FACTS
attacker e {
  bounds 0 .. inf
}
protect t {
  lpl needed
  upl needed
  against e
  method csp
}
"""


def elsewhere(text: str) -> dict[str, tuple[float, float]]:
    problem = problem_of(text)
    d = problem.dataset
    unions = np.flatnonzero(~d["published"].values)
    return {problem.label(int(u)): (d["a"].values[u], d["needed_upper"].values[u]) for u in unions}


def test_combinations_of_categories_stand_for_what_is_inside_them():
    said = TREE.replace("FACTS", "")
    infection = "area = A, illness = Any − area = A, illness = infection"
    assert elsewhere(said.replace("ONE", "5")) == {infection: (0, 2)}
    # Nine of ten have flu as well, and all ten have an infection: the second says enough.
    assert elsewhere(said.replace("ONE", "1")) == {infection: (0, 2)}


def test_what_everybody_knows_is_not_disclosed():
    fixed = "fix where area = A and illness = injury"
    assert elsewhere(TREE.replace("ONE", "5").replace("FACTS", fixed)) == {}
    flu = "area = A, illness = Any − area = A, illness = flu"
    assert elsewhere(TREE.replace("ONE", "1").replace("FACTS", fixed)) == {flu: (1, 1)}
    waived = 'waive at (area: A, illness: infection) until 2099-12-31 because "consent"'
    assert elsewhere(TREE.replace("ONE", "5").replace("FACTS", waived)) == {}


@pytest.mark.parametrize("seed", range(40))
def test_differences_of_nested_groups_need_no_rule_of_their_own(seed):
    """Groups of whole leaves inside each other, of random counts: where their difference discloses, a leaf of it does,
    and fewer are elsewhere in it."""
    random = np.random.default_rng(seed)
    leaves = random.poisson(0.7, (5, 3))
    for coalition in (0, 1, 2):
        for inner in range(1, 2**5):
            outer = inner | int(random.integers(0, 2**5))
            between = [b for b in range(5) if outer >> b & 1 and not inner >> b & 1]
            group = leaves[between].sum(axis=0)
            for c in range(3):
                if group[c] > 0 and group.sum() - group[c] <= coalition:
                    inside = [leaves[b] for b in between if leaves[b, c] > 0]
                    assert any(leaf.sum() - leaf[c] <= group.sum() - group[c] for leaf in inside)
