"""Policies over random microdata: respondents as attackers, linked tables, unions, one table in three guises."""

from __future__ import annotations

import csv
import tempfile
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.problem import TableProblem
from tests.bind.policies import adds_up, bind_text, matrix, problem_of, sensitive_labels

# What lies above each code, the code itself included.
ABOVE = {
    "area": {"n1": ("n1", "North", "All"), "n2": ("n2", "North", "All"), "s1": ("s1", "South", "All")},
    "size": {"small": ("small", "all"), "large": ("large", "all")},
    "form": {"x": ("x", "any"), "y": ("y", "any")},
}
WHOLE = {"area": "All", "size": "all", "form": "any"}
HEAD = """sdc 1
policy "microdata"
data firms {
  csv "firms.csv"
  column unit = "unit"
  column group = "group"
  column weight = "w"
}
dimension area {
  hierarchy All = North + South
  hierarchy North = n1 + n2
  hierarchy South = s1
  total All
}
dimension size { codes small, large; total all }
dimension form { codes x, y; total any }
"""
TABLE = "table {name} {{ from firms; by {by}; sum x }}\n"
TABLES = {"by_size": ("area", "size"), "by_form": ("area", "form")}

record = st.fixed_dictionaries(
    {
        **{name: st.sampled_from(list(codes)) for name, codes in ABOVE.items()},
        "unit": st.integers(0, 6),
        "x": st.integers(0, 20),
        "w": st.sampled_from([1, 1, 2]),
    }
)
worlds = st.lists(record, min_size=1, max_size=14)


def group_of(unit: int) -> str:
    return "" if unit > 4 else f"h{unit % 3}"  # two units belong to nobody


def holder(unit: int, together: bool) -> str:
    return group_of(unit) if together and group_of(unit) else f"u{unit}"


