"""Cells named one by one: does the address fit the table, and is a cell told two opposite things?"""

from __future__ import annotations

from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic, did_you_mean, listed
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.types import missing_code

_Words = dict[tuple[str, frozenset[tuple[str, str]]], dict[str, d.Fact]]  # by address: the facts, by their words


def check(policy: Policy) -> Iterator[Diagnostic]:
    said: _Words = {}
    for fact in policy.facts:
        cells = None if isinstance(fact, d.Require) else fact.cells
        if cells is None:
            continue
        for address in cells.at:
            yield from _fits(policy, cells, address)
            yield from _opposite(policy, said, fact, cells, address)


def _fits(policy: Policy, cells: d.Cells, address: d.Address) -> Iterator[Diagnostic]:
    given = [name for name, _ in address.coordinates]
    twice = next((name for i, name in enumerate(given) if name in given[:i]), None)
    if twice is not None:
        yield diagnostic("SDC118", f"the address names `{twice}` twice", address.span)
        return
    tables = [cells.table] if cells.table else list(policy.tables)
    expected = {t: _dimensions(policy, t) for t in tables if t in policy.tables}
    if not expected:
        return
    if any(set(given) == set(dims) for dims in expected.values() if dims is not None):
        for name, code in address.coordinates:
            if name == "cell" and not code.text.isdigit():
                yield diagnostic("SDC118", "the cells of a JJ file are named by their numbers", code.span, "cell: 17")
            found = missing_code(policy, name, code.text, code.span)
            if found is not None:
                yield found
        return
    if any(dims is None for dims in expected.values()):
        return
    if len(expected) > 1:
        yield diagnostic(
            "SDC118",
            "this address fits no table",
            address.span,
            f"it names {listed(given)}",
            notes=[f"table `{t}` has the dimensions {listed(dims or ())}" for t, dims in list(expected.items())[:4]],
        )
        return
    ((table, dims),) = expected.items()
    dims = dims or ()
    missing = [dim for dim in dims if dim not in given]
    extra = [name for name in given if name not in dims]
    notes = [f"table `{table}` has the dimensions {listed(dims)}"]
    if extra:
        label = did_you_mean(extra[0], missing or dims)
        yield diagnostic("SDC118", f"table `{table}` has no dimension `{extra[0]}`", address.span, label, notes=notes)
    else:
        yield diagnostic(
            "SDC118",
            f"the address leaves out {listed(missing)}",
            address.span,
            "one cell needs all of them",
            notes=notes,
        )


def _dimensions(policy: Policy, table: str) -> tuple[str, ...] | None:
    block = policy.tables[table]
    if policy.is_damaged(block.span):
        return None
    if block.all(d.Origin):
        return ("cell",)
    by = block.last(d.By)
    return by.dimensions if by is not None else None


_OPPOSITES = {
    frozenset({"publish", "suppress"}),
    frozenset({"fix", "suppress"}),
    frozenset({"publish", "sensitive"}),
    frozenset({"fix", "sensitive"}),
}


def _opposite(policy: Policy, said: _Words, fact: d.Fact, cells: d.Cells, address: d.Address) -> Iterator[Diagnostic]:
    if isinstance(fact, d.Sensitive):
        word = "sensitive" if not fact.together else "together"
    elif isinstance(fact, d.Status):
        word = fact.status
    else:
        return
    named = frozenset((name, code.text) for name, code in address.coordinates)
    dimensions = {name for name, _ in named}
    tables = (
        [cells.table] if cells.table else [t for t in policy.tables if set(_dimensions(policy, t) or ()) == dimensions]
    )
    for table in tables:
        words = said.setdefault((table, named), {})
        words.setdefault(word, fact)
        other = next(((w, f) for w, f in words.items() if frozenset({w, word}) in _OPPOSITES), None)
        if other is None:
            continue
        found = diagnostic(
            "SDC137",
            f"this cell is told `{other[0]}` and `{word}`",
            address.span,
            f"`{word}` here",
            help='a cell that may be published although it is sensitive is waived: waive at (…) because "…"',
        )
        yield found.mark(other[1].span, f"`{other[0]}` here")
        return
