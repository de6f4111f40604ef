"""Small tables with known answers, and certificates of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.proof.bound import Bound
from sdcdsl.proof.certificate import Certificate
from sdcdsl.proof.system import ProofPairs, ProofProblem, Regions, System
from sdcdsl.proof.witness import Claim, Witness

INVESTMENT = np.array([20, 50, 10, 80, 8, 19, 22, 49, 17, 32, 12, 61, 45, 101, 44, 190], dtype=float)
II_A, II_C, III_A, III_C = 4, 6, 8, 10
HIDDEN = np.array([II_A, II_C, III_A, III_C])
SWAP = np.array([1.0, -1.0, -1.0, 1.0])  # II·A up, II·C down, III·A down, III·C up


def grid(values: np.ndarray, rows: int = 4, columns: int = 4) -> System:
    """A table whose last row and column are totals: relations of the rows, then of the columns."""
    number = np.arange(rows * columns).reshape(rows, columns)
    lines = [*number, *number.T]
    sign = [np.r_[np.ones(len(line) - 1), -1.0] for line in lines]
    equation = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    return System(values, np.concatenate(sign), np.concatenate(lines), equation, np.zeros(len(lines)))


def hidden(a: np.ndarray, cells: np.ndarray, low: float = 0.0, high: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
    lows, highs = a.copy(), a.copy()
    lows[cells], highs[cells] = low, high
    return lows, highs


def regions(views: list[tuple[np.ndarray, np.ndarray]], view_of: list[int], known=()) -> Regions:
    """`known`: (attacker, cell, low, high)."""
    who, cell, low, high = zip(*known, strict=True) if known else ((), (), (), ())
    return Regions(
        np.array([low for low, _ in views]),
        np.array([high for _, high in views]),
        np.array(view_of, dtype=np.int64),
        np.array(who, dtype=np.int64),
        np.array(cell, dtype=np.int64),
        np.array(low, dtype=float),
        np.array(high, dtype=float),
    )


def pairs(*rows: tuple[int, int, float, float, float]) -> ProofPairs:
    """(cell, attacker, lpl, upl, spl)"""
    cell, attacker, lpl, upl, spl = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    who = (np.array(x, dtype=np.int64) for x in (cell, attacker))
    return ProofPairs(*who, *(np.array(x, dtype=float) for x in (lpl, upl, spl)))


def indices(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


@dataclass
class Case:
    """A problem with all that goes into its certificate."""

    problem: ProofProblem
    labels: list[str]
    witnesses: list[Witness] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    verdicts: str = ""

    def write(self, path: Path) -> Path:
        with Certificate(path, "Investment", [{"what": "policy", "name": "investment.sdc", "sha256": "0" * 64}]) as out:
            out.problem(self.problem.system, self.problem.regions, self.labels, self.problem.pairs)
            for bound in self.bounds:
                out.bound(bound)
            for witness in self.witnesses:
                out.witness(witness)
            for claim in self.claims:
                out.claim(claim)
            out.verdicts(np.array(list(self.verdicts), dtype="U1"))
        return path


def investment() -> Case:
    """The table of the papers. II·C can be anything from 5 to 30: pair 0 asks for that much, pair 1 (a contributor who
    knows that II·C is at least 10) is exposed below, pair 2 is exposed by its range, pair 3 slides."""
    system = grid(INVESTMENT)
    box = hidden(INVESTMENT, HIDDEN)
    problem = ProofProblem(
        system,
        regions([box], [0, 0], known=[(1, II_C, 10.0, np.inf)]),
        pairs((II_C, 0, 17, 8, 25), (II_C, 1, 13, 8, 0), (II_C, 0, 0, 0, 26), (II_C, 1, 12, 0, 20)),
    )
    swap = Witness(HIDDEN, SWAP)
    # II·A + II·C is what the row leaves: at least 0 for II·A bounds II·C above; III·A + III·C does so below.
    row_ii, row_iii, column_c = 1, 2, 6
    return Case(
        problem,
        ["external", "unit 7"],
        [swap],
        [
            Claim(0, 17.0, indices(), indices(0)),
            Claim(0, -8.0, indices(0), indices()),
            Claim(0, 12.0, indices(), indices(3)),
            Claim(0, -8.0, indices(3), indices()),
        ],
        [
            Bound(1, False, indices(), np.array([])),
            Bound(2, True, indices(row_ii), np.array([1.0])),
            Bound(2, False, indices(row_iii, column_c), np.array([-1.0, 1.0])),
        ],
        "peep",
    )


def records(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rewrite(path: Path, changed: list[Any], digest: bool) -> Path:
    """The records as a file; with `digest`, as somebody would who recomputes it."""
    lines = [json.dumps(record).encode() + b"\n" for record in changed]
    if digest:
        changed[-1]["end"]["sha256"] = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
        lines[-1] = json.dumps(changed[-1]).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    return path
