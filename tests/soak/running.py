"""Cases one after another in a process of their own, which is watched: it may die, hang or eat the machine's memory."""

from __future__ import annotations

import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.soak.case import METHODS, make_case
from tests.soak.checks import Tale, judge

PATIENCE = 180.0  # seconds on the wall for one case; methods have four
CASES = 150  # a process works on this many, then another takes over: leaks do not add up
LARGEST = 3 * 2**30  # bytes of memory that a process may take


def work(seed: int, methods: tuple[str, ...]) -> None:
    """Numbers of cases come in, one a line, and what became of them goes out."""
    resource.setrlimit(resource.RLIMIT_DATA, (LARGEST, LARGEST))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # solvers print where they like
    for line in sys.stdin:
        case = make_case(seed, int(line), methods)
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            tale = judge(case, Path(folder))
        answers.write(json.dumps(tale.as_json()) + "\n")
        answers.flush()


class Worker:
    def __init__(self, seed: int, methods: tuple[str, ...]):
        command = [sys.executable, "-m", "tests.soak", "--worker", "--seed", str(seed), "--methods", ",".join(methods)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )
        self.done = 0

    def ask(self, number: int, patience: float) -> dict[str, Any] | str:
        """What became of the case, or in words why nobody knows."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(f"{number}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return f"the process ended with {self.process.wait()}"
        ready, _, _ = select.select([self.process.stdout], [], [], patience)
        if not ready:
            self.end()
            return f"no answer after {patience:.0f} s"
        line = self.process.stdout.readline()
        if not line:
            return f"the process ended with {self.process.wait()}"
        self.done += 1
        return json.loads(line)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def run(
    seed: int,
    minutes: float,
    methods: tuple[str, ...] = METHODS,
    first: int = 0,
    cases: int | None = None,
    patience: float = PATIENCE,
) -> Iterator[dict[str, Any]]:
    """Tales until the time is over, or `cases` of them."""
    end = time.monotonic() + 60 * minutes
    number, worker = first, None
    try:
        while time.monotonic() < end and (cases is None or number < first + cases):
            if worker is None or not worker.alive or worker.done >= CASES:
                if worker is not None:
                    worker.end()
                worker = Worker(seed, methods)
            said = worker.ask(number, patience)
            yield said if isinstance(said, dict) else _lost(seed, number, methods, said)
            number += 1
    finally:
        if worker is not None:
            worker.end()


def _lost(seed: int, number: int, methods: tuple[str, ...], why: str) -> dict[str, Any]:
    case = make_case(seed, number, methods)
    tale = Tale(case.name, case.wanted.engine, case.world.kind, end="lost")
    tale.complain("a case without an end", why)
    return tale.as_json()
