"""Tables and hierarchies that are typed into the policy: do they fit together, and do the totals add up?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sdcdsl.diagnostics import Diagnostic, Span, diagnostic, did_you_mean, nearest
from sdcdsl.policy import document as d
from sdcdsl.policy.codes import InlineTree, inline_trees
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.types import codes_of

Address = tuple[str, ...]
MOST_MARKS = 6
LARGEST_EXPONENT = 400


def check(policy: Policy) -> Iterator[Diagnostic]:
    sound = True
    for dimension in policy.dimensions.values():
        for tree in inline_trees(dimension):
            for found in _is_tree(tree):
                sound = False
                yield found
    for table in policy.tables.values():
        values = table.last(d.Values)
        by = table.last(d.By)
        if values is None or by is None or policy.is_damaged(table.span):
            continue
        if all(name in policy.dimensions for name in by.dimensions):
            cells, found = read_inline(policy, values, by.dimensions)
            yield from found
            known = all(codes_of(policy, name) is not None for name in by.dimensions)
            if not found and sound and known and cells is not None:
                yield from _adds_up(policy, table, cells, by.dimensions)


# ---- hierarchies --------------------------------------------------------------------------------------


def _is_tree(tree: InlineTree) -> Iterator[Diagnostic]:
    parent: dict[str, str] = {}
    for total, parts in tree.parts.items():
        for _, part in parts:
            statement = tree.origin[total, part]
            if part == total:
                yield diagnostic("SDC136", f"code `{part}` cannot be part of itself", statement.span)
                return
            if part in parent and parent[part] != total:
                found = diagnostic(
                    "SDC136",
                    f"code `{part}` is part of both `{parent[part]}` and `{total}`",
                    statement.span,
                    help="a second way to add up the same codes is a hierarchy of its own: hierarchy … as NAME",
                )
                first = tree.origin[parent[part], part].span
                yield found.mark(first, "the first of the two")
                return
            parent[part] = total
    circles = _in_circles(parent)
    start = next((code for code in parent if code in circles), None)
    if start is not None:
        circle = " → ".join([*_chain(parent, start), start])
        yield diagnostic("SDC136", "the hierarchy goes in a circle", tree.origin[parent[start], start].span, circle)


def _in_circles(parent: dict[str, str]) -> set[str]:
    """The codes that are below themselves. Every code is walked over once."""
    out: set[str] = set()
    walked: dict[str, str] = {}  # code -> the code the walk started from
    for start in parent:
        code: str | None = start
        while code is not None and code not in walked:
            walked[code] = start
            code = parent.get(code)
        if code is not None and walked[code] == start:
            out.update(_chain(parent, code))
    return out


def _chain(parent: dict[str, str], start: str) -> Iterator[str]:
    yield start
    code = parent[start]
    while code != start:
        yield code
        code = parent[code]


# ---- tables ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InlineCell:
    value: float
    exact: Fraction
    span: Span | None


def read_inline(
    policy: Policy, values: d.Values, dimensions: tuple[str, ...]
) -> tuple[dict[Address, InlineCell] | None, list[Diagnostic]]:
    """The cells of an inline table by address, from the two-way form `rows \\ columns` or from the long form."""
    if not values.rows or not values.rows[0] or len({len(row) for row in values.rows}) > 1:
        return None, []
    header, *rows = values.rows
    corner = header[0].text
    if "\\" in corner:
        entries, wrong = _two_way(corner, header, rows, dimensions)
    else:
        entries, wrong = _long(header, rows, dimensions)
    cells: dict[Address, InlineCell] = {}
    known = [(name, codes_of(policy, name)) for name in dimensions]
    for address, cell in entries:
        wrong += _codes_exist(known, address)
        if not cell.text:
            continue
        number = _number(cell.text)
        if number is None:
            label = f"write {instead}" if (instead := _meant(cell.text)) else ""
            help = None if label else "digits and a decimal point: 1204.5"
            wrong.append(diagnostic("SDC023", f"`{cell.text}` is not a number", cell.span, label, help=help))
            continue
        key = tuple(c.text for c in address)
        if key in cells:
            found = diagnostic("SDC129", f"the cell {', '.join(key)} stands twice in the table", cell.span)
            first = cells[key].span
            wrong.append(found.mark(first, "here first"))
        cells[key] = InlineCell(float(number), number, cell.span)
    return cells, wrong


def _number(text: str) -> Fraction | None:
    if len(text) > 40 or not text.isascii() or "/" in text or "_" in text:
        return None
    try:
        number = float(text)
        exponent = int(text.lower().partition("e")[2] or 0)
        # 1e-999999999 is zero as a float, and a number of a billion digits as a fraction.
        if not math.isfinite(number) or abs(exponent) > LARGEST_EXPONENT:
            return None
        return Fraction(text)
    except ValueError:
        return None


def _meant(text: str) -> str:
    """The number in a spelling of other countries, where there is one way to read it."""
    bare = re.sub(r"[\s'’_]", "", text)
    if re.fullmatch(r"-?[0-9]{1,3},[0-9]{3}", bare):
        return f"{bare.replace(',', '')} or {bare.replace(',', '.')}"
    if re.fullmatch(r"-?[0-9]+(,[0-9]+)?", bare):
        return bare.replace(",", ".")
    if re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?", bare):
        return bare.replace(",", "")
    if re.fullmatch(r"-?[0-9]{1,3}(\.[0-9]{3})+(,[0-9]+)?", bare):
        return bare.replace(".", "").replace(",", ".")
    return ""


_Entries = list[tuple[tuple[d.Cell, ...], d.Cell]]


def _two_way(
    corner: str, header: tuple[d.Cell, ...], rows: list[tuple[d.Cell, ...]], dimensions: tuple[str, ...]
) -> tuple[_Entries, list[Diagnostic]]:
    down, across = (part.strip() for part in corner.split("\\", 1))
    if sorted((down, across)) != sorted(dimensions):
        headline = f"the table is by {' and '.join(dimensions)}, its corner says {down} and {across}"
        return [], [diagnostic("SDC129", headline, header[0].span)]
    entries: _Entries = []
    for row in rows:
        for head, cell in zip(header[1:], row[1:], strict=True):
            pair = (row[0], head) if dimensions[0] == down else (head, row[0])
            entries.append((pair, cell))
    return entries, []


def _long(
    header: tuple[d.Cell, ...], rows: list[tuple[d.Cell, ...]], dimensions: tuple[str, ...]
) -> tuple[_Entries, list[Diagnostic]]:
    columns = {cell.text: i for i, cell in enumerate(header)}
    expected = [*dimensions, "value"]
    missing = [name for name in expected if name not in columns]
    extra = [cell for cell in header if cell.text not in expected]
    if len(dimensions) == 2 and header[0].text.replace(" ", "") == "/".join(dimensions):
        corner = " \\ ".join(dimensions)
        headline = "the corner of a table has a backslash"
        return [], [diagnostic("SDC129", headline, header[0].span, f"write {corner}")]
    if missing:
        near = [cell for cell in extra if nearest(cell.text, [missing[0]])] or (extra if len(extra) == 1 else [])
        found = diagnostic(
            "SDC129",
            f"the inline table has no column `{missing[0]}`",
            near[0].span if near else header[0].span,
            f"should this be `{missing[0]}`?" if near else "",
            help="a column for each dimension and one called value; or two dimensions crossed: rows \\ columns",
        )
        return [], [found]
    if extra:
        return [], [diagnostic("SDC129", f"the inline table has a column `{extra[0].text}` too many", extra[0].span)]
    return [(tuple(row[columns[name]] for name in dimensions), row[columns["value"]]) for row in rows], []


def _codes_exist(known: list[tuple[str, frozenset[str] | None]], address: tuple[d.Cell, ...]) -> list[Diagnostic]:
    out: list[Diagnostic] = []
    for (name, codes), cell in zip(known, address, strict=True):
        if codes is not None and cell.text not in codes:
            label = did_you_mean(cell.text, codes)
            out.append(diagnostic("SDC129", f"dimension `{name}` has no code `{cell.text}`", cell.span, label))
    return out


def _adds_up(
    policy: Policy, table: d.Block, cells: dict[Address, InlineCell], dimensions: tuple[str, ...]
) -> Iterator[Diagnostic]:
    """Every total that is given, against the sum of its parts where all of them are given: one message a table."""
    wrong: list[tuple[str, Fraction, InlineCell, str]] = []
    for position, name in enumerate(dimensions):
        by_code: dict[str, list[Address]] = {}
        for address in cells:
            by_code.setdefault(address[position], []).append(address)
        for tree in inline_trees(policy.dimensions[name]):
            for code, parts in tree.parts.items():
                for address in by_code.get(code, ()):
                    cell, total = cells[address], _total(cells, address, position, parts)
                    if total is not None and total != cell.exact:
                        off = f"{_sum_of(parts)} = {_plain(total)}: off by {_plain(cell.exact - total)}"
                        wrong.append((", ".join(address), total, cell, off))
    wrong.sort(key=lambda found: found[2].span.start if found[2].span else 0)
    if wrong:
        where, total, cell, off = wrong[0]
        headline = f"the parts of {where} sum to {_plain(total)}, the table says {_plain(cell.exact)}"
        found = diagnostic("SDC128", headline, cell.span, off)
        for _, _, cell, off in wrong[1:MOST_MARKS]:
            found = found.mark(cell.span, off)
        yield found.note(f"and {len(wrong) - MOST_MARKS} more totals") if len(wrong) > MOST_MARKS else found


def _total(
    cells: dict[Address, InlineCell], address: Address, position: int, parts: list[tuple[int, str]]
) -> Fraction | None:
    """What the parts of a cell sum to; None at the first part that is not given."""
    before, behind = address[:position], address[position + 1 :]
    total = Fraction(0)
    for sign, part in parts:
        cell = cells.get((*before, part, *behind))
        if cell is None:
            return None
        total += sign * cell.exact
    return total if parts else None


def _sum_of(parts: list[tuple[int, str]]) -> str:
    shown = "".join(f" {'-' if sign < 0 else '+'} {part}" for sign, part in parts[:8])
    return shown.removeprefix(" + ").strip() + (" + …" if len(parts) > 8 else "")


def _plain(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.12g}"
