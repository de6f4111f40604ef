"""`--max-memory` and `--max-time` (`--time-limit` where nothing is searched) of a whole command: when one is reached
nothing is written, and the exit code is 5.

Solvers and data libraries do not let anybody in while they compute, and some end the process when an allocation fails.
So with a limit the command runs in a process of its own, and the one that was started watches it, with everything it
starts in turn. What the watcher is told by `committing` ends the watch: half a release would be worse than a late one.
"""

from __future__ import annotations

import functools
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import click

from sdcdsl.cli import PROGRAM, exits
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.streams import written
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.diagnostics.render import render
from sdcdsl.diagnostics.render.json import as_json

EVERY = 0.05  # seconds between two looks
SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS = {"": 1, "s": 1, "min": 60, "m": 60, "h": 3600}
_to_watcher: int | None = None  # in the process that works


class Duration(click.ParamType):
    """`90`, `90s`, `10 min`, `1h`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|m|h|)\s*", str(value))
        if found is None:
            self.fail(f"{value} is no time: 90s, 10min, 1h", param, ctx)
        return float(found[1]) * _UNITS[found[2]]


class Size(click.ParamType):
    """`500MB`, `2 GB`, `1.5G`; bytes without a unit."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(value).lower())
        size = 0 if found is None else int(float(found[1]) * SIZES[found[2]] * (1024 / 1000) ** _steps(found))
        if size <= 0:
            self.fail(f"{value} is no size: 500MB, 2GB", param, ctx)
        return size


def _steps(found: re.Match[str]) -> int:
    """How many factors of 1 024 / 1 000 a binary unit has over the decimal one."""
    return " kmgt".index(found[2] or " ") if found[3] else 0


def limited(nothing: Mapping[str, Any], *, time: str = "--max-time") -> Callable[[Callable], Callable]:
    """Gives a command `--max-memory`, and a limit of time for all of it: `--max-time` where `--time-limit` is that of a
    search, which ends with the best it has. `nothing` is what its JSON document holds when nothing was done."""

    def decorate(command: Callable) -> Callable:
        @functools.wraps(command)
        def run(*args: Any, max_memory: int | None, **given: Any) -> Any:
            seconds = given.pop(time.removeprefix("--").replace("-", "_"))
            if max_memory is None and seconds is None:
                return command(*args, **given)
            if click.get_current_context().find_root().obj != PROGRAM:  # dividing somebody else's process runs it twice
                raise click.UsageError("limits of a whole run are for the command line")
            stopped = _watching(max_memory, seconds)
            if stopped is None:  # the process that works
                return command(*args, **given)
            in_json = given.get("as_document") or given.get("as_json") or given.get("output") == "json"
            return _say(stopped, nothing if in_json else None)

        run = click.option(
            "--max-memory",
            type=Size(),
            metavar="SIZE",
            help="End with exit code 5, and nothing written, before the run takes more: 500MB, 8GB.",
        )(run)
        help = "End with exit code 5, and nothing written, after this time: 90s, 10min, 1h."
        return click.option(time, type=Duration(), help=help)(run)

    return decorate


def committing() -> None:
    """From here on files get their names: limits are not looked at any more."""
    if _to_watcher is not None:
        os.write(_to_watcher, b".")


def committed(code: int) -> None:
    """Files are written: this is the exit code, whatever happens to the process now."""
    written(code)
    if _to_watcher is not None:
        os.write(_to_watcher, b"!" + bytes([code]))


def out_of_memory() -> Diagnostic:
    return diagnostic(
        "SDC516",
        "there is not enough memory for this run",
        help="`sdcdsl plan` says how large the problem is; fewer --jobs take less",
    )


# ---- the process that watches ------------------------------------------------------------------------


