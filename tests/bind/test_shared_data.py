"""All files of the common data bind through policies; what comes out is compared with plain sums over the files."""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.bind.problem import TableProblem
from tests.bind.policies import adds_up, bind_file
from tests.conftest import SHARED_DATA as DATA

POLICIES = Path(__file__).resolve().parent.parent / "data_policies"
RTAUARGUS, SSB = DATA / "tables" / "rtauargus", DATA / "tables" / "ssbtools"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the common data (../shared/data) is not here")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def by_codes(problem: TableProblem) -> dict[tuple[str, ...], int]:
    """Cell numbers of a problem with one table by its codes."""
    [table] = problem.tables
    assert table.lattice is not None
    return {tuple(table.lattice.codes(c).values()): c for c in range(table.size)}


def status(problem: TableProblem) -> list[str]:
    return problem.dataset["status"].values.tolist()


# ---- CSPLIB ------------------------------------------------------------------------------------------------

# cells, sensitive cells, relations: the table of ../shared/design/known-answers.md
KNOWN = {
    "targus": (162, 13, 63),
    "table7": (624, 17, 230),
    "table8": (1271, 3, 72),
    "hier13x7x7d": (637, 50, 525),
    "hier13": (2020, 112, 3313),
    "hier13x13x13a": (2197, 108, 3549),
    "hier16": (3564, 224, 5484),
    "two5in6": (5681, 720, 9629),
    "ninenew": (6546, 858, 7340),
    "osorio": (10201, 7, 202),
    "cbs": (11163, 2467, 244),
}


@pytest.mark.parametrize("name", KNOWN)
def test_csplib(name):
    path = DATA / "csplib" / f"{name}.jj"
    problem = bind_file(POLICIES / "csplib.sdc", {"t": path})["t"]
    lines = path.read_text().splitlines()
    cells = [line.split() for line in lines[2 : 2 + int(lines[1])]]
    d = problem.dataset
    assert (problem.n, len(problem.sensitive), problem.m) == KNOWN[name]
    assert d["a"].values.tolist() == [float(c[1]) for c in cells]
    assert d["w"].values.tolist() == [float(c[2]) for c in cells]
    assert status(problem) == [c[3] for c in cells]
    low = [float(c[1] if c[3] == "z" else c[4]) for c in cells]  # what is published, everybody knows
    high = [float(c[1] if c[3] == "z" else c[5]) for c in cells]
    assert d["low"].values[0].tolist() == low
    assert d["high"].values[0].tolist() == high
    marked = [i for i, c in enumerate(cells) if c[3] == "u"]
    assert d["cell_at"].values.tolist() == marked
    for level, column in (("lpl", 6), ("upl", 7), ("spl", 8)):
        assert d[level].values.tolist() == [float(cells[i][column]) for i in marked]
    assert adds_up(problem, 1e-5 if name == "targus" else 1e-9)  # a few last digits of targus are uncertain
    assert problem.attackers == ("external",)


# ---- rtauargus: ready-made tables --------------------------------------------------------------------------


def rtauargus(*data: str) -> dict[str, Path]:
    files = {"ACTIVITY": "activity_corr_table", "NUTS": "nuts23_fr_corr_table"}
    files |= {name: f"turnover_{name}" for name in data}
    return {name: RTAUARGUS / f"{file}.csv" for name, file in files.items()}


def sensitive_row(row: dict[str, str]) -> bool:
    return 0 < int(row["N_OBS"]) < 3 or float(row["MAX"]) > 0.85 * float(row["TOT"]) * (1 + 1e-12)


TABLES = {
    "by_size": ("act_size", ("ACTIVITY", "SIZE")),
    "by_form": ("act_cj", ("ACTIVITY", "CJ")),
    "by_region": ("nuts_size", ("NUTS", "SIZE")),
    "in_the_east": ("act_nuts_size", ("ACTIVITY", "NUTS", "SIZE")),
}


@pytest.fixture(scope="module")
def ready_made():
    return bind_file(POLICIES / "rtauargus-tables.sdc", rtauargus(*(data for data, _ in TABLES.values())))


