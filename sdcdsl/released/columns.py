"""Which column of a file says what: by the names people use, and by what is left where they use another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sdcdsl.bind.readers.wording import clip
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, did_you_mean, listed
from sdcdsl.released.statements import Layout

CELL_NUMBER = "cell"  # of tables whose cells have numbers instead of codes
_NAMES = {
    "low": ("low", "lower"),
    "high": ("high", "upper"),
    "status": ("status", "sdcstatus"),
    "base": ("base",),
    "deviation": ("deviation",),
}
_TAKEN = ("value", *(name for names in _NAMES.values() for name in names))
_COUNTS = ("freq", "count", "n", "n_obs", "nobs")
# Columns of results of τ-ARGUS, rtauargus and sdcTable that are not the figure.
_BESIDE = {*_COUNTS, "strid", "id", "dom", "cost", "weight", "w", "lb", "ub", "lpl", "upl", "spl", "shadow", "max"}


@dataclass(frozen=True)
class Roles:
    codes: tuple[str, ...]  # one a dimension, or the number of the cell
    value: str | None
    low: str | None = None
    high: str | None = None
    status: str | None = None
    base: str | None = None
    deviation: str | None = None

    @property
    def all(self) -> list[str]:
        rest = (self.value, self.low, self.high, self.status, self.base, self.deviation)
        return [*self.codes, *(column for column in rest if column is not None)]


def code_columns(table: BoundTable) -> tuple[str, ...]:
    return table.dimensions or (CELL_NUMBER,)


def names_dimensions(header: Sequence[str], table: BoundTable) -> bool:
    """A header, even if its words are codes as well."""
    return all(_named(header, (name,)) is not None for name in (*written_columns(table), "value"))


def written_columns(table: BoundTable) -> tuple[str, ...]:
    """What this program calls the columns of codes in a file: a dimension may be called `value`."""
    return tuple(f"{name}_code" if name in _TAKEN else name for name in code_columns(table))


def usual_names(table: BoundTable, layout: Layout) -> list[str]:
    """Names that tell a delimiter from another: the header has most of them under the right one."""
    names = [name.rpartition(".")[2] for name in code_columns(table)]
    return [
        *code_columns(table),
        *written_columns(table),
        *names,
        *layout.columns.values(),
        "value",
        *(n for all in _NAMES.values() for n in all),
    ]


def find_roles(
    name: str, line: int | None, header: Sequence[str], table: BoundTable, layout: Layout
) -> tuple[Roles | None, list[Diagnostic]]:
    found: list[Diagnostic] = []
    codes: list[str] = []
    left = list(header)

    def take(*candidates: str) -> str | None:
        column = _named(left, candidates)
        if column is not None:
            left.remove(column)
        return column

    for dimension, written in zip(code_columns(table), written_columns(table), strict=True):
        given = layout.columns.get(dimension)
        also = ("index",) if dimension == CELL_NUMBER else (dimension.rpartition(".")[2],)
        column = take(given) if given else take(written, dimension, *also)
        if column is None:
            found.append(missing_column(name, line, given or dimension, header))
        else:
            codes.append(column)
    given = {role: layout.columns.get(role) for role in ("value", *_NAMES)}
    values = take(given["value"]) if given["value"] else take("value")
    others = {role: take(column) if (column := given[role]) else take(*names) for role, names in _NAMES.items()}
    found += [missing_column(name, line, column, header) for role, column in given.items() if column and role in others
              and others[role] is None]  # fmt: skip
    if values is None and not given["value"]:
        values = _value_column(left, table)
    bounds = others["low"] is not None or others["high"] is not None
    if values is None and (given["value"] or not bounds):
        found.append(_no_value(name, line, given["value"], header, left))
    return (None, found) if found else (Roles(tuple(codes), values, **others), [])


def _named(columns: Sequence[str], candidates: Sequence[str]) -> str | None:
    """The first candidate that is there: as it is written, or with other capitals."""
    for candidate in candidates:
        if candidate in columns:
            return candidate
        alike = [c for c in columns if c.casefold() == candidate.casefold()]
        if len(alike) == 1:
            return alike[0]
    return None


def _value_column(left: Sequence[str], table: BoundTable) -> str | None:
    """Named after the measure or the table; the only column that can be it; the count, if there is nothing else."""
    said = re.match(r"(?:measure|sum of|table|jj) (.+?)(?: in .*)?$", table.measure)
    named = _named(left, [*([said[1]] if said else []), table.name, "val", "values"])
    rest = [column for column in left if column.casefold() not in _BESIDE]
    if named is not None or len(rest) == 1:
        return named or rest[0]
    return _named(left, _COUNTS) if not rest else None


def missing_column(name: str, line: int | None, column: str, header: Sequence[str]) -> Diagnostic:
    if column in header:
        headline = f"column `{clip(column)}` of {name} holds something else already"
        return diagnostic("SDC303", headline, FilePlace(name, line=line), "the codes of a dimension, or another figure")
    headline = f"no column `{clip(column)}` in {name}"
    notes = [f"its columns: {listed(clip(c) for c in header)}"]
    return diagnostic("SDC303", headline, FilePlace(name, line=line), did_you_mean(column, header), notes=notes)


def _no_value(name: str, line: int | None, given: str | None, header: Sequence[str], left: Sequence[str]) -> Diagnostic:
    if given:
        return missing_column(name, line, given, header)
    several = f"it could be {listed(clip(c) for c in left)}" if left else ""
    headline = f"{name} has no column `value`"
    help = "call it `value`, or say which column holds the published figures"
    return diagnostic("SDC303", headline, FilePlace(name, line=line), several, help=help)