def _watching(memory: int | None, seconds: float | None) -> Diagnostic | None:
    """None in the process that works. In the other one it ends with the exit code of the work, or says why it had to
    stop it."""
    global _to_watcher  # noqa: PLW0603  one process, one watcher
    if not hasattr(os, "fork"):
        raise click.UsageError("limits of a whole run need a system with `fork`, such as Linux or macOS")
    if memory is not None and not Path("/proc/self/statm").exists():
        raise click.UsageError("--max-memory needs /proc, as Linux has it")
    sys.stdout.flush()
    sys.stderr.flush()
    read, write = os.pipe()
    worker = os.fork()
    if not worker:
        os.close(read)
        _to_watcher = write
        return None
    os.close(write)
    os.set_blocking(read, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to both, and the work knows what to do
    signal.signal(signal.SIGTERM, lambda *_: os.kill(worker, signal.SIGTERM))
    return _watched(worker, read, memory, seconds)


def _watched(worker: int, channel: int, memory: int | None, seconds: float | None) -> Diagnostic:
    begun, heard = monotonic(), b""
    while True:
        ended, status = os.waitpid(worker, os.WNOHANG)
        heard += _heard(channel)
        if ended:
            return _ended(os.waitstatus_to_exitcode(status), heard)
        if not heard:
            used = _used(worker) if memory is not None else 0
            if memory is not None and used > memory:
                _end(worker)
                return diagnostic("SDC516", f"the run needs more memory than {_size(memory)}; nothing was written")
            if seconds is not None and monotonic() - begun > seconds:
                _end(worker)
                return diagnostic("SDC516", f"the run takes longer than {seconds:g} s; nothing was written")
        sleep(EVERY)


def _heard(channel: int) -> bytes:
    try:
        return os.read(channel, 100)
    except BlockingIOError:
        return b""


def _ended(code: int, heard: bytes) -> Diagnostic:
    if code >= 0:
        sys.exit(code)
    _, written_files, its_code = heard.partition(b"!")
    if written_files:
        echo("the run was ended from outside, after all files were written", err=True)
        sys.exit(its_code[0])
    if heard:
        headline = "the run was ended from outside at its very end"
        note = "if files were getting their names, the next command there finishes that, or takes it back"
        return diagnostic("SDC516", headline, notes=[note])
    if -code == signal.SIGKILL:  # mostly the system's own way out when memory is used up
        return diagnostic("SDC516", "the run was ended from outside; mostly because the machine ran out of memory")
    if -code in (signal.SIGINT, signal.SIGTERM):
        sys.exit(exits.STOPPED)
    name = signal.Signals(-code).name
    echo(f"a bug in sdcdsl or in a library it uses: the run ended with {name}; nothing was released", err=True)
    sys.exit(exits.BUG)


def _end(worker: int) -> None:
    """The process and everything it started."""
    for process in [worker, *_below(worker)]:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    os.waitpid(worker, 0)


def _below(process: int) -> list[int]:
    out: list[int] = []
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found = [int(child) for child in tasks.read_text().split()]
        except OSError:
            continue
        out += [one for child in found for one in (child, *_below(child))]
    return out


def _used(worker: int) -> int:
    """Bytes that only these processes hold: resident, without what is a copy of a file."""
    pages = 0
    for process in [worker, *_below(worker)]:
        try:
            _, resident, shared = Path(f"/proc/{process}/statm").read_text().split()[:3]
        except OSError:  # it has just ended
            continue
        pages += int(resident) - int(shared)
    return pages * os.sysconf("SC_PAGE_SIZE")


def _size(count: int) -> str:
    unit = next((u for u in "tgm" if count >= SIZES[u]), "k")
    return f"{count / SIZES[unit]:.4g} {unit.upper() if unit != 'k' else 'k'}B"


def _say(found: Diagnostic, nothing: Mapping[str, Any] | None) -> None:
    if nothing is not None:
        echo_json({**nothing, "diagnostics": [as_json(found)], "exit": exits.LIMIT})
    else:
        echo(render([found], "text"), nl=False, err=True)
    sys.exit(exits.LIMIT)
