"""Witnesses of a search for one that goes on with more cells: sums that a release made necessary."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, hstack

from sdcdsl.accelerate.csp.box_search import adds_up
from sdcdsl.accelerate.csp.box_state import Move
from sdcdsl.methods.instance import Instance
from sdcdsl.proof.witness import MoveMatrix


def completed_witnesses(instance: Instance, moves: MoveMatrix) -> list[Move]:
    """The moves, with the cells that came after theirs, each of which is what one relation makes of the others; none
    at all if one of them does not add up or moves what must not move."""
    whole = csr_array((moves.move, moves.cell, moves.start), shape=(len(moves), moves.cells))
    late = np.arange(moves.cells, instance.n)
    if len(late):
        rows = instance.M[:, late].tocoo()
        if len(np.unique(rows.row)) != len(late) or len(np.unique(rows.col)) != len(late):
            return []
        order = np.argsort(rows.col)
        parts = csr_array(instance.M[rows.row[order]][:, : moves.cells])
        sums = csr_array(parts.multiply((-1.0 / rows.data[order])[:, None]))
        whole = csr_array(hstack([whole, whole @ sums.T]))
        whole.eliminate_zeros()
    spans = zip(whole.indptr[:-1].tolist(), whole.indptr[1:].tolist(), strict=True)
    out = [(whole.indices[a:b].astype(np.int64), whole.data[a:b]) for a, b in spans]
    stays = not (~instance.may_open[whole.indices]).any()
    return out if stays and adds_up(instance.M, out) else []
