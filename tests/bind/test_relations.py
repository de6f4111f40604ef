"""Relations against loops over cells, redundancy against the rank of the matrix."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix

from sdcdsl.bind.lattice import lattice
from sdcdsl.bind.linking import NamedTable, link
from sdcdsl.bind.microdata import Columns
from sdcdsl.bind.relations import Relations, joined, redundant, relations, repeated, select
from sdcdsl.bind.tabulate import tabulate
from tests.bind.small_worlds import dimension, dimensions_, flat, tree, worlds

tables = st.integers(1, 3).flatmap(lambda n: st.tuples(*[dimensions_("abc"[i], 3) for i in range(n)])).map(list)


def matrix(made: Relations) -> np.ndarray:
    shape = (len(made.rhs), made.cells)
    return coo_matrix((made.coefficient, (made.equation_of, made.cell_of)), shape=shape).toarray()


def literal_relations(dims):
    """Every node of every tree × every combination of the other codes, as {cell codes: coefficient}, each once."""
    found = set()
    for d, dim in enumerate(dims):
        for t in dim.trees:
            for at, code in enumerate(t.codes):
                children = [(t.codes[i], int(t.sign[i])) for i, p in enumerate(t.parent) if p == at]
                if not children:
                    continue
                others = [x.codes for e, x in enumerate(dims) if e != d]
                for rest in product(*others):

                    def at_code(c, rest=rest, d=d):
                        return (*rest[:d], c, *rest[d:])

                    found.add(frozenset([(at_code(code), -1), *((at_code(c), s) for c, s in children)]))
    return found


@settings(max_examples=150, deadline=None)
@given(tables)
def test_every_relation_once(dims):
    made_lattice, _ = lattice(dims)
    assert made_lattice is not None
    made = relations(made_lattice)
    rows = [set() for _ in made.rhs]
    for c, cell, e in zip(made.coefficient, made.cell_of, made.equation_of, strict=True):
        rows[e].add((tuple(made_lattice.codes(int(cell)).values()), int(c)))
    assert len(rows) == len({frozenset(r) for r in rows})
    assert {frozenset(r) for r in rows} == literal_relations(dims)
    assert not made.rhs.any()


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(tables)
def test_redundant_relations_are_implied_and_the_kept_ones_are_independent(dims):
    made_lattice, _ = lattice(dims)
    assert made_lattice is not None
    made = relations(made_lattice)
    drop = redundant(made)
    full, kept = matrix(made), matrix(select(made, ~drop))
    rank = np.linalg.matrix_rank(full) if full.size else 0
    assert len(kept) == rank
    assert (np.linalg.matrix_rank(kept) if kept.size else 0) == rank


@settings(max_examples=60, deadline=None)
@given(worlds(most_dims=3, most_leaves=3))
def test_tabulated_values_satisfy_all_relations(world):
    dims, frame = world
    table, _ = tabulate(frame, dims, Columns(tuple(d.name for d in dims), "x"))
    assert table is not None
    made = relations(table.lattice)
    assert not (matrix(made) @ table.value).any()


@settings(max_examples=40, deadline=None)
@given(tables)
def test_labels_name_the_total_of_their_relation(dims):
    made_lattice, _ = lattice(dims)
    assert made_lattice is not None
    made = relations(made_lattice)
    for e in range(len(made.rhs)):
        entries = np.flatnonzero(made.equation_of == e)
        label = made.label(e)
        assert label is not None
        total = entries[made.coefficient[entries] < 0][0]
        assert made_lattice.codes(int(made.cell_of[total])) == {label.dimension: label.code, **label.others}
        trees = {t.name: t for t in next(d for d in dims if d.name == label.dimension).trees}
        assert label.code in trees[label.tree].codes


def test_a_parent_with_one_child_keeps_its_relation():
    made_lattice, _ = lattice([dimension("a", tree("T", [("T", "g", 1), ("g", "a0", 1)]))])
    assert made_lattice is not None
    assert matrix(relations(made_lattice)).tolist() == [[-1, 1, 0], [0, -1, 1]]


def test_two_trees_going_in_a_circle_are_two_facts_about_the_same_leaves():
    around = dimension("a", tree("T", [("T", "A", 1), ("T", "B", 1)]), tree("A", [("A", "T", 1), ("A", "B", -1)]))
    made_lattice, found = lattice([around])
    assert found == []
    assert made_lattice is not None
    assert made_lattice.compositions[0].is_leaf.tolist() == [False, True, True]
    assert redundant(relations(made_lattice)).tolist() == [False, True]


def test_joined_relations_keep_their_labels():
    first, _ = lattice([flat("a", ["a0", "a1"])])
    second, _ = lattice([flat("b", ["b0"])])
    assert first is not None
    assert second is not None
    both = joined([relations(first), relations(second)], [np.array([0, 1, 2]), np.array([0, 3])], 4)
    assert matrix(both).tolist() == [[-1, 1, 1, 0], [-1, 0, 0, 1]]
    assert [str(both.label(e)) for e in range(2)] == ["a = T adds up", "b = T adds up"]
    assert both.label(2) is None


def test_equations_that_linked_tables_share_stand_once():
    region, size, form = flat("region", ["A", "B"]), flat("size", ["s", "l"]), flat("form", ["x", "y"])
    tables = [_table([region, size]), _table([region, form])]
    linked = link([NamedTable(f"t{i}", "m", t) for i, t in enumerate(tables)])
    both = joined([relations(t) for t in tables], linked.maps, linked.cells)
    again = repeated(both)
    # Both tables say T = A + B at the total of their other dimension, about the same three cells.
    assert again.sum() == 1
    kept = select(both, ~again)
    assert len({_terms(kept, e) for e in range(len(kept.rhs))}) == len(kept.rhs)
    assert {_terms(kept, e) for e in range(len(kept.rhs))} == {_terms(both, e) for e in range(len(both.rhs))}
    old = np.flatnonzero(~again)
    assert [str(kept.label(e)) for e in range(len(kept.rhs))] == [str(both.label(int(e))) for e in old]


def _table(dimensions):
    made, found = lattice(dimensions)
    assert made is not None, found
    return made


def _terms(made, equation):
    at = made.equation_of == equation
    return frozenset(zip(made.cell_of[at].tolist(), made.coefficient[at].tolist(), strict=True))
