"""Unions of hidden cells against enumeration by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.aggregates import sensitive_aggregates
from sdcdsl.bind.holdings import cells_of, contributions_to
from sdcdsl.bind.microdata import Columns
from sdcdsl.bind.relations import relations, with_sums
from sdcdsl.bind.rules.p_percent import PPercent
from sdcdsl.bind.rules.threshold import Threshold
from sdcdsl.bind.tabulate import tabulate
from tests.bind.small_worlds import contributors_by_cell, flat, holder_of, records, worlds


def tabulated(dims, frame):
    columns = Columns(tuple(d.name for d in dims), "x", "unit", "group", "w")
    table, found = tabulate(frame, dims, columns, keep_contributions=True)
    assert found == []
    assert table is not None
    assert table.contributions is not None
    return table, table.contributions


@settings(max_examples=150, deadline=None)
@given(worlds(most_dims=3, most_leaves=3), st.data())
def test_contributions_to_chosen_cells(world, data):
    dims, frame = world
    table, leaves = tabulated(dims, frame)
    chosen = np.zeros(table.lattice.size, dtype=bool)
    chosen[data.draw(st.lists(st.integers(0, table.lattice.size - 1)))] = True
    made = contributions_to(table.lattice, leaves, chosen)
    weighted = (frame["x"] * frame["w"]).to_list()
    expected = {
        (cell, str(holder)): amount
        for cell, (_, mine) in enumerate(
            contributors_by_cell(dims, frame, holder_of(frame, unit=True, group=True), weighted)
        )
        for holder, amount in mine.items()
        if chosen[cell]
    }
    keys = [(int(c), table.name(int(h))) for c, h in zip(made.cell, made.holding, strict=True)]
    assert dict(zip(keys, made.amount.tolist(), strict=True)) == expected
    assert len(keys) == len(expected)
    assert made.cell.tolist() == sorted(made.cell.tolist())


def literal_unions(made, hidden, mine_by_cell, p, limit):
    """{signed set of cells: level} for pairs and whole sets of hidden parts under a published total, by p % (n = 1)."""
    found = {}
    for e in range(len(made.rhs)):
        entries = np.flatnonzero(made.equation_of == e)
        total = next(i for i in entries if made.coefficient[i] < 0)
        if hidden[made.cell_of[total]]:
            continue
        parts = [(int(made.cell_of[i]), int(made.coefficient[i])) for i in entries if i != total]
        out = [part for part in parts if hidden[part[0]]]
        sets = [out] if 2 <= len(out) < len(parts) else []
        sets += [list(pair) for pair in combinations(out, 2)] if 2 < len(out) <= limit else []
        for members in sets:
            together: dict = {}
            for cell, sign in members:
                for holder, amount in mine_by_cell[cell].items():
                    together[holder] = together.get(holder, 0.0) + sign * amount
            xs = [*sorted((abs(x) for x in together.values()), reverse=True), 0.0, 0.0]
            level = p * xs[0] - (sum(xs) - xs[0] - xs[1])
            if level > 1e-9:
                first = min(members)
                found[frozenset((c, s * first[1]) for c, s in members)] = level
    return found


@settings(max_examples=150, deadline=None)
@given(worlds(most_dims=2), st.data(), st.sampled_from([2, 12]))
def test_unions_are_those_found_by_enumeration(world, data, limit):
    dims, frame = world
    table, leaves = tabulated(dims, frame)
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=table.lattice.size, max_size=table.lattice.size)))
    made = relations(table.lattice)
    contributions = contributions_to(table.lattice, leaves, hidden)
    unions = sensitive_aggregates(table.value, made, hidden, contributions, PPercent(p=0.25).judge, pair_limit=limit)
    weighted = (frame["x"] * frame["w"]).to_list()
    holders = holder_of(frame, unit=True, group=True)
    mine = [m for _, m in contributors_by_cell(dims, frame, holders, weighted)]
    expected = literal_unions(made, hidden, mine, 0.25, limit)
    got = {}
    for u in range(len(unions)):
        member = unions.union_of == u
        signed = frozenset(zip(unions.cell_of[member].tolist(), unions.coefficient[member].tolist(), strict=True))
        assert signed not in got
        got[signed] = unions.upper[u]
        assert unions.value[u] == sum(table.value[c] * s for c, s in signed)
        assert unions.count[u] == len({h for c, _ in signed for h in mine[c]})
    assert got.keys() == expected.keys()
    for key, level in expected.items():
        np.testing.assert_allclose(got[key], level)
    # As cells of the table: every union equals its members, and the other relations are untouched.
    more = with_sums(made, unions.union_of, unions.cell_of, unions.coefficient, len(unions))
    a = np.concatenate([table.value, unions.value])
    residual = np.bincount(more.equation_of, weights=more.coefficient * a[more.cell_of], minlength=len(more.rhs))
    assert not residual.any()
    assert more.cells == made.cells + len(unions)


def row_of(*cells: list[tuple[str, float]]):
    dim = flat("a", [f"a{i}" for i in range(len(cells))])
    rows = [(f"a{i}", x, 1.0, who, None) for i, cell in enumerate(cells) for who, x in cell]
    table, leaves = tabulated([dim], records([dim], rows))
    return table, leaves, relations(table.lattice)


BIG = [(f"b{i}", 50.0) for i in range(9)]


def found(table, leaves, made, hidden_codes, judge):
    hidden = np.zeros(table.lattice.size, dtype=bool)
    hidden[[table.lattice.cell({"a": code}) for code in hidden_codes]] = True
    contributions = contributions_to(table.lattice, leaves, hidden)
    return sensitive_aggregates(table.value, made, hidden, contributions, judge)


def test_two_singletons_of_one_relation():
    world = row_of([("u", 10.0)], [("v", 20.0)], BIG)
    unions = found(*world, ["a0", "a1"], Threshold(n=3, level=0.5).judge)
    assert unions.value.tolist() == [30.0]
    assert unions.upper.tolist() == [15.0]


def test_two_cells_of_one_respondent():
    world = row_of([("u", 60.0), ("x", 1.0)], [("u", 40.0), ("y", 1.0)], BIG)
    unions = found(*world, ["a0", "a1"], PPercent(p=0.1).judge)
    assert unions.value.tolist() == [102.0]
    assert unions.count.tolist() == [3]
    np.testing.assert_allclose(unions.upper, [10 - 1])


def test_a_safe_cell_hidden_beside_a_sensitive_one_of_the_same_holding():
    world = row_of([("u", 100.0)], [("u", 10.0), ("v", 10.0), ("w", 10.0)], BIG)
    judge = PPercent(p=0.5).judge
    assert judge(cells_of(world[0])).sensitive.tolist() == [False, True, False, False]
    unions = found(*world, ["a0", "a1"], judge)
    assert unions.value.tolist() == [130.0]
    assert unions.upper.tolist() == [0.5 * 110 - 10]


@settings(max_examples=60, deadline=None)
@given(worlds(most_dims=2, negatives=False))
def test_safe_cells_of_non_negative_data_are_safe_together(world):
    dims, frame = world
    table, leaves = tabulated(dims, frame)
    safe = ~PPercent(p=0.25).judge(cells_of(table)).sensitive
    made = relations(table.lattice)
    if (made.coefficient < 0).sum() == len(made.rhs):  # no minus signs
        contributions = contributions_to(table.lattice, leaves, safe)
        assert len(sensitive_aggregates(table.value, made, safe, contributions, PPercent(p=0.25).judge)) == 0


def test_all_parts_hidden_are_the_total_and_a_hidden_total_reveals_nothing():
    world = row_of([("u", 10.0)], [("v", 20.0)])
    assert len(found(*world, ["a0", "a1"], Threshold(n=3).judge)) == 0
    world = row_of([("u", 10.0)], [("v", 20.0)], BIG)
    assert len(found(*world, ["a0", "a1", "T"], Threshold(n=3).judge)) == 0
