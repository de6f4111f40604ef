"""All levels of interval protection at once: the joint model (`cutting.joint_model`) of a master."""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from sdcdsl.accelerate.cutting.joint_model import JointModel
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.accelerate.ip.master import IntervalMaster
from sdcdsl.accelerate.ip.tuning import TUNING
from sdcdsl.numerics.sparse_null_space import size, sparse_null_space


def joint_model_of(model: IntervalMaster, separation: Separation) -> JointModel | None:
    """None where there are too many directions, or attackers of whom some leave less slack than others."""
    levels, demands, n = separation.levels, separation.demands, model.n
    if separation.repairs is None or model.widest is not None or len(demands.slides) or not len(levels):
        return None
    if not can_be_turned(separation, model.most):
        return None
    N = sparse_null_space(demands.classes.matrix.sparse.tocsr())
    if N is None or size(N)[0] * size(N)[1] > TUNING.large:
        return None
    column, directions = np.arange(n), N.toarray()
    still = np.flatnonzero(model.most.reshape(2, -1).max(axis=0) <= 0)
    if len(still):  # an interior point method needs an interior
        directions = directions @ null_space(directions[still])
    if not directions.size:
        return None
    joint = JointModel(
        directions,
        levels.cell,
        levels.sign,
        np.broadcast_to((model.unit / levels.need)[None, :, None], (2, len(levels), n)),
        np.stack([column, column if model.mirrored else n + column]),
        np.maximum(model.master.cost, 0.0),
        np.where(model.unpaid, 0.0, model.master.lower),
        np.where(model.unpaid, (model.most / model.unit)[: len(model.unpaid)], model.master.upper),
    )
    return joint if joint.cost < TUNING.most else None


def can_be_turned(separation: Separation, z: np.ndarray) -> bool:
    """Whether everybody's slack holds these intervals: then directions within them can be reversed."""
    slacks = map(separation.demands.slack, set(separation.levels.viewer.tolist()))
    return all(bool((z <= np.concatenate(slack)).all()) for slack in slacks)
