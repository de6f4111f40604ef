"""Ends of intervals against linear programs of scipy's, built from what random policies and releases mean.

Values from 1e-6 to 1e9 and mixed, hidden cells, published intervals (tight, touching the truth, of no width), rounded
figures, several attackers, hierarchies and linked tables. HiGHS computes with absolute tolerances: where it and the
audit differ by more than is promised, exact rational arithmetic says which of them is wrong.

    SDCDSL_ENDS=5000 pytest tests/audit/test_ends_against_lp.py

looks at more of them.
"""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from sdcdsl.audit import Audit
from sdcdsl.notebook import Refused, load
from tests.attack.oracle import System, simplex_range
from tests.audit.releases import INF, Case, make
from tests.tiers import short

CASES = int(os.environ.get("SDCDSL_ENDS", "640"))
BATCH = 40
SHARE, DIGITS = Fraction(1, 10**9), Fraction(1, 2**49)  # of the distance from the true value, and of that value


def solved(system: System, cell: int, sign: int) -> float | None:
    """How far the cell goes from the true table, by scipy, in units of a typical slack; None if it fails."""
    l, u = np.minimum(system.low - system.a, 0.0), np.maximum(system.high - system.a, 0.0)
    slacks = np.concatenate([-l, u])
    slacks = slacks[(slacks > 0) & np.isfinite(slacks)]
    unit = float(np.exp(np.log(slacks).mean())) if len(slacks) else 1.0
    m, n = int(system.equation_of.max()) + 1, system.n
    matrix = coo_array((system.coefficient, (system.equation_of, system.cell_of)), shape=(m, n)).tocsr()
    cost = np.zeros(n)
    cost[cell] = -sign
    found = linprog(cost, A_eq=matrix, b_eq=np.zeros(m), bounds=np.stack([l, u], axis=1) / unit, method="highs")
    if found.status == 3:
        return INF
    return -float(found.fun) * unit if found.status == 0 else None


def allowed(kind: str, shown: Fraction | float, true: Fraction | float, value: float) -> bool:
    """Whether what is said of an end holds, with the distances from the value that are shown and true."""
    if INF in (shown, true):
        return shown == true if kind == "exact" else (kind == "at least") == (true == INF)
    slack = SHARE * Fraction(true) + DIGITS * abs(Fraction(value))
    short = Fraction(true) - Fraction(shown)
    return {"exact": abs(short) <= slack, "at least": short >= -slack, "at most": short <= slack}[kind]


def audited(case: Case, folder) -> Audit | None:
    """None where the policy asks for what an attacker's bounds do not leave."""
    policy, files = case.write(folder)
    try:
        return load(policy).audit(files).audit
    except Refused as refused:
        if {d.code for d in refused.diagnostics} == {"SDC320"}:
            return None
        raise


def wrong_ends(case: Case, made: Audit) -> list[str]:
    names = [dimension.name for dimension in case.dimensions]
    of = {}
    for number, cell in enumerate(case.value):
        label = ", ".join(f"{names[i]} = {cell[i]}" for i in case.tables["t"])
        if cell in case.sensitive:
            of[f"t: {label}" if case.linked else label] = number
    systems = {name: case.system(name) for name in case.attackers}
    pairs, out = made.proofs.problem.pairs, []
    assert len(pairs) > 0
    for pair, (at, who) in enumerate(zip(pairs.cell.tolist(), pairs.attacker.tolist(), strict=True)):
        label, attacker = made.problem.label(at), made.problem.attackers[who]
        system, cell = systems[attacker], of[label]
        value = float(system.a[cell])
        for side, (sign, end) in enumerate(((-1, made.low[pair]), (1, made.high[pair]))):
            kind, shown = (
                str(made.intervals.kind[side, pair]),
                sign * (Fraction(end) - Fraction(value)) if np.isfinite(end) else INF,
            )
            told = solved(system, cell, sign)
            if told is not None and allowed(kind, shown, told, value):
                continue
            true = sign * (simplex_range(system, cell)[side] - Fraction(value))
            if not allowed(kind, shown, true, value):
                out.append(f"{label}, {attacker}: {kind} {end}, {value} and {sign * float(true)} would be right")
    return out


@pytest.mark.parametrize("batch", short(4, range(CASES // BATCH)))
def test_ends(batch: int, tmp_path):
    exact = ends = 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        case = make(seed)
        made = audited(case, tmp_path) if case.sensitive else None
        if made is not None:
            assert not (wrong := wrong_ends(case, made)), (seed, wrong)
            exact, ends = exact + int((made.intervals.kind == "exact").sum()), ends + made.intervals.kind.size
    assert ends > BATCH
    assert exact >= 0.99 * ends  # words for what is not proved must not become an excuse


@pytest.mark.parametrize("seed", range(40))
def test_verdicts_only(seed: int, tmp_path):
    """Nothing is called exact where nobody looked for the end."""
    case = make(seed)
    if not case.sensitive:
        pytest.skip("no cell of this table is left open")
    policy, files = case.write(tmp_path)
    try:
        made = load(policy).audit(files, exact=False).audit
    except Refused:
        pytest.skip("more is asked for than an attacker's bounds leave")
    assert not made.exact
    assert set(made.intervals.kind.ravel().tolist()) <= {"at least", "at most"}
    assert not wrong_ends(case, made)
