"""How other programs are asked: installed by pip into environments of their own, run apart, given the table as files.

The scripts `peer_*.py` run in those environments and know nothing of this program. What comes back is judged like ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows: nothing is locked there
    fcntl = None

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
from measuring import audited, figure
from registry import Columns, Entry, Row, Setting

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import hidden

KIND = "Peers"
WITH_DIMENSIONS = ("small", "mid")  # tables that modular can be given: it works on hierarchies, not on relations
SCRIPTS = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Peer:
    package: str
    setting: dict[str, Any]
    largest: int  # tables of more cells it is not asked for: it gives nothing in ten minutes
    seconds: float  # what it may take: it stops there, or is known to be done by then


MODULAR = "τ-ARGUS modular"
PEERS = {
    "gconfid, known ± 50 %": Peer("gconfid", {"times": 2, "costs": ["Size", "Information"]}, 20_000, 900.0),
    "gconfid, 0 to twice": Peer("gconfid", {"times": 1, "costs": ["Size", "Information"]}, 20_000, 900.0),
    "τ-ARGUS OPT": Peer("pytauargus", {"do": "optimal", "minutes": 2}, 1_000, 150.0),
    MODULAR: Peer("pytauargus", {"do": "modular", "minutes": 2}, 20_000, 300.0),
}
AUDITS = {"τ-ARGUS": "pytauargus", "gconfid": "gconfid"}


@dataclass(frozen=True, eq=False)
class Outcome:
    peer: str
    version: str | None = None
    cpu: float | None = None
    hidden: np.ndarray | None = None  # bool [cell]
    said: str = ""
    memory: float | None = None  # GB


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
        home = self.folder.absolute() / package  # peers run in folders of their own
        python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        done = home / "installed"
        with _alone(home.with_name(f"{package}.lock")):
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


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Rows of other suites may want the same peer at the same time (`--jobs`)."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as held:
        if fcntl is not None:
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def ask(name: str, problem: TableProblem, workshop: Workshop, patience: float = 3600, **changed: Any) -> Outcome:
    """What one peer hides; `patience`: seconds on the wall before it is stopped, `changed`: of its setting."""
    peer = PEERS[name]
    if problem.n > peer.largest:
        return Outcome(name, said=f"not asked: more than {peer.largest} cells")
    setting = {key: changed.get(key, value) for key, value in peer.setting.items()}
    got = _asked(peer.package, problem, setting, workshop, patience)
    if isinstance(got, str):
        return Outcome(name, said=got)
    if got["hidden"] is None:
        return Outcome(name, got["version"], got["cpu"], None, got["said"], got.get("memory"))
    cells = np.zeros(problem.n, dtype=bool)
    cells[got["hidden"]] = True
    cells |= problem.dataset["status"].values == "u"
    return Outcome(name, got["version"], got["cpu"], cells, got["said"], got.get("memory"))


def _asked(
    package: str,
    problem: TableProblem,
    setting: dict[str, Any],
    workshop: Workshop,
    patience: float,
    hidden_cells: np.ndarray | None = None,
) -> dict[str, Any] | str:
    """The answer of a peer's script in its own environment, or why there is none."""
    python = workshop.python(package)
    if isinstance(python, str):
        return python
    with tempfile.TemporaryDirectory() as folder:
        table, answer = Path(folder) / "table.jj", Path(folder) / "answer.json"
        table.write_text(as_jj(problem, hidden_cells))
        if setting.get("do") == "modular":
            write_tabular(problem, Path(folder))
        command = [str(python), str(SCRIPTS / f"peer_{package}.py"), str(table), str(answer), json.dumps(setting)]
        try:
            ended = subprocess.run(command, check=False, timeout=patience, capture_output=True, text=True, cwd=folder)
        except subprocess.TimeoutExpired:
            return f"no answer after {patience:.0f} s on the wall"
        if not answer.is_file():
            said = ended.stderr.strip().splitlines() or [f"ended with {ended.returncode}"]
            return said[-1]
        return json.loads(answer.read_text())


def as_jj(problem: TableProblem, hidden_cells: np.ndarray | None = None) -> str:
    """For the first attacker; where he knows no upper bound, the largest value is as good as none. Cells that are
    hidden already have the letter m."""
    d = problem.dataset
    a, w, status = d["a"].values, d["w"].values, np.where(d["a"].values > 0, d["status"].values, "z")
    if hidden_cells is not None:
        status = np.where(hidden_cells & (status != "u"), "m", status)
    most = a.max()
    view = d["low"].values[0], d["high"].values[0]
    bounds = np.where(np.isfinite(view[0]), view[0], 0.0), np.where(np.isfinite(view[1]), view[1], most)
    lower, upper = np.zeros(problem.n), np.zeros(problem.n)
    lower[d["cell_at"].values], upper[d["cell_at"].values] = d["lpl"].values, d["upl"].values
    lines = ["0", str(problem.n)]
    for i in range(problem.n):
        costs = f"{a[i]:.12g} {max(w[i], 1):.12g}"
        numbers = (bounds[0][i], bounds[1][i], lower[i], upper[i], 0.0)
        lines.append(f"{i} {costs} {status[i]} {' '.join(f'{number:.12g}' for number in numbers)}")
    order = np.lexsort((d["cell_of"].values, d["equation_of"].values))
    equation, cell, coefficient = (d[name].values[order] for name in ("equation_of", "cell_of", "coefficient"))
    start = np.searchsorted(equation, np.arange(problem.m + 1))
    lines.append(str(problem.m))
    for row, b in enumerate(d["b"].values):
        mine = range(start[row], start[row + 1])
        terms = " ".join(f"{cell[k]} ({coefficient[k]:g})" for k in mine)
        lines.append(f"{b:.12g} {len(mine)} : {terms}")
    return "\n".join(lines) + "\n"


