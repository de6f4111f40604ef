"""Random tables with what a policy has to say about them: typed in, ready-made cells, microdata, JJ files, linked.

Every world knows its own cells: values added up here by plain loops, against which the program's own are held.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

Code = str
Cell = tuple[Code, ...]

VALUES = ("whole", "whole", "decimals", "sparse", "signed", "uneven", "huge")


@dataclass(frozen=True)
class Dimension:
    name: str
    parent: dict[Code, Code | None]  # the total first; parents before children

    @property
    def total(self) -> Code:
        return next(iter(self.parent))

    @property
    def codes(self) -> list[Code]:
        return list(self.parent)

    @property
    def leaves(self) -> list[Code]:
        inner = set(self.parent.values())
        return [code for code in self.parent if code not in inner]

    def above(self, code: Code | None) -> list[Code]:
        """The code itself and everything it is part of."""
        out = []
        while code is not None:
            out.append(code)
            code = self.parent[code]
        return out

    def depth(self, code: Code) -> int:
        return len(self.above(code))


@dataclass
class World:
    """`text` declares dimensions, data and tables; `files` are what it reads."""

    kind: str
    values: str
    dimensions: list[Dimension] = field(default_factory=list)
    tables: dict[str, list[Dimension]] = field(default_factory=dict)  # by name: no dimensions for a JJ file
    cells: dict[str, dict[Cell, float]] = field(default_factory=dict)  # what each table must hold
    text: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    unit: bool = False
    group: bool = False
    counts: bool = False  # how many contribute is known
    largest: bool = False  # so are the largest contributions
    brings_levels: bool = False  # a JJ file with sensitive cells, bounds and levels of its own
    frequency: bool = False  # the cells are counts of records
    empty: dict[str, set[Cell]] = field(default_factory=dict)  # cells of a table to which nobody contributes

    @property
    def negative(self) -> bool:
        return any(value < 0 for cells in self.cells.values() for value in cells.values())

    @property
    def whole(self) -> bool:
        return all(value == round(value) for cells in self.cells.values() for value in cells.values())

    @property
    def large(self) -> bool:
        return self.values in ("uneven", "huge")


def make_world(draw: random.Random) -> World:
    kind = draw.choice(["inline", "inline", "cells", "microdata", "microdata", "frequency", "linked", "jj"])
    world = World(kind, draw.choice(VALUES))
    if kind == "jj":
        _jj(draw, world)
        return world
    limit = draw.choice([16, 30, 60, 150])
    while True:
        world.dimensions = [_dimension(draw, name) for name in ("area", "kind", "size")[: draw.choice([2, 2, 2, 3])]]
        if _cells(world.dimensions) <= limit:
            break
    world.text += [line for dimension in world.dimensions for line in _declared(draw, dimension, world.files)]
    make = {
        "inline": _inline,
        "cells": _ready_made,
        "microdata": _microdata,
        "frequency": _frequency,
        "linked": _linked,
    }
    make[kind](draw, world)
    return world


def _cells(dimensions: Sequence[Dimension]) -> int:
    n = 1
    for dimension in dimensions:
        n *= len(dimension.parent)
    return n


def _dimension(draw: random.Random, name: str) -> Dimension:
    parent: dict[Code, Code | None] = {"Total": None}
    letters = iter("ABCDEFGH")
    for _ in range(draw.randint(2, 4)):
        code = f"{name[0]}{next(letters)}"
        parent[code] = "Total"
        if draw.random() < 0.25:
            for i in range(draw.randint(2, 3)):
                parent[f"{code}{i + 1}"] = code
    return Dimension(name, parent)


def _declared(draw: random.Random, dimension: Dimension, files: dict[str, str]) -> list[str]:
    flat = all(parent in (None, dimension.total) for parent in dimension.parent.values())
    if flat and draw.random() < 0.6:
        inside = [f"codes {', '.join(dimension.leaves)}", f"total {dimension.total}"]
    elif draw.random() < 0.5:
        lines = [f"{'@' * (dimension.depth(c) - 2)}{c}" for c in dimension.codes if c != dimension.total]
        files[f"{dimension.name}.hrc"] = "\n".join(_in_tree_order(dimension, lines)) + "\n"
        inside = [f'hierarchy hrc "{dimension.name}.hrc"', f"total {dimension.total}"]
    else:
        inside = ["hierarchy tree", *_tree_lines(dimension)]
    return [f"dimension {dimension.name} {{", *(f"  {line}" for line in inside), "}", ""]


def _in_tree_order(dimension: Dimension, lines: list[str]) -> list[str]:
    named = dict(zip([c for c in dimension.codes if c != dimension.total], lines, strict=True))
    return [named[code] for code in _preorder(dimension) if code != dimension.total]


def _tree_lines(dimension: Dimension) -> list[str]:
    return [f"{'  ' * dimension.depth(code)}- {code}" for code in _preorder(dimension)]


def _preorder(dimension: Dimension) -> list[Code]:
    out: list[Code] = []

    def visit(code: Code) -> None:
        out.append(code)
        for child, parent in dimension.parent.items():
            if parent == code:
                visit(child)

    visit(dimension.total)
    return out


# ---- values --------------------------------------------------------------------------------------------------------


def _value(draw: random.Random, kind: str) -> float:
    return {
        "whole": lambda: float(draw.randint(1, 60)),
        "decimals": lambda: draw.randint(1, 9000) / 100,
        "sparse": lambda: draw.choice([0.0, 0.0, 0.0, 1.0, 3.0, 12.0, 40.0]),
        "signed": lambda: float(draw.randint(-30, 40)),
        "uneven": lambda: float(round(10 ** draw.uniform(0, 6))),
        "huge": lambda: float(round(10 ** draw.uniform(0, 10))),
    }[kind]()


def _added_up(dimensions: Sequence[Dimension], leaves: Sequence[tuple[Cell, float]]) -> dict[Cell, float]:
    """Every cell of the table; in hundredths, so that sums of decimals are what a person would write."""
    cells = dict.fromkeys(product(*(d.codes for d in dimensions)), 0)
    for codes, value in leaves:
        for cell in product(*(d.above(c) for d, c in zip(dimensions, codes, strict=True))):
            cells[cell] += round(value * 100)
    return {cell: value / 100 for cell, value in cells.items()}


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value != round(value) else f"{value:.0f}"


def _inline(draw: random.Random, world: World) -> None:
    places = list(product(*(d.leaves for d in world.dimensions)))
    cells = _added_up(world.dimensions, [(cell, _value(draw, world.values)) for cell in places])
    world.tables["main"], world.cells["main"] = world.dimensions, cells
    names = [d.name for d in world.dimensions]
    with_totals = draw.random() < 0.5
    shown = [cell for cell in cells if with_totals or cell in set(places)]
    rows = [[*names, "value"], *([*cell, number(cells[cell])] for cell in shown)]
    world.text += ["table main {", f"  by {', '.join(names)}", *_integer(draw, world), "  values"]
    world.text += [f"    | {' | '.join(row)} |" for row in rows] + ["}", ""]


def _integer(draw: random.Random, world: World) -> list[str]:
    return ["  integer"] if world.whole and draw.random() < 0.3 else []


def _ready_made(draw: random.Random, world: World) -> None:
    parts: list[tuple[Cell, float]] = []
    counts: dict[Cell, int] = {}
    ranked: dict[Cell, list[float]] = {}
    positive = "whole" if world.values == "signed" else world.values
    for cell in product(*(d.leaves for d in world.dimensions)):
        given = [_value(draw, positive) for _ in range(draw.choice([0, 1, 2, 3, 5, 8]))]
        parts += [(cell, value) for value in given]
        for above in product(*(d.above(c) for d, c in zip(world.dimensions, cell, strict=True))):
            counts[above] = counts.get(above, 0) + len(given)
            ranked.setdefault(above, []).extend(given)
    cells = _added_up(world.dimensions, parts)
    world.tables["main"], world.cells["main"] = world.dimensions, cells
    world.empty["main"] = {cell for cell in cells if not counts[cell]}
    world.counts = world.largest = True
    names = [d.name for d in world.dimensions]
    lines = [",".join([*names, "turnover", "n", "first", "second"])]
    for cell, value in cells.items():
        top = [*sorted(ranked[cell], reverse=True), 0.0, 0.0]
        lines.append(",".join([*cell, number(value), str(counts[cell]), number(top[0]), number(top[1])]))
    world.files["cells.csv"] = "\n".join(lines) + "\n"
    world.text += ["data ready {", '  csv "cells.csv"', "}", "", "table main {", "  from ready"]
    world.text += [f"  by {', '.join(names)}", "  value turnover", "  count n", "  largest(1) first"]
    world.text += ["  largest(2) second", *_integer(draw, world), "}", ""]


def _records(draw: random.Random, world: World, weights: float = 0.25) -> list[tuple[Cell, float]]:
    """Writes microdata, in one file or in several of a glob, and gives the records."""
    names = [d.name for d in world.dimensions]
    n = draw.choice([15, 40, 120, 400])
    units, groups = max(4, n // draw.choice([1, 2, 4])), max(3, n // draw.choice([2, 8]))
    world.unit, world.group, world.counts, world.largest = draw.random() < 0.7, draw.random() < 0.4, True, True
    weighted = draw.random() < weights
    group_of = [draw.randrange(groups) for _ in range(units)]
    rows, records = [], []
    for _ in range(n):
        cell = tuple(draw.choice(d.leaves) for d in world.dimensions)
        value, unit, weight = _value(draw, world.values), draw.randrange(units), draw.choice([1, 1, 2, 5])
        records.append((cell, value * (weight if weighted else 1)))
        rows.append(",".join([*cell, number(value), f"u{unit}", f"g{group_of[unit]}", str(weight)]))
    head = ",".join([*names, "turnover", "unit", "group", "weight"])
    world.files["records.csv"] = "\n".join([head, *rows]) + "\n"
    world.text += ["data records {", '  csv "records.csv"']
    world.text += ['  column unit = "unit"'] if world.unit else []
    world.text += ['  column group = "group"'] if world.group else []
    world.text += ['  column weight = "weight"'] if weighted else []
    world.text += ["}", ""]
    return records


def _microdata(draw: random.Random, world: World) -> None:
    records = _records(draw, world)
    names = [d.name for d in world.dimensions]
    world.tables["main"], world.cells["main"] = world.dimensions, _added_up(world.dimensions, records)
    world.empty["main"] = _nobody(world.dimensions, records)
    world.text += ["table main {", "  from records", f"  by {', '.join(names)}", "  sum turnover"]
    world.text += [*_integer(draw, world), "}", ""]


def _nobody(dimensions: Sequence[Dimension], records: Sequence[tuple[Cell, float]]) -> set[Cell]:
    """Cells to which no record contributes."""
    return {cell for cell, n in _added_up(dimensions, [(cell, 1.0) for cell, _ in records]).items() if not n}


def _frequency(draw: random.Random, world: World) -> None:
    """How many records there are in each cell: small numbers, and whole ones."""
    world.values, world.frequency = "whole", True
    records = _records(draw, world, weights=0.0)
    names = [d.name for d in world.dimensions]
    world.tables["main"] = world.dimensions
    world.cells["main"] = _added_up(world.dimensions, [(cell, 1.0) for cell, _ in records])
    world.empty["main"] = _nobody(world.dimensions, records)
    world.largest = False
    world.text += ["table main {", "  from records", f"  by {', '.join(names)}", "  count"]
    world.text += [*_integer(draw, world), "}", ""]


def _linked(draw: random.Random, world: World) -> None:
    """Two tables of the same records that share a dimension, or all of one."""
    records = _records(draw, world)
    names = [d.name for d in world.dimensions]
    first, second = (names, names[:1]) if len(names) == 2 else (names[:2], [names[0], names[2]])
    for name, by in (("main", first), ("other", second)):
        at = [names.index(d) for d in by]
        dimensions = [world.dimensions[i] for i in at]
        world.tables[name] = dimensions
        seen = [(tuple(c[i] for i in at), v) for c, v in records]
        world.cells[name], world.empty[name] = _added_up(dimensions, seen), _nobody(dimensions, seen)
        world.text += [f"table {name} {{", "  from records", f"  by {', '.join(by)}", "  sum turnover", "}", ""]


# ---- JJ files ------------------------------------------------------------------------------------------------------


def _jj(draw: random.Random, world: World) -> None:
    """A square with totals and, now and then, a relation that is no plain sum."""
    world.brings_levels = True
    rows, columns = draw.randint(2, 4), draw.randint(2, 4)
    kind = "whole" if world.values in ("signed", "sparse") else world.values
    inner = [[round(_value(draw, kind) * 100) + 100 for _ in range(columns)] for _ in range(rows)]
    table = [[sum(map(sum, inner)), *(sum(r[j] for r in inner) for j in range(columns))]]
    table += [[sum(r), *r] for r in inner]
    width = columns + 1
    flat = [v / 100 for r in table for v in r]
    relations = [[(-1, i * width), *((1, i * width + j) for j in range(1, width))] for i in range(rows + 1)]
    relations += [[(-1, j), *((1, i * width + j) for i in range(1, rows + 1))] for j in range(width)]
    if draw.random() < 0.4:
        a, b = draw.sample(range(len(flat)), 2)
        flat.append(round(2 * flat[a] + 3 * flat[b], 2))
        relations.append([(-1, len(flat) - 1), (2, a), (3, b)])
    inside = [i * width + j for i in range(1, rows + 1) for j in range(1, width)]
    sensitive = set(draw.sample(inside, draw.randint(1, 3)))
    lines = ["0", str(len(flat))]
    for cell, value in enumerate(flat):
        status = "u" if cell in sensitive else "z" if draw.random() < 0.05 else "s"
        lpl, upl, spl = (
            (round(0.1 * value, 2), round(0.15 * value, 2), round(draw.choice([0, 0, 0.3]) * value, 2))
            if status == "u"
            else (0, 0, 0)
        )
        weight = draw.choice([1, 5, max(1, round(value))])
        low, high = draw.choice(
            [(0, 1e15), (0, round(2 * value + 10, 2)), (round(0.5 * value, 2), round(2 * value, 2))]
        )
        lines.append(f"{cell} {number(value)} {weight} {status} {low:g} {high!r} {lpl} {upl} {spl}")
    lines.append(str(len(relations)))
    for relation in relations:
        terms = " ".join(f"{cell} ( {sign} )" for sign, cell in relation)
        lines.append(f"0 {len(relation)} : {terms}")
    world.files["table.jj"] = "\n".join(lines) + "\n"
    world.tables["main"] = []
    world.cells["main"] = {(str(i),): v for i, v in enumerate(flat)}
    world.text += ["table main {", '  jj "table.jj"', "}", ""]
