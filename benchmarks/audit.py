"""What the audit costs, as ratios measured in one run.

    python benchmarks/audit.py --cache FOLDER --json benchmarks/results/audit.json   # releases are kept in FOLDER
    python benchmarks/audit.py --only 'hier13-*,2H2D-*' --sample 10 --repeat 1

Against a plain loop of linear programs: for each pair of attacker and sensitive cell and each side a fresh HiGHS with
all cells and all relations, default options, one thread. The loop runs on a random sample and is extrapolated to all
pairs; its answers are compared with the exact intervals of the audit. Ratios are of CPU time. Promises: `PROMISES`.

Instances: CSPLIB files from ../shared/data beside the repository, and made tables of 200 × 200 cells, with a hierarchy
of three levels on one side (1H2D) or of two levels on both (2H2D). Releases (`patterns.py`): suppression and intervals,
as a heuristic made them (valid), with more open than needed (generous), with some of the other cells closed or narrowed
again (weak).

A second table has the memory of an exact audit over the size of the problem, and what a certificate takes to write and
to verify: next to the audit alone, and the two commands next to each other, which both begin with files.
"""

from __future__ import annotations

import os
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import highspy
import numpy as np
from asking import as_jj
from commands import audit_and_verify
from instances import CSPLIB
from measuring import figure, said
from patterns import (
    FILES,
    KINDS,
    MADE,
    TINY,
    VARIANTS,
    here,
    linear_program,
    made_by,
    matrix,
    problem_of,
    release,
    slack_of,
)
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.audit import audit, certify
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.proof.checking import verify

# At least so many times faster: verdicts only, exact intervals.
PROMISES = {
    ("file", "suppression"): (100, 30),
    ("file", "interval"): (300, 100),
    ("made", "suppression"): (1000, 30),
    ("made", "interval"): (1000, 100),
}


@dataclass(frozen=True, eq=False)
class Case:
    instance: str
    kind: str
    variant: str
    problem: TableProblem
    pattern: Pattern

    @property
    def size(self) -> int:
        return self.problem.n + self.problem.dataset.sizes["entry"]

    @property
    def open(self) -> int:
        low, high = self.pattern.seen(self.problem.dataset["low"].values[0], self.problem.dataset["high"].values[0])
        return int((low < high).sum())


@dataclass(frozen=True)
class Cold:
    """The plain loop on a sample of (pair, side)."""

    each: float  # CPU seconds
    ends: dict[tuple[int, int], float]  # by pair and side


def case_of(instance: str, kind: str, variant: str, cache: Path) -> Case:
    problem = problem_of(instance)
    slack = slack_of(instance, kind, problem, cache)
    return Case(instance, kind, variant, problem, release(problem, slack, kind, variant))


def measured(work: Callable[[], object], repeat: int) -> tuple[object, float]:
    """The last answer, and the best CPU seconds."""
    best, answer = np.inf, None
    for _ in range(repeat):
        start = time.process_time()
        answer = work()
        best = min(best, time.process_time() - start)
    return answer, float(best)


