"""What it costs to let others do the work, and what it brings: an audit, the tries of ECTA, and a round of separation,
by every kind of executor.

    python benchmarks/executors.py TABLE.jj [--share 0.8] [--chunk 56] [--tries 60] [--levels 128]
                                            [--teams serial,processes:2,local:2]

The table with SHARE of its cells hidden (all, if not given) is audited for its verdict, CHUNK pairs a task; with
--tries, so many tables of ECTA are tried instead; with --levels, so many levels are asked about, at a point where every
class is hidden to some part. CPU seconds are those of this process and of all workers; the bytes
are what is pickled for them, and what it would be if nothing was shared. The digest at the end of a line is that of
every verdict and bound, or of the released table: it must be the same in all lines.
"""

from __future__ import annotations

import argparse
import datetime
import os
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.audit import attacking, audit
from sdcdsl.audit.problem import stated
from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.executing import SERIAL, Team, Threads
from sdcdsl.executing.frames import packed
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pattern import Pattern, hidden
from sdcdsl.pattern.digest import digest
from sdcdsl.policy.read import read_any


def problem_of(path: Path) -> TableProblem:
    policy, _ = read_any(path, True)
    [protect] = policy.protects.values()
    problem, _ = bind_protect(Binding(policy, RecordedLocations(path.parent, {}, True), datetime.date.today()), protect)
    assert problem is not None
    return problem


def team(name: str) -> Team:
    kind, _, width = name.partition(":")
    if kind == "serial":
        return SERIAL
    if kind == "threads":
        return Threads(int(width))
    if kind == "processes":
        from sdcdsl.executing.processes import Processes  # noqa: PLC0415

        return Processes(int(width), patience=0.0)
    from sdcdsl.executing.cluster import Cluster  # noqa: PLC0415

    return Cluster.at(name, patience=0.0)


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sizes(problem: TableProblem, pattern: Pattern) -> tuple[int, int, int]:
    """Tasks; bytes as they are sent; bytes if each task came with its component."""
    task = stated(problem, pattern, False)
    chosen = np.arange(len(task.pairs.cell))
    tasks = list(attacking._tasks(task, chosen, np.zeros(problem.n, dtype=bool), False, None, attacking.FAR, np.inf))
    components = {id(one.component): one.component for _, _, one in tasks}
    alone = sum(len(packed(one)) for _, _, one in tasks)
    apart = sum(len(packed(component)) for component in components.values())
    rest = sum(len(packed(attacking.replace(one, component=attacking._APART))) for _, _, one in tasks)
    return len(tasks), apart + rest, alone


def audited(problem: TableProblem, share: float) -> Callable[[Team], str]:
    d = problem.dataset
    some = np.random.default_rng(1).random(problem.n) < share
    pattern = hidden(d["a"].values, (d["status"].values == "u") | some)
    tasks, sent, alone = sizes(problem, pattern)
    print(f"{problem.n} cells, {len(d['cell_at'])} pairs, {tasks} tasks; {sent:,} bytes sent, {alone:,} unshared")

    def work(team: Team) -> str:
        made = audit(problem, pattern, exact=False, team=team)
        facts = made.verdicts.tolist(), made.low.tolist(), made.high.tolist(), made.proofs.up.tolist()
        return f"{made.verdict} {sha256(repr(facts).encode()).hexdigest()[:12]}"

    return work


def drawn(problem: TableProblem, tries: int) -> Callable[[Team], str]:
    print(f"{problem.n} cells, {tries} tries")

    def work(team: Team) -> str:
        made = run(problem, "ecta", SolveContext({"alpha": 0.5, "tries": tries}, seed=3, team=team))
        return f"{made.status} {'' if made.pattern is None else digest(made.pattern)[:12]}"

    return work


def separated(problem: TableProblem, count: int) -> Callable[[Team], str]:
    demands = CutRequirements(Instance(problem))
    classes = demands.classes.count
    point = np.random.default_rng(1).uniform(0.2, 1.0, classes)

    def work(team: Team) -> str:
        separation = Separation(demands, team=team)
        asked = np.zeros(len(separation.levels), dtype=bool)
        asked[np.linspace(0, len(asked) - 1, count).astype(int)] = True
        everything = np.full(classes, np.inf)
        made = separation.round(Capacities(demands, everything, everything, point), only=asked, each=True)
        return f"{len(made.found)} cuts {sha256(made.reached.tobytes()).hexdigest()[:12]}"

    print(f"{problem.n} cells, {classes} classes, {count} of {len(demands.levels)} levels")
    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--chunk", type=int, default=attacking.TUNING.verdicts, help="pairs of a task")
    parser.add_argument("--tries", type=int)
    parser.add_argument("--levels", type=int)
    parser.add_argument("--teams", default="serial,processes:2,local:2")
    asked = parser.parse_args()
    attacking.TUNING = replace(attacking.TUNING, verdicts=asked.chunk)
    problem = problem_of(asked.table)
    if asked.tries is not None:
        work = drawn(problem, asked.tries)
    elif asked.levels is not None:
        work = separated(problem, asked.levels)
    else:
        work = audited(problem, asked.share)
    for name in asked.teams.split(","):
        begun, own, others = time.monotonic(), time.process_time(), cpu_of_children()
        with team(name) as workers:
            up = time.monotonic() - begun
            said = work(workers)
            done = time.monotonic() - begun
        for _ in range(50):  # until children are counted
            time.sleep(0.1)
        own, others = time.process_time() - own, cpu_of_children() - others
        print(
            f"{name:12} start {up:.1f} s, work {done - up:.1f} s; CPU {own:.1f} here, {others:.1f} in workers;"
            f" load {os.getloadavg()[0]:.1f}; {said}",
            flush=True,
        )


if __name__ == "__main__":
    main()
