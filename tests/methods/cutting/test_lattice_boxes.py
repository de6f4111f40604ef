"""Boxes of cross tables keep all relations, stay within the slack, and are found for cells with parts of their own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks.generators import frequency
from sdcdsl.accelerate.csp.product_table import ProductTable
from sdcdsl.accelerate.cutting.lattice_boxes import LatticeBoxes, joined
from sdcdsl.methods.instance import Instance
from sdcdsl.proof.witness import MoveMatrix

SHAPES = {
    "three lists": ((3,), (4,), (5,)),
    "hierarchies": ((2, 5), (3, 7), (3,)),
    "four dimensions": ((2,), (2,), (3,), (2,)),
}


def sparse(boxes: MoveMatrix, cells: int) -> csr_array:
    return csr_array((boxes.move, boxes.cell, boxes.start), shape=(len(boxes), cells))


@pytest.mark.parametrize("share", [1.0, 0.8])
@pytest.mark.parametrize("shape", SHAPES)
def test_boxes_keep_relations_and_slack_and_reach_what_is_said(shape: str, share: float) -> None:
    instance = Instance(frequency(SHAPES[shape], seed=2))
    table = ProductTable.of(instance)
    assert table is not None
    draw = np.random.default_rng(3)
    down, up = (np.where(draw.random(instance.n) < share, 3.0, 0.5) for _ in range(2))
    cell, sign = np.repeat(np.arange(instance.n), 2), np.tile([1, -1], instance.n)
    need = np.full(len(cell), 2.0)
    reached, boxes = LatticeBoxes(table).found(cell, sign, need, down, up)
    moves = sparse(boxes, instance.n).toarray()
    assert not (moves @ instance.M.T).any()
    assert (moves <= up).all() and (-moves <= down).all()
    turned = (moves <= down).all(axis=1) & (-moves <= up).all(axis=1)
    far = np.concatenate([moves, -moves[turned]]) if len(moves) else np.zeros((1, instance.n))
    furthest = np.where(sign > 0, far.max(axis=0)[cell], -far.min(axis=0)[cell])
    assert (furthest[reached] >= 2.0).all()
    slack = np.where(sign > 0, up[cell], down[cell])
    assert not reached[slack < 2.0].any()
    if share == 1.0:
        assert reached.all()


def test_a_box_that_takes_a_sum_beyond_its_slack_reaches_nothing() -> None:
    """Two cells of one leaf and a sum of them that nobody may change."""
    instance = Instance(frequency(((2,), (2,)), seed=1))
    table = ProductTable.of(instance)
    assert table is not None
    leaf = table.size - 1
    held = csr_array((np.ones(1), (np.zeros(1, dtype=int), np.array([leaf]))), shape=(1, table.size))
    with_sum = LatticeBoxes(
        ProductTable(**{name: getattr(table, name) for name in table.__dataclass_fields__ if name != "sums"}, sums=held)
    )
    slack = np.append(np.full(table.size, 5.0), 0.5)
    one = np.array([leaf]), np.array([1]), np.array([1.0])
    assert not with_sum.found(*one, slack, slack)[0].any()
    assert LatticeBoxes(table).found(*one, slack, slack)[0].all()


def test_a_sum_of_cells_is_moved_through_its_members() -> None:
    """Two leaves of one line, whose sum moves if one of them does and the other does not move against it."""
    instance = Instance(frequency(((4,), (4,)), seed=1))
    table = ProductTable.of(instance)
    assert table is not None
    two = np.array([table.size - 1, table.size - 2])
    members = csr_array((np.ones(2), (np.zeros(2, dtype=int), two)), shape=(1, table.size))
    fields = {name: getattr(table, name) for name in table.__dataclass_fields__ if name != "sums"}
    slack = np.full(table.size + 1, 5.0)
    level = np.full(2, table.size), np.array([1, -1]), np.array([2.0, 2.0])
    reached, boxes = LatticeBoxes(ProductTable(**fields, sums=members)).found(*level, slack, slack)
    moves = sparse(boxes, table.size).toarray()
    far = moves[:, two].sum(axis=1)
    assert reached.all() and not (moves @ instance.M.T).any()
    assert max(np.abs(far)) == 2.0


def test_boxes_of_several_viewers_stand_one_behind_the_other() -> None:
    instance = Instance(frequency(((3,), (3,)), seed=1))
    table = ProductTable.of(instance)
    assert table is not None
    slack = np.full(instance.n, 5.0)
    every = np.arange(instance.n)
    made = [LatticeBoxes(table).found(every, np.full(instance.n, s), slack / 5, slack, slack)[1] for s in (1, -1)]
    both = joined(made)
    assert both is not None and joined([]) is None
    rows = np.concatenate([sparse(boxes, instance.n).toarray() for boxes in made])
    assert np.array_equal(sparse(both, instance.n).toarray(), rows)
