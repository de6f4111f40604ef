"""Random microdata with holdings and singletons, a policy over it, and the slow, literal check of a release of it: who
contributes to the parts of a relation that are not published as they are, what the rule says of them together, and how
far their sum can move, by linear programs over nothing but the released file."""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

Cell = tuple[str, str]
TREES = (
    {"RT": ["R0", "R1"]},
    {"RT": ["R0", "R1", "R2"]},
    {"RT": ["G", "R2"], "G": ["R0", "R1"]},
    {"RT": ["G", "H"], "G": ["R0", "R1"], "H": ["R2", "R3"]},
)
COLUMNS = ({"CT": ["C0", "C1", "C2"]}, {"CT": ["C0", "C1", "C2", "C3"]})
RULES = (
    *(("threshold", 3, 0), ("p_percent", 0.1, 0), ("p_percent", 0.25, 0)),
    *(("dominance", 1, 0.75), ("dominance", 2, 0.85)),
)
METHODS = {
    "csp": "method csp",
    "ip": "method ip",
    "combined": "method combined {\n    suppress where c in (C0, C1)\n    interval where not (c in (C0, C1))\n  }",
    "rounding": "method rounding {\n    base BASE\n  }",
    "perturb": "method perturb {\n    range -BASE .. BASE\n  }",
    "cta": "method cta {\n    norm L1\n    keep_totals\n  }",
    "ecta": "method ecta {\n    alpha 90%\n    beta 60%\n  }",
}