def write_tabular(problem: TableProblem, folder: Path) -> None:
    """The same table with its dimensions, for a batch: codes ; value ; count ; levels ; status, and its metadata."""
    (bound,) = problem.tables
    assert bound.lattice is not None
    d, counts = problem.dataset, bound.quantities.get("count")
    lower, upper = np.zeros(problem.n), np.zeros(problem.n)
    lower[d["cell_at"].values], upper[d["cell_at"].values] = d["lpl"].values, d["upl"].values
    letter = {"u": "U", "s": "S", "z": "P", "m": "U"}
    lines = []
    for i, (value, status) in enumerate(zip(d["a"].values, d["status"].values, strict=True)):
        codes = ";".join(bound.lattice.codes(i).values())
        count = 0 if value == 0 else 5 if counts is None else counts[i]
        word = letter[str(status) if value > 0 else "z"]
        lines.append(f"{codes};{value:.12g};{count:.12g};{lower[i]:.12g};{upper[i]:.12g};{word}")
    (folder / "table.tab").write_text("\n".join(lines) + "\n")
    meta = ['<SEPARATOR> ";"', "<SAFE> S", "<UNSAFE> U", "<PROTECT> P"]
    for side in bound.lattice.dimensions:
        (one,) = side.trees
        (folder / f"{side.name}.hrc").write_text("\n".join(branches(one)) + "\n")
        meta += [side.name, "<RECODEABLE>", f'<TOTCODE> "{side.total}"', "<HIERARCHICAL>"]
        meta += [f'<HIERCODELIST> "{side.name}.hrc"', '<HIERLEADSTRING> "@"']
    meta += ["value", "<NUMERIC>", "<DECIMALS> 0", "freq", "<FREQUENCY>"]
    meta += ["lpl", "<NUMERIC> <LOWERPL>", "upl", "<NUMERIC> <UPPERPL>", "status", "<STATUS>"]
    (folder / "table.rda").write_text("\n".join(meta) + "\n")
    names = "".join(f'"{name}"' for name in bound.dimensions)
    (folder / "table.arb").write_text(
        '<OPENTABLEDATA> "table.tab"\n<OPENMETADATA> "table.rda"\n'
        f'<SPECIFYTABLE> {names}|"value"||\n<SAFETYRULE>\n<READTABLE> 1\n'
        '<SUPPRESS> MOD(1,5,0,0,0)\n<WRITETABLE> (1,3,AS+,"out.csv")\n'
    )


def branches(one: CodeTree) -> Iterator[str]:
    """The codes below the total, each behind what it is part of, with an @ a level."""

    def below(code: int, depth: int) -> Iterator[str]:
        for part in np.flatnonzero(one.parent == code).tolist():
            yield "@" * depth + one.codes[part]
            yield from below(part, depth + 1)

    return below(0, 0)


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
        "memory": outcome.memory,
        "notes": [outcome.said] if outcome.said else [],
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


# ---- rows -----------------------------------------------------------------------------------------------------------


def entry_of(instance: str, peer: str, make: Callable[[], TableProblem], here: bool = True, **more: Any) -> Entry:
    """What a peer makes of a table; `more`: of the entry."""
    return Entry(
        KIND,
        instance,
        peer,
        lambda setting: peer_row(instance, peer, make(), setting),
        PEERS[peer].seconds,
        here=here,
        longer=600.0,
        peer=True,
        **more,
    )


def peer_row(instance: str, peer: str, problem: TableProblem, setting: Setting) -> Row:
    options = setting.options
    outcome = ask(peer, problem, Workshop(Path(setting.cache)), options["patience"], minutes=options["minutes"])
    row = judged(instance, problem, outcome)
    if outcome.hidden is not None and options["their_audits"]:
        row["audits"] = their_audits(problem, outcome.hidden, setting)
    return row


def their_audits(problem: TableProblem, cells: np.ndarray, setting: Setting) -> dict[str, Row]:
    """What the audits of the peers say of a pattern, whoever made it."""
    workshop, patience = Workshop(Path(setting.cache)), setting.options["patience"]
    out = {}
    for name, package in AUDITS.items():
        got = _asked(package, problem, {"do": "audit"}, workshop, patience, cells)
        if isinstance(got, str):
            out[name] = {"said": got}
            continue
        found = {int(cell): (low, high) for cell, low, high in got["intervals"]}
        out[name] = {"short": _short(problem, found), "cpu": got["cpu"], "version": got["version"]}
    return out


def _short(problem: TableProblem, found: dict[int, tuple[float, float]]) -> int:
    """Sensitive cells whose interval, as the peer computed it, misses a level; a cell without an interval does."""
    d = problem.dataset
    a = d["a"].values
    missed = set()
    for cell, lpl, upl in zip(d["cell_at"].values, d["lpl"].values, d["upl"].values, strict=True):
        low, high = found.get(int(cell), (a[cell], a[cell]))
        slack = 1e-6 * max(1.0, abs(a[cell]))
        if low > a[cell] - lpl + slack or high < a[cell] + upl - slack:
            missed.add(int(cell))
    return len(missed)


def without_zeros(problem: TableProblem) -> TableProblem:
    """Cells of 0 have to be published, as for the peers."""
    d = problem.dataset
    status = np.where((d["a"].values == 0) & (d["status"].values == "s"), "z", d["status"].values)
    return replace(problem, dataset=d.assign(status=("cell", status)))


OPTIONS = {"minutes": 2, "patience": 3600.0, "their_audits": 0}