def write(records: list[dict], folder: str | Path) -> Path:
    with (Path(folder) / "firms.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["area", "size", "form", "unit", "group", "x", "w"])
        for r in records:
            who = (f"u{r['unit']}", group_of(r["unit"]))
            out.writerow([r["area"], r["size"], r["form"], *who, r["x"], r["w"]])
    return Path(folder)


Cell = tuple[tuple[str, str], ...]  # (dimension, code), without those at the total: what a cell means


def meaning(codes: dict[str, str]) -> Cell:
    return tuple(sorted((d, c) for d, c in codes.items() if c != WHOLE[d]))


def literal(records: list[dict], tables=TABLES, together: bool = True) -> dict[Cell, dict[str, float]]:
    """What every holder contributes to every cell of the tables."""
    out: dict[Cell, dict[str, float]] = {}
    for dims in tables.values():
        for codes in product(*({c for above in ABOVE[d].values() for c in above} for d in dims)):
            out.setdefault(meaning(dict(zip(dims, codes, strict=True))), {})
    for key, parts in out.items():
        for r in records:
            if all(code in ABOVE[d][r[d]] for d, code in key):
                who = holder(r["unit"], together)
                parts[who] = parts.get(who, 0.0) + r["x"] * r["w"]
    return out


def cells_of(problem: TableProblem) -> dict[int, Cell]:
    """What each common cell means, from the tables' own codes."""
    numbers: dict[Cell, int] = {}
    for table in problem.tables:
        assert table.lattice is not None
        for c in range(table.size):
            numbers.setdefault(meaning(table.lattice.codes(c)), len(numbers))
    return {number: key for key, number in numbers.items()}


def members_of(problem: TableProblem) -> dict[int, list[int]]:
    """Members of each union, from its relation: -union + Σ members = 0."""
    m, published = matrix(problem).tocsr(), problem.dataset["published"].values
    out = {}
    for row in range(problem.m - int((~published).sum()), problem.m):
        start, stop = m.indptr[row], m.indptr[row + 1]
        [union] = [int(c) for c, v in zip(m.indices[start:stop], m.data[start:stop], strict=True) if v < 0]
        assert not published[union]
        out[union] = [int(c) for c, v in zip(m.indices[start:stop], m.data[start:stop], strict=True) if v > 0]
    return out


def both_tables(rest: str) -> str:
    tables = "".join(TABLE.format(name=name, by=", ".join(by)) for name, by in TABLES.items())
    return HEAD + tables + rest


def all_parts(problem: TableProblem, own: dict[Cell, dict[str, float]]) -> dict[int, dict[str, float]]:
    """Contributions to every cell and every union of the problem."""
    out = {c: own[key] for c, key in cells_of(problem).items()}
    for union, members in members_of(problem).items():
        summed: dict[str, float] = defaultdict(float)
        for member in members:
            for who, amount in own[cells_of(problem)[member]].items():
                summed[who] += amount
        out[union] = dict(summed)
    return out


# ---- linked tables -----------------------------------------------------------------------------------------


@given(worlds)
@settings(max_examples=40, deadline=None)
def test_shared_cells_have_one_number_and_everything_adds_up(records):
    text = both_tables("sensitive by threshold(2)\nattacker a { bounds 0 .. inf }\n")
    text += "protect by_size, by_form { lpl max(needed, 1); against a; method csp }\n"
    with tempfile.TemporaryDirectory() as folder:
        problems, found = bind_text(text.replace("lpl max(needed, 1)", "upl max(needed, 1)"), write(records, folder))
    problem = problems["by_size"]
    own = literal(records)
    keys = cells_of(problem)
    assert sorted(keys.values()) == sorted(own)
    assert problem.dataset["a"].values[: len(keys)].tolist() == [sum(own[keys[c]].values()) for c in range(len(keys))]
    assert adds_up(problem)
    assert {d.code for d in found} <= {"SDC331"}  # a warning: nothing is sensitive
    marked = {keys[int(c)] for c in problem.sensitive if c in keys}
    assert marked == {key for key, parts in own.items() if len(parts) == 1}


# ---- respondents as attackers ------------------------------------------------------------------------------


@pytest.mark.long
@given(worlds, st.booleans(), st.sampled_from([0, 30, 80]), st.sampled_from(["on", "off"]))
@settings(max_examples=80, deadline=None)
def test_each_respondent_knows_its_own_part(records, together, share, unions):
    text = both_tables("sensitive by threshold(3)\nattacker r {\n")
    text += f"  each unit where contribution >= {share}% of value\n{'  coalition group' if together else ''}\n"
    text += "  knows own contribution\n  bounds 0 .. inf\n}\n"
    text += f"protect by_size, by_form {{ lpl min(value, 3); upl 4; against r; method csp {{ unions {unions} }} }}\n"
    with tempfile.TemporaryDirectory() as folder:
        problem = problem_of(text, write(records, folder))
    own, d = literal(records, together=together), problem.dataset
    parts, a = all_parts(problem, own), d["a"].values
    expected = {
        who for key, here in own.items() for who, amount in here.items() if amount >= share / 100 * sum(here.values())
    }
    kept = [label.removeprefix("r ") for label in problem.attackers]
    assert len(set(kept)) == len(kept)
    assert set(kept) <= expected
    assert len(kept) + problem.merged_attackers == len(expected)
    known: dict[str, dict[int, float]] = defaultdict(dict)
    columns = ("known_attacker", "known_cell", "known_low", "known_high")
    for k, c, low, high in zip(*(d[name].values for name in columns), strict=True):
        known[kept[int(k)]][int(c)] = float(low)
        assert high == np.inf
    for who in kept:
        assert known[who] == {c: here[who] for c, here in parts.items() if who in here}
        assert all(low <= a[c] for c, low in known[who].items())
    # Pairs: nobody is protected from the only contributor, the others only as far as their own part leaves room.
    sensitive = [int(c) for c in problem.sensitive]
    wanted: dict[tuple[str, int], tuple[float, float]] = {}
    for who, c in product(kept, sensitive):
        if list(parts[c]) != [who]:
            wanted[who, c] = (float(min(a[c], 3.0, a[c] - parts[c].get(who, 0.0))), 4.0)
    columns = ("attacker_at", "cell_at", "lpl", "upl")
    made = {(kept[int(k)], int(c)): (lpl, upl) for k, c, lpl, upl in zip(*(d[n].values for n in columns), strict=True)}
    assert made == wanted
    # Whoever was dropped is covered by somebody who knows at least as much everywhere and is protected against in full.
    for who in expected - set(kept):
        mine = {c: here[who] for c, here in parts.items() if who in here}
        assert any(
            all(known[other].get(c, -1.0) >= amount for c, amount in mine.items())
            and all(made.get((other, c), (-1.0,))[0] == min(a[c], 3.0) for c in sensitive)
            for other in kept
        )


@given(worlds)
@settings(max_examples=20, deadline=None)
def test_respondents_who_know_nothing_are_one_attacker(records):
    text = both_tables("sensitive by threshold(3)\nattacker r { each unit; bounds 0 .. inf }\n")
    text += "protect by_size, by_form { upl 4; against r; method csp }\n"
    with tempfile.TemporaryDirectory() as folder:
        problem = problem_of(text, write(records, folder))
    assert len(problem.attackers) == 1
    assert problem.merged_attackers == len({r["unit"] for r in records}) - 1
    assert problem.dataset.sizes["known"] == 0


def test_negative_contributions_tell_an_attacker_nothing(tmp_path):
    """u0 gives 50 where u1 takes 40 back: the cell of 10 is not at least 50."""
    records = [
        {"area": "n1", "size": "small", "form": "x", "unit": 0, "x": 50, "w": 1},
        {"area": "n1", "size": "small", "form": "x", "unit": 1, "x": -40, "w": 1},
        {"area": "n2", "size": "small", "form": "x", "unit": 2, "x": 5, "w": 1},
    ]
    text = both_tables("sensitive by threshold(3)\nattacker r {\n  each unit where contribution > 30\n")
    text += (
        "  knows own contribution\n  bounds -inf .. inf\n}\nprotect by_size, by_form { upl 4; against r; method csp }\n"
    )
    problem = problem_of(text, write(records, tmp_path))
    assert problem.attackers == ("r u0",)
    assert problem.dataset.sizes["known"] == 0


def test_who_qualifies_in_one_table_attacks_them_all(tmp_path):
    records = [
        {"area": "n1", "size": "small", "form": "x", "unit": 0, "x": 50, "w": 1},
        {"area": "n1", "size": "large", "form": "x", "unit": 5, "x": 50, "w": 1},
        {"area": "n1", "size": "large", "form": "x", "unit": 6, "x": 50, "w": 1},
    ]
    text = both_tables("sensitive by threshold(3)\nattacker r {\n  each unit where size = small and contribution > 0\n")
    text += "  knows own contribution\n  bounds 0 .. inf\n}\n"
    text += "protect by_size, by_form { upl 4; against r; method csp { unions off } }\n"
    problem = problem_of(text, write(records, tmp_path))
    assert problem.attackers == ("r u0",)
    keys = cells_of(problem)
    assert {keys[int(c)] for c in problem.dataset["known_cell"].values} == {
        key for key, parts in literal(records, together=False).items() if "u0" in parts
    }


# ---- unions ------------------------------------------------------------------------------------------------


def p_percent(parts: dict[str, float], p: float) -> bool:
    xs = [*sorted(parts.values(), reverse=True), 0.0, 0.0]
    return sum(xs) - xs[0] - xs[1] < p * xs[0] - 1e-9


@pytest.mark.long
@given(worlds)
@settings(max_examples=60, deadline=None)
def test_every_union_is_sensitive_by_a_rule(records):
    text = both_tables("sensitive by threshold(2)\nsensitive by p_percent(20%)\nattacker a { bounds 0 .. inf }\n")
    text += "protect by_size, by_form { upl max(needed, 1); against a; method csp }\n"
    with tempfile.TemporaryDirectory() as folder:
        problems, _ = bind_text(text, write(records, folder))
    problem = problems["by_size"]
    parts, a = all_parts(problem, literal(records)), problem.dataset["a"].values
    hidden = {int(c) for c in problem.sensitive}
    seen = set()
    for union, members in members_of(problem).items():
        assert len(members) > 1
        assert set(members) <= hidden
        assert a[union] == sum(a[c] for c in members)
        assert len(parts[union]) == 1 or p_percent(parts[union], 0.2)
        seen.add(tuple(sorted(members)))
    assert len(seen) == len(members_of(problem))
    # All hidden parts of a relation with a published total and another part: found if a rule says so.
    base = len(cells_of(problem))
    m = matrix(problem)
    for row in range(problem.m - len(seen)):
        entries = list(
            zip(m.indices[m.indptr[row] : m.indptr[row + 1]], m.data[m.indptr[row] : m.indptr[row + 1]], strict=True)
        )
        [total] = [c for c, v in entries if v < 0]
        inner = sorted(int(c) for c, v in entries if v > 0 and c in hidden)
        if total in hidden or len(inner) < 2 or len(inner) == len(entries) - 1:
            continue
        together: dict[str, float] = defaultdict(float)
        for c in inner:
            assert c < base
            for who, amount in parts[c].items():
                together[who] += amount
        assert (tuple(inner) in seen) == (len(together) == 1 or p_percent(together, 0.2))


def test_cells_sensitive_together_are_summed_table_by_table(tmp_path):
    records = [{"area": "n1", "size": "small", "form": "x", "unit": u, "x": 10, "w": 1} for u in range(7)]
    text = both_tables("table twin { from firms; by area, size; count; integer }\n")
    text += "sensitive together at (area: n1, size: small), (area: s1, size: small)\n"
    text += "attacker a { bounds 0 .. inf }\nprotect by_size, twin { lpl 20% of largest(1); against a; method csp }\n"
    problem = problem_of(text, write(records, tmp_path))
    assert problem.dataset["a"].values[~problem.dataset["published"].values].tolist() == [70, 7]
    assert problem.dataset["lpl"].values.tolist() == pytest.approx([0.2 * 20, 0.2 * 2])  # units 0 and 3 belong together
    assert sensitive_labels(problem) == set()
    [first, second] = members_of(problem).values()
    assert {problem.label(c).split(":")[0] for c in first} == {"by_size"}
    assert {problem.label(c).split(":")[0] for c in second} == {"twin"}


def test_who_waived_its_protection_makes_no_union(tmp_path):
    """u5 is alone in two cells of a column whose total is published."""
    records = [{"area": a, "size": "small", "form": "x", "unit": 5, "x": 10, "w": 1} for a in ("n1", "n2")]
    records += [{"area": "s1", "size": "small", "form": "x", "unit": u, "x": 30, "w": 1} for u in (0, 1, 2)]
    text = (
        HEAD
        + TABLE.format(name="by_size", by="area, size")
        + "sensitive by threshold(2)\nsuppress where area under North\n"
    )
    text += "attacker a { bounds 0 .. inf }\nprotect by_size { upl 5; against a; method csp }\n"
    folder = write(records, tmp_path)
    problems, _ = bind_text(text, folder)
    assert len(sensitive_labels(problems["by_size"])) > 0
    waived = text + 'waive unit u5 because "it said so"\n'
    problems, found = bind_text(waived, folder)
    assert [d.code for d in found] == ["SDC331"]
    assert problems["by_size"].summary()["unions"] == 0


# ---- one table, three guises -------------------------------------------------------------------------------


@given(worlds)
@settings(max_examples=30, deadline=None)
def test_typed_in_ready_made_and_tabulated_tables_are_the_same(records):
    tables = {"t": ("area", "size")}
    own = literal(records, tables)
    cells = {
        (area, size): own[meaning({"area": area, "size": size})]
        for area in ("All", "North", "South", "n1", "n2", "s1")
        for size in ("all", "small", "large")
    }
    rows = [(*codes, sum(parts.values()), len(parts), *_two(parts)) for codes, parts in cells.items()]
    micro = HEAD + "table t { from firms; by area, size; sum x }\n"
    ready = HEAD + (
        'data cells { csv "cells.csv" }\n'
        "table t { from cells; by area, size; value v; count n; largest(1) one; largest(2) two }\n"
    )
    typed = HEAD + "table t {\n  by area, size\n  values\n    | area | size | value |\n"
    typed += "".join(f"    | {a} | {s} | {v:g} |\n" for a, s, v, *_ in rows) + "}\n"
    stated = "sensitive where value > 10 and area under All\nattacker a { bounds 0 .. inf }\n"
    ruled = "sensitive by threshold(2)\nsensitive by p_percent(20%)\nattacker a { bounds 0 .. inf }\n"
    protect = "protect t { upl max(needed, 1); against a; method csp { unions off } }\n"
    with tempfile.TemporaryDirectory() as folder:
        place = write(records, folder)
        with (place / "cells.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("area", "size", "v", "n", "one", "two"), *rows])
        for facts, guises in ((stated, (micro, ready, typed)), (ruled, (micro, ready))):
            made = [bind_text(text + facts + protect, place)[0]["t"] for text in guises]
            for problem in made:
                assert problem.dataset["a"].values.tolist() == made[0].dataset["a"].values.tolist()
                assert relations_of(problem) == relations_of(made[0])
                assert sensitive_labels(problem) == sensitive_labels(made[0])
                np.testing.assert_allclose(problem.dataset["upl"].values, made[0].dataset["upl"].values)
                assert [problem.label(c) for c in range(problem.n)] == [made[0].label(c) for c in range(problem.n)]


def _two(parts: dict[str, float]) -> tuple[float, float]:
    one, two = [*sorted(parts.values(), reverse=True), 0.0, 0.0][:2]
    return one, two


def relations_of(problem: TableProblem) -> set[frozenset[tuple[str, float]]]:
    m = matrix(problem)
    return {
        frozenset((problem.label(int(m.indices[i])), float(m.data[i])) for i in range(m.indptr[r], m.indptr[r + 1]))
        for r in range(problem.m)
    }


# ---- records and their columns -----------------------------------------------------------------------------


def test_only_where_compares_with_arithmetic(tmp_path):
    records = [
        {"area": "n1", "size": "small", "form": "x", "unit": u, "x": x, "w": 1} for u, x in enumerate([4, 10, 30])
    ]
    folder = write(records, tmp_path)
    protect = (
        "sensitive where value > 0\nattacker a { bounds -inf .. inf }\nprotect t { upl 1; against a; method csp }\n"
    )

    def total(only: str) -> float:
        text = HEAD + f"table t {{ from firms; by area; sum x; only where {only} }}\n" + protect
        problems, _ = bind_text(text, folder)
        return float(problems["t"].dataset["a"].values[0])

    assert total("x > 5") == 40
    assert total("x > 2 * 3 + w") == 40
    assert total("x > -5") == 44
    assert total("not (x >= 10 and x <= 10)") == 34
    assert total("x > 50% of 60") == 0


def test_columns_of_the_data_price_cells(tmp_path):
    records = [{"area": a, "size": "small", "form": "x", "unit": 5, "x": 7, "w": 2} for a in ("n1", "s1")]
    text = HEAD.replace('column weight = "w"', 'column staff = "w"') + TABLE.format(name="t", by="area")
    text += "sensitive by threshold(2)\nattacker a { bounds 0 .. inf }\n"
    text += "protect t { upl needed; against a; cost staff; method csp }\n"
    problem = problem_of(text, write(records, tmp_path))
    assert dict(zip(map(problem.label, range(6)), problem.dataset["w"].values[:6].tolist(), strict=True)) == {
        "area = All": 4,
        "area = North": 2,
        "area = n1": 2,
        "area = n2": 0,
        "area = South": 2,
        "area = s1": 2,
    }
