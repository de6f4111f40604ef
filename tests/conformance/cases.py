"""Random tiny tables with a method and its options, as a policy might ask for them.

Shapes, values, views, knowledge and levels are those of `tests.methods.tiny_tables`; here come costs that differ by
direction and have a fixed part, bounds of the table itself, units from a thousandth to a milliard, and options.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from tests.methods.tiny_tables import SHAPES, changed, scaled, tiny_table

INF = np.inf
METHODS = ("csp", "ip", "cta", "rounding", "perturb", "combined", "ecta")
UNITS = (1.0, 1.0, 1.0, 1.0, 1e-3, 1e3, 1e6, 1e9)
FORMS = ("exact", "suppress", "interval", "perturb", "round")


@dataclass(frozen=True, eq=False)
class Case:
    method: str
    seed: int
    problem: TableProblem
    options: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.method}-{self.seed}"

    @property
    def a(self) -> np.ndarray:
        return self.problem.dataset["a"].values


def case(method: str, seed: int) -> Case:
    draw = np.random.default_rng([seed, METHODS.index(method)])
    shape = list(SHAPES)[int(draw.integers(len(SHAPES)))]
    problem = tiny_table(int(draw.integers(10**6)), shape, "too much" if draw.random() < 0.1 else "some")
    if method in ("rounding", "perturb") and draw.random() < 0.8:  # figures that stay as they are fit no multiples
        status = problem.dataset["status"].values
        problem = changed(problem, status=np.where(status == "z", "s", status))
    if method == "cta":  # an adjusted table has no intervals that slide
        problem = changed(problem, spl=np.zeros(problem.dataset.sizes["pair"]))
    whole = method == "cta" and draw.random() < 0.5
    if whole:
        problem = _in_whole_numbers(problem)
    unit = 1.0 if whole else float(draw.choice(UNITS))
    problem = _costs(draw, _own_bounds(draw, scaled(problem, unit, costs=False)), method)
    options = {
        "csp": _csp,
        "ip": _ip,
        "cta": _cta,
        "rounding": _rounding,
        "perturb": _perturb,
        "combined": _combined,
        "ecta": _ecta,
    }[method](draw, problem)
    return Case(method, seed, problem, options | ({"integer": True} if whole else {}))


# ---- tables --------------------------------------------------------------------------------------------------------


def _in_whole_numbers(problem: TableProblem) -> TableProblem:
    """Values as counts; everything around them in the same units."""
    d = problem.dataset
    if (d["a"].values == np.round(d["a"].values)).all():
        return problem
    return scaled(problem, 100.0, costs=False)


def _own_bounds(draw: np.random.Generator, problem: TableProblem) -> TableProblem:
    d = problem.dataset
    kind = draw.integers(3)
    if kind == 0:
        return problem
    low, high = d["low"].values.min(axis=0), d["high"].values.max(axis=0)
    if kind == 1:
        high = np.full(problem.n, INF)
    union = ~d["published"].values
    return changed(problem, lb=np.where(union, -INF, low), ub=np.where(union, INF, high))


def _costs(draw: np.random.Generator, problem: TableProblem, method: str) -> TableProblem:
    """In whatever units: of values, or far smaller or larger than those."""
    w = problem.dataset["w"].values * float(draw.choice([1.0, 1.0, 1e-3, 1e4]))
    if draw.random() < 0.3:  # grand totals and others cost far more than the rest
        w = np.where(draw.random(problem.n) < 0.3, 100.0 * w, w)
    more = {"w": ("cell", w)}
    if method != "csp" and draw.random() < 0.4:
        times = draw.choice([0.5, 1.0, 3.0], (2, problem.n))
        more |= {"w_up": ("cell", times[0] * w), "w_down": ("cell", times[1] * w)}
    if method in ("ip", "perturb", "combined") and draw.random() < 0.3:
        typical = _typical(problem) * (float(np.median(w[w > 0])) if (w > 0).any() else 1.0)
        more["w_fixed"] = ("cell", typical * draw.choice([0.0, 1.0, 5.0], problem.n))
    return replace(problem, dataset=problem.dataset.assign(more))


def _typical(problem: TableProblem) -> float:
    levels = np.concatenate([problem.dataset[name].values for name in ("lpl", "upl", "spl")])
    some = levels[levels > 0]
    return float(np.median(some)) if len(some) else 1.0


# ---- options -------------------------------------------------------------------------------------------------------


def _csp(draw: np.random.Generator, problem: TableProblem) -> dict[str, Any]:
    return {"cap_hidden": int(draw.integers(2, 9))} if draw.random() < 0.25 else {}


def _widths(draw: np.random.Generator, problem: TableProblem) -> dict[str, Any]:
    """Least widths that reach beyond what attackers reckon with, and caps that may be too tight."""
    typical, out = _typical(problem), {}
    if draw.random() < 0.5:
        least = typical * float(draw.choice([0.3, 1.0, 4.0, 20.0]))
        out["min_width"] = least if draw.random() < 0.6 else least * draw.choice([0.0, 1.0, 2.0], problem.n)
    if draw.random() < 0.3:
        widest = typical * float(draw.choice([2.0, 8.0, 30.0]))
        out["cap_width"] = np.where(draw.random(problem.n) < 0.7, widest, INF)
    if draw.random() < 0.25:
        out["cap_intervals"] = int(draw.integers(2, 8))
    return out


def _ip(draw: np.random.Generator, problem: TableProblem) -> dict[str, Any]:
    return _widths(draw, problem)


def _cta(draw: np.random.Generator, problem: TableProblem) -> dict[str, Any]:
    out: dict[str, Any] = {"norm": str(draw.choice(["L1", "L1", "L2", "Linf", "L1L2"]))}
    out["sense"] = str(draw.choice(["free", "free", "free", "up", "down"]))
    if draw.random() < 0.25:
        far = _typical(problem) * float(draw.choice([2.0, 6.0]))
        out["range"] = (np.full(problem.n, -far), np.where(draw.random(problem.n) < 0.8, far, np.nan))
    if draw.random() < 0.15:
        out["keep_totals"] = True
    if out["norm"] == "L1L2" and draw.random() < 0.5:
        out |= {"omega1": 0.5, "omega2": 2.0, "squared": draw.random(problem.n) < 0.5}
    return out


def _amount(draw: np.random.Generator, problem: TableProblem) -> float:
    """A short number of about the size that levels need."""
    size = _typical(problem) * float(draw.choice([0.6, 1.0, 2.0, 5.0]))
    power = 10.0 ** np.floor(np.log10(size))
    return float(np.round(size / power) * power)


def _rounding(draw: np.random.Generator, problem: TableProblem) -> dict[str, Any]:
    steps = int(draw.choice([0, 0, 1, 2]))
    return {"base": _amount(draw, problem)} | ({"steps": steps} if steps else {})


def _perturb(draw: np.random.Generator, problem: TableProblem) -> dict[str, Any]:
    down, up = _amount(draw, problem), _amount(draw, problem)
    out: dict[str, Any] = {"range": (np.full(problem.n, -down), np.full(problem.n, up))}
    if draw.random() < 0.3:
        out["end"] = str(draw.choice(["low", "high"]))
    if draw.random() < 0.25:
        out["cap_changed"] = int(draw.integers(3, 10))
    return out


def _combined(draw: np.random.Generator, problem: TableProblem) -> dict[str, Any]:
    kinds = draw.choice(FORMS, int(draw.integers(1, 5)), replace=False)
    if draw.random() < 0.6 and "interval" not in kinds:
        kinds = np.append(kinds, "interval")
    form = draw.choice(kinds, problem.n)
    sensitive = problem.dataset["status"].values == "u"
    able = [kind for kind in kinds if kind != "exact"] or ["interval"]
    form[sensitive] = draw.choice(able, int(sensitive.sum()))
    out: dict[str, Any] = {}
    for part in ("suppress", "interval"):
        if (form == part).any():
            out[part] = form == part
    for part in ("perturb", "round"):
        if (form == part).any():
            out[part] = np.where(form == part, _amount(draw, problem), np.nan)
    out |= _widths(draw, problem) if "interval" in out else {}
    for part, cap in (("suppress", "cap_hidden"), ("perturb", "cap_changed")):
        if part in out and draw.random() < 0.2:
            out[cap] = int(draw.integers(2, 8))
    return out


def _ecta(draw: np.random.Generator, problem: TableProblem) -> dict[str, Any]:
    out: dict[str, Any] = {"alpha": float(draw.choice([0.3, 0.6, 1.0])), "tries": 3}
    out["norm"] = str(draw.choice(["L1", "L2", "Linf"]))
    if draw.random() < 0.4:
        out["beta"] = float(draw.choice([0.2, 0.5]))
    return out | ({"sensitive_free": True} if draw.random() < 0.3 else {})
