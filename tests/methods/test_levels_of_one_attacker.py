"""Levels that name one of several attackers, against what the statements say literally: every method's release is
attacked by linear programs of scipy, and the cost of suppression and of adjustment is found by trying everything."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from itertools import combinations, product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import linprog

from sdcdsl.cli import cli

ROWS, COLUMNS = ("R0", "R1", "RT"), ("C0", "C1", "CT")
CELLS = list(product(ROWS, COLUMNS))
INNER = [cell for cell in CELLS if "T" not in cell[0] + cell[1]]
# How the inner cells make up every cell.
SUMS = np.array([[float(r in (i, "RT") and c in (j, "CT")) for i, j in INNER] for r, c in CELLS])
WHO = ("att0", "att1", "att2")
METHODS = {
    "csp": "csp",
    "ip": "ip",
    "rounding": "rounding {\n    base 20\n    steps 1\n  }",
    "perturb": "perturb {\n    range -15 .. 15\n  }",
    "ecta": "ecta {\n    alpha 60%\n    tries 10\n  }",
    "combined": "combined {\n    suppress where c = C0\n    interval where c = C1\n    perturb 20 where c = CT\n  }",
}


@dataclass(frozen=True)
class World:
    """A table with two sensitive cells, three attackers, and statements about levels."""

    inner: dict[tuple[str, str], int]
    sensitive: tuple[tuple[str, str], ...]
    wide: dict[str, int]  # how far each attacker's bounds lie from the value
    statements: tuple[tuple[str, int, str | None], ...]  # level, amount, against

    @property
    def a(self) -> np.ndarray:
        return SUMS @ np.array([self.inner[cell] for cell in INNER])

    def level(self, name: str, attacker: str) -> float:
        """The last statement that speaks of the attacker (S18)."""
        said = [amount for level, amount, who in self.statements if level == name and who in (None, attacker)]
        return float(said[-1]) if said else 0.0

    def policy(self, method: str) -> str:
        levels = [f"  {level} {n}{f' against {who}' if who else ''}\n" for level, n, who in self.statements]
        attackers = [f"attacker {k} {{\n  bounds value - {far} .. value + {far}\n}}\n" for k, far in self.wide.items()]
        rows = "".join(f"    | {r} | {self.inner[r, 'C0']} | {self.inner[r, 'C1']} |\n" for r in ("R0", "R1"))
        marked = "".join(f"sensitive t at (r: {r}, c: {c})\n" for r, c in self.sensitive)
        return (
            'sdc 1\npolicy "one of several"\nseed 3\ndimension r {\n  codes R0, R1\n  total RT\n}\n'
            "dimension c {\n  codes C0, C1\n  total CT\n}\n"
            f"table t {{\n  by r, c\n  values\n    | r \\ c | C0 | C1 |\n{rows}}}\n{marked}{''.join(attackers)}"
            f"protect t {{\n{''.join(levels)}  against {', '.join(WHO)}\n  cost abs(value) + 1\n"
            f'  method {method}\n  release csv "released.csv"\n}}\n'
        )


def world(seed: int) -> World:
    draw = np.random.default_rng(seed)
    inner = {cell: int(draw.integers(-20, 40)) for cell in INNER}
    sensitive = tuple(INNER[i] for i in draw.choice(4, size=2, replace=False))
    said: list[tuple[str, int, str | None]] = []
    for level in ("lpl", "upl"):
        general = draw.random() < 0.5
        said += [(level, int(draw.integers(1, 6)), None)] if general else []
        for who in draw.choice(WHO, size=int(draw.integers(0, 3)), replace=False):
            said.append((level, int(draw.integers(0, 9)), str(who)))
    if not any(n for _, n, _ in said):
        said.append(("upl", 4, "att1"))
    return World(inner, sensitive, {who: int(draw.integers(12, 60)) for who in WHO}, tuple(said))


def protect(folder: Path, policy: str) -> dict[str, Any]:
    (folder / "p.sdc").write_text(policy, encoding="utf-8")
    result = CliRunner().invoke(cli, ["protect", str(folder / "p.sdc"), "--json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return json.loads(result.stdout)


def regions(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    with (folder / "released.csv").open(encoding="utf-8") as file:
        rows = {(row["r"], row["c"]): row for row in csv.DictReader(file)}
    low, high = [], []
    for cell in CELLS:
        row = rows[cell]
        shown = row["status"] == "published"
        low.append(float((row["value"] if shown else row["low"]) or -inf))
        high.append(float((row["value"] if shown else row["high"]) or inf))
    return np.array(low), np.array(high)


def reach(of: World, attacker: str, cell: tuple[str, str], low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """The ends of what an attacker infers."""
    far = of.wide[attacker]
    low, high = np.maximum(low, of.a - far), np.minimum(high, of.a + far)
    matrix, ends = np.concatenate([SUMS, -SUMS]), np.concatenate([high, -low])
    goal = SUMS[CELLS.index(cell)]
    found = [linprog(sign * goal, A_ub=matrix, b_ub=ends + 1e-9, bounds=(None, None)) for sign in (1, -1)]
    assert all(one.status == 0 for one in found)
    return found[0].fun, -found[1].fun


def safe(of: World, low: np.ndarray, high: np.ndarray) -> bool:
    for who, cell in product(WHO, of.sensitive):
        down, up = reach(of, who, cell, low, high)
        value = of.a[CELLS.index(cell)]
        if value - down < of.level("lpl", who) - 1e-6 or up - value < of.level("upl", who) - 1e-6:
            return False
    return True


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", METHODS)
def test_every_attacker_is_left_what_the_statements_say_of_him(tmp_path: Path, method: str, seed: int):
    of = world(seed)
    made = protect(tmp_path, of.policy(METHODS[method]))
    assert made["exit"] in (0, 4, 5), made["diagnostics"]  # released, infeasible, or nothing found
    if made["exit"] == 0:
        assert safe(of, *regions(tmp_path))
    else:
        assert method not in ("csp", "ip")  # there all cells can be hidden


@pytest.mark.parametrize("seed", range(12))
def test_suppression_costs_the_least_that_is_safe(tmp_path: Path, seed: int):
    of = world(seed)
    made = protect(tmp_path, of.policy("csp"))
    assert made["exit"] == 0
    cost, always = np.abs(of.a) + 1, [CELLS.index(cell) for cell in of.sensitive]
    others = [i for i in range(len(CELLS)) if i not in always]
    best = inf
    for size in range(len(others) + 1):
        for more in combinations(others, size):
            hidden = np.zeros(len(CELLS), dtype=bool)
            hidden[[*always, *more]] = True
            if cost[hidden].sum() < best and safe(of, np.where(hidden, -inf, of.a), np.where(hidden, inf, of.a)):
                best = cost[hidden].sum()
    assert made["blocks"][0]["objective"] == pytest.approx(best)


@pytest.mark.parametrize("sense", ["free", "up", "down"])
@pytest.mark.parametrize("seed", range(12))
def test_adjustment_is_the_nearest_that_is_far_enough(tmp_path: Path, seed: int, sense: str):
    """On each side the largest level of any attacker; a side for which nobody has one is closed."""
    of = world(seed)
    made = protect(tmp_path, of.policy(f"cta {{\n    sense {sense}\n  }}"))
    levels = [max(of.level(name, who) for who in WHO) for name in ("lpl", "upl")]
    far = min(of.wide.values())
    lb = 0.0 if (of.a >= 0).all() else -inf
    low, high = np.maximum(-far, lb - of.a), np.full(len(CELLS), float(far))
    best = inf
    for ways in product((0, 1), repeat=len(of.sensitive)):
        if any(levels[way] == 0 or (sense, way) in (("up", 0), ("down", 1)) for way in ways):
            continue
        l, u = low.copy(), high.copy()
        for cell, way in zip(of.sensitive, ways, strict=True):
            at = CELLS.index(cell)
            l[at], u[at] = (levels[1], u[at]) if way else (l[at], -levels[0])
        best = min(best, nearest(of, l, u))
    if np.isinf(best):
        assert made["exit"] == 4
        (found,) = made["diagnostics"]
        assert found["code"] == "SDC510"
        assert found["notes"]  # with the reason
        return
    assert made["exit"] == 0, made["diagnostics"]
    assert made["blocks"][0]["verdict"] == "protected"
    assert made["blocks"][0]["objective"] == pytest.approx(best, rel=1e-6)


def nearest(of: World, l: np.ndarray, u: np.ndarray) -> float:
    """min Σ w |z| with l ≤ z ≤ u and z additive, as a linear program over inner deviations and sizes."""
    n, w = len(CELLS), np.abs(of.a) + 1
    inner, none = SUMS, np.zeros((n, n))
    matrix = np.block([[inner, none], [-inner, none], [inner, -np.eye(n)], [-inner, -np.eye(n)]])
    ends = np.concatenate([u, -l, np.zeros(2 * n)])
    free = [(None, None)] * len(INNER) + [(0, None)] * n
    found = linprog(np.concatenate([np.zeros(len(INNER)), w]), A_ub=matrix, b_ub=ends, bounds=free)
    return float(found.fun) if found.status == 0 else inf
