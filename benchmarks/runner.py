"""Runs rows of suites: each in a process of its own, shown when it is done, kept in a JSON file.

A row that crashes or never ends costs that row, not the run. Every row is kept with the peak of its memory, the
versions it was made with, the day and the command; rows of the same file by other names stay as they are, so that a
long run can be done in parts. With `--jobs` several suites are measured side by side, the rows of each one by one.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from threading import Lock
from time import monotonic

from measuring import machine, memory_here, peak_memory, plain, versions
from registry import Done, Entry, Row, Setting, Suite, foreseen
from report import written

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
ENDED = ("optimal", "feasible", "pattern", "done")
HOPELESS = 2.0  # times its limit: a row of a series that would take so long is not begun
TELLING = 0.02  # of its limit: a row that took less may have spent it on loading and compiling
CROWDED = 0.85  # of the machine's memory: nor one that would take so much of it


def main(found: Sequence[Suite], about: str | None = None, arguments: Sequence[str] | None = None) -> int:
    """The command of a suite, or of several."""
    options = _arguments(found, about, arguments)
    if options.child:
        _child(found, options)
        return 0
    chosen = [suite for suite in found if options.suites is None or suite.name in options.suites.split(",")]
    if options.list:
        for suite in chosen:
            for entry in suite.entries({}):
                phases = "/".join(entry.phases)
                print(f"{suite.name:<12} {entry.instance:<28} {entry.method:<12} {phases:<18} {entry.about}")
        return 0
    Run(options).all(chosen)
    return 0


def _arguments(found: Sequence[Suite], about: str | None, given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="instances, or `instance:method`, with * for anything, by commas")
    parser.add_argument("--limit", type=float, help="no method gets more seconds than this: for a quick look")
    clocks = parser.add_mutually_exclusive_group()
    clocks.add_argument("--cpu-clock", dest="clock", action="store_const", const="cpu", help="the default")
    clocks.add_argument("--wall-clock", dest="clock", action="store_const", const="wall")
    into = parser.add_mutually_exclusive_group()
    into.add_argument("--json", type=Path, metavar="FILE", help="rows go there; those of other names stay")
    into.add_argument("--results", type=Path, metavar="FOLDER", help="rows go to a file of this folder for each suite")
    parser.add_argument("--cache", default="", help="folder of the peers' environments; without it no peer is asked")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--quick", action="store_true", help="only rows of the quick run, with its limits")
    parser.add_argument("--within", type=float, help="seconds on the wall after which no further row is begun")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many suites at a time; one if not given")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    parser.add_argument("--suites", help="names by commas" if len(found) > 1 else argparse.SUPPRESS)
    known: set[str] = set()
    for suite in found:
        for name, value in suite.options.items():
            if name not in known:
                parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=None)
            known.add(name)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    parser.set_defaults(clock="cpu")
    return parser.parse_args(given)


# ---- a row, in its own process ------------------------------------------------------------------------------------


def _child(found: Sequence[Suite], options: argparse.Namespace) -> None:
    asked = json.loads(options.child)
    (suite,) = (suite for suite in found if suite.name == asked["suite"])
    row = measure(suite.find(asked["instance"], asked["method"]), Setting(**asked["setting"]))
    options.answer.write_text(json.dumps(row, default=plain))


def measure(entry: Entry, setting: Setting) -> Row:
    """A row with what all rows have."""
    row = {"instance": entry.instance, "method": entry.method, "limit": setting.limit} | entry.measure(setting)
    row.setdefault("memory", peak_memory())
    row.setdefault("load", round(os.getloadavg()[0], 1))
    return row


def apart(suite: str, entry: Entry, setting: Setting, most: float = float("inf")) -> Row | None:
    """The same in a fresh process, which gets ten times its seconds on the wall and ten minutes. None: `most` seconds
    were over before that, which says nothing about the row."""
    asked = {"suite": suite, "instance": entry.instance, "method": entry.method, "setting": asdict(setting)}
    patience = min(600 + 10 * (setting.limit + entry.longer), most)
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "row.json"
        command = [sys.executable, str(HERE / f"{suite}.py"), "--child", json.dumps(asked), "--answer", str(answer)]
        paths = os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
        try:
            ended = subprocess.run(
                command,
                check=False,
                timeout=patience,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": paths},
            )
        except subprocess.TimeoutExpired:
            return None if patience == most else _nothing(entry, setting, f"no answer after {patience:.0f} s")
        if not answer.is_file():
            said = ended.stderr.strip().splitlines() or [f"ended with {ended.returncode}"]
            return _nothing(entry, setting, " · ".join(text.strip() for text in said[-3:]))
        return json.loads(answer.read_text())


def _nothing(entry: Entry, setting: Setting, why: str) -> Row:
    return {
        "instance": entry.instance,
        "method": entry.method,
        "limit": setting.limit,
        "status": "failed",
        "notes": [why],
    }


# ---- many -----------------------------------------------------------------------------------------------------------


class Run:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.begun = monotonic()
        self.left_out = 0
        self.command = f"python benchmarks/{Path(sys.argv[0]).name} {shlex.join(_told(sys.argv[1:]))}".strip()
        self._shown: tuple[str, str] | None = None  # suite and kind of the row that was shown last
        self._showing = Lock()

    def all(self, chosen: Iterable[Suite]) -> None:
        with ThreadPoolExecutor(self.options.jobs) as workers:
            for ended in [workers.submit(self._suite, suite) for suite in chosen]:
                ended.result()
        if self.left_out:
            print(f"{self.left_out} rows left out: {self.options.within:g} s were over", file=sys.stderr)

    def _suite(self, suite: Suite) -> None:
        done: dict[tuple[str, str], Row] = {}
        for entry, setting in self._wanted(suite, done):
            row = apart(suite.name, entry, setting, self._left())
            if row is None:
                self._leave_out()
                continue
            row["kind"] = entry.kind
            row |= entry.judge(row)
            row["made"] = {"day": datetime.date.today().isoformat(), "command": self.command}
            row.setdefault("versions", versions())
            done[entry.key] = row
            self._show(suite, row)
            self._keep(suite, row)

    def _show(self, suite: Suite, row: Row) -> None:
        lines = suite.tables[row["kind"]].lines([row])
        with self._showing:
            new = self._shown != (suite.name, row["kind"])
            head = ["", f"### {suite.name}: {row['kind']}", "", *lines[:-1]] if new else []
            print("\n".join([*head, lines[-1]]), flush=True)
            self._shown = suite.name, row["kind"]

    def _leave_out(self) -> None:
        with self._showing:
            self.left_out += 1

    def _wanted(self, suite: Suite, done: Done) -> Iterator[tuple[Entry, Setting]]:
        over: set[str] = set()
        options = {
            name: value if getattr(self.options, name) is None else getattr(self.options, name)
            for name, value in suite.options.items()
        }
        for entry in suite.entries(done):
            before = done.get(entry.key)
            if before is not None or not self._asked_for(entry):
                continue
            if not entry.here:
                print(
                    f"{suite.name}: {entry.instance} left out, its data is not beside the repository", file=sys.stderr
                )
                continue
            if entry.series in over:
                continue
            if self._left() <= 0:
                self._leave_out()
                continue
            limit = entry.quick if self.options.quick and entry.quick is not None else entry.limit
            limit = limit if self.options.limit is None else min(limit, self.options.limit)
            if entry.series and (why := _hopeless(entry, done, limit)):
                over.add(entry.series)
                print(f"{suite.name}: {entry.instance} left out, it would take {why}", file=sys.stderr)
                continue
            yield entry, Setting(limit, self.options.clock, self.options.cache, options)
            row = done.get(entry.key)
            if entry.series and (row is None or row["status"] not in ENDED or row.get("cpu", 0.0) > limit):
                over.add(entry.series)

    def _asked_for(self, entry: Entry) -> bool:
        if entry.peer and (self.options.no_peers or not self.options.cache):
            return False
        if self.options.quick and entry.quick is None:
            return False
        names = (entry.instance, f"{entry.instance}:{entry.method}")
        return any(fnmatch(name, pattern) for pattern in self.options.only.split(",") for name in names)

    def _left(self) -> float:
        return float("inf") if self.options.within is None else self.options.within - (monotonic() - self.begun)

    def _keep(self, suite: Suite, row: Row) -> None:
        file = self.options.json or (self.options.results and self.options.results / f"{suite.name}.json")
        if file is not None:
            keep(file, suite, self.options.clock, [row])


def _hopeless(entry: Entry, done: Done, limit: float) -> str:
    """What a row would take of time or memory, if it is far too much as the rows before it in its series grew."""
    rows = [row for (_, method), row in done.items() if method == entry.method and row.get("size")]
    seconds = foreseen([(row["size"], row["cpu"]) for row in rows], entry.size)
    telling = rows and max(row["cpu"] for row in rows) >= TELLING * limit
    if seconds is not None and telling and seconds > HOPELESS * limit:
        return f"{seconds:.0f} s"
    memory = foreseen([(row["size"], row.get("memory", 0.0)) for row in rows], entry.size)
    return f"{memory:.0f} GB" if memory is not None and memory > CROWDED * memory_here() else ""


def _told(words: Sequence[str]) -> list[str]:
    """What was asked for; where rows are kept says nothing about them, and paths of a machine are nobody's business."""
    out = []
    for word, before in zip(words, ["", *words], strict=False):
        if not {word, before} & {"--json", "--results"}:
            out.append("FOLDER" if before == "--cache" else word)
    return out


def keep(file: Path, suite: Suite, clock: str, rows: Sequence[Row]) -> None:
    """Rows of the file by other names stay. What readers see stands in a Markdown file beside it."""
    stored = json.loads(file.read_text())["rows"] if file.is_file() else []
    new = {_key(row): row for row in rows}
    merged = [new.pop(_key(row), row) for row in stored] + list(new.values())
    file.parent.mkdir(parents=True, exist_ok=True)
    made = {"what": suite.name, "clock": clock, "machine": machine(), "rows": merged}
    file.write_text(json.dumps(made, indent=1, default=plain) + "\n")
    written(file, suite)


def _key(row: Row) -> tuple[str, str]:
    return row["instance"], row.get("method", "")
