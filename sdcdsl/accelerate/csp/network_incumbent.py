"""The book of suppression on networks: what is hidden, which flow each side relies on, and what can be taken back.

A *book* (`network_state`) holds for each side the flow it relies on, its *witness*, and for each cell the requirements
that rely on it. A cell that no requirement relies on is published at once. Changes are logged, so that they can be
taken back.
"""

from __future__ import annotations

from sdcdsl.numerics.compiled import kernel

HIDE, SHOW, ATTACH, DETACH = 0, 1, 2, 3  # kinds of change
ENTRIES, LOG = 1, 2  # what has no slack left, in `FULL`; 0 for nothing
TOP, LOGGED, LOGGING, FULL, STAMP, SALT, OPEN_ONLY, SHORT_OF, TOKEN, MARK = range(10)  # places in `state`
COST, NOISE, TIE, KEEP, LEFT, LIMIT = range(6)  # places in `amounts`


@kernel
def uncover(web, book, j):
    """Hides a cell: its arc is open."""
    book.hidden[j] = True
    book.amounts[COST] += web.w[j]
    for end in range(2 if web.tail[j] != web.head[j] else 0):  # a loop, in no relation, leads nowhere
        v = web.tail[j] if end == 0 else web.head[j]
        at = web.start[v] + book.opened[v]
        book.near[at], book.place[end, j] = j, at
        book.opened[v] += 1


@kernel
def cover(web, book, j):
    """Publishes a cell: its arc is closed."""
    book.hidden[j] = False
    book.amounts[COST] -= web.w[j]
    for end in range(2 if web.tail[j] != web.head[j] else 0):
        v = web.tail[j] if end == 0 else web.head[j]
        at = book.place[end, j]
        book.opened[v] -= 1
        last = book.near[web.start[v] + book.opened[v]]
        book.near[at] = last
        book.place[0 if web.tail[last] == v else 1, last] = at


@kernel
def note(book, kind, a, b, c):
    at = book.state[LOGGED]
    if book.state[LOGGING] == 1:
        book.log[0, at], book.log[1, at], book.log[2, at], book.log[3, at] = kind, a, b, c
        book.state[LOGGED] = at + 1


@kernel
def drop(web, book, j):
    """Publishes a cell that nobody relies on."""
    if book.users[j] == 0 and book.hidden[j] and not web.fixed[j]:
        cover(web, book, j)
        note(book, SHOW, j, 0, 0)


@kernel
def link(book, s):
    for e in range(book.begin[s], book.begin[s] + book.length[s]):
        j = book.entry[0, e]
        after = book.first[j]
        book.entry[2, e], book.entry[3, e] = after, -1
        if after >= 0:
            book.entry[3, after] = e
        book.first[j] = e
        book.users[j] += 1


@kernel
def unlink(book, s):
    for e in range(book.begin[s], book.begin[s] + book.length[s]):
        j, after, before = book.entry[0, e], book.entry[2, e], book.entry[3, e]
        if before >= 0:
            book.entry[2, before] = after
        else:
            book.first[j] = after
        if after >= 0:
            book.entry[3, after] = before
        book.users[j] -= 1
    book.length[s] = 0


@kernel
def attach(web, book, desk, count, s, times):
    """The flow on the desk, so many times, becomes the witness; cells that only the old one held are published."""
    top, begin, length = book.state[TOP], book.begin[s], book.length[s]
    if top + count > len(book.flow):
        book.state[FULL] = ENTRIES
        return False
    if length > 0:
        note(book, DETACH, s, begin, length)
        unlink(book, s)
    note(book, ATTACH, s, top, 0)
    for i in range(count):
        j = desk.touched[i]
        book.entry[0, top + i], book.entry[1, top + i], book.flow[top + i] = j, s, times * desk.flow[j]
    book.begin[s], book.length[s] = top, count
    link(book, s)
    book.state[TOP] = top + count
    for e in range(begin, begin + length):
        drop(web, book, book.entry[0, e])
    return True


@kernel
def detach(web, book, s):
    """The requirement gives up its witness; cells that only it relied on are published."""
    begin, length = book.begin[s], book.length[s]
    note(book, DETACH, s, begin, length)
    unlink(book, s)
    for e in range(begin, begin + length):
        drop(web, book, book.entry[0, e])


@kernel
def undo(web, book, to):
    """Takes back all changes after the first `to` of the log."""
    while book.state[LOGGED] > to:
        at = book.state[LOGGED] - 1
        book.state[LOGGED] = at
        kind, a = book.log[0, at], book.log[1, at]
        if kind == HIDE:
            cover(web, book, a)
        elif kind == SHOW:
            uncover(web, book, a)
        elif kind == ATTACH:
            unlink(book, a)
            book.state[TOP] = book.log[2, at]
        else:
            book.begin[a], book.length[a] = book.log[2, at], book.log[3, at]
            link(book, a)
