"""Levels that a box of cells reaches are reached; and in a cross table with slack a box is found for nearly all."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.generators import frequency, magnitude
from sdcdsl.accelerate.cutting.box_moves import BoxMoves
from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.methods.instance import Instance

SHAPES = {
    "three lists": ((3,), (4,), (5,)),
    "a hierarchy": ((2, 5), (3,), (4,)),
    "four dimensions": ((2,), (2,), (3,), (2,)),
}


def some_slack(demands: CutRequirements, share: float, seed: int) -> Capacities:
    draw = np.random.default_rng(seed)
    n = demands.classes.count
    most = float(demands.levels.need.max())
    slack = [np.where(draw.random(n) < share, 2 * most, 0.5 * demands.levels.need.min()) for _ in range(2)]
    return Capacities(demands, *slack)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_box_reaches_is_reached(shape: str, seed: int) -> None:
    made = magnitude(SHAPES[shape], seed=seed)
    demands = CutRequirements(Instance(made))
    separation = Separation(demands)
    point = some_slack(demands, 0.75, seed)
    reached = BoxMoves(demands).reached(separation, point)
    short = separation.round(point, each=True).short
    assert not (reached & short).any()


def test_where_there_is_slack_boxes_are_found() -> None:
    demands = CutRequirements(Instance(frequency(((7,), (7,), (7,)), seed=1)))
    separation = Separation(demands)
    wide = np.full(demands.classes.count, 2.0)
    reached = BoxMoves(demands).reached(separation, Capacities(demands, wide, wide))
    short = separation.round(Capacities(demands, wide, wide), each=True).short
    assert reached.sum() >= 0.9 * (~short).sum() > 0
