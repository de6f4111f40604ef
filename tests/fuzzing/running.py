"""One reader in a process of its own: what it is reading, how long for, how much memory it takes.

The process writes down every input before it reads it, in a file that both map into memory; whoever started it looks
every few moments. So an input that hangs in compiled code, or takes the process down, is known all the same.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

LONGEST = 64_000  # bytes of an input
HANGS = 10.0  # seconds of CPU for one input: the machine may have other work
SLEEPS = 900.0  # seconds on the wall for one input
ROOM = 1 << 30  # bytes that reading may add to what the process needs anyway
HEAD = struct.Struct("=QdQ")  # inputs so far, the slowest of them in seconds, length of the one that is read now
EVERY = 0.5
MOST_PROCESSES = 50  # of one reader: who dies more often than that needs no further input
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Outcome:
    reader: str
    engine: str
    inputs: int = 0
    cpu: float = 0.0
    slowest: float = 0.0
    most_memory: int = 0  # bytes resident, of any of the processes
    findings: list[dict[str, str]] = field(default_factory=list)


class Slate:
    """What parent and child both see."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), HEAD.size + LONGEST)

    def read(self) -> tuple[int, float, bytes]:
        count, slowest, length = HEAD.unpack_from(self._map)
        return count, slowest, self._map[HEAD.size : HEAD.size + length]

    def begin(self, raw: bytes) -> None:
        count, slowest, _ = HEAD.unpack_from(self._map)
        HEAD.pack_into(self._map, 0, count + 1, slowest, len(raw))
        self._map[HEAD.size : HEAD.size + len(raw)] = raw

    def end(self, seconds: float) -> None:
        count, slowest, length = HEAD.unpack_from(self._map)
        HEAD.pack_into(self._map, 0, count, max(slowest, seconds), length)


# ---- in the child ------------------------------------------------------------------------------------


def child(reader: str, engine: str, limit: dict[str, float], seed: int, folder: Path) -> None:
    if engine == "atheris":
        import atheris  # noqa: PLC0415

        with atheris.instrument_imports(include=["sdcdsl"]):
            from tests.fuzzing.targets import TARGETS  # noqa: PLC0415
    else:
        from tests.fuzzing.targets import TARGETS  # noqa: PLC0415
    target = TARGETS[reader]
    room = folder / "room"
    room.mkdir(exist_ok=True)
    seeds = target.seeds()
    for raw in seeds:  # libraries that are loaded when they are first needed are no part of what an input costs
        target.read(raw, room)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
    read = _noting(target.read, room, folder)
    if engine == "atheris":
        _guided(read, seeds, target.words, limit, seed, folder)
    else:
        _random(read, seeds, target.words, limit, seed)


def _noting(target: Callable[[bytes, Path], None], room: Path, folder: Path) -> Callable[[bytes], None]:
    slate, seen = Slate(folder / "slate"), set()

    def read(raw: bytes) -> None:
        raw = raw[:LONGEST]
        slate.begin(raw)
        begun = time.process_time()
        try:
            target(raw, room)
        except BaseException as error:  # a panic of polars is no Exception
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            where = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}"
            if kind not in seen:
                seen.add(kind)
                note(folder, kind, str(error), raw, "".join(traceback.format_exception(error)[-6:]))
        slate.end(time.process_time() - begun)

    return read


def note(folder: Path, kind: str, message: str, raw: bytes, trace: str = "") -> None:
    name = hashlib.sha256(raw).hexdigest()[:12]
    (folder / "found").mkdir(exist_ok=True)
    (folder / "found" / name).write_bytes(raw)
    entry = {"kind": kind, "message": message[:500], "input": name, "trace": trace[-3000:]}
    with (folder / "findings.jsonl").open("a") as file:
        file.write(json.dumps(entry) + "\n")


def _random(read: Callable[[bytes], None], seeds: list[bytes], words, limit: dict[str, float], seed: int) -> None:
    from tests.fuzzing.mutating import mutated  # noqa: PLC0415

    begun, made = time.process_time(), mutated(seeds, words, random.Random(seed))
    for count, raw in enumerate(made, 1):
        read(raw)
        if count >= limit["inputs"] or time.process_time() - begun >= limit["seconds"]:
            return