@dataclass(frozen=True)
class World:
    rows: dict[str, list[str]]  # parent: children
    columns: dict[str, list[str]]
    records: list[tuple[str, str, str, str, int]]  # unit, holding, r, c, value
    rule: tuple[str, float, float]

    @property
    def contributions(self) -> dict[Cell, dict[str, float]]:
        """By cell of every level, what each respondent contributes: the holding where there is one."""
        out: dict[Cell, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for unit, holding, r, c, value in self.records:
            for cell in product(above(self.rows, r), above(self.columns, c)):
                out[cell][holding or unit] += value
        return out

    @property
    def relations(self) -> list[tuple[Cell, list[Cell]]]:
        rows, columns = codes(self.rows), codes(self.columns)
        return [
            *(((p, c), [(child, c) for child in children]) for p, children in self.rows.items() for c in columns),
            *(((r, p), [(r, child) for child in children]) for p, children in self.columns.items() for r in rows),
        ]

    def judge(self, parts: list[dict[str, float]]) -> float | None:
        """The level that the rule asks for, below and above; None if the sum of these is not sensitive."""
        mine: dict[str, float] = defaultdict(float)
        for part in parts:
            for who, value in part.items():
                mine[who] += value
        x = [*sorted(mine.values(), reverse=True), 0.0, 0.0]
        total = sum(x)
        name, first, second = self.rule
        if name == "threshold":
            return 0.2 * total if 0 < len(mine) < first else None
        by_p, by_share = first * x[0] - (total - x[0] - x[1]), sum(x[: int(first)]) / (second or 1) - total
        asked = by_p if name == "p_percent" else by_share
        return asked if asked > 1e-9 * total and total > 0 else None

    def policy(self, method: str) -> str:
        name, first, second = self.rule
        rule = {
            "threshold": f"threshold({first:g})",
            "p_percent": f"p_percent({100 * first:g}%)",
            "dominance": f"dominance({first:g}, {100 * second:g}%)",
        }[name]
        base = max(10, sum(record[4] for record in self.records) // 20)
        lines = ["sdc 1", 'policy "Random"', "seed 1", 'data d {\n  csv "d.csv"\n  column unit = "unit"']
        lines += ['  column group = "holding"\n}', inline("r", self.rows), inline("c", self.columns)]
        lines += ["table t {\n  from d\n  by r, c\n  sum v\n}", f"sensitive by {rule}"]
        lines += ["attacker e {\n  bounds 0 .. inf\n}", "protect t {\n  lpl needed\n  upl needed\n  against e"]
        lines += [
            "  cost value where value > 0\n  cost 1 where value = 0",
            f"  {METHODS[method].replace('BASE', str(base))}",
        ]
        return "\n".join([*lines, '  release csv "t.csv"\n}\n'])

    def write(self, folder: Path, method: str) -> Path:
        with (folder / "d.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("unit", "holding", "r", "c", "v"), *self.records])
        path = folder / "random.sdc"
        path.write_text(self.policy(method), encoding="utf-8")
        return path


def inline(name: str, tree: dict[str, list[str]]) -> str:
    """The dimension, its hierarchy written out."""
    root = next(iter(tree))
    if len(tree) == 1:
        return f"dimension {name} {{\n  codes {', '.join(tree[root])}\n  total {root}\n}}"
    sums = "".join(f"  hierarchy {parent} = {' + '.join(children)}\n" for parent, children in tree.items())
    return f"dimension {name} {{\n{sums}  total {root}\n}}"


def codes(tree: dict[str, list[str]]) -> list[str]:
    return list(dict.fromkeys([*tree, *(child for children in tree.values() for child in children)]))


def above(tree: dict[str, list[str]], code: str) -> list[str]:
    parent = next((p for p, children in tree.items() if code in children), None)
    return [code] if parent is None else [code, *above(tree, parent)]


def world(seed: int) -> World:
    draw = random.Random(seed)
    rows, columns = draw.choice(TREES), draw.choice(COLUMNS)
    leaves = [[code for code in codes(tree) if code not in tree] for tree in (rows, columns)]
    rule = draw.choice(
        [
            ("threshold", 3, 0),
            ("p_percent", 0.1, 0),
            ("p_percent", 0.25, 0),
            ("dominance", 1, 0.75),
            ("dominance", 2, 0.85),
        ]
    )
    records, number = [], 0
    for r, c in product(*leaves):
        for _ in range(draw.choice([1, 2, 3, 3, 4, 5])):
            number += 1
            holding = f"H{draw.randrange(4)}" if draw.random() < 0.2 else ""
            value = draw.choice([1, 2, 5, 10, 20, 50, 100, 200]) * draw.randint(1, 5)
            records.append((f"U{number}", holding, r, c, value))
    return World(rows, columns, records, rule)


# ---- what a released file leaves open -----------------------------------------------------------------------


def released(path: Path) -> dict[Cell, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {(row["r"], row["c"]): row for row in csv.DictReader(file)}


def box(row: dict[str, str]) -> tuple[float, float | None]:
    """Nothing is negative, and nothing else is known."""
    if row["status"] == "published":
        return float(row["value"]), float(row["value"])
    low = float(row["low"]) if row["low"] else 0.0
    return max(low, 0.0), float(row["high"]) if row["high"] else None


def told(world: World, file: Path) -> list[str]:
    """Sensitive cells, and sensitive sums of the parts of one relation that the release does not publish as they are
    (all of them, and each two), which it leaves narrower than the rule asks for."""
    rows, contributions = released(file), world.contributions
    number = {cell: i for i, cell in enumerate(rows)}
    equations = np.zeros((len(world.relations), len(rows)))
    for i, (total, parts) in enumerate(world.relations):
        equations[i, number[total]] = -1
        equations[i, [number[part] for part in parts]] = 1
    bounds = [box(row) for row in rows.values()]

    def narrow(cells: tuple[Cell, ...]) -> bool:
        level = world.judge([contributions[cell] for cell in cells])
        if level is None:
            return False
        value = sum(sum(contributions[cell].values()) for cell in cells)
        c = np.zeros(len(rows))
        c[[number[cell] for cell in cells]] = 1
        ends = []
        for sign in (1, -1):
            found = linprog(sign * c, A_eq=equations, b_eq=np.zeros(len(equations)), bounds=bounds)
            assert found.status in (0, 3), found.message
            ends.append(np.inf if found.status == 3 else abs(sign * found.fun - value))
        below, up = ends
        room = 1e-6 * max(value, 1.0)
        return below < min(level, value) - room or up < level - room

    asked: set[tuple[Cell, ...]] = {(cell,) for cell in rows}
    for _, parts in world.relations:
        hidden = tuple(part for part in parts if rows[part]["status"] != "published")
        if len(hidden) < len(parts):
            asked.add(hidden)
        if len(hidden) > 2:
            asked |= set(combinations(hidden, 2))
    return sorted(f"{cells}" for cells in asked if cells and narrow(cells))
