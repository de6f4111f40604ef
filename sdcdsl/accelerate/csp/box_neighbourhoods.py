"""Patterns completed and improved by moves of boxes: inner loops. What the arrays are, `box_arrays` says."""

from __future__ import annotations

import numpy as np

from sdcdsl.accelerate.csp.box_arrays import ALLOW, COST, COVERS, ENTRIES, FORBID, HIDDEN, NONE, SLOTS, TOUCHED
from sdcdsl.accelerate.csp.box_moves import reroute, serve, tidy
from sdcdsl.accelerate.csp.box_pool import add, bar, full, gain, link, superfluous, unlink
from sdcdsl.accelerate.csp.box_through_cell import draw
from sdcdsl.numerics.compiled import kernel

MET = 60  # cells that are drawn, until one is of the part


@kernel
def take(begin, start, at, d, table, pattern, pool, work):
    """Takes in moves from elsewhere, of cells of the lattice, with the sums of them; up to which it came before space
    got short."""
    cells, counts, touched = pattern[0], pattern[2], work[0]
    for number in range(begin, len(start) - 1):
        if full(pool, work, counts):
            return number
        for t in range(start[number], start[number + 1]):
            touched[counts[TOUCHED]] = at[t]
            counts[TOUCHED] += 1
            cells[at[t]]["d"] = d[t]
        if tidy(0.0, table, cells, work, counts, True):
            link(add(table, pattern, pool, work), pattern, pool)
    return len(start) - 1


@kernel
def complete(order, begin, most, starts, effort, table, pattern, pool, work):
    """Moves for requirements in order, from number `begin`, until `most` were looked for or there is no space left: up
    to which it came. Those that boxes cannot serve are marked."""
    requirements, counts = pattern[1], pattern[2]
    served = 0
    for t in range(begin, len(order)):
        one = requirements[order[t]]
        if one["count"] > 0 or one["failed"]:
            continue
        if served == most or full(pool, work, counts):
            return t
        served += 1
        if serve(order[t], starts, effort, table, pattern, work):
            link(add(table, pattern, pool, work), pattern, pool)
        if one["count"] == 0:
            one["failed"] = 1
    return len(order)


@kernel
def _in_order(many, lists):
    """Sorts the first items of the list by their keys."""
    step = 1
    while step < many:
        step = 3 * step + 1
    while step > 0:
        for t in range(step, many):
            key, item = lists[t]["key"], lists[t]["item"]
            q = t
            while q >= step and lists[q - step]["key"] > key:
                lists[q]["key"], lists[q]["item"] = lists[q - step]["key"], lists[q - step]["item"]
                q -= step
            lists[q]["key"], lists[q]["item"] = key, item
        step //= 3


@kernel
def _prune_near(many, gone, pattern, pool, lists):
    """Drops moves that the new ones make superfluous, dearest first; how many moves are gone now."""
    requirements, covers, moves = pattern[1], pool[1], pool[2]
    found = 0
    for t in range(many):
        slot = lists[t]["added"]
        for e in range(moves[slot]["cover_start"], moves[slot + 1]["cover_start"]):
            one = requirements[covers[e]["requirement"]]
            if one["count"] < 2:
                continue
            q = one["head"]
            while q >= 0 and found < len(lists):
                other = covers[q]["move"]
                if moves[other]["marked"] == 0:
                    moves[other]["marked"] = 1
                    lists[found]["item"] = other
                    found += 1
                q = covers[q]["next"]
    left = NONE
    for t in range(found):
        slot = lists[t]["item"]
        moves[slot]["marked"] = 0
        if moves[slot]["alive"] and superfluous(slot, pattern, pool):
            lists[left]["item"], lists[left]["key"] = slot, -gain(slot, pattern, pool)
            left += 1
    _in_order(left, lists)
    for t in range(left):
        slot = lists[t]["item"]
        if gone < len(lists) and superfluous(slot, pattern, pool):
            gone = _remove(slot, gone, pattern, pool, lists)
    return gone


@kernel
def _remove(slot, gone, pattern, pool, lists):
    """Takes a move out of the pattern and writes it on the list; how long that is now."""
    unlink(slot, pattern, pool)
    lists[gone]["removed"] = slot
    return gone + 1


@kernel
def _pick(where, cells, random, counts):
    """A hidden cell, rather a heavy one; of part `where`, if that is one and one is met soon."""
    best = np.int64(-1)
    for _ in range(1 + int(3 * draw(random, counts))):
        c = np.int64(cells[int(draw(random, counts) * counts[HIDDEN])]["listed"])
        for _ in range(MET):
            if where < 0 or cells[c]["part"] == where:
                break
            c = np.int64(cells[int(draw(random, counts) * counts[HIDDEN])]["listed"])
        if best < 0 or cells[c]["weight"] > cells[best]["weight"]:
            best = c
    return best


@kernel
def _neighbour(c, cells, pool, random, counts):
    """A cell of a move that needs cell c, where there is one that costs something; else c."""
    entries, moves = pool[0], pool[2]
    e = cells[c]["head"]
    if e < 0:
        return c
    skip = int(8 * draw(random, counts))
    while skip > 0 and entries[e]["next"] >= 0:
        e = entries[e]["next"]
        skip -= 1
    slot = entries[e]["move"]
    begin, end = moves[slot]["start"], moves[slot + 1]["start"]
    for _ in range(4):
        other = np.int64(entries[begin + int(draw(random, counts) * (end - begin))]["cell"])
        if not cells[other]["must"] and cells[other]["weight"] > 0.0:
            return other
    return c


