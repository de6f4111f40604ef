"""Cells that mean the same get one number."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.lattice import lattice
from sdcdsl.bind.linking import NamedTable, _compressed, link, shared_values
from tests.bind.small_worlds import dimension, dimensions_, flat, tree


def table(name, measure, *dims) -> NamedTable:
    made, found = lattice(dims)
    assert found == []
    assert made is not None
    return NamedTable(name, measure, made)


@st.composite
def linked_tables(draw):
    """Up to four tables over subsets of three dimensions and two measures."""
    pool = [draw(dimensions_("abc"[i], 3)) for i in range(3)]
    tables = []
    for i in range(draw(st.integers(1, 4))):
        dims = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3, unique=True))
        tables.append(table(f"t{i}", draw(st.sampled_from("xy")), *dims))
    return tables


@settings(max_examples=100, deadline=None)
@given(linked_tables())
def test_equal_numbers_mean_equal_meaning(tables):
    linked = link(tables)
    seen: dict = {}
    for t, cells in zip(tables, linked.maps, strict=True):
        for local, cell in enumerate(cells.tolist()):
            inner = frozenset((n, c) for n, c in t.lattice.codes(local).items() if c != "T")
            assert seen.setdefault((t.measure, inner), cell) == cell
    # Numbers without gaps, in order of first appearance.
    assert list(dict.fromkeys(seen.values())) == list(range(linked.cells))
    for cell in range(linked.cells):
        assert linked.maps[linked.table_of[cell]][linked.local_of[cell]] == cell


def test_regions_of_two_and_of_three_levels():
    coarse = flat("nuts", ["DE1", "DE2"], "DE")
    edges = [("DE", "DE1", 1), ("DE", "DE2", 1), ("DE1", "DE11", 1), ("DE1", "DE12", 1)]
    fine = dimension("nuts", tree("DE", edges))
    a, b = table("a", "x", coarse, flat("size", ["s", "l"])), table("b", "x", fine)
    linked = link([a, b])
    assert linked.cells == 9 + 2
    for code in ("DE", "DE1", "DE2"):
        at = a.lattice.cell({"nuts": code, "size": "T"})
        assert linked.maps[0][at] == linked.maps[1][b.lattice.cell({"nuts": code})]
    assert linked.label(10) == "b: nuts = DE12"


def test_a_part_of_the_country_is_not_the_whole():
    country, state = flat("nuts", ["DE1", "DE2"], "DE"), flat("nuts", ["DE11", "DE12"], "DE1")
    without = table("c", "x", flat("size", ["s"]))
    linked = link([table("a", "x", country), table("b", "x", state), without])
    a, b, c = (m.tolist() for m in linked.maps)
    assert b[0] == a[1]  # DE1, the root of one and a part of the other
    assert c[0] == a[0]  # no region: the country
    assert linked.cells == 3 + 2 + 1


def test_without_a_common_whole_nothing_is_taken_for_it():
    linked = link(
        [
            table("a", "x", flat("nuts", ["DE1"], "DE")),
            table("b", "x", flat("nuts", ["FR1"], "FR")),
            table("c", "x", flat("size", ["s"])),
        ]
    )
    assert linked.cells == 6


def test_keys_that_would_overflow_are_renumbered():
    keys, bound = _compressed([np.array([2**60, 5]), np.array([5, 7])])
    assert [k.tolist() for k in keys] == [[2, 0], [0, 1]]
    assert bound == 3
    many = [flat(f"d{i:02d}", [f"c{j}" for j in range(30)]) for i in range(14)]  # 31 ** 14 > 2 ** 62
    tables = [table(f"t{i}", "x", d) for i, d in enumerate(many)]
    linked = link(tables)
    assert linked.cells == 1 + 14 * 30
    assert {int(m[0]) for m in linked.maps} == {0}


def test_values_that_disagree_name_both_tables():
    dim = flat("a", ["a0", "a1"])
    linked = link([table("one", "x", dim), table("two", "x", dim)])
    values, found = shared_values(linked, [np.array([3.0, 1.0, np.nan]), np.array([3.0, 1.5, 2.0])])
    assert values.tolist() == [3.0, 1.0, 2.0]
    [d] = found
    assert d.code == "SDC301"
    assert "a = a0" in d.headline
    assert d.notes == ("one says 1, two says 1.5 (off by 0.5)",)
