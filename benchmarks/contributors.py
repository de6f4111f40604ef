"""Contributors as attackers: business tables in which every respondent attacks, from files to an audited release.

    python benchmarks/contributors.py --json benchmarks/results/contributors.json
    python benchmarks/contributors.py --only 'shops-*' --limit 30

`respondents-n` are tables in three hierarchical dimensions (the generator's seeds), `industries` one of industries of
four digits by regions of three levels, `shops` a coarse one of nearly as many respondents. Every respondent knows its
own part, and that cells are between half and twice their values. The limit counts on the wall, as with `protect
--time-limit`; all other seconds are CPU seconds of the process, kernels loaded before. `audit s` is one more audit of
the release with the witnesses of its search; `verify s` checks its certificate, which proves every pair.
`respondents-84693` is audited alone: against an outsider, without what the search knows.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

from generators import respondents_policy
from measuring import CpuDeadline, figure, measured, peak_memory, share
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.audit import audit, audit_release
from sdcdsl.audit.certify import write_certificate
from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.outcome import Outcome
from sdcdsl.pipeline.protect import planned, prepare
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy.read import read_policy
from sdcdsl.proof.checking import verify

KIND = "Contributors as attackers"
DAY = datetime.date(2026, 1, 1)
Sides = tuple[tuple[int, ...], ...]
SMALL: Sides = ((2, 3), (3, 2), (2,))


@dataclass(frozen=True)
class Promise:
    seconds: float | None = None  # in all
    memory: float | None = None  # GB
    gap: float | None = None
    audit: float | None = None  # seconds of it

    @property
    def text(self) -> str:
        words = ["audited"]
        words += [f"gap ≤ {100 * self.gap:g} %"] if self.gap is not None else []
        words += [f"≤ {self.seconds:g} s"] if self.seconds is not None else []
        words += [f"audit ≤ {self.audit:g} s"] if self.audit is not None else []
        words += [f"≤ {self.memory:g} GB"] if self.memory is not None else []
        return ", ".join(words)

    def met(self, row: Row) -> bool:
        figures = (
            (self.seconds, row.get("cpu")),
            (self.memory, row.get("memory")),
            (self.gap, row.get("gap")),
            (self.audit, row.get("audit_cpu")),
        )
        held = all(most is None or (had is not None and had <= most) for most, had in figures)
        return row.get("audit") == "protected" and held


@dataclass(frozen=True)
class Table:
    name: str
    sides: Sides
    units: int
    seed: int
    limit: float
    promise: Promise
    quick: float | None = None


TABLES = (
    *(
        Table(f"respondents-3125-{seed}", ((4, 5), (4, 5), (4,)), 4800, seed, 57, Promise(60, memory=1.0))
        for seed in (1, 2, 3)
    ),
    Table("industries-8613", ((2, 4, 2), (6, 4, 3, 3)), 13_700, 1, 120, Promise(600, memory=3.0)),
    Table("shops-651", ((4, 4), (5, 5)), 13_000, 1, 57, Promise(60, gap=0.05, audit=15.0), quick=20.0),
)
OUTSIDER = Table("respondents-84693", ((12, 8), (10, 10), (6,)), 115_200, 1, 60, Promise(audit=60.0))


# ---- a row ----------------------------------------------------------------------------------------------------------


def row_of(table: Table, setting: Setting) -> Row:
    with TemporaryDirectory() as folder:
        request(SMALL, 300, Path(folder), 9, 5.0)  # loads what has to be loaded
        prepare(request(SMALL, 300, Path(folder), 9, 5.0))
    with TemporaryDirectory() as name:
        folder = Path(name)
        asked = request(table.sides, table.units, folder, table.seed, setting.limit)
        made, cpu = measured(lambda: prepare(asked))
        [outcome] = made.outcomes
        row: Row = {
            "instance": table.name,
            "method": "csp",
            "cpu": cpu,
            "memory": peak_memory(),
            "limit": setting.limit,
        }
        return row | of_outcome(outcome) | proved(outcome, folder)


def request(sides: Sides, units: int, folder: Path, seed: int, limit: float) -> ProtectRequest:
    path = respondents_policy(folder, sides, units, seed, attack=True)
    policy, found = read_policy(path, str(path))
    assert policy is not None, found
    return ProtectRequest(policy, path, RecordedLocations(folder), DAY, folder, instead={"time_limit": limit})


def of_outcome(outcome: Outcome) -> Row:
    counts, result = outcome.problem.summary(), outcome.result
    return {
        "cells": counts["cells"],
        "sensitive": counts["sensitive"],
        "pairs": counts["pairs"],
        "listed": counts.get("listed_pairs", counts["pairs"]),
        "status": result.status,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "phases": {phase: round(seconds, 3) for phase, seconds in outcome.seconds.items()},
        "notes": list(result.notes),
        "audit": outcome.verdict or "no release",
        "load": round(os.getloadavg()[0], 1),
    }


def proved(outcome: Outcome, folder: Path) -> Row:
    pattern = outcome.pattern
    if outcome.audit is None or pattern is None:
        return {"audit_cpu": None, "verify_cpu": None, "certificate": None}
    hints = outcome.result.moves
    _, audit_cpu = measured(lambda: audit_release(outcome.problem, pattern, exact=False, hints=hints))
    write_certificate(outcome.audit, folder / "c.jsonl.gz")
    found, cpu = measured(lambda: verify(folder / "c.jsonl.gz"))
    assert found.ok, found.reasons
    return {"audit_cpu": audit_cpu, "verify_cpu": cpu, "certificate": (folder / "c.jsonl.gz").stat().st_size}


def audit_row(table: Table, setting: Setting) -> Row:
    """An audit by itself, of what a search of so many seconds hides."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = respondents_policy(folder, table.sides, table.units, table.seed)
        policy, found = read_policy(path, str(path))
        assert policy is not None, found
        [task] = planned(ProtectRequest(policy, path, RecordedLocations(folder), DAY, folder)).tasks
        problem = task.problem
        context = SolveContext({"gap": 0.0, "threads": 1}, CpuDeadline(setting.limit))
        result, cpu = measured(lambda: run(problem, "csp", context))
        counts = problem.summary()
        row: Row = {
            "instance": table.name,
            "method": "audit",
            "limit": setting.limit,
            "status": result.status,
            "objective": result.objective,
            "bound": result.bound,
            "gap": result.gap,
            "cpu": cpu,
            "notes": list(result.notes),
            **{name: counts[name] for name in ("cells", "sensitive", "pairs")},
            "audit": "no release",
            "load": round(os.getloadavg()[0], 1),
        }
        pattern = result.pattern
        if pattern is None:
            return row
        made, seconds = measured(lambda: audit(problem, pattern, exact=False))
        return row | {"audit": made.verdict, "audit_cpu": seconds, "short": int((made.verdicts != "p").sum())}