@pytest.mark.parametrize("name", TABLES)
def test_ready_made_tables(ready_made, name):
    data, dimensions = TABLES[name]
    rows = rows_of(RTAUARGUS / f"turnover_{data}.csv")
    problem = ready_made[name]
    at = by_codes(problem)
    given = [at[tuple(row[d] for d in dimensions)] for row in rows]
    a, counts = problem.dataset["a"].values, problem.tables[0].quantities["count"]
    np.testing.assert_allclose(a[given], [float(row["TOT"]) for row in rows], rtol=1e-6, atol=1e-3)
    assert counts[given].tolist() == [int(row["N_OBS"]) for row in rows]
    marked = {c for c, s in enumerate(status(problem)) if s == "u"}
    expected = {c for c, row in zip(given, rows, strict=True) if sensitive_row(row)}
    # What the file leaves out is empty, or a group with one member: as sensitive as the member.
    assert marked & set(given) == expected
    assert all(a[c] == 0 or c in given or counts[c] > 0 for c in range(problem.n))
    assert adds_up(problem)


def test_linked_tables():
    problem = bind_file(POLICIES / "rtauargus-linked.sdc", rtauargus("act_size", "act_cj", "nuts_size"))["turnover"]
    codes = {}
    for name, dimensions in (
        ("by_size", ("ACTIVITY", "SIZE")),
        ("by_form", ("ACTIVITY", "CJ")),
        ("by_region", ("NUTS", "SIZE")),
    ):
        table = next(t for t in problem.tables if t.name == name)
        assert table.lattice is not None
        for c in range(table.size):
            here = {d: code for d, code in table.lattice.codes(c).items() if code != "Total"}
            codes.setdefault(tuple(sorted(here.items())), set()).add(name)
            assert set(table.dimensions) == set(dimensions)
    assert problem.n == len(codes)  # a cell that two tables show has one number
    shared = sum(len(names) > 1 for names in codes.values())
    assert problem.n == sum(t.size for t in problem.tables) - shared - sum(len(n) == 3 for n in codes.values())
    # Two tables share the sums of activities, two those of sizes at the grand total; each is said once.
    rows = rows_of(RTAUARGUS / "activity_corr_table.csv")
    sums = {"Total", *(r["A10"] for r in rows), *(r["A21"] for r in rows if r["A21"] != r["A88"])}
    assert problem.m == sum(len(t.relations.rhs) for t in problem.tables) - len(sums) - 1
    assert adds_up(problem)


# ---- rtauargus: microdata ----------------------------------------------------------------------------------


def test_weighted_microdata():
    file = RTAUARGUS / "indiv_dt.csv"
    problem = bind_file(POLICIES / "rtauargus-microdata.sdc", {"ACTIVITY": file, "enterprises": file})["turnover"]
    value, parts = defaultdict(float), defaultdict(list)
    for row in rows_of(file):
        x = float(row["TURNOVER"]) * float(row["WEIGHT"])
        activities = ("Total", row["A10"], row["A21"], row["A88"])
        for codes in product(dict.fromkeys(activities), ("Total", row["SIZE"]), ("Total", row["CJ"])):
            value[codes] += x
            parts[codes].append(x)
    at, a, counts = by_codes(problem), problem.dataset["a"].values, problem.tables[0].quantities["count"]
    for codes, c in at.items():
        assert a[c] == pytest.approx(value.get(codes, 0.0), rel=1e-9)
        assert counts[c] == len(parts.get(codes, ()))
    sensitive = {at[k] for k, xs in parts.items() if len(xs) < 3 or max(xs) > 0.85 * sum(xs)}
    published = problem.dataset["published"].values
    assert {int(c) for c in problem.sensitive if published[c]} == sensitive
    assert {c for c, s in enumerate(status(problem)) if s == "z"} == {c for c in at.values() if a[c] == 0}
    assert adds_up(problem)