def cold(case: Case, sample: int) -> Cold:
    d = case.problem.dataset
    pairs = np.random.default_rng(4).permutation(d.sizes["pair"])[: (sample + 1) // 2]
    views = d["view_of"].values[d["attacker_at"].values]
    columns, b = matrix(case.problem), d["b"].values
    ends: dict[tuple[int, int], float] = {}
    spent = 0.0
    for pair in pairs.tolist():
        box = case.pattern.seen(d["low"].values[views[pair]], d["high"].values[views[pair]])
        for side in (-1, 1):
            start = time.process_time()
            cost = np.zeros(case.problem.n)
            cost[d["cell_at"].values[pair]] = -side
            solver = linear_program(columns, box, cost, (b, b))
            solver.run()
            spent += time.process_time() - start
            ends[pair, side] = _end(solver, side)
    return Cold(spent / max(1, len(ends)), ends)


def _end(solver: highspy.Highs, side: int) -> float:
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kOptimal:
        return -side * solver.getObjectiveValue()
    unbounded = (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible)
    return side * np.inf if status in unbounded else np.nan


def disagreements(case: Case, result, loop: Cold) -> int:
    """Ends that the loop found otherwise, beyond the tolerance of its solver."""
    a = case.problem.dataset["a"].values[case.problem.dataset["cell_at"].values]
    out = 0
    for (pair, side), end in loop.ends.items():
        mine = float((result.low if side < 0 else result.high)[pair])
        scale = max(1.0, abs(float(a[pair])), abs(end) if np.isfinite(end) else 0.0)
        out += not (mine == end or abs(mine - end) <= 1e-5 * scale)
    return out


def warm_up(case: Case) -> None:
    """Compiled kernels are ready afterwards; a few pairs of the same problem have the same types of arrays."""
    few = replace(case.problem, dataset=case.problem.dataset.isel(pair=slice(0, 3)))
    for exact in (False, True):
        audit(few, case.pattern, exact=exact)


def race(case: Case, setting: Setting) -> Row:
    """Against the plain loop on a sample of the pairs."""
    repeat = setting.options["repeat"]
    loop = cold(case, setting.options["sample"])
    warm_up(case)
    quick, quick_s = measured(lambda: audit(case.problem, case.pattern, exact=False), repeat)
    exact, exact_s = measured(lambda: audit(case.problem, case.pattern, exact=True), repeat)
    pairs = case.problem.dataset.sizes["pair"]
    all_cold = loop.each * 2 * pairs
    ratios = all_cold / quick_s, all_cold / exact_s
    least = promised(case.instance, case.kind)
    same = np.array_equal(quick.verdicts, exact.verdicts)  # pyright: ignore
    return {
        "status": "done",
        "instance": case.instance,
        "method": f"{case.kind}, {case.variant}",
        "cells": case.problem.n,
        "open": case.open,
        "pairs": pairs,
        "verdict": quick.verdict if same else "THEY DIFFER",  # pyright: ignore
        "exposed": int((np.asarray(exact.verdicts) == "e").sum()),  # pyright: ignore
        "cold": loop.each,
        "verdicts": quick_s,
        "exact": exact_s,
        "ratio_verdicts": ratios[0],
        "ratio_exact": ratios[1],
        "promise": list(least),
        "met": [ratio >= promise for ratio, promise in zip(ratios, least, strict=True)],
        "odd": disagreements(case, exact, loop),
        "sides": len(loop.ends),
        "cpu": quick_s + exact_s,
        "timed": {"audit": quick_s + exact_s},
    }


def promised(instance: str, kind: str) -> tuple[int, int]:
    return (
        (1, 1) if instance == TINY else PROMISES["made" if instance in MADE else "file", kind.split("-", maxsplit=1)[0]]
    )


def _words(row: Row) -> tuple[str, ...]:
    cold = row.get("cold")
    return (
        row["instance"],
        row["method"],
        figure(row.get("open")),
        figure(row.get("pairs")),
        row.get("verdict") or said(row),
        figure(row.get("exposed")),
        figure(None if cold is None else 1000 * cold, 1),
        figure(row.get("verdicts"), 3),
        figure(row.get("exact"), 3),
        figure(row.get("ratio_verdicts")),
        figure(row.get("ratio_exact")),
        " / ".join(figure(promise) for promise in row.get("promise", ())),
        " / ".join("yes" if met else "**NO**" for met in row.get("met") or ()),
        f"{row.get('odd', '–')} of {row.get('sides', '–')}",
    )


COLUMNS = Columns(
    (
        "instance",
        "release",
        "open",
        "pairs",
        "verdict",
        "exposed",
        "cold ms",
        "verdicts s",
        "exact s",
        "× verdicts",
        "× exact",
        "promise",
        "met",
        "odd ends",
    ),
    _words,
)


# ---- memory and certificates ------------------------------------------------------


def memory(case: Case) -> tuple[int, int]:
    """The peak of Python's and numpy's own memory, and how far the process grew beyond what it had (Linux; else -1).

    The first does not see solvers and compiled code, the second not what the warm-up left for reuse.
    """
    warm_up(case)
    peak = Path("/proc/self/clear_refs")
    if peak.exists():
        peak.write_text("5")  # the peak starts from here
    before = _resident("VmRSS")
    audit(case.problem, case.pattern, exact=True)
    grown = _resident("VmHWM") - before if peak.exists() else -1
    tracemalloc.start()
    audit(case.problem, case.pattern, exact=True)
    return tracemalloc.get_traced_memory()[1], grown


def _resident(which: str) -> int:
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(which)), 0)


