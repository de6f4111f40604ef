"""Widths with few digits are never narrower than what they stand for."""

from __future__ import annotations

import numpy as np

from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.accelerate.ip.polish import _hold, coarse, tight
from sdcdsl.methods.instance import Instance
from tests.attack.tables import flat
from tests.methods.ip.test_method import table


def test_widths_that_hold_do_so_by_arithmetic():
    """A shortfall in the seventh digit is one, whatever a linear program makes of it."""
    separation = Separation(CutRequirements(Instance(table(1, [flat(3), flat(4), flat(3)], 5, 0.2, 0.2))))
    demands, n = separation.demands, separation.demands.classes.count
    z, missed = tight(separation, np.full(2 * n, 3 * separation.levels.need.max()))
    assert demands.classes.network is None and not missed.any()
    assert _hold(separation, Capacities(demands, z[:n], z[n:]))
    less = z * (1 - 4e-7)
    assert not _hold(separation, Capacities(demands, less[:n], less[n:]))


def test_large_widths_are_not_rounded_inwards():
    """A share of a large width that looks like nothing is much of a small level."""
    separation = Separation(CutRequirements(Instance(table(1, [flat(3), flat(4), flat(3)], 5, 0.2, 0.2))))
    least = separation.levels.need.min()
    z = least * np.array([1.0, 1e6 + 1e-4, 1e6 - 1e-4, 12345.678901])
    rounded = coarse(separation, z)
    assert (rounded >= z).all()
    assert (rounded <= z * (1 + 1e-6) + 1e-2 * least).all()
