"""One run of `protect` with faults in it: what was released, if anything was, is judged."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from sdcdsl.cli import cli
from tests.bind.policies import problem_of
from tests.by_search import by_search
from tests.faults.injecting import Faults, injected
from tests.faults.judging import wrong_with
from tests.faults.worlds import policy


@dataclass
class Tally:
    runs: int = 0
    injected: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)  # by exit code, or the exception nobody caught
    released: int = 0  # all judged safe
    released_with_faults: int = 0
    by_method: Counter[str] = field(default_factory=Counter)  # releases with faults on the way, all judged
    unsafe: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)  # neither released nor a diagnostic

    def add(self, other: Tally) -> None:
        self.runs += other.runs
        self.injected += other.injected
        self.ends += other.ends
        self.released += other.released
        self.released_with_faults += other.released_with_faults
        self.by_method += other.by_method
        self.unsafe += other.unsafe
        self.silent += other.silent


def tried(place: str, method: str, seed: int, often: float = 0.3) -> Tally:
    """`place` is one of `injecting.PLACES`, or nothing for a run without faults. Every other run is one of a search,
    and not of the model that solves tables as small as these."""
    chance = random.Random(f"{place} {method} {seed}")
    text, faults, name = policy(method, chance), Faults(chance, often), f"{place}, {method}, seed {seed}"
    out = Tally(1)
    with TemporaryDirectory() as room:
        folder = Path(room)
        (folder / "p.sdc").write_text(text, encoding="utf-8")
        with injected(place, faults), by_search() if seed % 2 else nullcontext():
            limit = "2s" if often else "15min"  # wrong answers may keep a search busy; without them it ends by itself
            arguments = ["protect", str(folder / "p.sdc"), "--no-report", "--no-lock", "--time-limit", limit]
            result = CliRunner().invoke(cli, arguments, prog_name="sdcdsl")
        out.injected += faults.injected
        caught = result.exception is None or isinstance(result.exception, SystemExit)
        out.ends["exit " + str(result.exit_code) if caught else type(result.exception).__name__] += 1
        written = sorted(p.name for p in folder.iterdir())
        if written == ["p.sdc", "released.csv"] and result.exit_code == 0:
            out.released, out.released_with_faults = 1, int(bool(faults.injected))
            out.by_method[method] += out.released_with_faults
            out.unsafe += [
                f"{name}: {wrong}" for wrong in wrong_with(folder / "released.csv", problem_of(text, folder))
            ]
        elif written != ["p.sdc"] or result.exit_code == 0:
            out.unsafe.append(f"{name}: exit code {result.exit_code} with the files {written}")
        elif not caught or "SDC5" not in result.output:
            out.silent.append(f"{name}: {result.exception!r} {result.output[-200:]}")
    return out
