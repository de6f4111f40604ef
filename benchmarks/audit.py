"""What the audit costs, as ratios measured in one run.

    python benchmarks/audit.py --cache FOLDER          # releases are made once (minutes) and kept there
    python benchmarks/audit.py --quick                 # hier13 and small samples
    python benchmarks/audit.py --instances hier16,2H2D

Against a plain loop of linear programs: for each pair of attacker and sensitive cell and each side a fresh HiGHS with
all cells and all relations, default options, one thread. The loop runs on a random sample and is extrapolated to all
pairs; its answers are compared with the exact intervals of the audit. Ratios are of CPU time. Promises: `PROMISES`.

Instances: CSPLIB files from ../shared/data beside the repository, and made tables of 200 × 200 cells, with a hierarchy
of three levels on one side (1H2D) or of two levels on both (2H2D). Releases (`patterns.py`): suppression and intervals,
as a heuristic made them (valid), with more open than needed (generous), with some of the other cells closed or narrowed
again (weak).

A second table has the memory of an exact audit over the size of the problem, and what a certificate takes to write and
to verify.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import highspy
import numpy as np
from patterns import FILES, KINDS, MADE, VARIANTS, here, linear_program, matrix, problem_of, release, room_of

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
    def promise(self) -> tuple[int, int]:
        return PROMISES["made" if self.instance in MADE else "file", self.kind]

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
    room = room_of(instance, kind, problem, cache)
    return Case(instance, kind, variant, problem, release(problem, room, kind, variant))


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


COLUMNS = (
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
)


def race(case: Case, sample: int, repeat: int) -> list[str]:
    loop = cold(case, sample)
    warm_up(case)
    quick, quick_s = measured(lambda: audit(case.problem, case.pattern, exact=False), repeat)
    exact, exact_s = measured(lambda: audit(case.problem, case.pattern, exact=True), repeat)
    pairs = case.problem.dataset.sizes["pair"]
    all_cold = loop.each * 2 * pairs
    ratios = all_cold / quick_s, all_cold / exact_s
    met = ["yes" if ratio >= promise else "NO" for ratio, promise in zip(ratios, case.promise, strict=True)]
    verdict = quick.verdict if np.array_equal(quick.verdicts, exact.verdicts) else "THEY DIFFER"  # pyright: ignore
    odd = f"{disagreements(case, exact, loop)} of {len(loop.ends)}"
    return [
        case.instance,
        f"{case.kind}, {case.variant}",
        f"{case.open:,}",
        f"{pairs:,}",
        verdict,
        f"{int((np.asarray(exact.verdicts) == 'e').sum()):,}",  # pyright: ignore
        f"{1000 * loop.each:.1f}",
        f"{quick_s:.3f}",
        f"{exact_s:.3f}",
        f"{ratios[0]:,.0f}",
        f"{ratios[1]:,.0f}",
        f"{case.promise[0]} / {case.promise[1]}",
        " / ".join(met),
        odd,
    ]


# ---- memory and certificates ----------------------------------------------------------------------

MEMORY_COLUMNS = (
    "instance",
    "release",
    "n + nnz",
    "arrays MB",
    "bytes each",
    "process MB",
    "certify s",
    "verify s",
    "verify / audit",
)


def only_memory(case: Case) -> None:
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
    print(tracemalloc.get_traced_memory()[1], grown)


def _resident(which: str) -> int:
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(which)), 0)


def cost_of_proof(case: Case, cache: Path) -> list[str]:
    """A certificate and its verification, against the audit as the command does it, with exact intervals."""
    command = [sys.executable, __file__, "--only-memory", ",".join((case.instance, case.kind, case.variant))]
    said = subprocess.run([*command, "--cache", str(cache)], check=True, capture_output=True, text=True).stdout
    arrays, grown = (int(word) for word in said.split())
    warm_up(case)
    _, audit_s = measured(lambda: audit(case.problem, case.pattern, exact=True), 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate"
        _, certify_s = measured(lambda: certify(case.problem, case.pattern, path, exact=True), 1)
        _, verify_s = measured(lambda: verify(path), 3)
    return [
        case.instance,
        f"{case.kind}, {case.variant}",
        f"{case.size:,}",
        f"{arrays / 2**20:.1f}",
        f"{arrays / case.size:,.0f}",
        f"{grown / 2**20:.1f}" if grown >= 0 else "–",
        f"{certify_s:.3f}",
        f"{verify_s:.3f}",
        f"{verify_s / audit_s:.2f}",
    ]


# ---- the run ----------------------------------------------------------------------


def line(words: list[str] | tuple[str, ...]) -> None:
    print("| " + " | ".join(words) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", default=",".join((*FILES, *MADE)), help="separated by commas")
    parser.add_argument("--kinds", default=",".join(KINDS), help="separated by commas")
    parser.add_argument("--cache", type=Path, help="folder where releases are kept; without it they are made anew")
    parser.add_argument("--sample", type=int, default=40, help="linear programs of the plain loop that are run")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="hier13, few linear programs, one run")
    parser.add_argument("--only-memory", metavar="CASE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.instances, arguments.sample, arguments.repeat = "hier13", 10, 1
    with tempfile.TemporaryDirectory() as folder:
        cache = arguments.cache or Path(folder)
        if arguments.only_memory:
            only_memory(case_of(*arguments.only_memory.split(","), cache=cache))
            return
        instances = [name for name in arguments.instances.split(",") if here(name)]
        releases = [(name, kind, v) for name in instances for kind in arguments.kinds.split(",") for v in VARIANTS]
        line(COLUMNS)
        line(["---"] * len(COLUMNS))
        for chosen in releases:
            line(race(case_of(*chosen, cache=cache), arguments.sample, arguments.repeat))
        print()
        line(MEMORY_COLUMNS)
        line(["---"] * len(MEMORY_COLUMNS))
        for chosen in releases:
            if chosen[2] == "valid":
                line(cost_of_proof(case_of(*chosen, cache=cache), cache))


if __name__ == "__main__":
    main()
