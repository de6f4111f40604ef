"""Names of used files made whole: what a file used `as office` declares is called `office.…`, in it and outside.

Files that are used without `as` share the names of the file that uses them, so names belong to a prefix, not to a file.
Only names are touched. A bare word in an expression may be a code, a quantity or an option's word as well: it is a name
only as the dimension's side of a comparison, or as the argument of `level`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, cast

from sdcdsl.diagnostics import Span
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.files import File

# Which fields of which records hold names that a file may have declared.
_NAME_FIELDS: dict[type, tuple[str, ...]] = {
    d.Block: ("name", "tables", "like"),
    d.From: ("data",),
    d.By: ("dimensions",),
    d.Recode: ("dimension",),
    d.Attribute: ("dimensions",),
    d.Against: ("attackers",),
    d.Level: ("against",),
    d.Conditional: ("against",),
    d.Scenarios: ("names",),
    d.Cells: ("table",),
    x.Member: ("dimension",),
    x.Under: ("dimension",),
    x.AtLevel: ("dimension",),
}


@dataclass(frozen=True)
class DeclaredNames:
    """What the files of one prefix declare."""

    prefix: str
    declared: frozenset[str]
    dimensions: frozenset[str]

    def whole(self, name: str) -> str:
        return f"{self.prefix}.{name}" if name.split(".", 1)[0] in self.declared else name

    def is_dimension(self, e: object) -> bool:
        return isinstance(e, x.Name) and e.name.split(".", 1)[0] in self.dimensions


def names_of(files: Iterable[File]) -> dict[str, DeclaredNames]:
    """The names of every prefix."""
    declared: dict[str, set[str]] = {}
    dimensions: dict[str, set[str]] = {}
    for file in files:
        blocks = [b for b in file.document.all(d.Block) if not b.override]
        declared.setdefault(file.prefix, set()).update(b.name for b in blocks)
        declared[file.prefix].update(use.alias for use in file.document.all(d.Use) if use.alias)
        dimensions.setdefault(file.prefix, set()).update(b.name for b in blocks if b.kind == "dimension")
        # Dimensions of a file used `as house` are `house.…` here.
        if file.prefix:
            outer, _, alias = file.prefix.rpartition(".")
            if any(b.kind == "dimension" for b in blocks):
                dimensions.setdefault(outer, set()).add(alias)
    return {p: DeclaredNames(p, frozenset(declared[p]), frozenset(dimensions.get(p, ()))) for p in declared}


def qualified(file: File, names: DeclaredNames) -> Iterator[d.Item]:
    if not file.prefix:
        yield from file.document.items
        return
    for item in file.document.items:
        yield _renamed(item, names)


def _renamed(value: Any, names: DeclaredNames) -> Any:
    match value:
        case tuple():
            return tuple(_renamed(v, names) for v in cast(tuple[Any, ...], value))
        case d.Address(coordinates):
            return replace(value, coordinates=tuple((names.whole(name), code) for name, code in coordinates))
        case d.Column(role):
            return replace(value, role=names.whole(role)) if role in names.dimensions else value
        case d.Values(rows):
            return replace(value, rows=(_header(rows[0], names), *rows[1:])) if rows else value
        case x.Compare(_, left, right):
            if names.is_dimension(left):
                return replace(value, left=_named(left, names))
            if names.is_dimension(right):
                return replace(value, right=_named(right, names))
        case x.Call("level", (x.Argument(None, argument),)) if names.is_dimension(argument):
            return replace(value, arguments=(replace(value.arguments[0], value=_named(argument, names)),))
        case _:
            pass
    if not is_dataclass(value) or isinstance(value, (Span, type)):
        return value
    return _with_names(value, names)


def _named(name: x.Expression, names: DeclaredNames) -> x.Name:
    assert isinstance(name, x.Name)
    return replace(name, name=names.whole(name.name))


def _header(header: tuple[d.Cell, ...], names: DeclaredNames) -> tuple[d.Cell, ...]:
    """`rows \\ columns`, or a column for each dimension."""
    if not header:
        return header
    corner = header[0].text
    if "\\" in corner:
        down, across = (names.whole(part.strip()) for part in corner.split("\\", 1))
        return (replace(header[0], text=f"{down} \\ {across}"), *header[1:])
    return tuple(replace(c, text=names.whole(c.text)) if c.text in names.dimensions else c for c in header)


def _with_names(value: Any, names: DeclaredNames) -> Any:
    changes = {}
    holding = _NAME_FIELDS.get(value.__class__, ())
    for f in fields(value):
        old = getattr(value, f.name)
        if f.name in holding:
            many = isinstance(old, tuple)
            new = tuple(map(names.whole, cast(tuple[str, ...], old))) if many else names.whole(old) if old else old
        elif f.name in ("span", "heading"):
            continue
        else:
            new = _renamed(old, names)
        if new is not old:
            changes[f.name] = new
    return replace(value, **changes) if changes else value
