"""Other programs on the same tables: installed by pip into environments of their own, run apart, audited like ours.

    python benchmarks/peers.py --cache FOLDER       # small and mid, minutes; environments stay in the folder
    python benchmarks/peers.py small business-0 --minutes 1

gconfid (Statistics Canada) and pytauargus (τ-ARGUS with an open solver) get the cells, relations, levels and costs as a
JJ file, cells of 0 published: neither of them may hide those. Their CPU seconds are those of the one call, without
loading and reading. A peer that cannot be installed is named with the reason, and the others run.

gconfid runs twice. "known ± 50 %" has the settings of the figures that we promise to be better than: there a cell moves
by no more than half its value. "0 to twice" is closer to what our attacker knows (0 and above), and costs less.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
from instances import BENCH, bench, business
from measuring import Columns, Row, audited, figure, keep

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import hidden

KIND = "Peers"
SCRIPTS = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Peer:
    package: str
    setting: dict[str, Any]
    largest: int  # tables of more cells it is not asked for: it gives nothing in ten minutes


PEERS = {
    "gconfid, known ± 50 %": Peer("gconfid", {"times": 2, "costs": ["Size", "Information"]}, 20_000),
    "gconfid, 0 to twice": Peer("gconfid", {"times": 1, "costs": ["Size", "Information"]}, 20_000),
    "τ-ARGUS OPT": Peer("pytauargus", {"minutes": 2}, 1_000),
}


@dataclass(frozen=True, eq=False)
class Outcome:
    peer: str
    version: str | None = None
    cpu: float | None = None
    hidden: np.ndarray | None = None  # bool [cell]
    said: str = ""


@dataclass
class Workshop:
    """Where the peers are installed; each once."""

    folder: Path
    _ready: dict[str, Path | str] = field(default_factory=dict)

    def python(self, package: str) -> Path | str:
        """The interpreter of a peer's environment, or why there is none."""
        if package not in self._ready:
            self._ready[package] = self._install(package)
        return self._ready[package]

    def _install(self, package: str) -> Path | str:
        home = self.folder / package
        python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        done = home / "installed"
        if done.is_file():
            return python
        for command in (
            [sys.executable, "-m", "venv", str(home)],
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package],
        ):
            ended = subprocess.run(command, check=False, capture_output=True, text=True)
            if ended.returncode:
                said = (ended.stderr or ended.stdout).strip().splitlines() or ["no word why"]
                return f"{package} could not be installed: {said[-1]}"
        done.touch()
        return python


def ask(name: str, problem: TableProblem, workshop: Workshop, patience: float = 3600, **changed: Any) -> Outcome:
    """What one peer hides; `patience`: seconds on the wall before it is stopped, `changed`: of its setting."""
    peer = PEERS[name]
    if problem.n > peer.largest:
        return Outcome(name, said=f"not asked: more than {peer.largest} cells")
    python = workshop.python(peer.package)
    if isinstance(python, str):
        return Outcome(name, said=python)
    setting = {key: changed.get(key, value) for key, value in peer.setting.items()}
    with tempfile.TemporaryDirectory() as folder:
        table, answer = Path(folder) / "table.jj", Path(folder) / "answer.json"
        table.write_text(as_jj(problem))
        script = SCRIPTS / f"peer_{peer.package}.py"
        command = [str(python), str(script), str(table), str(answer), json.dumps(setting)]
        try:
            ended = subprocess.run(command, check=False, timeout=patience, capture_output=True, text=True, cwd=folder)
        except subprocess.TimeoutExpired:
            return Outcome(name, said=f"no answer after {patience:.0f} s on the wall")
        if not answer.is_file():
            said = ended.stderr.strip().splitlines() or [f"ended with {ended.returncode}"]
            return Outcome(name, said=said[-1])
        got = json.loads(answer.read_text())
    if got["hidden"] is None:
        return Outcome(name, got["version"], got["cpu"], None, got["said"])
    cells = np.zeros(problem.n, dtype=bool)
    cells[got["hidden"]] = True
    return Outcome(name, got["version"], got["cpu"], cells | (problem.dataset["status"].values == "u"), got["said"])


