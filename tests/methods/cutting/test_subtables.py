"""Two-dimensional parts of tables are found without being told of dimensions, and what they say holds for the table."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.sparse import csr_array

from sdcdsl.accelerate.csp.bounding import Bounding
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.accelerate.cutting.subtables import Subtables, slices
from sdcdsl.deadline import Deadline
from sdcdsl.methods.csp import model as compact
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import by_model
from tests.methods.oracle import furthest
from tests.methods.tiny import tiny, valid

SEEDS = range(5)
SHAPE = (2, 3, 2)


def lattice(trees: list[list[int]], order: np.random.Generator) -> tuple[csr_array, list[tuple[int, ...]]]:
    """Relations of all combinations of codes, in any order; `trees` names the parent of each code. And which dimension
    each is along, with the codes of the others."""
    sides = [len(tree) for tree in trees]
    number = order.permutation(int(np.prod(sides))).reshape(sides)
    rows, names = [], []
    for axis, tree in enumerate(trees):
        for parent in sorted(set(tree) - {-1}):
            parts = [code for code, above in enumerate(tree) if above == parent]
            others = [range(side) for k, side in enumerate(sides) if k != axis]
            for rest in product(*others):
                line = np.moveaxis(number, axis, -1)[rest]
                row = np.zeros(number.size)
                row[line[parent]], row[line[parts]] = -1.0, 1.0
                rows.append(row)
                names.append((axis, parent, *rest))
    mixed = order.permutation(len(rows))
    return csr_array(np.array(rows)[mixed]), [names[k] for k in mixed]


@pytest.mark.parametrize("seed", range(3))
def test_parts_are_found_whatever_the_order(seed: int):
    """A hierarchy of two nodes and two lists of three: each part is one list, or one node, by one other dimension."""
    trees = [[-1, 0, 0, 1, 1, 1], [-1, 0, 0, 0], [-1, 0, 0, 0]]
    M, names = lattice(trees, np.random.default_rng(seed))
    found = {frozenset(names[k] for k in part) for rank, part in slices(M) if rank == 2}
    expected = set()
    for along, across in ((0, 1), (0, 2), (1, 0), (2, 0), (1, 2)):
        third = 3 - along - across
        for node, fixed in product(sorted(set(trees[along]) - {-1}), range(len(trees[third]))):
            part = set()
            for name in names:
                axis, parent, *rest = name
                code = dict(zip([k for k in range(3) if k != axis], rest, strict=True))
                in_node = code.get(along, node) == node or (along in code and trees[along][code[along]] == node)
                if code.get(third, fixed) == fixed and axis != third and in_node and (axis != along or parent == node):
                    part.add(name)
            expected.add(frozenset(part))
    assert found == expected


def test_relations_without_parallels_have_no_parts():
    rows = np.zeros((3, 7))
    rows[0, :3], rows[1, 2:5], rows[2, 4:] = 1.0, 1.0, 1.0
    assert list(slices(csr_array(rows))) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_identities_hold_for_all_moves_and_are_violated(seed: int):
    problem = tiny(seed, SHAPE)
    demands = CutRequirements(Instance(problem))
    separation = Separation(demands)
    subtables = Subtables(separation)
    assert subtables.parts
    dense = demands.classes.matrix.sparse.toarray()
    moves = null_space(dense)
    x = np.random.default_rng(seed).choice([0.0, 0.2, 1.0], demands.classes.count)
    for identity in subtables.identities(x, 1e-6, lambda: False):
        c = np.zeros(len(x))
        np.add.at(c, identity.up[0], identity.up[1])
        np.subtract.at(c, identity.down[0], identity.down[1])
        p, sign, viewer, need = separation.target(identity.level)
        c[p] -= sign
        assert np.abs(moves.T @ c).max(initial=0.0) < 1e-9
        low, high = demands.slack(viewer)
        share = np.where(x > 0, x, 0.0)
        down, up = (np.minimum(np.where(x > 0, side, 0.0) * share, need * share) for side in (low, high))
        reached = float(identity.up[1] @ up[identity.up[0]] + identity.down[1] @ down[identity.down[0]])
        assert reached < need
        assert furthest(dense, down, up, p, int(sign > 0), need) < need


@pytest.mark.parametrize("seed", SEEDS)
def test_every_valid_pattern_keeps_the_cuts(seed: int):
    problem = tiny(seed, SHAPE)
    instance = Instance(problem)
    bounding = Bounding(instance, instance.w)
    while bounding.round(Deadline(), in_parts=True):
        pass
    draw = np.random.default_rng(seed)
    must = instance.sensitive | instance.open_anyway
    hidden = instance.may_open.copy()
    if not valid(problem, *(np.where(hidden, np.inf, 0.0),) * 2):
        return
    for cell in draw.permutation(np.flatnonzero(hidden & ~must))[:12]:
        hidden[cell] = False
        hidden[cell] = not valid(problem, *(np.where(hidden, np.inf, 0.0),) * 2)
    x = bounding.of_cells(hidden)
    assert (bounding.master.matrix @ x >= bounding.master.rhs - 1e-7).all()
    assert bounding.bound <= float(instance.w[hidden & bounding.published].sum()) + 1e-9


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_bounds_of_parts_are_not_above_the_optimum_and_above_single_relations(seed: int):
    problem = tiny(seed, (2, 2, 2))
    instance = Instance(problem)
    bounding = Bounding(instance, instance.w)
    alone = bounding.master.relax().bound * bounding.unit + bounding.base
    bounding = Bounding(instance, instance.w)
    while bounding.round(Deadline(), in_parts=True):
        pass
    best = by_model(problem, compact, SolveContext({}))
    assert best.status == "infeasible" or bounding.bound <= best.objective + 1e-9
    assert bounding.bound >= alone - 1e-9
