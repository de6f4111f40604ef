"""Moves that are sums of boxes, each within the slack that is left: inner loops. What the arrays are, `box_arrays`
says."""

from __future__ import annotations

import numpy as np

from sdcdsl.accelerate.csp.box_arrays import ALLOW, FORBID, FREE, LATTICE, NONE, TOUCHED
from sdcdsl.accelerate.csp.box_pool import bar
from sdcdsl.accelerate.csp.box_through_cell import BIG, box, draw
from sdcdsl.accelerate.csp.tuning import BOXES
from sdcdsl.numerics.compiled import kernel

SLIGHT = 1e-300  # how far a cell goes that is on the list and does not move
MEMBERS = BOXES.members


@kernel
def _go(count, by, others, slack, cells, touched, counts, dust):
    """Takes the move along a box, no further than there is slack; how far."""
    for q in range(count):
        c = others[q]["cell"]
        d = cells[c]["d"]
        by = min(by, slack[c]["up"] - d if others[q]["sign"] > 0 else slack[c]["down"] + d)
    for q in range(count):
        cell = cells[others[q]["cell"]]
        if cell["d"] == 0.0:
            touched[counts[TOUCHED]] = others[q]["cell"]
            counts[TOUCHED] += 1
        cell["d"] += others[q]["sign"] * by
        if abs(cell["d"]) <= dust:
            cell["d"] = SLIGHT
    return by


@kernel
def _bar_members(p, by, table, cells, counts, amounts):
    """The cell itself, or all members of a union."""
    if p < counts[LATTICE]:
        bar(p, by, cells, amounts)
        return
    for t in range(cells[p]["member_start"], cells[p + 1]["member_start"]):
        bar(table[2][t]["cell"], by, cells, amounts)


@kernel
def serve(r, starts, effort, table, pattern, work):
    """Takes the cell of requirement r as far as it must go, box after box; the move stands in `d` of the cells and in
    `touched`. Whether it got there."""
    members, attackers, known = table[2], table[4], table[5]
    cells, requirements, counts, amounts = pattern
    touched, others, best_box = work[0], work[2][0], work[2][1]
    one = requirements[r]
    p, sign, need, free = one["cell"], one["sign"], one["need"], amounts[FREE]
    slack = table[3][one["view"]]
    first, last = attackers[one["attacker"]]["known_start"], attackers[one["attacker"] + 1]["known_start"]
    for t in range(first, last):
        of = slack[known[t]["cell"]]
        known[t]["up_before"], known[t]["down_before"] = of["up"], of["down"]
        of["up"], of["down"] = min(of["up"], known[t]["up"]), min(of["down"], known[t]["down"])
    counts[TOUCHED] = 0
    rem, least, reached = need, need / effort, need <= 0.0
    union = p >= counts[LATTICE]
    begin, end = (cells[p]["member_start"], cells[p + 1]["member_start"]) if union else (0, 1)
    for _ in range(int(2 * effort)):
        best, count = np.inf, NONE
        if union:
            _bar_members(p, FORBID, table, cells, counts, amounts)
        shift = int(draw(work[6], counts) * (end - begin))
        for t in range(min(end - begin, MEMBERS)):
            at = begin + (shift + t) % (end - begin)
            c = members[at]["cell"] if union else p
            way = sign * members[at]["sign"] if union else sign
            if union:
                bar(c, ALLOW, cells, amounts)
            price, many = box(c, way, starts, 8.0 * free, table, slack, cells, work, rem, min(least, rem), counts, free)
            if union:
                bar(c, FORBID, cells, amounts)
            if price < best:
                best, count = price, many
                for q in range(many):
                    best_box[q]["cell"], best_box[q]["sign"] = others[q]["cell"], others[q]["sign"]
        if union:
            _bar_members(p, ALLOW, table, cells, counts, amounts)
        if best >= BIG:
            break
        rem -= _go(count, rem, best_box, slack, cells, touched, counts, 0.0)
        reached = rem <= need * 1e-12
        if reached or counts[TOUCHED] + len(others) > len(touched) // 2:
            break
    if reached:
        _detour(p, need, starts, table, slack, pattern, work)
    for t in range(first, last):
        of = slack[known[t]["cell"]]
        of["up"], of["down"] = known[t]["up_before"], known[t]["down_before"]
    return tidy(need * 1e-9, table, cells, work, counts, reached)


