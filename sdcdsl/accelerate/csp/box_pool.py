"""Moves that make up a pattern, and which requirement each of them certifies: inner loops. What the arrays are,
`box_arrays` says."""

from __future__ import annotations

import numpy as np

from sdcdsl.accelerate.csp.box_arrays import COST, COVERS, ENTRIES, FREE, HIDDEN, SLOTS, TOUCHED
from sdcdsl.accelerate.csp.box_through_cell import BIG
from sdcdsl.numerics.compiled import kernel

ENOUGH = 1 - 1e-9


@kernel
def bar(c, by, cells, amounts):
    """Forbids a cell to move, or allows it again; a cell is free to move when all that forbade it have allowed it."""
    cell = cells[c]
    cell["barred"] += by
    if cell["barred"] > 0:
        cell["now"] = BIG
    else:
        cell["now"] = amounts[FREE] if cell["users"] > 0 or cell["must"] else cell["price"]


@kernel
def full(pool, work, counts):
    """Whether the next move may find no space."""
    longest = len(work[0])
    return (
        counts[ENTRIES] + longest > len(pool[0])
        or counts[COVERS] + longest > len(pool[1])
        or counts[SLOTS] + 2 > len(pool[2])
    )


@kernel
def add(table, pattern, pool, work):
    """Writes the move that stands in `d` of the cells into the pool, with what it certifies; its number, not yet in the
    pattern. Clears the work space."""
    slacks, attackers, known = table[3], table[4], table[5]
    cells, requirements, counts, _ = pattern
    entries, covers, moves = pool
    touched, lengths = work[0], work[4]
    slot, e, q = counts[SLOTS], counts[ENTRIES], counts[COVERS]
    moves[slot]["start"], moves[slot]["cover_start"] = e, q
    for v in range(len(lengths)):
        lengths[v]["ahead"], lengths[v]["back"] = np.inf, np.inf
    for t in range(counts[TOUCHED]):
        c = touched[t]
        d = cells[c]["d"]
        entries[e]["cell"], entries[e]["d"], entries[e]["move"] = c, d, slot
        e += 1
        for v in range(len(lengths)):
            up, down = slacks[v, c]["up"] / abs(d), slacks[v, c]["down"] / abs(d)
            lengths[v]["ahead"] = min(lengths[v]["ahead"], up if d > 0 else down)
            lengths[v]["back"] = min(lengths[v]["back"], down if d > 0 else up)
    for t in range(counts[TOUCHED]):
        c = touched[t]
        for z in range(cells[c]["requirement_start"], cells[c + 1]["requirement_start"]):
            r = requirements[z]["at"]
            one = requirements[r]
            go = cells[c]["d"] * one["sign"]
            if go == 0.0:
                continue
            length = lengths[one["view"]]["ahead"] if go > 0 else lengths[one["view"]]["back"]
            if abs(go) * length < one["need"] * ENOUGH:
                continue
            who = one["attacker"]
            for y in range(attackers[who]["known_start"], attackers[who + 1]["known_start"]):
                d = cells[known[y]["cell"]]["d"]
                if d != 0.0:
                    length = min(length, (known[y]["up"] if (d > 0) == (go > 0) else known[y]["down"]) / abs(d))
            if abs(go) * length >= one["need"] * ENOUGH and q < len(covers):
                covers[q]["requirement"], covers[q]["move"] = r, slot
                q += 1
    counts[SLOTS], counts[ENTRIES], counts[COVERS] = slot + 1, e, q
    moves[slot + 1]["start"], moves[slot + 1]["cover_start"] = e, q
    for t in range(counts[TOUCHED]):
        cells[touched[t]]["d"] = 0.0
    counts[TOUCHED] = 0
    return slot