# ---- ssbtools ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["z1", "z2", "z3", "sosialFiktiv"])
def test_frequency_tables(name):
    file = SSB / f"{name}.csv"
    rows = rows_of(file)
    instead = {"people": file, "region": file, "region.kind": file, "mnd": file}
    if name == "z1":
        del instead["region"]
    problem = bind_file(POLICIES / f"{name}.sdc", instead)["recipients"]
    count: dict[tuple[str, ...], float] = defaultdict(float)
    for row in rows:
        sides = [("Total", *(row[c] for c in ("region", "fylke", "kostragr") if c in row)), ("Total", row["hovedint"])]
        if "mnd" in row:
            sides.append(("Total", row["mnd"], row["mnd2"]))
        for codes in product(*(dict.fromkeys(side) for side in sides)):
            count[codes] += float(row["ant"])
    at, a, d = by_codes(problem), problem.dataset["a"].values, problem.dataset
    # A group of months with one member that has another name is a cell of its own; each must be there.
    assert set(count) == set(at)
    assert all(a[at[codes]] == n for codes, n in count.items())
    assert {int(c) for c in problem.sensitive} == {at[codes] for codes, n in count.items() if 0 < n < 4}
    for c, lpl, upl in zip(d["cell_at"].values, d["lpl"].values, d["upl"].values, strict=True):
        assert (lpl, upl) == (min(a[c], 4 - a[c]), 4 - a[c])  # a table of counts: what is missing to four
    assert adds_up(problem)


# ---- cox3 --------------------------------------------------------------------------------------------------


def wide(path: Path) -> dict[tuple[str, str, str], str]:
    """The files give planes and rows in front, a column for each column of the table."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    return {(r[0], r[1], column): entry for r in rows for column, entry in zip(header[2:], r[2:], strict=True)}


def test_cox3(tmp_path):
    values, levels = wide(DATA / "tables" / "cox3" / "values.csv"), wide(DATA / "tables" / "cox3" / "protection.csv")
    long = tmp_path / "cells.csv"
    with long.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["plane", "row", "column", "VALUE", "STATUS", "LEVEL"])
        for codes, entry in values.items():
            out.writerow([*codes, entry or "0", "u" if levels[codes] else "s", levels[codes] or "0"])
    problem = bind_file(POLICIES / "cox3.sdc", {"cells": long})["cox"]
    at, d = by_codes(problem), problem.dataset
    assert problem.n == 4 * 6 * 10 == len(values)
    assert all(d["a"].values[at[codes]] == float(entry or 0) for codes, entry in values.items())
    marked = {at[codes]: float(level) for codes, level in levels.items() if level}
    assert dict(zip(d["cell_at"].values.tolist(), d["lpl"].values.tolist(), strict=True)) == marked
    assert d["upl"].values.tolist() == d["lpl"].values.tolist()
    assert (np.array(status(problem)) == "z").sum() == sum(not float(entry or 0) for entry in values.values())
    assert adds_up(problem)


# ---- benchmark tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["small", "mid"])
def test_benchmark_from_records_and_from_cells(size):
    folder = DATA / "bench" / size
    trees = {d: folder / f"{d}.hrc" for d in ("REG", "IND", "SIZE")}
    made = [
        bind_file(POLICIES / f"bench-{kind}.sdc", trees | {"source": folder / f"{kind}.csv"})["t"]
        for kind in ("micro", "table")
    ]
    known = {(r["REG"], r["IND"], r["SIZE"]): r for r in rows_of(folder / "table.csv")}
    for problem in made:
        d, at = problem.dataset, by_codes(problem)
        counts = problem.tables[0].quantities["count"]
        assert set(at) == set(known)
        for codes, row in known.items():
            c = at[codes]
            assert (d["a"].values[c], counts[c]) == (float(row["value"]), float(row["freq"]))
        sensitive = {at[codes] for codes, row in known.items() if int(row["sens"])}
        assert set(problem.sensitive.tolist()) == sensitive
        upl = dict(zip(d["cell_at"].values.tolist(), d["upl"].values.tolist(), strict=True))
        assert upl.keys() == sensitive
        for codes, row in known.items():  # the file rounds levels up
            if int(row["sens"]):
                assert np.ceil(round(upl[at[codes]], 9)) == float(row["upl"])
        assert adds_up(problem)
    first, second = (p.dataset for p in made)
    for name in ("a", "w", "status", "needed_lower", "needed_upper", "coefficient", "cell_of", "equation_of"):
        assert (first[name].values == second[name].values).all(), name