def _guided(read, seeds: list[bytes], words, limit: dict[str, float], seed: int, folder: Path) -> None:
    import atheris  # noqa: PLC0415

    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for raw in seeds:
        (corpus / hashlib.sha256(raw).hexdigest()[:16]).write_bytes(raw)
    escaped = ('"' + "".join(f"\\x{byte:02x}" for byte in word.encode()) + '"' for word in words)
    (folder / "words").write_text("\n".join(escaped) + "\n")
    options = {"max_len": LONGEST // 2, "rss_limit_mb": 0, "timeout": 3600, "seed": seed + 1, "print_final_stats": 0}
    options |= {"dict": folder / "words", "verbosity": 0, "len_control": 0}
    until = time.process_time() + limit["seconds"]

    def once(raw: bytes) -> None:
        read(raw)
        if time.process_time() >= until:
            os._exit(0)

    atheris.Setup([sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(corpus)], once)
    atheris.Fuzz()


# ---- in the parent -----------------------------------------------------------------------------------


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with TemporaryDirectory() as name:
        yield Path(name)


def fuzz(
    reader: str,
    *,
    seconds: float = float("inf"),
    inputs: float = float("inf"),
    engine: str = "random",
    keep: Path | None = None,
) -> Outcome:
    """Until so many CPU seconds or inputs are used up. A process that dies or hangs is a finding; another goes on."""
    out, seed = Outcome(reader, engine), 0
    with _folder(keep) as folder:
        while out.inputs < inputs and out.cpu < seconds and seed < MOST_PROCESSES:
            ended = _one(out, folder, seconds - out.cpu, inputs - out.inputs, seed)
            if ended == 0:
                break
            seed += 1
        if (folder / "findings.jsonl").exists():
            out.findings = [json.loads(line) for line in (folder / "findings.jsonl").read_text().splitlines()]
    return out


def _one(out: Outcome, folder: Path, seconds: float, inputs: float, seed: int) -> int:
    """One process, and what it left behind; 0 if it ended by itself."""
    slate_file = folder / "slate"
    slate_file.write_bytes(bytes(HEAD.size + LONGEST))
    slate, said = Slate(slate_file), folder / "said"
    wanted = [out.reader, out.engine, str(seconds), str(inputs), str(seed), str(folder)]
    few = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONMALLOC": "malloc"}
    with said.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzzing.running", *wanted],
            env={**os.environ, **few},
            stdout=stream,
            stderr=stream,
        )
        hung = _watched(process, slate, out)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    count, slowest, raw = slate.read()
    out.inputs += count
    out.slowest = max(out.slowest, slowest)
    out.cpu += used.ru_utime + used.ru_stime
    out.most_memory = max(out.most_memory, used.ru_maxrss * 1024)
    if hung:
        note(folder, "hang", f"more than {HANGS:g} CPU seconds, or {SLEEPS:g} s", raw)
    elif code:
        note(folder, f"the process ended with {code}", said.read_text(errors="replace")[-500:], raw)
    if code and not count:
        raise RuntimeError(f"{out.reader}: the process did not start: {said.read_text(errors='replace')[-2000:]}")
    return code


def _watched(process: subprocess.Popen, slate: Slate, out: Outcome) -> bool:
    """Waits without reaping; True if one input took too long and the process was ended for it."""
    last, since, used = -1, time.monotonic(), 0.0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(EVERY if last > 0 else 0.1)
        count, _, _ = slate.read()
        if count != last:
            last, since, used = count, time.monotonic(), _cpu(process.pid)
        elif count and (_cpu(process.pid) - used > HANGS or time.monotonic() - since > SLEEPS):
            os.kill(process.pid, signal.SIGKILL)  # Popen.kill would reap a process that has just ended
            return True
    return False


def _cpu(process: int) -> float:
    """CPU seconds of a process that has not been waited for."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    _reader, _engine, _seconds, _inputs, _seed, _where = sys.argv[1:]
    child(_reader, _engine, {"seconds": float(_seconds), "inputs": float(_inputs)}, int(_seed), Path(_where))
