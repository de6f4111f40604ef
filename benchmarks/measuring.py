"""What the benchmarks of methods share: limits of CPU time, a process for every case, the machine, the table.

Limits count CPU time unless the wall is asked for: on a busy machine the two differ by a factor. Solvers that are given
what is left count it on the wall, and may stop early then. Every case runs in a process of its own, after a small table
of the same kind for which compiled kernels are loaded; what crashes or never ends costs one row, not the run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.result import Clock, Order, Result
from sdcdsl.methods.run import run
from sdcdsl.pattern import Pattern

PACKAGES = ("sdcdsl", "highspy", "numpy", "scipy", "numba", "xarray", "linopy", "polars", "pyscipopt")
Row = dict[str, Any]


class CpuClock(Clock):
    """Counts the CPU time of the process, all its threads together."""

    def __init__(self, limit: float | None = None):
        super().__init__(limit)
        self.started = process_time()

    @property
    def passed(self) -> float:
        return process_time() - self.started


CLOCKS = {"cpu": CpuClock, "wall": Clock}


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[], TableProblem]
    limit: float  # seconds for the method
    gap: float = 0.0
    here: bool = True  # its data is there
    kind: str = "network"  # the table that loads what has to be loaded: network, or general


# ---- one case ----------------------------------------------------------------------------------------------------


def measured(work: Callable[[], Any]) -> tuple[Any, float]:
    start = process_time()
    answer = work()
    return answer, process_time() - start


def solved(case: Case, method: str, clock: str) -> tuple[TableProblem, Result, Row]:
    """The result of a method, audited, with the figures that all rows have."""
    problem = case.make()
    order = Order({"gap": case.gap, "threads": 1}, CLOCKS[clock](case.limit))
    result, cpu = measured(lambda: run(problem, method, order))
    row: Row = {
        "instance": case.name,
        "method": method,
        "cells": problem.n,
        "sensitive": len(problem.sensitive),
        "pairs": problem.dataset.sizes["pair"],
        "limit": case.limit,
        "status": result.status,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "cpu": cpu,
        "phases": {phase: round(s, 3) for phase, s in result.seconds.items()},
        "notes": list(result.notes),
        "load": round(os.getloadavg()[0], 1),
    }
    return problem, result, row | audited(problem, result.pattern)


def audited(problem: TableProblem, pattern: Pattern | None) -> Row:
    """Verdicts alone: the ends of intervals are the audit's own benchmark."""
    if pattern is None:
        return {"audit": "no release", "short": None, "audit_cpu": None}
    made, cpu = measured(lambda: audit(problem, pattern, exact=False))
    return {"audit": made.verdict, "short": int((made.verdicts != "p").sum()), "audit_cpu": cpu}


# ---- a process each ----------------------------------------------------------------------------------------------


