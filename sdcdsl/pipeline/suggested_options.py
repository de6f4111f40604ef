"""Options that a method needs and nobody gave: what the levels of the policy suggest.

rounding   base     the least of 1, 2 and 5 times a power of ten with which every sensitive cell has a multiple that
                    leaves the slack its levels require
perturb    range    from -r to r, r the next of these numbers from the largest level on
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pipeline.variants import Variant
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.write import option as written

_STEPS = (1.0, 2.0, 5.0)
_FURTHER = 12  # bases that are tried: four powers of ten
_SMALL = 0.01  # of the typical value, where no level says anything


def fitted(variant: Variant, problem: TableProblem, factor: float) -> tuple[d.Engine, str | None]:
    """The method with all it needs, and what was chosen for it, in the words of the language."""
    if variant.lacks is None:
        return variant.engine, None
    if variant.lacks == "base":
        value: x.Expression = _number(_base(problem, factor))
    else:
        most = _number(_range(problem, factor))
        value = x.Range(x.Negative(most), most)
    option = d.Option(variant.lacks, (value,))
    return replace(variant.engine, options=(*variant.engine.options, option)), written(option)


def round_up(amount: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(amount))
    return float(next((s * power for s in _STEPS if s * power >= amount * (1 - 1e-12)), 10 * power))


def _levels(problem: TableProblem, factor: float) -> tuple[np.ndarray, ...]:
    data = problem.dataset
    must = ~data["conditional"].values if "conditional" in data else slice(None)
    cell = data["cell_at"].values[must]
    return data["a"].values[cell], *(factor * data[name].values[must] for name in ("lpl", "upl", "spl"))


def _base(problem: TableProblem, factor: float) -> float:
    a, lpl, upl, spl = _levels(problem, factor)
    least = float(np.max(np.maximum(lpl + upl, spl), initial=0.0)) / 2
    first = base = round_up(least) if least > 0 else round_up(_small(problem))
    for _ in range(_FURTHER):
        if _has_multiples(a, lpl, upl, spl, base):
            return base
        base = round_up(base * 1.5)
    return first


def _has_multiples(a: np.ndarray, lpl: np.ndarray, upl: np.ndarray, spl: np.ndarray, base: float) -> bool:
    """Each cell on its own: published as v it may be anything between v - base and v + base."""
    below = base * np.floor(a / base + 1e-9)
    above = np.where(a - below <= 1e-9 * base, below, below + base)
    fits = [(v - base <= a - lpl + 1e-9) & (v + base >= a + upl - 1e-9) for v in (below, above)]
    return bool(((fits[0] | fits[1]) & (spl <= 2 * base)).all())


def _range(problem: TableProblem, factor: float) -> float:
    _, lpl, upl, spl = _levels(problem, factor)
    most = float(np.max([lpl, upl, spl / 2], initial=0.0))
    return round_up(most if most > 0 else _small(problem))


def _small(problem: TableProblem) -> float:
    size = np.abs(problem.dataset["a"].values)
    return _SMALL * float(np.median(size[size > 0])) if (size > 0).any() else 1.0


def _number(amount: float) -> x.Number:
    return x.Number(f"{amount:.15g}" if 1e-4 <= amount < 1e15 else f"{amount:.20f}".rstrip("0").rstrip("."))
