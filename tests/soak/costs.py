"""What a release costs, worked out from the released file by the formulas of the documentation, and whether the file
keeps what the options of its method say."""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.problem import TableProblem
from tests.soak.options import Chosen
from tests.soak.reading import CHANGED, HIDDEN, INTERVAL, Release, codes

NEAR = 1e-6  # relative: printed digits, and sums in another order


def weights(problem: TableProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Costs of touching a cell, of moving it down and up, and of the fact itself."""
    d = problem.dataset
    w = d["w"].values
    down, up = (d[name].values if name in d else w for name in ("w_down", "w_up"))
    return w, down, up, d["w_fixed"].values if "w_fixed" in d else np.zeros(problem.n)


def totals(problem: TableProblem) -> np.ndarray:
    d = problem.dataset
    out = np.zeros(problem.n, dtype=bool)
    out[d["cell_of"].values[d["coefficient"].values < 0]] = True
    return out & d["published"].values


def cost(problem: TableProblem, chosen: Chosen, release: Release) -> float | None:
    """None where the formula is not known: totals that may move at another price."""
    if chosen.method == "cta":
        return None if chosen.soft else _distance(problem, chosen, release)
    if chosen.method == "ecta":
        return _beta(problem, release)
    w, down, up, fixed = weights(problem)
    d = problem.dataset
    shown, given = d["published"].values, d["status"].values == "m"
    a = d["a"].values
    hides = chosen.method == "csp" or any(part.form == "suppress" for part in chosen.parts)
    hidden = shown & (release.status == HIDDEN)
    out = w[hidden].sum() if hides else 0.0
    wide = shown & (release.status == INTERVAL) & ~given
    for weight, width in ((down, a - release.low), (up, release.high - a), (fixed, np.ones(problem.n))):
        priced = wide & (weight > 0)
        out += weight[priced] @ width[priced]
    moved = shown & (release.status == CHANGED)
    z = release.value[moved] - a[moved]
    out += up[moved] @ np.maximum(z, 0.0) + down[moved] @ np.maximum(-z, 0.0)
    if chosen.method == "perturb" or any(part.form == "perturb" for part in chosen.parts):
        rounded = np.array([form == "round" for form in forms(problem, chosen)])
        changed = np.abs(np.nan_to_num(release.value - a)) > 1e-9 * np.maximum(np.abs(a), 1e-6)
        out += fixed[moved & ~rounded & changed].sum()
    return float(out)


def noise(problem: TableProblem, chosen: Chosen, release: Release) -> float:
    """How far the cost of a file may be off because figures are printed with so many digits and no more."""
    d = problem.dataset
    digit = 1e-10 * float(np.abs(d["a"].values).max(initial=0.0))
    w, down, up, _ = weights(problem)
    out = float(np.maximum(np.maximum(w, down), up).sum()) * digit
    if chosen.method == "cta" and chosen.norm in ("L2", "L1L2"):
        z = np.abs(np.nan_to_num(release.value - d["a"].values))
        out += float((down + up) / 2 @ (2 * z * digit + digit**2))
    return out


def _distance(problem: TableProblem, chosen: Chosen, release: Release) -> float:
    d = problem.dataset
    free = ~d["published"].values | (d["status"].values == "m")
    z = np.where(free, 0.0, release.value - d["a"].values)
    return distance(problem, chosen, np.nan_to_num(z))


def distance(problem: TableProblem, chosen: Chosen, z: np.ndarray) -> float:
    """‖z‖ as the norm of the policy has it."""
    _, down, up, _ = weights(problem)
    d = problem.dataset
    free = ~d["published"].values | (d["status"].values == "m")
    down, up = np.where(free, 0.0, down), np.where(free, 0.0, up)
    mean = (down + up) / 2
    linear = float(up @ np.maximum(z, 0.0) + down @ np.maximum(-z, 0.0))
    if chosen.norm == "L1":
        return linear
    if chosen.norm == "L2":
        return float(mean @ z**2)
    if chosen.norm == "Linf":
        level = np.maximum(d["lpl"].values, d["upl"].values) > 0
        inside = np.isin(np.arange(problem.n), d["cell_at"].values[level])
        size = mean * np.abs(z)
        return float(size[inside].max(initial=0.0) + size[~inside].max(initial=0.0))
    squared = np.ones(problem.n, dtype=bool)
    if chosen.squared_above is not None:
        squared = np.abs(d["a"].values) > chosen.squared_above
    return chosen.omega1 * linear + float(np.where(squared, mean, 0.0) @ z**2)


def _beta(problem: TableProblem, release: Release) -> float | None:
    """From what is printed about any cell that is not sensitive: v / (1 + β) is the end next to zero."""
    d = problem.dataset
    for cell in np.flatnonzero(d["published"].values & (d["status"].values == "s") & (release.status == CHANGED)):
        v, low, high = release.value[cell], release.low[cell], release.high[cell]
        near = low if v > 0 else high
        if abs(v) > 1e-3 and np.isfinite(near) and abs(near) < abs(v):
            return float(v / near - 1)
    return None


def forms(problem: TableProblem, chosen: Chosen) -> list[str]:
    """The form of every cell: exact, suppress, interval, perturb or round."""
    simple = {"csp": "suppress", "ip": "interval", "perturb": "perturb", "rounding": "round"}
    if chosen.method in simple:
        return [simple[chosen.method]] * problem.n
    out = ["exact"] * problem.n
    a = problem.dataset["a"].values
    for cell in np.flatnonzero(problem.dataset["published"].values).tolist():
        for part in chosen.parts:
            if part.code is None and part.above is None:
                inside = True
            elif part.above is not None:
                inside = a[cell] > part.above
            else:
                inside = next(iter(codes(problem, cell).values())) == part.code  # of the first dimension
            if inside != part.negated:
                out[cell] = part.form
    return out


def amounts(problem: TableProblem, chosen: Chosen, form: str) -> np.ndarray:
    """Of a combined method: how far, or which base."""
    return np.full(problem.n, next((part.amount for part in chosen.parts if part.form == form), 0.0))


def broken_options(problem: TableProblem, chosen: Chosen, release: Release) -> list[str]:
    """What the file does that the options do not allow."""
    d, out = problem.dataset, []
    a, shown = d["a"].values, d["published"].values
    moved = shown & np.isin(release.status, (CHANGED, "adjusted"))
    z, size = np.nan_to_num(release.value - a), np.maximum(np.abs(a), 1e-6)
    if chosen.down is not None and chosen.up is not None:
        wrong = moved & ((z < -chosen.down.of(a) - 1e-7 * size) | (z > chosen.up.of(a) + 1e-7 * size))
        out += [f"{problem.label(i)} moved by {z[i]}, out of its range" for i in np.flatnonzero(wrong).tolist()]
    if chosen.base:
        multiple = release.value / chosen.base
        wrong = moved & (np.abs(multiple - np.round(multiple)) > 1e-9 * np.maximum(np.abs(multiple), 1.0))
        out += [f"{problem.label(i)} is no multiple" for i in np.flatnonzero(wrong).tolist()]
    if chosen.integer:
        wrong = moved & (release.value != np.round(release.value))
        out += [f"{problem.label(i)} is no whole number" for i in np.flatnonzero(wrong).tolist()]
    wide = shown & (release.status == INTERVAL)
    width = release.high - release.low
    if chosen.min_width is not None:
        wrong = wide & (width < chosen.min_width.of(a) * (1 - 1e-9))
        out += [f"{problem.label(i)} is only {width[i]} wide" for i in np.flatnonzero(wrong).tolist()]
    if chosen.cap_width is not None:
        wrong = wide & (width > chosen.cap_width.of(a) * (1 + 1e-6))
        out += [f"{problem.label(i)} is {width[i]} wide" for i in np.flatnonzero(wrong).tolist()]
    kinds = {"csp": (HIDDEN,), "combined": (HIDDEN,), "ip": (INTERVAL,)}.get(chosen.method)
    if chosen.cap is not None and kinds is not None:
        count = int((shown & np.isin(release.status, kinds)).sum())
        if count > chosen.cap:
            out.append(f"{count} cells, where {chosen.cap} are allowed")
    if chosen.keep_totals and not chosen.soft:
        wrong = moved & totals(problem) & (np.abs(z) > 1e-9 * size)
        out += [f"the total {problem.label(i)} moved by {z[i]}" for i in np.flatnonzero(wrong).tolist()]
    return out
