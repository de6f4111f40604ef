"""What the ways say of themselves, held against each other and against releases that are known to be valid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import settings_of
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pattern import Pattern
from tests.conformance import adjustments
from tests.conformance.cases import Case
from tests.conformance.mixtures import Mixture, forms_of
from tests.conformance.ways import GAP, SECONDS, Said, ways
from tests.methods.oracle import DOWN, UP, Oracle, furthest

INF = np.inf
SHORT = 1 - 1e-6  # of a level: what the linear programs of scipy can tell apart
SAME = 2e-6  # of a cost
NOISE = 1e-8  # of the largest level, at the largest cost: what is left of a zero
SEEDS = 3  # of methods that draw


@dataclass
class Judged:
    """`valid`: costs of releases that pass the check, by who made them."""

    said: list[Said]
    valid: dict[str, float] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


def judged(case: Case, models: bool = True) -> Judged:
    if case.method == "ecta":
        return _drawn(case)
    out = Judged(list(ways(case, models)))
    adjusted = case.method == "cta"
    of, noise = settings_of(case.problem, case.options) if adjusted else None, 0.0
    for said in out.said:
        if said.pattern is None:
            continue
        wrong = _wrong_adjustment(case, said) if adjusted else list(_wrong(case, said))
        out.complaints += [f"{said.way}: {one}" for one in wrong]
        if not wrong:
            out.valid[said.way] = _objective(case, said)
    steps = int(out.said[0].options.get("steps") or 0)
    if of is not None:
        costs = [of.objective(z) for z in adjustments.tables(of) if adjustments.safe(of, z)]
        least = min(costs, default=None)
    else:
        literal = Mixture(case.problem, forms_of(case.method, case.problem, case.options, steps))
        least = literal.least()
        noise = NOISE * literal.unit * float(case.problem.dataset["w"].values.max(initial=0.0))
    if least is not None:
        out.valid["the literal model"] = max(least, 0.0)
    out.complaints += _disagreements(out, noise)
    return out


def _drawn(case: Case) -> Judged:
    """Enhanced adjustment draws tables: no model, no bound. What is infeasible is so for every seed."""
    out = Judged([])
    for seed in range(SEEDS):
        made = run(case.problem, case.method, SolveContext(case.options, Deadline(SECONDS), seed=seed))
        out.said.append(Said(f"seed {seed}", made.status, made.objective, made.bound, made.pattern, case.options))
        wrong = [] if made.pattern is None else list(_exposed(case, made.pattern))
        out.complaints += [f"seed {seed}: {one}" for one in wrong]
        out.complaints += [f"seed {seed}: a bound"] if made.bound is not None else []
    found = any(said.pattern is not None for said in out.said)
    nothing = [said.way for said in out.said if said.status == "infeasible"]
    out.complaints += [f"{way}: infeasible, and others have a release" for way in nothing if found]
    return out


def _disagreements(of: Judged, noise: float) -> Iterator[str]:
    if not of.valid:
        return
    by, least = min(of.valid.items(), key=lambda item: item[1])
    slack = SAME * abs(least) + 1e-12 * max(map(abs, of.valid.values())) + noise
    for said in of.said:
        if said.status == "infeasible":
            yield f"{said.way}: infeasible, and {by} has a release for {least:.9g}"
        if said.bound is not None and said.bound > least + slack:
            yield f"{said.way}: at least {said.bound:.9g}, and {by} has a release for {least:.9g}"
        if said.status == "optimal" and (said.objective or 0.0) > least + slack + GAP * abs(least):
            yield f"{said.way}: optimal at {said.objective:.9g}, and {by} has a release for {least:.9g}"
        if said.objective is not None and said.way in of.valid and not _same(said.objective, of.valid[said.way]):
            yield f"{said.way}: states {said.objective:.9g} for a release that costs {of.valid[said.way]:.9g}"


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= GAP * max(abs(one), abs(other)) + 1e-12


# ---- releases that attackers look at -------------------------------------------------------------------------------


def _exposed(case: Case, released: Pattern) -> Iterator[str]:
    """Who learns too much, by the boxes alone."""
    oracle, a = Oracle(case.problem), case.a
    down, up = a - released.low, released.high - a
    size = np.maximum(np.abs(a), 1e-300)
    if (down < -1e-12 * size).any() or (up < -1e-12 * size).any():
        yield "a box without the true value"
    down, up = np.maximum(down, 0.0), np.maximum(up, 0.0)
    for pair, (attacker, cell) in enumerate(oracle.pairs):
        low, high = (np.minimum(slack, box) for slack, box in zip(oracle._slack[attacker], (down, up), strict=True))
        lpl, upl, spl = oracle.levels[:, pair]
        reach = {
            side: furthest(oracle.M, low, high, cell, side, max(level, spl)) if max(level, spl) > 0 else 0.0
            for side, level in ((DOWN, lpl), (UP, upl))
        }
        if reach[DOWN] < lpl * SHORT or reach[UP] < upl * SHORT or reach[DOWN] + reach[UP] < spl * SHORT:
            yield f"cell {cell} is exposed to attacker {attacker}"


def _wrong(case: Case, said: Said) -> Iterator[str]:
    """What else is wrong with a release."""
    assert said.pattern is not None
    problem, released, a = case.problem, said.pattern, case.a
    yield from _exposed(case, released)
    d, size = problem.dataset, np.maximum(np.abs(a), 1e-300)
    down, up = np.maximum(a - released.low, 0.0), np.maximum(released.high - a, 0.0)
    forms = forms_of(case.method, problem, said.options, int(said.options.get("steps") or 0))
    published = d["published"].values
    shown = published & (d["status"].values != "m")
    wide, width = shown & forms["interval"] & (released.low < released.high), down + up
    if forms["least"] is not None and (width < forms["least"] * (1 - 1e-6) - 1e-9 * size)[wide].any():
        yield "an interval that is too narrow"
    if forms["widest"] is not None and (width > forms["widest"] * (1 + 1e-6) + 1e-9 * size)[wide].any():
        yield "an interval that is too wide"
    gone = published & np.isinf(down) & forms["hide"]
    for name, count in (("cap_hidden", (gone & shown).sum()), ("cap_intervals", wide.sum())):
        if forms.get(name) is not None and count > forms[name]:
            yield f"more than `{name}` allows"
    if (shown & (d["status"].values == "z") & ((released.value != a) | (released.low < released.high))).any():
        yield "a cell that must be published is not"


def _objective(case: Case, said: Said) -> float:
    """Of a release, from its boxes and figures."""
    assert said.pattern is not None
    if case.method == "cta":
        return settings_of(case.problem, case.options).objective(_deviations(case, said.pattern))
    d, released, a = case.problem.dataset, said.pattern, case.a
    forms = forms_of(case.method, case.problem, said.options)
    w = d["w"].values
    w_up, w_down = (d[name].values if name in d else w for name in ("w_up", "w_down"))
    w_fixed = d["w_fixed"].values if "w_fixed" in d else np.zeros(len(a))
    old = (d["status"].values == "m") & d["published"].values
    shown = d["published"].values & ~old
    hide, wide = forms["hide"] & shown, forms["interval"] & shown
    total = float(w[hide & np.isinf(released.high)].sum())
    may_hide = (hide & (d["status"].values != "z")).any()
    total += float(w[old].sum()) if may_hide else 0.0
    down, up = np.where(wide, a - released.low, 0.0), np.where(wide, released.high - a, 0.0)
    moved = np.where(shown & ~hide & ~wide, np.nan_to_num(released.value - a), 0.0)
    down, up = down + np.maximum(-moved, 0.0), up + np.maximum(moved, 0.0)
    touched = (down > 0) | (up > 0)
    rounded = forms["base"] > 0
    for price, amount in ((w_up, up), (w_down, down), (w_fixed, (touched & ~rounded).astype(float))):
        paid = price > 0
        total += float(price[paid] @ amount[paid])
    return total


# ---- adjusted tables -----------------------------------------------------------------------------------------------


def _deviations(case: Case, released: Pattern) -> np.ndarray:
    """Of all cells: those that are not published follow from the others as far as anything asks."""
    d = case.problem.dataset
    z = released.value - case.a
    z[~d["published"].values] = np.nan
    M = Oracle(case.problem).M
    for _ in range(len(z)):
        for row in M:
            unknown = np.flatnonzero(np.isnan(z) & (row != 0))
            if len(unknown) == 1:
                i = unknown[0]
                z[i] = -(row @ np.where(np.isnan(z), 0.0, z)) / row[i]
    return np.nan_to_num(z)


def _wrong_adjustment(case: Case, said: Said) -> list[str]:
    assert said.pattern is not None
    of, z = settings_of(case.problem, case.options), _deviations(case, said.pattern)
    if of.integer:
        z = np.where(np.abs(z - np.round(z)) <= 1e-9 * np.maximum(np.abs(case.a), 1.0), np.round(z), z)
    return [] if adjustments.safe(of, z) else ["not the table that was asked for"]
