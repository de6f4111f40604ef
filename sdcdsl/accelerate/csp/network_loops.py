"""The inner loops of suppression on networks: requirements that are given other witnesses, and what that saves.

A requirement relies on a flow (`network_flows`), which is entered in a book (`network_book`), so that it can be taken
back. Moves publish a cell, or several that belong together, and let the requirements that relied on it seek other ways.
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
def mend(web, slacks, asked, book, desk, ask):
    """Gives all pending requirements a new witness, in their order; False if one cannot have any or it costs more than
    `most`, `given_up` not counted, which is to be published when nobody relies on it any more (-1: none). Each flow
    that is found also serves other pending requirements whose cells it moves far enough."""
    waiting, most, given_up = ask
    token, own = book.state[TOKEN], web.w[given_up] if given_up >= 0 else 0.0
    for i in range(waiting):
        s = desk.pending[i]
        if desk.listed[s] != token:
            continue
        # One flow hides and publishes each cell at most, what was there before too; any requirement may take it up.
        changes = 3 * len(book.users) + 2 * len(book.length)
        if book.state[LOGGING] == 1 and book.state[LOGGED] + changes > book.log.shape[1]:
            book.state[FULL] = LOG
            return False
        book.amounts[LIMIT] = DEAR * (most - book.amounts[COST] + own)
        if book.length[s] <= SHORT:  # a long one is mended where it is broken
            detach(web, book, s)
        count = supply(web, slacks, asked, book, desk, s)
        fine = book.amounts[LEFT] == 0
        moved = 0
        for k in range(count):  # arcs whose flow came back to nothing are out of it
            j = desk.touched[k]
            if abs(desk.flow[j]) <= EXACT * asked.need[s]:
                desk.flow[j] = 0.0
                drop(web, book, j)
            else:
                desk.touched[moved] = j
                moved += 1
        fine = fine and attach(web, book, desk, moved, s, 1.0)
        desk.listed[s] = -1 if fine else token
        for k in range(moved if fine and moved <= SHORT else 0):
            j = desk.touched[k]
            for q in range(asked.start[j], asked.start[j + 1]):
                other = asked.side[q]
                if desk.listed[other] == token:
                    times = serves(slacks, asked, desk, moved, other)
                    if times != 0.0 and attach(web, book, desk, moved, other, times):
                        desk.listed[other] = -1
        for k in range(moved):
            desk.flow[desk.touched[k]] = 0.0
        if not fine:
            book.state[SHORT_OF] = s
            return False
        if book.amounts[COST] - (own if own > 0 and book.hidden[given_up] else 0.0) > most:
            return False
    return True


@kernel
def relying(book, desk, j, many):
    """Adds the requirements that rely on the cell to the pending ones, each once; returns how many those are now."""
    token, e = book.state[TOKEN], book.first[j]
    while e >= 0:
        s = book.entry[1, e]
        if desk.listed[s] != token:
            desk.listed[s] = token
            desk.pending[many] = s
            many += 1
        e = book.entry[2, e]
    return many


@kernel
def without(web, slacks, asked, book, desk, j):
    """Tries to publish a cell: the requirements that rely on it seek other ways. Kept if that is cheaper."""
    to, before = book.state[LOGGED], book.amounts[COST]
    book.state[TOKEN] += 1
    waiting = relying(book, desk, j, 0)
    desk.pending[:waiting].sort()
    desk.closed[j] = True
    most = np.inf if book.state[OPEN_ONLY] == 1 else before - 1e-9 * web.w[j] - 1e-15
    fine = mend(web, slacks, asked, book, desk, (waiting, most, j)) and not book.hidden[j]
    desk.closed[j] = False
    if not fine:
        undo(web, book, to)


@kernel
def sweep(web, slacks, asked, book, desk, cells):
    """One cell after the other; returns how many were done before the book was full."""
    for i in range(len(cells)):
        if book.hidden[cells[i]] and not web.fixed[cells[i]]:
            without(web, slacks, asked, book, desk, cells[i])
        if book.state[FULL] != 0:
            return i
        book.state[LOGGED] = 0
    return len(cells)


@kernel
def shake(web, slacks, asked, book, desk, plan):
    """Large neighbourhoods. Each row of the plan names cells that belong together (-1: none): the requirements that
    rely on them seek other ways at prices with some noise, and what became superfluous is published. Kept if not
    dearer. Returns how many rows saved something; a book that is full ends it."""
    cells, noise, salt = plan
    won = 0
    for i in range(len(cells)):
        anchor, before = cells[i, 0], book.amounts[COST]
        if book.users[anchor] == 0 or web.fixed[anchor]:
            continue
        book.state[TOKEN] += 1
        waiting = 0
        for j in cells[i]:
            if j >= 0 and not web.fixed[j] and book.users[j] + waiting <= CROWD:
                waiting = relying(book, desk, j, waiting)
        if salt[i] % 2 == 0:
            desk.pending[:waiting].sort()
        for k in range(waiting):
            detach(web, book, desk.pending[k])
        desk.closed[anchor] = salt[i] % 4 < 2
        book.amounts[NOISE], book.state[SALT] = noise[i], salt[i]
        fine = mend(web, slacks, asked, book, desk, (waiting, before + web.w[anchor] + 0.01 * before, -1))
        desk.closed[anchor], book.amounts[NOISE] = False, 0.0
        changed = book.state[LOGGED] if fine else 0
        for k in range(changed):
            j = book.log[1, k]
            if book.log[0, k] == HIDE and book.hidden[j]:
                without(web, slacks, asked, book, desk, j)
        if not fine or book.state[FULL] != 0 or book.amounts[COST] > before + 1e-14:
            undo(web, book, 0)
        elif book.amounts[COST] < before * (1 - 1e-9):
            won += 1
        book.state[LOGGED] = 0
        if book.state[FULL] != 0:
            break
    return won
