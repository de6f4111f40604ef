"""The incumbent of suppression on networks: what is hidden, which flow each side relies on, and what can be taken back.

An *incumbent* (`network_state`) holds for each side the flow it relies on, its *witness*, and for each cell the
requirements that rely on it. A cell that no requirement relies on is published at once. Changes are logged, so that
they can be taken back.
"""

from __future__ import annotations

from sdcdsl.numerics.compiled import kernel

HIDE, SHOW, ATTACH, DETACH = 0, 1, 2, 3  # kinds of change
ENTRIES, LOG = 1, 2  # what has no slack left, in `FULL`; 0 for nothing
TOP, LOGGED, LOGGING, FULL, STAMP, SALT, OPEN_ONLY, SHORT_OF, TOKEN, MARK = range(10)  # places in `state`
COST, NOISE, TIE, KEEP, LEFT, LIMIT = range(6)  # places in `amounts`


@kernel
def uncover(graph, incumbent, j):
    """Hides a cell: its arc is open."""
    incumbent.hidden[j] = True
    incumbent.amounts[COST] += graph.w[j]
    for end in range(2 if graph.tail[j] != graph.head[j] else 0):  # a loop, in no relation, leads nowhere
        v = graph.tail[j] if end == 0 else graph.head[j]
        at = graph.start[v] + incumbent.opened[v]
        incumbent.near[at], incumbent.place[end, j] = j, at
        incumbent.opened[v] += 1


@kernel
def cover(graph, incumbent, j):
    """Publishes a cell: its arc is closed."""
    incumbent.hidden[j] = False
    incumbent.amounts[COST] -= graph.w[j]
    for end in range(2 if graph.tail[j] != graph.head[j] else 0):
        v = graph.tail[j] if end == 0 else graph.head[j]
        at = incumbent.place[end, j]
        incumbent.opened[v] -= 1
        last = incumbent.near[graph.start[v] + incumbent.opened[v]]
        incumbent.near[at] = last
        incumbent.place[0 if graph.tail[last] == v else 1, last] = at


@kernel
def note(incumbent, kind, a, b, c):
    at = incumbent.state[LOGGED]
    if incumbent.state[LOGGING] == 1:
        incumbent.log[0, at], incumbent.log[1, at], incumbent.log[2, at], incumbent.log[3, at] = kind, a, b, c
        incumbent.state[LOGGED] = at + 1


@kernel
def drop(graph, incumbent, j):
    """Publishes a cell that nobody relies on."""
    if incumbent.users[j] == 0 and incumbent.hidden[j] and not graph.fixed[j]:
        cover(graph, incumbent, j)
        note(incumbent, SHOW, j, 0, 0)


@kernel
def link(incumbent, s):
    for e in range(incumbent.begin[s], incumbent.begin[s] + incumbent.length[s]):
        j = incumbent.entry[0, e]
        after = incumbent.first[j]
        incumbent.entry[2, e], incumbent.entry[3, e] = after, -1
        if after >= 0:
            incumbent.entry[3, after] = e
        incumbent.first[j] = e
        incumbent.users[j] += 1


@kernel
def unlink(incumbent, s):
    for e in range(incumbent.begin[s], incumbent.begin[s] + incumbent.length[s]):
        j, after, before = incumbent.entry[0, e], incumbent.entry[2, e], incumbent.entry[3, e]
        if before >= 0:
            incumbent.entry[2, before] = after
        else:
            incumbent.first[j] = after
        if after >= 0:
            incumbent.entry[3, after] = before
        incumbent.users[j] -= 1
    incumbent.length[s] = 0


@kernel
def attach(graph, incumbent, workspace, count, s, times):
    """The flow on the workspace, so many times, becomes the witness; cells that only the old one held are published."""
    top, begin, length = incumbent.state[TOP], incumbent.begin[s], incumbent.length[s]
    if top + count > len(incumbent.flow):
        incumbent.state[FULL] = ENTRIES
        return False
    if length > 0:
        note(incumbent, DETACH, s, begin, length)
        unlink(incumbent, s)
    note(incumbent, ATTACH, s, top, 0)
    for i in range(count):
        j = workspace.touched[i]
        incumbent.entry[0, top + i], incumbent.entry[1, top + i], incumbent.flow[top + i] = (
            j,
            s,
            times * workspace.flow[j],
        )
    incumbent.begin[s], incumbent.length[s] = top, count
    link(incumbent, s)
    incumbent.state[TOP] = top + count
    for e in range(begin, begin + length):
        drop(graph, incumbent, incumbent.entry[0, e])
    return True


@kernel
def detach(graph, incumbent, s):
    """The requirement gives up its witness; cells that only it relied on are published."""
    begin, length = incumbent.begin[s], incumbent.length[s]
    note(incumbent, DETACH, s, begin, length)
    unlink(incumbent, s)
    for e in range(begin, begin + length):
        drop(graph, incumbent, incumbent.entry[0, e])


@kernel
def undo(graph, incumbent, to):
    """Takes back all changes after the first `to` of the log."""
    while incumbent.state[LOGGED] > to:
        at = incumbent.state[LOGGED] - 1
        incumbent.state[LOGGED] = at
        kind, a = incumbent.log[0, at], incumbent.log[1, at]
        if kind == HIDE:
            cover(graph, incumbent, a)
        elif kind == SHOW:
            uncover(graph, incumbent, a)
        elif kind == ATTACH:
            unlink(incumbent, a)
            incumbent.state[TOP] = incumbent.log[2, at]
        else:
            incumbent.begin[a], incumbent.length[a] = incumbent.log[2, at], incumbent.log[3, at]
            link(incumbent, a)
