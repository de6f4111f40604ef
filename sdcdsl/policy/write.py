"""Document to text: the way back from meaning to a file that says it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import singledispatch

from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.syntax.automaton import RESERVED

_BARE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*|[0-9]+(?:\.[0-9]+)?")
_TIGHT = {"or": 1, "and": 2, "not": 3, "compare": 4, "+": 5, "-": 5, "*": 6, "/": 6, "of": 7, "negative": 7, "^": 8}


def write_document(document: d.Document) -> str:
    """Text that reads back as an equal document. Not laid out: the formatter does that."""
    lines = [f"sdc {document.edition}"]
    for item in document.items:
        lines += _item(item)
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def code(c: x.Code) -> str:
    return c.text if _BARE.fullmatch(c.text) and c.text not in RESERVED else quoted(c.text)


def column(name: str) -> str:
    return name if _BARE.fullmatch(name) and not name[0].isdigit() and name not in RESERVED else quoted(name)


# ---- expressions -------------------------------------------------------------------------------


def expression(e: x.Expression) -> str:
    return _write(e)[0]


def _write(e: x.Expression) -> tuple[str, int]:
    """The text and how tightly its outermost operator binds."""
    match e:
        case x.Number(text):
            return text, 9
        case x.Percent(text):
            return f"{text}%", 9
        case x.Text(value):
            return quoted(value), 9
        case x.Duration(text, unit):
            return f"{text} {unit}", 9
        case x.Infinity():
            return "inf", 9
        case x.Name(name):
            return name, 9
        case x.Code():
            return code(e), 9
        case x.Call():
            return call(e), 9
        case x.Negative(value):
            return "-" + _inside(value, 7), 7
        case x.Binary("^", left, right):
            return f"{_inside(left, 9)} ^ {_inside(right, 7)}", 8
        case x.Binary("of", left, right):
            return f"{_inside(left, 9)} of {_inside(right, 7)}", 7
        case x.Binary(operator, left, right):
            tight = _TIGHT[operator]
            return f"{_inside(left, tight)} {operator} {_inside(right, tight + 1)}", tight
        case x.Compare(operator, left, right):
            return f"{_inside(left, 5)} {operator} {_inside(right, 5)}", 4
        case x.Member(dimension, codes, negated):
            return f"{dimension}{' not' if negated else ''} in ({', '.join(map(code, codes))})", 4
        case x.Under(dimension, c, negated):
            return f"{dimension}{' not' if negated else ''} under {code(c)}", 4
        case x.AtLevel(dimension, level, negated):
            return f"{dimension}{' not' if negated else ''} at level {level}", 4
        case x.Not(value):
            return f"not {_inside(value, 3)}", 3
        case x.Every(parts):
            return " and ".join(_inside(p, 3) for p in parts), 2
        case x.Some(parts):
            return " or ".join(_inside(p, 2) for p in parts), 1
        case x.Cond(condition, then, otherwise):
            return f"if {_write(condition)[0]} then {_write(then)[0]} otherwise {_write(otherwise)[0]}", 0
        case x.Range(low, high):
            return f"{_write(low)[0]} .. {_write(high)[0]}", 0
    raise TypeError(f"not an expression: {e!r}")


def _inside(e: x.Expression, least: int) -> str:
    text, tight = _write(e)
    return text if tight >= least else f"({text})"


def call(c: x.Call) -> str:
    return f"{c.name}({', '.join(map(_argument, c.arguments))})"


def _argument(a: x.Argument) -> str:
    return f"{a.name}: {expression(a.value)}" if a.name else expression(a.value)


# ---- pieces --------------------------------------------------------------------------------------


def _where(e: x.Expression | None) -> str:
    return f" where {expression(e)}" if e is not None else ""


def _as(name: str | None) -> str:
    return f" as {name}" if name else ""


def _because(reason: str | None) -> str:
    return f" because {quoted(reason)}" if reason is not None else ""


def _options(options: tuple[d.Option, ...]) -> str:
    if not options:
        return ""
    return " { " + "; ".join(map(option, options)) + " }"


def option(o: d.Option) -> str:
    values = ", ".join(map(expression, o.values))
    return f"{o.name}{' ' + values if values else ''}{_where(o.where)}"


def file(f: d.FileReference) -> str:
    return f"{f.format} {quoted(f.path)}{_options(f.options)}"


def address(a: d.Address) -> str:
    return "(" + ", ".join(f"{name}: {code(c)}" for name, c in a.coordinates) + ")"


def _cells(c: d.Cells) -> str:
    table = f" {c.table}" if c.table else ""
    at = f" at {', '.join(map(address, c.at))}" if c.at else ""
    return table + at + _where(c.where)


# ---- statements ------------------------------------------------------------------------------------


@singledispatch
def statement(s: object) -> str:
    """One statement of a block, on one line (a table or tree: several)."""
    raise TypeError(f"not a statement: {s!r}")


@statement.register
def _(s: d.Codes) -> str:
    return f"codes {', '.join(map(code, s.codes))}"


@statement.register
def _(s: d.Total) -> str:
    return f"total {code(s.code)}"


@statement.register
def _(s: d.HierarchyFile) -> str:
    return f"hierarchy {file(s.file)}{_as(s.name)}"


@statement.register
def _(s: d.HierarchySum) -> str:
    (sign, first), *rest = s.parts
    text = ("-" if sign < 0 else "") + code(first)
    text += "".join(f" {'-' if sign < 0 else '+'} {code(c)}" for sign, c in rest)
    # These two words start other forms of the statement.
    total = quoted(s.total.text) if s.total.text in ("tree", "prefix") else code(s.total)
    return f"hierarchy {total} = {text}{_as(s.name)}"


@statement.register
def _(s: d.HierarchyPrefix) -> str:
    return f"hierarchy prefix {', '.join(map(str, s.lengths))}{_as(s.name)}"


@statement.register
def _(s: d.HierarchyTree) -> str:
    lines = [f"hierarchy tree{_as(s.name)}", *(f"{'  ' * (depth + 2)}- {code(c)}" for depth, c in s.nodes)]
    return "\n".join(lines)


@statement.register
def _(s: d.Labels) -> str:
    return f"labels {s.language + ' ' if s.language else ''}{file(s.file)}"


@statement.register
def _(s: d.Column) -> str:
    rank = f"({s.rank})" if s.rank is not None else ""
    return f"column {s.role}{rank} = {quoted(s.column)}{' ' + s.treatment if s.treatment else ''}"


@statement.register
def _(s: d.Origin) -> str:
    return file(s.file)


@statement.register
def _(s: d.From) -> str:
    return f"from {s.data}"


@statement.register
def _(s: d.By) -> str:
    levels = s.levels or (None,) * len(s.dimensions)
    said = zip(s.dimensions, levels, strict=True)
    return f"by {', '.join(name if level is None else f'{name} to level {level}' for name, level in said)}"


@statement.register
def _(s: d.Recode) -> str:
    if s.file is not None:
        return f"recode {s.dimension} {file(s.file)}"
    lines = [f"  {code(one.code)} = {', '.join(map(code, one.parts))}" for one in s.groups]
    return "\n".join([f"recode {s.dimension} {{", *lines, "}"])


@statement.register
def _(s: d.Sum) -> str:
    return f"sum {column(s.column)}"


@statement.register
def _(s: d.Count) -> str:
    return f"count {column(s.column)}" if s.column else "count"


@statement.register
def _(s: d.ColumnOf) -> str:
    rank = f"({s.rank})" if s.rank is not None else ""
    return f"{s.quantity}{rank} {column(s.column)}{_options(s.options)}"


@statement.register
def _(s: d.Measure) -> str:
    return f"measure {s.name}"


@statement.register
def _(s: d.UnitOf) -> str:
    return f"unit {quoted(s.text)}"


@statement.register
def _(s: d.Integer) -> str:
    return "integer"


@statement.register
def _(s: d.Attribute) -> str:
    return f"attribute {', '.join(s.dimensions)}"


@statement.register
def _(s: d.Only) -> str:
    return f"only{_where(s.where)}"


@statement.register
def _(s: d.Values) -> str:
    lines = ["| " + " | ".join(_cell(c.text) for c in row) + " |" for row in s.rows]
    return "\n".join(["values", *lines])


def _cell(text: str) -> str:
    plain = text == text.strip() and not any(sign in text for sign in '|"#') and not re.fullmatch(r":?-+:?", text)
    return text if plain else quoted(text)


@statement.register
def _(s: d.Bounds) -> str:
    span = f"{expression(s.low)} .. {expression(s.high)}" if s.low is not None and s.high is not None else "given"
    return f"bounds {span}{_where(s.where)}"


@statement.register
def _(s: d.Each) -> str:
    return f"each {s.role}{_where(s.where)}"


@statement.register
def _(s: d.Coalition) -> str:
    return f"coalition {s.role}"


@statement.register
def _(s: d.Knows) -> str:
    return f"knows {s.what}"


@statement.register
def _(s: d.Against) -> str:
    return f"against {', '.join(s.attackers)}"


@statement.register
def _(s: d.Level) -> str:
    against = f" against {s.against}" if s.against else ""
    return f"{s.level} {expression(s.amount)}{against}{_where(s.where)}"


@statement.register
def _(s: d.Conditional) -> str:
    return "conditional " + statement(d.Level(s.level, s.amount, s.against, s.where))


@statement.register
def _(s: d.Scenarios) -> str:
    return f"scenarios {', '.join(s.names)}"


@statement.register
def _(s: d.Cost) -> str:
    return f"cost {s.price + ' ' if s.price else ''}{expression(s.amount)}{_where(s.where)}"


@statement.register
def _(s: d.MethodChain) -> str:
    return "method " + " else ".join(f"{e.word}{_options(e.options)}" for e in s.engines)


@statement.register
def _(s: d.Assess) -> str:
    return f"assess {', '.join(s.experiments)}{_options(s.options)}"


@statement.register
def _(s: d.Release) -> str:
    return f"release {file(s.file)}"


def param(name: str, value: x.Expression) -> str:
    return f"param {name} = {expression(value)}"


# ---- items ---------------------------------------------------------------------------------------------


def _item(item: d.Item) -> Iterable[str]:
    if isinstance(item, d.Block):
        yield f"{heading(item)} {{"
        yield from map(statement, item.statements)
        yield "}"
    else:
        yield fact(item)


def heading(block: d.Block) -> str:
    override = "override " if block.override else ""
    if block.kind != "protect":
        return f"{override}{block.kind} {block.name}"
    name = _as(block.name) if block.name != block.tables[0] else ""
    return f"{override}protect {', '.join(block.tables)}{name}{f' like {block.like}' if block.like else ''}"


@singledispatch
def fact(item: object) -> str:
    """A statement at the top of a file, on one line."""
    raise TypeError(f"not an item: {item!r}")


@fact.register
def _(i: d.Use) -> str:
    return f"use {quoted(i.path)}{_as(i.alias)}"


@fact.register
def _(i: d.Title) -> str:
    return f"policy {quoted(i.text)}"


@fact.register
def _(i: d.Seed) -> str:
    return f"seed {i.number}"


@fact.register
def _(i: d.Param) -> str:
    return param(i.name, i.value)


@fact.register
def _(i: d.Period) -> str:
    before = f" previous {expression(i.previous)}" if i.previous is not None else ""
    return f"period {i.name} {expression(i.now)}{before}{_options(i.options)}"


@fact.register
def _(i: d.Sensitive) -> str:
    table = f" {i.cells.table}" if i.cells.table else ""
    if i.rule is not None:
        what = f"{table} by {call(i.rule)}{_where(i.cells.where)}"
    elif i.together:
        what = f"{table} together at {', '.join(map(address, i.cells.at))}"
    elif i.file is not None:
        what = f"{table} from {file(i.file)}"
    else:
        what = _cells(i.cells)
    return f"sensitive{what}{_because(i.because)}"


@fact.register
def _(i: d.Status) -> str:
    return f"{i.status}{_cells(i.cells)}{_because(i.because)}"


@fact.register
def _(i: d.Waive) -> str:
    until = f" until {i.until}" if i.until else ""
    what = f" {i.role} {code(i.code)}" if i.code is not None else _cells(i.cells or d.Cells())
    return f"waive{what}{until}{_because(i.because)}"


@fact.register
def _(i: d.Require) -> str:
    return f"require {expression(i.condition)}{_where(i.where)}{_because(i.because)}"
