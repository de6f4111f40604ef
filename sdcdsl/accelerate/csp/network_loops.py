"""The inner loops of suppression on networks: requirements that are given other witnesses, and what that saves.

A requirement relies on a flow (`network_flows`), which is entered in the incumbent (`network_incumbent`), so that it
can be taken back. Moves publish a cell, or several that belong together, and let the requirements that relied on it
seek other ways.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.accelerate.csp.network_flows import EXACT, serves, supply
from sdcdsl.accelerate.csp.network_incumbent import (
    COST,
    FULL,
    HIDE,
    LEFT,
    LIMIT,
    LOG,
    LOGGED,
    LOGGING,
    NOISE,
    OPEN_ONLY,
    SALT,
    SHORT_OF,
    TOKEN,
    attach,
    detach,
    drop,
    undo,
)
from sdcdsl.accelerate.csp.tuning import NETWORK
from sdcdsl.numerics.compiled import kernel

SHORT = NETWORK.short
DEAR = NETWORK.dear
CROWD = NETWORK.crowd


@kernel
def mend(graph, slacks, requirements, incumbent, workspace, request):
    """Gives all pending requirements a new witness, in their order; False if one cannot have any or it costs more than
    `most`, `given_up` not counted, which is to be published when nobody relies on it any more (-1: none). Each flow
    that is found also serves other pending requirements whose cells it moves far enough."""
    queued, most, given_up = request
    token, own = incumbent.state[TOKEN], graph.w[given_up] if given_up >= 0 else 0.0
    for i in range(queued):
        s = workspace.pending[i]
        if workspace.listed[s] != token:
            continue
        # One flow hides and publishes each cell at most, what was there before too; any requirement may take it up.
        changes = 3 * len(incumbent.users) + 2 * len(incumbent.length)
        if incumbent.state[LOGGING] == 1 and incumbent.state[LOGGED] + changes > incumbent.log.shape[1]:
            incumbent.state[FULL] = LOG
            return False
        incumbent.amounts[LIMIT] = DEAR * (most - incumbent.amounts[COST] + own)
        if incumbent.length[s] <= SHORT:  # a long one is mended where it is broken
            detach(graph, incumbent, s)
        count = supply(graph, slacks, requirements, incumbent, workspace, s)
        fine = incumbent.amounts[LEFT] == 0
        moved = 0
        for k in range(count):  # arcs whose flow came back to nothing are out of it
            j = workspace.touched[k]
            if abs(workspace.flow[j]) <= EXACT * requirements.need[s]:
                workspace.flow[j] = 0.0
                drop(graph, incumbent, j)
            else:
                workspace.touched[moved] = j
                moved += 1
        fine = fine and attach(graph, incumbent, workspace, moved, s, 1.0)
        workspace.listed[s] = -1 if fine else token
        for k in range(moved if fine and moved <= SHORT else 0):
            j = workspace.touched[k]
            for q in range(requirements.start[j], requirements.start[j + 1]):
                other = requirements.side[q]
                if workspace.listed[other] == token:
                    times = serves(slacks, requirements, workspace, moved, other)
                    if times != 0.0 and attach(graph, incumbent, workspace, moved, other, times):
                        workspace.listed[other] = -1
        for k in range(moved):
            workspace.flow[workspace.touched[k]] = 0.0
        if not fine:
            incumbent.state[SHORT_OF] = s
            return False
        if incumbent.amounts[COST] - (own if own > 0 and incumbent.hidden[given_up] else 0.0) > most:
            return False
    return True


@kernel
def relying(incumbent, workspace, j, many):
    """Adds the requirements that rely on the cell to the pending ones, each once; returns how many those are now."""
    token, e = incumbent.state[TOKEN], incumbent.first[j]
    while e >= 0:
        s = incumbent.entry[1, e]
        if workspace.listed[s] != token:
            workspace.listed[s] = token
            workspace.pending[many] = s
            many += 1
        e = incumbent.entry[2, e]
    return many


@kernel
def without(graph, slacks, requirements, incumbent, workspace, j):
    """Tries to publish a cell: the requirements that rely on it seek other ways. Kept if that is cheaper."""
    to, before = incumbent.state[LOGGED], incumbent.amounts[COST]
    incumbent.state[TOKEN] += 1
    queued = relying(incumbent, workspace, j, 0)
    workspace.pending[:queued].sort()
    workspace.closed[j] = True
    most = np.inf if incumbent.state[OPEN_ONLY] == 1 else before - 1e-9 * graph.w[j] - 1e-15
    fine = mend(graph, slacks, requirements, incumbent, workspace, (queued, most, j)) and not incumbent.hidden[j]
    workspace.closed[j] = False
    if not fine:
        undo(graph, incumbent, to)


@kernel
def sweep(graph, slacks, requirements, incumbent, workspace, cells):
    """One cell after the other; returns how many were done before the incumbent was full."""
    for i in range(len(cells)):
        if incumbent.hidden[cells[i]] and not graph.fixed[cells[i]]:
            without(graph, slacks, requirements, incumbent, workspace, cells[i])
        if incumbent.state[FULL] != 0:
            return i
        incumbent.state[LOGGED] = 0
    return len(cells)


@kernel
def shake(graph, slacks, requirements, incumbent, workspace, plan):
    """Large neighbourhoods. Each row of the plan names cells that belong together (-1: none): the requirements that
    rely on them seek other ways at prices with some noise, and what became superfluous is published. Kept if not
    dearer. Returns how many rows saved something; an incumbent that is full ends it."""
    cells, noise, salt = plan
    won = 0
    for i in range(len(cells)):
        anchor, before = cells[i, 0], incumbent.amounts[COST]
        if incumbent.users[anchor] == 0 or graph.fixed[anchor]:
            continue
        incumbent.state[TOKEN] += 1
        queued = 0
        for j in cells[i]:
            if j >= 0 and not graph.fixed[j] and incumbent.users[j] + queued <= CROWD:
                queued = relying(incumbent, workspace, j, queued)
        if salt[i] % 2 == 0:
            workspace.pending[:queued].sort()
        for k in range(queued):
            detach(graph, incumbent, workspace.pending[k])
        workspace.closed[anchor] = salt[i] % 4 < 2
        incumbent.amounts[NOISE], incumbent.state[SALT] = noise[i], salt[i]
        fine = mend(
            graph, slacks, requirements, incumbent, workspace, (queued, before + graph.w[anchor] + 0.01 * before, -1)
        )
        workspace.closed[anchor], incumbent.amounts[NOISE] = False, 0.0
        changed = incumbent.state[LOGGED] if fine else 0
        for k in range(changed):
            j = incumbent.log[1, k]
            if incumbent.log[0, k] == HIDE and incumbent.hidden[j]:
                without(graph, slacks, requirements, incumbent, workspace, j)
        if not fine or incumbent.state[FULL] != 0 or incumbent.amounts[COST] > before + 1e-14:
            undo(graph, incumbent, 0)
        elif incumbent.amounts[COST] < before * (1 - 1e-9):
            won += 1
        incumbent.state[LOGGED] = 0
        if incumbent.state[FULL] != 0:
            break
    return won
