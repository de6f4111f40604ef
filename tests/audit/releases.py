"""Random policies with released tables, and what each of them means: every cell once, the sums, and what every attacker
sees of it. Nothing here asks the program; decimals are added up as decimals.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np

from tests.attack.oracle import System

INF = float("inf")
Code = str
Cell = tuple[Code, ...]
Box = tuple[float, float]
TOTAL = "All"
SIZES = [-6, -4, -2, 0, 0, 2, 4, 6, 8]  # powers of ten that values are counted in


@dataclass(frozen=True)
class Dimension:
    name: str
    parent: dict[Code, Code | None]

    @property
    def leaves(self) -> list[Code]:
        inner = set(self.parent.values())
        return [code for code in self.parent if code not in inner]

    def above(self, code: Code | None) -> list[Code]:
        out = []
        while code is not None:
            out.append(code)
            code = self.parent[code]
        return out

    def children(self, code: Code) -> list[Code]:
        return [c for c, p in self.parent.items() if p == code]

    def text(self) -> list[str]:
        def lines(code: Code, depth: int) -> list[str]:
            return [f"{'  ' * depth}- {code}", *(x for c in self.children(code) for x in lines(c, depth + 1))]

        return [f"dimension {self.name} {{", "  hierarchy tree", *lines(TOTAL, 2), "}"]


@dataclass
class Case:
    dimensions: list[Dimension]
    tables: dict[str, list[int]]  # by which dimensions
    value: dict[Cell, Decimal] = field(default_factory=dict)  # with `All` for dimensions that a table lacks
    released: dict[Cell, dict[str, str]] = field(default_factory=dict)  # what stands in the file
    seen: dict[Cell, Box] = field(default_factory=dict)  # what that means
    attackers: dict[str, tuple[list[str], dict[Cell, Box]]] = field(default_factory=dict)
    sensitive: list[Cell] = field(default_factory=list)
    levels: dict[str, str] = field(default_factory=dict)
    linked: bool = False

    @property
    def cells(self) -> list[Cell]:
        return list(self.value)

    @property
    def relations(self) -> list[list[tuple[int, int]]]:
        """Every total less its parts, in every table, each once."""
        number = {cell: i for i, cell in enumerate(self.value)}
        out: dict[tuple, None] = {}
        for by in self.tables.values():
            for cell in self._cells_of(by):
                for at in by:
                    parts = self.dimensions[at].children(cell[at])
                    if parts:
                        inside = [(1, number[(*cell[:at], part, *cell[at + 1 :])]) for part in parts]
                        out[((-1, number[cell]), *inside)] = None
        return [list(relation) for relation in out]

    def _cells_of(self, by: list[int]) -> list[Cell]:
        return [*product(*(list(d.parent) if i in by else [TOTAL] for i, d in enumerate(self.dimensions)))]

    def system(self, attacker: str) -> System:
        """What the attacker has to solve: the published, within what it knew before."""
        a = np.array([float(v) for v in self.value.values()])
        knows = self.attackers[attacker][1]
        low = np.array([max(self.seen[c][0], knows[c][0]) for c in self.value])
        high = np.array([min(self.seen[c][1], knows[c][1]) for c in self.value])
        entries = [(s, cell, e) for e, relation in enumerate(self.relations) for s, cell in relation]
        coefficient, cell_of, equation_of = (np.array(x) for x in zip(*entries, strict=True))
        return System(a, coefficient.astype(float), cell_of, equation_of, low, high)

    # ---- as files ------------------------------------------------------------------------------------------------

    def write(self, folder: Path) -> tuple[Path, dict[str, Path]]:
        lines = ["sdc 1", 'policy "Ends"']
        for dimension in self.dimensions:
            lines += dimension.text()
        names = [d.name for d in self.dimensions]
        if self.linked:
            leaves = [*product(*(d.leaves for d in self.dimensions))]
            rows = [",".join((*cell, plain(self.value_of[cell]))) for cell in leaves]
            (folder / "records.csv").write_text("\n".join([",".join((*names, "v")), *rows]) + "\n")
            lines += ["data records {", '  csv "records.csv"', "}"]
        for table, by in self.tables.items():
            lines += [f"table {table} {{"]
            head = [f"  by {', '.join(names[i] for i in by)}"]
            if self.linked:
                lines += ["  from records", *head, "  sum v"]
            else:
                lines += [*head, "  values", f"    | {' | '.join((*names, 'value'))} |"]
                lines += [f"    | {' | '.join((*cell, plain(v)))} |" for cell, v in self.value.items()]
            lines += ["}"]
        table = next(iter(self.tables))
        for cell in self.sensitive:
            at = ", ".join(f"{names[i]}: {cell[i]}" for i in self.tables[table])
            lines.append(f"sensitive {table} at ({at})")
        for name, (said, _) in self.attackers.items():
            lines += [f"attacker {name} {{", *(f"  {line}" for line in said), "}"]
        lines += [f"protect {', '.join(self.tables)} as block {{"]
        lines += [f"  {level} {amount}" for level, amount in self.levels.items()]
        lines += [f"  against {', '.join(self.attackers)}", "  method csp", "}"]
        policy = folder / "policy.sdc"
        policy.write_text("\n".join(lines) + "\n")
        files = {}
        columns = ("value", "low", "high", "status", "base")
        for table, by in self.tables.items():
            files[table] = folder / f"{table}.csv"
            rows = [",".join((*(names[i] for i in by), *columns))]
            for cell in self._cells_of(by):
                rows.append(",".join((*(cell[i] for i in by), *(self.released[cell].get(c, "") for c in columns))))
            files[table].write_text("\n".join(rows) + "\n")
        return policy, files

    value_of: dict[Cell, Decimal] = field(default_factory=dict)  # of the finest cells


def plain(x: Decimal) -> str:
    return f"{x:f}"


def make(seed: int) -> Case:
    draw = random.Random(seed)
    linked = draw.random() < 0.15
    while True:
        dimensions = [_dimension(draw, name) for name in ("r", "c", "d")[: 3 if linked or draw.random() < 0.2 else 2]]
        tables = {"t": [0, 1], "u": [0, 2]} if linked else {"t": [*range(len(dimensions))]}
        case = Case(dimensions, tables, linked=linked)
        if sum(len(case._cells_of(by)) for by in tables.values()) <= 48:
            break
    _fill(draw, case)
    unit = _unit(case)
    _release(draw, case, unit)
    _attackers(draw, case, unit)
    cells = [cell for cell in case._cells_of(tables["t"]) if case.seen[cell][0] < case.seen[cell][1]]
    cells = [cell for cell in cells if case.value[cell] > 0]
    case.sensitive = draw.sample(cells, min(len(cells), draw.randint(1, 3)))
    # Levels must not decide what is shown: some are next to nothing, some more than a tight interval leaves.
    case.levels = {level: f"{draw.choice([0.001, 1, 30, 45])}% of value" for level in ("lpl", "upl")}
    if draw.random() < 0.3:
        case.levels["spl"] = f"{draw.choice([1, 60, 90])}% of value"
    return case


def _dimension(draw: random.Random, name: str) -> Dimension:
    parent: dict[Code, Code | None] = {TOTAL: None}
    for i in range(draw.randint(2, 3)):
        code = f"{name}{i}"
        parent[code] = TOTAL
        if draw.random() < 0.2:
            parent |= {f"{code}{x}": code for x in "ab"}
    return Dimension(name, parent)


def _fill(draw: random.Random, case: Case) -> None:
    """Whole numbers of one unit, or of units as far apart as doubles can hold in one sum."""
    size = draw.choice(SIZES)
    mixed, zeros = draw.random() < 0.35, draw.choice([0.0, 0.2, 0.5])
    for cell in product(*(d.leaves for d in case.dimensions)):
        power = draw.choice([size, *range(max(size - 8, -6), size)]) if mixed else size
        amount = Decimal(0) if draw.random() < zeros else Decimal(draw.randint(0, 40)) * Decimal(10) ** power
        case.value_of[cell] = Decimal(round(amount)) if case.linked else amount
    for by in case.tables.values():
        for cell in case._cells_of(by):
            case.value.setdefault(cell, Decimal(0))
    for leaf, amount in case.value_of.items():
        for cell in product(*(d.above(c) for d, c in zip(case.dimensions, leaf, strict=True))):
            if cell in case.value:
                case.value[cell] += amount


def _unit(case: Case) -> Decimal:
    """The smallest step between values."""
    powers = [_power(value) for value in case.value_of.values() if value]
    return Decimal(10) ** (max(min(powers), 0) if case.linked else min(powers)) if powers else Decimal(1)


def _power(x: Decimal) -> int:
    return int(x.normalize().as_tuple().exponent) if x else 0


def _release(draw: random.Random, case: Case, unit: Decimal) -> None:
    hide, between, rounded = draw.choice([(0.5, 0.0, 0), (0.3, 0.4, 0), (0.1, 0.8, 0), (0.0, 1.0, 0), (0.1, 0.2, 0.5)])
    for cell, value in case.value.items():
        chance = draw.random()
        exact = float(value)
        case.released[cell], case.seen[cell] = {"value": plain(value), "status": "published"}, (exact, exact)
        if chance < hide:
            case.released[cell], case.seen[cell] = {"status": "hidden"}, (-INF, INF)
        elif chance < hide + between:
            low, high = (value + way * _width(draw, value, unit) for way in (-1, 1))
            case.released[cell] = {"low": plain(low), "high": plain(high), "status": "interval"}
            case.seen[cell] = float(low), float(high)
        elif chance < hide + between + rounded:
            base = unit * draw.choice([3, 5, 10])
            figure = base * round(value / base)
            case.released[cell] = {"value": plain(figure), "status": "changed", "base": plain(base)}
            case.seen[cell] = float(figure) - float(base), float(figure) + float(base)


def _width(draw: random.Random, value: Decimal, unit: Decimal) -> Decimal:
    """Tight, touching the truth, or as wide as the value; never of more digits than a double holds."""
    share = draw.choice([Decimal(0), Decimal(0), Decimal("0.1"), Decimal("0.5"), Decimal(1)])
    steps = draw.choice([0, 0, 1, 2, 5, 20, 20])
    return unit * steps if draw.random() < 0.6 else (value * share / unit).to_integral_value() * unit


def _attackers(draw: random.Random, case: Case, unit: Decimal) -> None:
    for number in range(draw.choice([1, 1, 2, 3])):
        kind = draw.choice(["positive", "positive", "open", "percent", "double", "finite"])
        top = max(float(v) for v in case.value.values())
        far = plain(Decimal(int(top) + 1) * draw.choice([1, 3, 10**6]))
        said, bounds = {
            "positive": ("0 .. inf", lambda a: (0.0, INF)),
            "open": ("-inf .. inf", lambda a: (-INF, INF)),
            "percent": ("50% of value .. 150% of value", lambda a: (0.5 * a, 1.5 * a)),
            "double": ("0 .. 2 * value", lambda a: (0.0, 2 * a)),
            "finite": (f"0 .. {far}", lambda a, far=float(far): (0.0, far)),
        }[kind]
        lines = [f"bounds {said}"]
        zeros = draw.random() < 0.25
        if zeros:
            lines.append("knows zeros")
        knows = {c: (0.0, 0.0) if zeros and v == 0 else bounds(float(v)) for c, v in case.value.items()}
        case.attackers[f"a{number}"] = lines, knows
