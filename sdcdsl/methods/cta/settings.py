"""The options of `method cta` as numbers: the problem of adjustment, and what each norm weighs a deviation with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.cta.adjustment import Adjustment, adjustment
from sdcdsl.pattern import Pattern, adjusted
from sdcdsl.pattern.pattern import EXACT, HIDDEN

L1, L2, LINF, L1L2 = "L1", "L2", "Linf", "L1L2"
_SENSES = {"up": 1, "down": -1, "free": 0, None: 0}


@dataclass(frozen=True, eq=False)
class Settings:
    norm: str
    of: Adjustment
    totals: np.ndarray  # bool [cell]: sums of others
    w: np.ndarray  # [cell]: one weight for both directions, for squares and maxima
    omega1: float = 1.0
    omega2: float = 1.0
    squared: np.ndarray | None = None  # bool [cell]: S of (10) in paper 004; None: all cells
    integer: bool = False

    @property
    def w_down(self) -> np.ndarray:
        """Of |z| downwards, where the norm has a linear part."""
        return self.omega1 * self.of.w_down if self.norm == L1L2 else self.of.w_down

    @property
    def w_up(self) -> np.ndarray:
        return self.omega1 * self.of.w_up if self.norm == L1L2 else self.of.w_up

    @property
    def w_square(self) -> np.ndarray:
        """Of z², where the norm has a quadratic part."""
        if self.norm != L1L2:
            return self.w
        return self.omega2 * (self.w if self.squared is None else np.where(self.squared, self.w, 0.0))

    @property
    def sensitive(self) -> np.ndarray:
        """bool [cell]: the cells of the first maximum in (6) of paper 004."""
        mask = np.zeros(self.of.n, dtype=bool)
        mask[self.of.cells] = True
        return mask

    def objective(self, z: np.ndarray) -> float:
        match self.norm:
            case "L2":
                return float(self.w @ z**2)
            case "Linf":
                size = self.w * np.abs(z)
                inside = self.sensitive
                return float(size[inside].max(initial=0.0) + size[~inside].max(initial=0.0))
            case "L1L2":
                linear = float(self.w_up @ np.maximum(z, 0.0) + self.w_down @ np.maximum(-z, 0.0))
                return linear + float(self.w_square @ z**2)
        return self.of.length(z)

    def with_soft_totals(self, penalty: float, problem: TableProblem, options: Mapping[str, Any]) -> Settings:
        """Totals that should stay may move after all, at `penalty` times their weight (paper 004 §5)."""
        loose = settings_of(problem, {**options, "keep_totals": False})
        dear = np.where(_kept(self.totals, options), penalty, 1.0)
        of = replace(loose.of, w_down=loose.of.w_down * dear, w_up=loose.of.w_up * dear)
        return replace(loose, of=of, w=loose.w * dear)


def settings_of(problem: TableProblem, options: Mapping[str, Any]) -> Settings:
    totals = _totals(problem)
    of = adjustment(
        problem,
        sense=_sense(problem.n, options.get("sense")),
        stay=_kept(totals, options),
        adjust=options.get("range"),
    )
    return Settings(
        options.get("norm") or L1,
        of,
        totals,
        0.5 * (of.w_down + of.w_up),
        float(options.get("omega1", 1.0)),
        float(options.get("omega2", 1.0)),
        options.get("squared"),
        bool(options.get("integer")) or bool(problem.dataset.attrs.get("whole")),
    )


def published(problem: TableProblem, z: np.ndarray) -> Pattern:
    """The table a + z. Cells that are hidden already stay hidden."""
    d = problem.dataset
    v = d["a"].values + z
    made = adjusted(v, z != 0)
    gone = (d["status"].values == "m") & d["published"].values
    made.value[gone] = np.nan
    made.status[gone] = HIDDEN
    made.status[~d["published"].values] = EXACT
    return made


def _totals(problem: TableProblem) -> np.ndarray:
    """Cells that stand on the other side of a relation than the cells they sum up."""
    d = problem.dataset
    out = np.zeros(problem.n, dtype=bool)
    out[d["cell_of"].values[d["coefficient"].values < 0]] = True
    return out & d["published"].values


def _kept(totals: np.ndarray, options: Mapping[str, Any]) -> np.ndarray:
    said = options.get("keep_totals")
    return totals & said if isinstance(said, np.ndarray) else totals & bool(said)


def _sense(n: int, said: Any) -> np.ndarray:
    if isinstance(said, np.ndarray):
        return ((said == "up").astype(np.int8) - (said == "down").astype(np.int8)).astype(np.int8)
    return np.full(n, _SENSES[said], dtype=np.int8)