@kernel
def link(slot, pattern, pool):
    """Takes a move into the pattern."""
    cells, requirements, counts, amounts = pattern
    entries, covers, moves = pool
    moves[slot]["alive"] = 1
    for e in range(moves[slot]["start"], moves[slot + 1]["start"]):
        c = entries[e]["cell"]
        cell = cells[c]
        entries[e]["next"], entries[e]["previous"] = cell["head"], -1
        if cell["head"] >= 0:
            entries[cell["head"]]["previous"] = e
        cell["head"] = e
        cell["users"] += 1
        if cell["users"] == 1 and not cell["must"]:
            amounts[COST] += cell["weight"]
            if cell["barred"] == 0:
                cell["now"] = amounts[FREE]
            cell["place"] = counts[HIDDEN]
            cells[counts[HIDDEN]]["listed"] = c
            counts[HIDDEN] += 1
    for e in range(moves[slot]["cover_start"], moves[slot + 1]["cover_start"]):
        one = requirements[covers[e]["requirement"]]
        covers[e]["next"], covers[e]["previous"] = one["head"], -1
        if one["head"] >= 0:
            covers[one["head"]]["previous"] = e
        one["head"] = e
        one["count"] += 1


@kernel
def unlink(slot, pattern, pool):
    """Takes a move out of the pattern."""
    cells, requirements, counts, amounts = pattern
    entries, covers, moves = pool
    moves[slot]["alive"] = 0
    for e in range(moves[slot]["start"], moves[slot + 1]["start"]):
        cell = cells[entries[e]["cell"]]
        before, after = entries[e]["previous"], entries[e]["next"]
        if before >= 0:
            entries[before]["next"] = after
        else:
            cell["head"] = after
        if after >= 0:
            entries[after]["previous"] = before
        cell["users"] -= 1
        if cell["users"] == 0 and not cell["must"]:
            amounts[COST] -= cell["weight"]
            if cell["barred"] == 0:
                cell["now"] = cell["price"]
            counts[HIDDEN] -= 1
            last = cells[counts[HIDDEN]]["listed"]
            cells[cell["place"]]["listed"] = last
            cells[last]["place"] = cell["place"]
            cell["place"] = -1
    for e in range(moves[slot]["cover_start"], moves[slot + 1]["cover_start"]):
        one = requirements[covers[e]["requirement"]]
        before, after = covers[e]["previous"], covers[e]["next"]
        if before >= 0:
            covers[before]["next"] = after
        else:
            one["head"] = after
        if after >= 0:
            covers[after]["previous"] = before
        one["count"] -= 1


@kernel
def link_all(slots, pattern, pool):
    for slot in slots:
        link(slot, pattern, pool)


@kernel
def superfluous(slot, pattern, pool):
    """Whether other moves certify all that this one does."""
    requirements, covers, moves = pattern[1], pool[1], pool[2]
    for e in range(moves[slot]["cover_start"], moves[slot + 1]["cover_start"]):
        if requirements[covers[e]["requirement"]]["count"] == 1:
            return False
    return True


@kernel
def gain(slot, pattern, pool):
    """What is published again without a move."""
    cells, entries, moves = pattern[0], pool[0], pool[2]
    total = 0.0
    for e in range(moves[slot]["start"], moves[slot + 1]["start"]):
        cell = cells[entries[e]["cell"]]
        if cell["users"] == 1 and not cell["must"]:
            total += cell["weight"]
    return total


@kernel
def gains(pattern, pool):
    """For each move that others make superfluous, what is published again without it; -1 for the others."""
    moves = pool[2]
    for slot in range(pattern[2][SLOTS]):
        moves[slot]["gain"] = -1.0
        if moves[slot]["alive"] and superfluous(slot, pattern, pool):
            moves[slot]["gain"] = gain(slot, pattern, pool)


@kernel
def drop(slots, pattern, pool):
    """Drops those of the moves that are superfluous when it is their turn."""
    for slot in slots:
        if superfluous(slot, pattern, pool):
            unlink(slot, pattern, pool)
