"""How long `sdcdsl check` takes, as a multiple of importing lark. (At most 3.)

    python benchmarks/startup.py
    python benchmarks/startup.py --repeat 30

Both sides run as fresh processes, alternately, and the smallest CPU time of each counts: noise only ever adds. The
other commands are measured in the same way, against the same import: what loading costs before anything is done.
"""

from __future__ import annotations

import compileall
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from measuring import figure
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

ROOT = Path(__file__).resolve().parent.parent
KIND = "Start-up"
POLICY = str(ROOT / "sdcdsl/cli/starters/microdata.sdc")
MOST = {"check": 3.0}  # times the import of lark
COMMANDS = {
    "check": ["check", POLICY],
    "fmt": ["fmt", "--check", POLICY],
    "help": ["--help"],
    "plan": ["plan", str(ROOT / "examples/turnover/turnover.sdc")],
}


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row_of(name: str, setting: Setting) -> Row:
    compileall.compile_dir(ROOT / "sdcdsl", quiet=1)  # as an installed package is
    lark = [sys.executable, "-c", "import lark"]
    ours = [sys.executable, "-m", "sdcdsl", *COMMANDS[name]]
    pairs = [(cpu_seconds(lark), cpu_seconds(ours)) for _ in range(setting.options["repeat"])]
    base, cpu = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9
    return {"status": "done", "cpu": cpu, "lark": base, "ratio": cpu / base, "memory": memory, "timed": {"read": cpu}}


def entries(done: Done) -> Iterator[Entry]:
    for name in COMMANDS:
        most = MOST.get(name)
        promise = "" if most is None else f"≤ {most:g} × lark"
        yield Entry(
            KIND,
            name,
            "startup",
            lambda setting, name=name: row_of(name, setting),
            60.0,
            ("read",),
            judge=lambda row, most=most, promise=promise: (
                {} if most is None else {"promise": promise, "met": row.get("ratio", most + 1) <= most}
            ),
            about=promise,
            quick=60.0,
        )


def _words(row: Row) -> tuple[str, ...]:
    return (
        row["instance"],
        figure(row.get("cpu"), 3),
        figure(row.get("lark"), 3),
        figure(row.get("ratio"), 2),
        row.get("promise", "–"),
        {True: "yes", False: "**NO**", None: "–"}[row.get("met")],
    )


COLUMNS = Columns(("command", "CPU s", "import lark s", "ratio", "promise", "met"), _words)
SUITE = Suite("startup", __doc__, entries, {KIND: COLUMNS}, {"repeat": 15})

if __name__ == "__main__":
    main([SUITE], __doc__)