def cost_of_proof(case: Case) -> Row:
    """A certificate and its verification, against the audit with exact intervals: as functions, where the audit has the
    problem in memory and the verification reads it from the file; and as commands, where both begin with files."""
    warm_up(case)
    _, audit_s = measured(lambda: audit(case.problem, case.pattern, exact=True), 3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate"
        _, certify_s = measured(lambda: certify(case.problem, case.pattern, path, exact=True), 1)
        _, verify_s = measured(lambda: verify(path), 3)
        table = CSPLIB / f"{case.instance}.jj"
        if case.instance in MADE or case.instance == TINY:
            table = Path(folder) / "table.jj"
            table.write_text(as_jj(case.problem), encoding="utf-8")
        commands = audit_and_verify(table, case.pattern, Path(folder))
    arrays, grown = memory(case)
    return {
        "status": "done",
        "instance": case.instance,
        "method": f"certificate of {case.kind}, {case.variant}",
        "cells": case.problem.n,
        "size": case.size,
        "arrays": arrays,
        "grown": grown,
        "audit": audit_s,
        "certify": certify_s,
        "verify": verify_s,
        "commands": commands,
        "promise": "verify < 0.1 × audit",
        "met": [verified < 0.1 * audited for audited, verified in filter(None, [(audit_s, verify_s), commands])],
        "cpu": audit_s + certify_s,
        "timed": {"audit": audit_s, "write": certify_s},
    }


def _proof_words(row: Row) -> tuple[str, ...]:
    arrays, size, audited, verified = (row.get(name) for name in ("arrays", "size", "audit", "verify"))
    whole: Sequence[float | None] = row.get("commands") or (None, None)
    return (
        row["instance"],
        row["method"],
        figure(size),
        figure(None if arrays is None else arrays / 2**20, 1),
        figure(None if arrays is None or not size else arrays / size),
        figure(row["grown"] / 2**20, 1) if row.get("grown", -1) >= 0 else "–",
        figure(audited, 3),
        figure(row.get("certify"), 3),
        figure(verified, 3),
        figure(None if audited is None or verified is None else verified / audited, 2),
        *(figure(seconds, 2) for seconds in whole),
        figure(None if whole[0] is None or whole[1] is None else whole[1] / whole[0], 2),
        " / ".join("yes" if met else "**NO**" for met in row.get("met") or ()),
    )


PROOF_COLUMNS = Columns(
    (
        "instance",
        "what",
        "n + nnz",
        "arrays MB",
        "bytes each",
        "process MB",
        "audit s",
        "with certificate s",
        "verify s",
        "verify / audit",
        "command audit s",
        "command verify s",
        "verify / audit",
        "met",
    ),
    _proof_words,
)


# ---- the suite --------------------------------------------------------------------


def entries(done: Done) -> Iterator[Entry]:
    tables = [(name, kind) for name in (*FILES, *MADE) for kind in KINDS if made_by(kind, name)]
    releases = [(*table, variant) for table in tables for variant in VARIANTS]
    for instance, kind, variant in releases:
        yield Entry(
            SPEED,
            instance,
            f"{kind}, {variant}",
            lambda setting, chosen=(instance, kind, variant): race(_case(chosen, setting), setting),
            900.0,
            ("audit",),
            about="≥ {} / {} × a cold loop".format(*promised(instance, kind)),
            here=here(instance),
            quick=60.0 if instance == TINY else None,
        )
    for instance, kind, variant in releases:
        if variant == "valid":
            yield Entry(
                PROOF,
                instance,
                f"certificate of {kind}, {variant}",
                lambda setting, chosen=(instance, kind, variant): cost_of_proof(_case(chosen, setting)),
                900.0,
                ("audit", "write"),
                about="verify < 0.1 × audit",
                here=here(instance),
                quick=60.0 if instance == TINY else None,
            )


def _case(chosen: tuple[str, str, str], setting: Setting) -> Case:
    """Releases take minutes to make: they are kept where there is a place for them."""
    if setting.cache:
        return case_of(*chosen, cache=Path(setting.cache))
    with tempfile.TemporaryDirectory() as folder:
        return case_of(*chosen, cache=Path(folder))


SPEED, PROOF = "Against a loop of cold linear programs", "Memory and certificates"
SUITE = Suite("audit", __doc__, entries, {SPEED: COLUMNS, PROOF: PROOF_COLUMNS}, {"sample": 40, "repeat": 3})

if __name__ == "__main__":
    main([SUITE], __doc__)
