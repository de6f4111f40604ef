"""Which heuristic finds patterns for a table: flows where relations are those of a network, boxes where cells are all
combinations of hierarchies and too many for linear programs, else moves found by these."""

from __future__ import annotations

import numpy as np

from sdcdsl.accelerate.csp.by_boxes import ByBoxes
from sdcdsl.accelerate.csp.heuristics import ByFlows, ByMoves, SuppressionHeuristic, Tell
from sdcdsl.accelerate.csp.network_search import NetworkSearch
from sdcdsl.deadline import Deadline
from sdcdsl.executing import SERIAL, Team
from sdcdsl.methods.instance import Instance


def finder_for(
    instance: Instance,
    w: np.ndarray,
    deadline: Deadline,
    tell: Tell,
    seed: int,
    sums: bool = False,
    team: Team = SERIAL,
) -> SuppressionHeuristic:
    """`sums`: sensitive sums that its patterns tell may be protected at once. The team may be asked to improve parts of
    a large table."""
    moves = ByMoves(instance, w, deadline, tell, seed)
    flows = NetworkSearch.of(instance, w, seed)
    if flows is not None:
        return ByFlows(flows, deadline, tell, moves)
    return ByBoxes.of(instance, w, deadline, tell, moves, sums, team) or moves