def apart(script: str, case: Case, clock: str, more: Sequence[str] = (), longer: float = 0.0) -> Row:
    """The row of a case, made by `script --child NAME` in a fresh process; `longer`: seconds beside the limit."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "row.json"
        command = [sys.executable, script, "--child", case.name, "--limit", repr(case.limit), "--clock", clock]
        patience = 600 + 10 * (case.limit + longer)
        try:
            ended = subprocess.run(
                [*command, "--answer", str(answer), *more],
                check=False,
                timeout=patience,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            )
        except subprocess.TimeoutExpired:
            return _nothing(case, f"no answer after {patience:.0f} s on the wall")
        if not answer.is_file():
            said = ended.stderr.strip().splitlines() or [f"ended with {ended.returncode}"]
            return _nothing(case, " · ".join(text.strip() for text in said[-3:]))
        return json.loads(answer.read_text())


def _nothing(case: Case, why: str) -> Row:
    return {"instance": case.name, "limit": case.limit, "status": "failed", "notes": [why]}


def arguments(about: str | None, extra: Callable[[argparse.ArgumentParser], None]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="names of rows, separated by commas, with * for anything")
    parser.add_argument("--limit", type=float, help="no method gets more seconds than this: for a quick look")
    clocks = parser.add_mutually_exclusive_group()
    clocks.add_argument("--cpu-clock", dest="clock", action="store_const", const="cpu", help="the default")
    clocks.add_argument("--wall-clock", dest="clock", action="store_const", const="wall")
    parser.add_argument("--json", type=Path, metavar="FILE", help="rows go there; those of other names stay")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    for hidden in ("--child", "--clock"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    extra(parser)
    parser.set_defaults(clock="cpu")
    return parser.parse_args()


def wanted(cases: Iterable[Case], options: argparse.Namespace) -> list[Case]:
    """Those asked for and present; says what is missing."""
    patterns = options.only.split(",")
    out = []
    for case in cases:
        if any(fnmatch(case.name, pattern) for pattern in patterns):
            if case.here:
                out.append(case)
            else:
                print(f"{case.name}: left out, its data is not beside the repository", file=sys.stderr)
    return out


# ---- what is written ---------------------------------------------------------------------------------------------


def machine() -> Row:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    return {"cores": os.cpu_count(), "model": model or platform.processor(), "system": platform.system()}


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    out = {"python": platform.python_version()}
    for package in packages:
        try:
            out[package] = version(package)
        except PackageNotFoundError:
            continue
    return out


@dataclass(frozen=True)
class Columns:
    """How the rows of some methods are shown."""

    names: tuple[str, ...]
    words: Callable[[Row], Sequence[str]]

    def lines(self, rows: Iterable[Row]) -> list[str]:
        shown = [self.names, ("---",) * len(self.names), *(self.words(row) for row in rows)]
        return ["| " + " | ".join(words) + " |" for words in shown]

    def head(self) -> None:
        print("\n".join(self.lines([])), flush=True)

    def show(self, row: Row) -> None:
        print(self.lines([row])[-1], flush=True)


def keep(file: Path | None, what: str, clock: str, rows: Sequence[Row], tables: dict[str, Columns]) -> None:
    """Rows of the file by other names stay, with the versions they were made with. The tables, by title, stand in a
    Markdown file beside it; a row belongs to the one that is named like its `kind`."""
    if file is None:
        return
    stored = json.loads(file.read_text())["rows"] if file.is_file() else []
    for row in rows:
        row.setdefault("versions", versions())
    names = {_name(row) for row in rows}
    merged = [row for row in stored if _name(row) not in names] + list(rows)
    file.parent.mkdir(parents=True, exist_ok=True)
    made = {"what": what, "clock": clock, "machine": machine(), "rows": merged}
    file.write_text(json.dumps(made, indent=1, default=_plain) + "\n")
    file.with_suffix(".md").write_text("\n".join(_page(made, tables)) + "\n", encoding="utf-8")


def _page(made: Row, tables: dict[str, Columns]) -> Iterator[str]:
    """What the file says, for readers."""
    computer, rows = made["machine"], made["rows"]
    yield f"# Results of `benchmarks/{made['what']}.py`"
    yield ""
    used = {
        package: sorted({row["versions"][package] for row in rows if package in row["versions"]})
        for package in ("python", *PACKAGES)
    }
    packages = ", ".join(f"{name} {' and '.join(found)}" for name, found in used.items() if found)
    where = f"{computer['cores']} cores ({computer['model']}, {computer['system']}), one used"
    yield f"{where}; {made['clock']} seconds; {packages}."
    for title, columns in tables.items():
        mine = [row for row in rows if row["kind"] == title]
        if mine:
            yield from ("", f"## {title}", "", *columns.lines(mine))


def _name(row: Row) -> tuple[str, str]:
    return row["instance"], row.get("method", "")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def figure(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}".replace(",", " ")


def said(row: Row) -> str:
    """The status, and why there is nothing where there is nothing; other notes are for the file."""
    return row["status"] + ("" if row.get("audit") else "".join(f" ({note})" for note in row.get("notes", ())))


def share(value: float | None) -> str:
    return "–" if value is None else (f"{value:.1e}" if 0 < value < 1e-4 else f"{100 * value:.2f} %")
