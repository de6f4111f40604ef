"""Failing totals are named with both sums; missing totals are computed, and nothing else is."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.additivity import check_additivity, fill_totals
from sdcdsl.bind.lattice import lattice
from sdcdsl.bind.microdata import Columns
from sdcdsl.bind.relations import Relations, relations
from sdcdsl.bind.tabulate import tabulate
from sdcdsl.diagnostics import FilePlace
from tests.bind.small_worlds import dimension, flat, tree, worlds


def two_by_two():
    table, _ = lattice([flat("nace", ["A", "B"]), flat("nuts", ["DE1", "DE2"])])
    assert table is not None
    a = np.zeros(9)
    for (i, j), x in {("A", "DE1"): 5, ("A", "DE2"): 7, ("B", "DE1"): 11, ("B", "DE2"): 1_204_877}.items():
        for p in (i, "T"):
            for q in (j, "T"):
                a[table.cell({"nace": p, "nuts": q})] += x
    return table, a, relations(table)


def test_a_total_that_fails_names_the_cell_both_sums_and_the_difference():
    table, a, made = two_by_two()
    assert check_additivity(a, made, table.label) == []
    a[table.cell({"nace": "B", "nuts": "T"})] -= 100
    [found] = check_additivity(a, made, table.label, place=FilePlace("cells.csv"))
    assert found.code == "SDC301"
    said = [found.headline, *found.notes]
    assert any("nace = B, nuts = T" in s for s in said)
    assert any("children sum to 1 204 888, table says 1 204 788 (off by 100)" in s for s in said)
    assert str(found.place) == "cells.csv (2 cells of 9)"


def test_a_small_difference_is_never_shown_as_zero():
    table, a, made = two_by_two()
    a[table.cell({"nace": "A", "nuts": "T"})] += 0.001
    [found] = check_additivity(a, made, table.label)
    assert any("off by -0.001)" in s for s in found.notes)


def test_rounding_noise_is_not_a_mistake_even_around_zero():
    table, _ = lattice([dimension("a", tree("T", [("T", "x", 1), ("T", "y", 1), ("T", "z", 1)]))])
    assert table is not None
    a = np.array([0.0, 0.1 + 0.2, -0.3, 0.0]) * 1e9
    assert check_additivity(a, relations(table), table.label) == []


def test_ten_are_named_and_the_rest_is_counted():
    table, _ = lattice([flat("a", [f"a{i}" for i in range(20)]), flat("b", ["b0", "b1"])])
    assert table is not None
    a = np.ones(table.size)
    [found] = check_additivity(a, relations(table), table.label)
    assert len(found.notes) == 11
    assert found.notes[-1] == "and 14 more relations"  # 3 columns of 20 and 21 rows of 2


def test_a_right_hand_side_counts():
    system = Relations(np.array([1.0, 1.0]), np.array([0, 1]), np.array([0, 0]), np.array([5.0]), 2)
    assert check_additivity(np.array([2.0, 3.0]), system, str) == []
    [found] = check_additivity(np.array([2.0, 4.0]), system, str)
    assert "children sum to 6, table says 5" in found.notes[0]


@settings(max_examples=100, deadline=None)
@given(worlds(most_dims=3, most_leaves=3), st.data())
def test_missing_totals_come_back(world, data):
    dims, frame = world
    table, _ = tabulate(frame, dims, Columns(tuple(d.name for d in dims), "x"))
    assert table is not None
    made = relations(table.lattice)
    totals = np.flatnonzero(~table.lattice.is_leaf)
    gone = data.draw(st.lists(st.sampled_from(totals.tolist()), unique=True)) if len(totals) else []
    a = table.value.copy()
    a[gone] = np.nan
    filled, found = fill_totals(a, made, table.lattice.label)
    assert found == []
    np.testing.assert_array_equal(filled.a, table.value)
    assert sorted(np.flatnonzero(filled.filled)) == sorted(gone)
    assert np.isnan(a[gone]).all()


def test_what_no_sum_of_parts_gives_is_named():
    table, a, made = two_by_two()
    leaf = table.cell({"nace": "A", "nuts": "DE1"})
    row, total = table.cell({"nace": "A", "nuts": "T"}), table.cell({})
    a[[leaf, row, total]] = np.nan
    filled, [found] = fill_totals(a, made, table.label)
    # The grand total follows from the regions; the row and its part would need a subtraction.
    assert filled.undetermined.tolist() == sorted([leaf, row])
    assert filled.a[total] == 1_204_900
    assert found.code == "SDC309"
    assert "nace = A, nuts = DE1" in found.notes[0]