def _words(row: Row) -> tuple[str, ...]:
    certificate = row.get("certificate")
    return (
        row["instance"],
        row["method"],
        figure(row.get("cells")),
        figure(row.get("sensitive")),
        figure(row.get("pairs")),
        figure(row.get("listed")),
        figure(row["limit"]),
        row["status"],
        figure(row.get("objective")),
        figure(row.get("bound")),
        share(row.get("gap")),
        figure(row.get("cpu"), 1),
        figure(row.get("memory"), 2),
        row.get("audit", "–"),
        figure(row.get("audit_cpu"), 1),
        figure(row.get("verify_cpu"), 2),
        "–" if certificate is None else f"{certificate / 1e6:.2f} MB",
        row["promise"],
        "yes" if row["met"] else "**NO**",
    )


NAMES = (
    "instance",
    "method",
    "cells",
    "sensitive",
    "pairs",
    "in the list",
    "limit s",
    "status",
    "cost",
    "bound",
    "gap",
    "CPU s",
    "GB",
    "audit",
    "audit s",
    "verify s",
    "certificate",
    "promise",
    "met",
)


def entries(done: Done) -> Iterator[Entry]:
    for table in (*TABLES, OUTSIDER):
        alone = table is OUTSIDER
        measure = audit_row if alone else row_of
        yield Entry(
            KIND,
            table.name,
            "audit" if alone else "csp",
            lambda setting, table=table, measure=measure: measure(table, setting),
            table.limit,
            ("audit",) if alone else ("bind", "solve", "audit"),
            judge=lambda row, table=table: {"promise": table.promise.text, "met": table.promise.met(row)},
            about=table.promise.text,
            quick=table.quick,
            longer=600.0,
        )


SUITE = Suite("contributors", __doc__, entries, {KIND: Columns(NAMES, _words)})

if __name__ == "__main__":
    main([SUITE], __doc__)