@kernel
def _cancel(c, own, parts, starts, dust, table, slack, cells, work, counts, free):
    """Takes cell c out of the move by boxes through it, the other way, each less than `own`; whether it is out."""
    touched, others = work[0], work[2][0]
    least = abs(cells[c]["d"]) / parts
    for _ in range(int(2 * parts)):
        d = cells[c]["d"]
        if abs(d) <= dust:
            return True
        if counts[TOUCHED] + len(others) > len(touched) // 2:
            return False
        by = abs(d)
        way = -1.0 if d > 0 else 1.0
        best, count = box(c, way, starts, 8.0 * free, table, slack, cells, work, by, min(least, by), counts, free)
        if best >= own:
            return False
        _go(count, by, others, slack, cells, touched, counts, 1e-3 * dust)
    return abs(cells[c]["d"]) <= dust


@kernel
def _detour(p, need, starts, table, slack, pattern, work):
    """Takes cells out of the move again where a box through them, the other way, is cheaper than they are."""
    cells, _, counts, amounts = pattern
    touched, free = work[0], amounts[FREE]
    _bar_members(p, FORBID, table, cells, counts, amounts)
    tried, t = 0, 0
    while t < 2 * counts[TOUCHED] and tried < 100:
        c = touched[t % counts[TOUCHED]]
        t += 1
        own = cells[c]["now"]
        if abs(cells[c]["d"]) <= 1e-9 * need or own <= 8.0 * free or own >= BIG:
            continue
        tried += 1
        _cancel(c, own, 1.0, starts, 1e-9 * need, table, slack, cells, work, counts, free)
    _bar_members(p, ALLOW, table, cells, counts, amounts)


@kernel
def reroute(slot, many, starts, table, pattern, pool, work):
    """A move without the `many` cells that are `closed`, which boxes replace; it stands in `d` of the cells and in
    `touched`. Whether there is one."""
    cells, requirements, counts, amounts = pattern
    entries, covers, moves = pool
    touched, closed = work[0], work[5]
    counts[TOUCHED] = 0
    far, free = 0.0, amounts[FREE]
    for e in range(moves[slot]["start"], moves[slot + 1]["start"]):
        c, d = np.int64(entries[e]["cell"]), entries[e]["d"]
        if c < counts[LATTICE]:
            touched[counts[TOUCHED]] = c
            counts[TOUCHED] += 1
            cells[c]["d"] = d
            far = max(far, abs(d))
    v = 0
    for e in range(moves[slot]["cover_start"], moves[slot + 1]["cover_start"]):
        one = requirements[covers[e]["requirement"]]
        if one["count"] == 0:
            bar(one["cell"], FORBID, cells, amounts)  # what is to be certified keeps its place
            v = one["view"]
    fine = far > 0.0
    for t in range(many):
        c = closed[t]["closed"]
        if not fine or abs(cells[c]["d"]) <= 1e-9 * far:
            continue
        held = cells[c]["now"]
        cells[c]["now"] = free  # back, and no further
        fine = _cancel(c, BIG, 6.0, starts, 1e-10 * far, table, table[3][v], cells, work, counts, free)
        cells[c]["now"] = held
    for e in range(moves[slot]["cover_start"], moves[slot + 1]["cover_start"]):
        one = requirements[covers[e]["requirement"]]
        if one["count"] == 0:
            bar(one["cell"], ALLOW, cells, amounts)
    return tidy(1e-10 * far, table, cells, work, counts, fine) and counts[TOUCHED] > 0


@kernel
def tidy(dust, table, cells, work, counts, keep):
    """Drops what cancelled out, and adds the sums of what is left; forgets everything if it is not to be kept, or is
    too much. Whether it was kept."""
    sums, touched = table[2], work[0]
    base, more = 0, 0
    for t in range(counts[TOUCHED]):
        more += cells[touched[t] + 1]["sum_start"] - cells[touched[t]]["sum_start"]
    keep = keep and counts[TOUCHED] + more <= len(touched)
    for t in range(counts[TOUCHED]):
        c = touched[t]
        if not keep or abs(cells[c]["d"]) <= dust:
            cells[c]["d"] = 0.0
        else:
            touched[base] = c
            base += 1
    end = base
    for t in range(base):
        c = touched[t]
        for q in range(cells[c]["sum_start"], cells[c + 1]["sum_start"]):
            u = counts[LATTICE] + sums[q]["sum"]
            if cells[u]["d"] == 0.0:
                touched[end] = u
                end += 1
            cells[u]["d"] += sums[q]["sum_sign"] * cells[c]["d"]
            if cells[u]["d"] == 0.0:
                cells[u]["d"] = SLIGHT
    counts[TOUCHED] = base
    for t in range(base, end):
        u = touched[t]
        if abs(cells[u]["d"]) <= dust:
            cells[u]["d"] = 0.0
        else:
            touched[counts[TOUCHED]] = u
            counts[TOUCHED] += 1
    return keep