def as_jj(problem: TableProblem) -> str:
    """For one attacker who knows 0 and above; the largest value is as good as no bound for both peers."""
    d = problem.dataset
    a, w, status = d["a"].values, d["w"].values, np.where(d["a"].values > 0, d["status"].values, "z")
    most = a.max()
    lower, upper = np.zeros(problem.n), np.zeros(problem.n)
    lower[d["cell_at"].values], upper[d["cell_at"].values] = d["lpl"].values, d["upl"].values
    lines = ["0", str(problem.n)]
    for i in range(problem.n):
        costs = f"{a[i]:.12g} {max(w[i], 1):.12g}"
        lines.append(f"{i} {costs} {status[i]} 0 {most:.12g} {lower[i]:.12g} {upper[i]:.12g} 0")
    order = np.lexsort((d["cell_of"].values, d["equation_of"].values))
    equation, cell, coefficient = (d[name].values[order] for name in ("equation_of", "cell_of", "coefficient"))
    start = np.searchsorted(equation, np.arange(problem.m + 1))
    lines.append(str(problem.m))
    for row, b in enumerate(d["b"].values):
        mine = range(start[row], start[row + 1])
        terms = " ".join(f"{cell[k]} ({coefficient[k]:g})" for k in mine)
        lines.append(f"{b:.12g} {len(mine)} : {terms}")
    return "\n".join(lines) + "\n"


def secondary(problem: TableProblem, cells: np.ndarray) -> np.ndarray:
    """The hidden cells that nobody asked for."""
    d = problem.dataset
    return cells & d["published"].values & ~np.isin(d["status"].values, ("u", "m"))


def judged(instance: str, problem: TableProblem, outcome: Outcome) -> Row:
    """A row like ours: costs by our weights, the verdict of our audit."""
    row: Row = {
        "kind": KIND,
        "instance": instance,
        "method": outcome.peer,
        "version": outcome.version,
        "cells": problem.n,
        "sensitive": len(problem.sensitive),
        "cpu": outcome.cpu,
        "notes": [outcome.said] if outcome.said else [],
        "load": round(os.getloadavg()[0], 1),
    }
    if outcome.hidden is None:
        return row | {"status": "nothing", "audit": "no release"}
    w, chosen = problem.dataset["w"].values, secondary(problem, outcome.hidden)
    found = audited(problem, hidden(problem.dataset["a"].values, outcome.hidden))
    costs = {"secondary_cost": float(w[chosen].sum()), "objective": float(w[outcome.hidden].sum())}
    return row | {"status": "pattern", "secondary": int(chosen.sum())} | costs | found


def _words(row: Row) -> tuple[str, ...]:
    counted = figure(row.get("secondary")), figure(row.get("secondary_cost"))
    verdict = row["audit"], figure(row.get("short")), "; ".join(row["notes"])
    return row["instance"], row["method"], row["version"] or "–", figure(row["cpu"], 1), *counted, *verdict


COLUMNS = Columns(
    ("instance", "peer", "version", "CPU s", "secondary cells", "secondary cost", "audit", "short", "said"), _words
)


def problem_of(name: str) -> TableProblem | None:
    """`small`, `mid`, or `business-SEED`; None without the data."""
    if name.startswith("business-"):
        return business(seed=int(name.removeprefix("business-")))
    return bench(name) if (BENCH / name).is_dir() else None


def together(names: Iterable[str], workshop: Workshop, patience: float, minutes: int) -> Iterable[Row]:
    for name in names:
        problem = problem_of(name)
        if problem is None:
            print(f"{name}: left out, its data is not beside the repository", file=sys.stderr)
            continue
        for peer in PEERS:
            yield judged(name, problem, ask(peer, problem, workshop, patience, minutes=minutes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=["small", "mid"], help="small, mid, business-SEED")
    parser.add_argument("--cache", type=Path, help="folder of the environments; without it they are made anew")
    parser.add_argument("--minutes", type=int, default=2, help="the limit of OPT, of CPU time")
    parser.add_argument("--patience", type=float, default=3600, help="seconds on the wall for one peer and table")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    COLUMNS.head()
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(options.cache or Path(folder))
        for row in together(options.tables, workshop, options.patience, options.minutes):
            COLUMNS.show(row)
            keep(options.json, "peers", "cpu", [row], {KIND: COLUMNS})


if __name__ == "__main__":
    main()
