"""Rounding of small counts: only they move, everything adds up, no other choice costs less, and what readers know."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.cli.protecting import protect
from tests.conftest import SHARED_DATA
from tests.counts.every_table import consistent, told_to_strangers, typed

SSB = SHARED_DATA / "tables" / "ssbtools"
WITHOUT = ("--no-report", "--no-lock")
METHOD = "method rounding {\n    base BASE\n    below LIMIT\n  }"


def method(base: int, limit: int) -> str:
    return METHOD.replace("BASE", str(base)).replace("LIMIT", str(limit))


def released(folder: Path, text: str) -> tuple[dict, np.ndarray]:
    (folder / "p.sdc").write_text(text)
    found = protect(folder / "p.sdc", *WITHOUT)
    values = np.zeros((3, 4))
    if found["exit"] == 0:
        areas, ills = ("All", "A", "B"), ("Any", "x", "y", "z")
        for row in csv.DictReader((folder / "t.csv").open()):
            values[areas.index(row["area"]), ills.index(row["illness"])] = float(row["value"])
    return found, values


def margins(leaves: np.ndarray) -> np.ndarray:
    whole = np.zeros((3, 4))
    whole[1:, 1:] = leaves
    whole[0, 1:], whole[1:, 0], whole[0, 0] = leaves.sum(axis=0), leaves.sum(axis=1), leaves.sum()
    return whole


@pytest.mark.parametrize(("seed", "base", "limit"), [(0, 5, 5), (1, 3, 3), (2, 5, 4), (3, 4, 4), (4, 5, 5)])
def test_no_choice_costs_less(tmp_path, seed, base, limit):
    """Against every choice of zero or base that leaves the row's disclosure open."""
    counts = np.random.default_rng(seed).integers(0, 9, (2, 3))
    text = typed(counts, method(base, limit), 1).replace("  against e\n", "  against e\n  cost 1\n")
    text = text.replace("sensitive by group_disclosure(coalition: 1)\n", "")
    found, values = released(tmp_path, text)
    assert found["exit"] == 0
    small = (counts > 0) & (counts < limit)
    assert (values[1:, 1:][~small] == counts[~small]).all()
    assert np.isin(values[1:, 1:][small], (0, base)).all()
    assert (values == margins(values[1:, 1:])).all()
    costs = []
    for choice in product((0, base), repeat=int(small.sum())):
        tried = counts.copy()
        tried[small] = choice
        costs.append(np.abs(margins(tried) - margins(counts)).sum())
    assert np.abs(values - margins(counts)).sum() == min(costs)
    assert found["blocks"][0]["objective"] == pytest.approx(min(costs))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_possible_is_what_readers_can_work_out(tmp_path, seed):
    """All tables that are published so by some choice: the ends of every interval, and no group that is told."""
    random = np.random.default_rng(seed)
    counts = random.integers(0, 4, (2, 3))
    counts[0] = [random.integers(2, 6), 0, random.integers(0, 2)]
    base = limit = 3
    found, values = released(tmp_path, typed(counts, method(base, limit), 1))
    if found["exit"]:
        return
    tables = consistent(tmp_path / "t.csv", 6)
    leaves = values[1:, 1:]
    rounded_up = (tables >= 1) & (tables <= base)
    able = np.where(leaves == 0, tables < limit, np.where(leaves == base, rounded_up, tables == leaves))
    assert able.all()  # nothing is said to be possible that is not
    assert len(tables) == np.prod(np.where(leaves == 0, limit, np.where(leaves == base, base, 1)))
    assert told_to_strangers(counts, tables, 1) == []


@pytest.mark.parametrize(("k", "exit"), [(1, 0), (3, 0), (20, 4)])
def test_levels_decide(tmp_path, k, exit):
    """As many may be elsewhere as are needed, and no release where that cannot be."""
    counts = np.array([[9, 1, 1], [4, 6, 12]])
    found, values = released(tmp_path, typed(counts, method(5, 5), k))
    assert found["exit"] in ((exit,) if exit == 0 else (4, 5, 6)), found["diagnostics"]
    if exit == 0:
        room = sum(4 if v == 0 else 5 - a for v, a in zip(values[1, 2:], counts[0, 1:], strict=True))
        assert room >= k + 1 or k < 2


@pytest.mark.parametrize(
    "options", [method(4, 5), method(5, 5).replace("base 5", "base 5 where area = A\n    base 10 where area = B")]
)
def test_what_it_is_not_for(tmp_path, options):
    found, _ = released(tmp_path, typed(np.array([[9, 1, 1], [4, 6, 12]]), options, 1))
    assert found["exit"] and "one base" in str(found)


ABOUT = """sdc 1
policy "z1"
dimension region {
  codes A, B, C, D, E, F, G, H
  total All
}
dimension hovedint {
  codes annet, arbeid, soshjelp, trygd
  total Any
}
data z1 {
  csv "z1.csv"
}
table t {
  from z1
  by region, hovedint
  value ant
  integer
}
attacker e {
  bounds 0 .. inf
}
protect t {
  against e
  cost 1
  method rounding {
    base 5
    below 5
  }
  release csv "t.csv"
}
"""


@pytest.mark.skipif(not SSB.is_dir(), reason="the common data (../shared/data) is not here")
def test_as_smallcountrounding_does(tmp_path):
    """What its documents say: small counts become 0 or the base, other inner cells stay, and all else is their sums."""
    (tmp_path / "z1.csv").write_bytes((SSB / "z1.csv").read_bytes())
    (tmp_path / "p.sdc").write_text(ABOUT)
    assert protect(tmp_path / "p.sdc", *WITHOUT)["exit"] == 0
    truth = {(r["region"], r["hovedint"]): float(r["ant"]) for r in csv.DictReader((SSB / "z1.csv").open())}
    values = {(r["region"], r["hovedint"]): float(r["value"]) for r in csv.DictReader((tmp_path / "t.csv").open())}
    for cell, value in truth.items():
        assert values[cell] in ((0, 5) if 0 < value < 5 else (value,))
    for (region, hovedint), value in values.items():
        parts = [
            v for (r, h), v in values.items() if (r, h) in truth and region in (r, "All") and hovedint in (h, "Any")
        ]
        assert value == sum(parts)
    # Four small counts that add up to ten, two of them rounded up: the total stays what it is.
    assert sorted(v for v in truth.values() if 0 < v < 5) == [1, 2, 3, 4]
    assert values["All", "Any"] == sum(truth.values())