@kernel
def _open(where, pattern, pool, random, lists):
    """Publishes a few cells again, or forgets a few moves: how many cells are closed, and how many moves are gone."""
    cells, _, counts, amounts = pattern
    entries = pool[0]
    gone, shut = NONE, NONE
    first = _pick(where, cells, random, counts)
    how = draw(random, counts)
    if how < 0.6:  # publish one cell, or several that serve the same moves
        extra = 0 if how < 0.2 else 1 + int(7 * draw(random, counts))
        c = first
        for _ in range(1 + extra):
            lists[shut]["closed"] = c
            shut += 1
            c = _neighbour(first, cells, pool, random, counts)
        for t in range(shut):
            c = lists[t]["closed"]
            bar(c, FORBID, cells, amounts)
            while cells[c]["head"] >= 0 and gone < len(lists):
                gone = _remove(np.int64(entries[cells[c]["head"]]["move"]), gone, pattern, pool, lists)
    else:  # forget a few moves that share cells
        c = first
        for _ in range(1 + int(6 * draw(random, counts))):
            if cells[c]["head"] >= 0 and gone < len(lists):
                slot = np.int64(entries[cells[c]["head"]]["move"])
                c = _neighbour(c, cells, pool, random, counts)
                gone = _remove(slot, gone, pattern, pool, lists)
    return shut, gone


@kernel
def _uncertified(gone, hard, pattern, pool, lists):
    """The requirements that relied on the moves that are gone, hardest first or last; how many they are."""
    requirements, covers, moves = pattern[1], pool[1], pool[2]
    left = NONE
    for t in range(gone):
        slot = lists[t]["removed"]
        for e in range(moves[slot]["cover_start"], moves[slot + 1]["cover_start"]):
            r = np.int64(covers[e]["requirement"])
            if requirements[r]["count"] == 0 and left < len(lists):
                requirements[r]["count"] = -1  # listed
                lists[left]["item"] = r
                left += 1
    for t in range(left):
        one = requirements[lists[t]["item"]]
        one["count"] = 0
        lists[t]["key"] = -one["need"] if hard else one["need"]
    _in_order(left, lists)
    return left


@kernel
def _again(left, gone, shut, limit, starts, effort, table, pattern, pool, work):
    """Certifies the requirements that are left, by moves that are gone led around the closed cells or by new ones:
    whether all are certified for less than `limit`, and how many moves are new."""
    requirements, counts, amounts = pattern[1], pattern[2], pattern[3]
    moves, lists = pool[2], work[5]
    many = NONE
    reuse = gone if shut > 0 and draw(work[6], counts) < 0.5 else 0
    for t in range(reuse + left):
        if t >= reuse and requirements[lists[t - reuse]["item"]]["count"] > 0:
            continue
        if many == len(lists) or amounts[COST] >= limit or full(pool, work, counts):
            if t < reuse:
                continue
            return False, many
        if t < reuse:
            made = reroute(lists[t]["removed"], shut, starts, table, pattern, pool, work)
        else:
            made = serve(lists[t - reuse]["item"], starts, effort, table, pattern, work)
        if made:
            entries_before, covers_before = counts[ENTRIES], counts[COVERS]
            slot = add(table, pattern, pool, work)
            if counts[COVERS] == covers_before:  # it serves nothing any more
                counts[SLOTS], counts[ENTRIES] = slot, entries_before
            else:
                link(slot, pattern, pool)
                moves[slot]["fresh"] = 1
                lists[many]["added"] = slot
                many += 1
        if t >= reuse and requirements[lists[t - reuse]["item"]]["count"] == 0:
            return False, many
    return True, many


@kernel
def improve(rounds, where, warmth, most, starts, effort, table, pattern, pool, work):
    """Neighbourhoods: a few cells are published, or moves forgotten, what relied on them is certified anew, and the
    cheaper pattern (or one that is dearer by no more than `warmth`) stays. How many rounds there was space for."""
    cells, _, counts, amounts = pattern
    moves, lists, random = pool[2], work[5], work[6]
    for done in range(rounds):
        if counts[HIDDEN] == 0 or full(pool, work, counts):
            return done
        before = amounts[COST]
        limit = min(before + warmth * draw(random, counts), most)
        slots, entries, covers = counts[SLOTS], counts[ENTRIES], counts[COVERS]
        shut, gone = _open(where, pattern, pool, random, lists)
        left = _uncertified(gone, draw(random, counts) < 0.7, pattern, pool, lists)
        fine, many = left < len(lists) and gone < len(lists), NONE
        if fine:
            fine, many = _again(left, gone, shut, limit, starts, effort, table, pattern, pool, work)
        for t in range(shut):
            bar(lists[t]["closed"], ALLOW, cells, amounts)
        if fine:
            gone = _prune_near(many, gone, pattern, pool, lists)
        keep = fine and amounts[COST] < limit
        if not keep:
            for t in range(many):
                if moves[lists[t]["added"]]["alive"]:
                    unlink(lists[t]["added"], pattern, pool)
            for t in range(gone - 1, -1, -1):
                if not moves[lists[t]["removed"]]["fresh"]:
                    link(lists[t]["removed"], pattern, pool)
            amounts[COST] = before
        for t in range(many):
            moves[lists[t]["added"]]["fresh"] = 0
        if not keep:
            counts[SLOTS], counts[ENTRIES], counts[COVERS] = slots, entries, covers
    return rounds
