"""A table made from microdata: aggregation at every level, and what the sensitivity rules need to know."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from sdcdsl.bind import record_keys
from sdcdsl.bind.coarser import PublishedCodes, moved
from sdcdsl.bind.dimensions import codes_under, levels_in
from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.bind.holdings import cells_of
from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.microdata import Columns, contributors_among, without_contributors
from sdcdsl.bind.relations import relations
from sdcdsl.bind.sense_keys import cell_keys, wants_keys
from sdcdsl.bind.single_units import largest_units, weights_count_units
from sdcdsl.bind.sources import Sources
from sdcdsl.bind.table import BoundTable, Contributors
from sdcdsl.bind.tabulate import tabulate
from sdcdsl.bind.tabulation import Tabulation
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.measure import measure_of
from sdcdsl.policy.plain import largest_needed
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.types import code_text

NOT_ASKED = ["", "0", "false", "False", "FALSE", "no", "No", "NO", "n", "N"]


def from_microdata(
    policy: Policy,
    block: d.Block,
    cells: Lattice,
    chosen: Sequence[PublishedCodes],
    sources: Sources,
    today: datetime.date,
    variables: Sequence[str] = (),
) -> tuple[BoundTable | None, list[Diagnostic]]:
    data = block.the(d.From).data
    records, found = sources.records(data)
    if records is None:
        return None, found
    place = FilePlace(records.name)
    frame = records.frame
    for only in block.all(d.Only):
        frame = frame.filter(_filter(only.where, [one.fine for one in chosen], sources, data))
    total = block.last(d.Sum)
    columns = Columns(
        dimensions=tuple(sources.column(data, dim.name) for dim in cells.dimensions),
        measure=sources.column(data, total.column) if total is not None else None,
        unit=sources.declared(data, "unit"),
        group=sources.declared(data, "group"),
        weight=sources.declared(data, "weight"),
    )
    frame = moved(frame, columns.dimensions, chosen)
    k = _largest_needed(policy)

    def table_of(frame: pl.LazyFrame, columns: Columns = columns, k: int = k) -> Tabulation | None:
        made, problems = tabulate(
            frame, cells.dimensions, columns, k=k, keep_contributions=True, place=place, where=records.place
        )
        found.extend(problems)
        return made

    every = table_of(frame)
    if every is None:
        return None, found
    units = every
    if columns.group is not None and columns.unit is not None and _each_unit(policy):
        units = table_of(frame, replace(columns, group=None)) or every
    kept, problems = _without_waived(policy, frame, records.frame, columns, today)
    found += problems
    judged = every if kept is None else table_of(kept)
    request = sources.declared(data, "request")
    requested = None
    counted = columns.weight is not None and weights_count_units(policy, data)

    def by_units(frame: pl.LazyFrame, k: int = k) -> np.ndarray | None:
        return largest_units(frame, columns, k, table_of) if counted and not has_errors(found) else None

    if request is not None:
        asked = frame.filter(~pl.col(request).is_in(NOT_ASKED) & pl.col(request).is_not_null())
        requested = by_units(asked, 1) if counted else getattr(table_of(asked, k=1), "largest", None)
    known = by_units(frame)
    seen = known if kept is None else by_units(kept)
    sums = {name: table_of(frame, replace(columns, measure=sources.column(data, name)), k=0) for name in variables}
    key = sources.declared(data, "key")
    noise_keys, problems = record_keys.cell_keys(policy, block, frame, cells, columns, key, sources.places)
    found += problems
    if has_errors(found) or judged is None:
        return None, found
    rules = cells_of(judged, requested=requested, frequency=total is None)
    table = BoundTable(
        name=block.name,
        measure=measure_of(block),
        place=place,
        relations=relations(cells),
        value=every.value,
        lattice=cells,
        quantities={
            "count": every.count.astype(float),
            "weight": every.weighted_count,
            **{name: made.value for name, made in sums.items() if made is not None},
        },
        judged=rules if seen is None else replace(rules, largest=seen),
        largest=known,
        known_largest=k,
        contributors=Contributors(every, units, judged),
        keys=cell_keys(frame, cells, columns, policy.seed or 0) if wants_keys(policy) else None,
        cell_keys=noise_keys,
        integer=bool(block.all(d.Integer)) or (total is None and columns.weight is None),
        whole=bool(block.all(d.Integer)) or (total is None and columns.weight is None),
    )
    return table, found


def _largest_needed(policy: Policy) -> int:
    """How many of the largest contributions any rule or expression of the policy looks at."""
    most = 2
    for fact in policy.facts_of(d.Sensitive):
        most = max(most, largest_needed(fact.rule) if fact.rule is not None else 0)
    for blocks in policy.blocks.values():
        for e in x.walk(tuple(s for b in blocks.values() for s in b.statements)):
            if isinstance(e, x.Call) and e.name == "largest" and isinstance(e.arguments[0].value, x.Number):
                most = max(most, int(e.arguments[0].value.text))
    return most


def _each_unit(policy: Policy) -> bool:
    return any(
        each.role == "unit" and not a.all(d.Coalition) for a in policy.attackers.values() for each in a.all(d.Each)
    )


def _without_waived(
    policy: Policy, frame: pl.LazyFrame, everybody: pl.LazyFrame, columns: Columns, today: datetime.date
) -> tuple[pl.LazyFrame | None, list[Diagnostic]]:
    """The records without contributors whose waiver holds today, or None if there is no such waiver.

    A contributor who consents may tell the world what it reported: its contribution neither needs cover nor gives any.
    Rules look at the remaining contributors alone, and a cell without remaining contributors is not sensitive.
    """
    found: list[Diagnostic] = []
    left: pl.LazyFrame | None = None
    for role, column in (("unit", columns.unit), ("group", columns.group)):
        waived = {
            w.code.text: w
            for w in policy.facts_of(d.Waive)
            if w.role == role and w.code is not None and in_force(w, today)
        }
        if waived and column is not None:
            present = contributors_among(everybody, column, list(waived))
            found += [_absent(role, code, w, column) for code, w in waived.items() if code not in present]
            left = without_contributors(left if left is not None else frame, column, list(waived))
    return left, found


def _absent(role: str, code: str, waive: d.Waive, column: str) -> Diagnostic:
    headline = f"the data has no {role} `{code}`"
    return diagnostic("SDC325", headline, waive.span, "waived here", notes=[f"looked for in column {column}"])


def in_force(waive: d.Waive, today: datetime.date) -> bool:
    return waive.until is None or waive.until >= today.isoformat()


# ---- `only where` ------------------------------------------------------------------------------------------


def _filter(e: x.Expression, known: Sequence[DimensionCodes], sources: Sources, data: str) -> pl.Expr:
    """A condition on records as a polars expression."""

    def inner(part: x.Expression) -> pl.Expr:
        return _filter(part, known, sources, data)

    dimensions = {dim.name: dim for dim in known}
    match e:
        case x.Every(parts):
            return pl.all_horizontal([inner(p) for p in parts])
        case x.Some(parts):
            return pl.any_horizontal([inner(p) for p in parts])
        case x.Not(value):
            return ~inner(value)
        case x.Member(name, codes, negated):
            inside = pl.col(sources.column(data, name)).is_in([c.text for c in codes])
            return ~inside if negated else inside
        case x.Under(name, code, negated):
            inside = pl.col(sources.column(data, name)).is_in(_under(dimensions[name], code.text))
            return ~inside if negated else inside
        case x.AtLevel(name, level, negated):
            dimension = dimensions[name]
            at = [c for c, n in zip(dimension.codes, levels_in(dimension), strict=True) if n == level]
            inside = pl.col(sources.column(data, name)).is_in(at)
            return ~inside if negated else inside
        case x.Compare(operator, left, right):
            return _compare(inner, operator, left, right, dimensions, sources, data)
        case x.Name(name):
            return pl.col(sources.column(data, name))
        case x.Number() | x.Percent():
            return pl.lit(e.value)
        case x.Text(value):
            return pl.lit(value)
        case x.Negative(value):
            return -inner(value)
        case x.Binary(operator, left, right):
            a, b = inner(left), inner(right)
            return {"+": a + b, "-": a - b, "*": a * b, "of": a * b.abs(), "/": a / b, "^": a**b}[operator]
    raise TypeError(f"cannot filter records by {e!r}")


def _compare(
    arithmetic: Callable[[x.Expression], pl.Expr],
    operator: str,
    left: x.Expression,
    right: x.Expression,
    dimensions: dict[str, DimensionCodes],
    sources: Sources,
    data: str,
) -> pl.Expr:
    def side(e: x.Expression, other: x.Expression) -> pl.Expr:
        if isinstance(other, x.Name) and other.name in dimensions:
            return pl.lit(code_text(e))
        if isinstance(e, x.Name) and isinstance(other, x.Name) and e is right and operator in ("=", "!="):
            return pl.lit(e.name)  # `region = R11`
        if isinstance(e, x.Name):
            return pl.col(sources.column(data, e.name))
        text = None if isinstance(e, (x.Number, x.Percent)) else code_text(e)
        return pl.lit(text) if text is not None else arithmetic(e)

    a, b = side(left, right), side(right, left)
    return {"=": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def _under(dimension: DimensionCodes, code: str) -> list[str]:
    inside = codes_under(dimension, code)
    return [c for c, b in zip(dimension.codes, inside, strict=True) if b]
