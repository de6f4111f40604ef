"""Kills around a release: whatever call is the last one, the next command leaves all of the old release or all of the
new one.

A run is a process of its own, forked from one that has loaded the program, in which every call that changes a name or
waits for the disk is counted; before the call with a given number it is killed, or the call fails. Then the files are
looked at as they are, and again after `sdcdsl verify`.
"""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

NAMES = ("rename", "replace", "link", "symlink", "unlink", "remove", "mkdir", "rmdir", "fsync")
STAGING = ".sdcdsl-release"
POLICY = """\
sdc 1
policy "Investment"

dimension activity {
  codes I, II, III
  total Total
}

dimension region {
  codes A, B, C
  total Total
}

table investment {
  by activity, region
  values
    | activity \\\\ region |  A |   B |  C | Total |
    | I                 | 20 |  50 | 10 |    80 |
    | II                |  8 |  19 | 22 |    49 |
    | III               | 17 |  32 | 12 |    61 |
    | Total             | 45 | 101 | 44 |   190 |
}

sensitive investment at (activity: @SENSITIVE)

attacker external {
  bounds 0 .. inf
}

protect investment {
  lpl 5
  upl 8
  against external
  cost value
  method csp
@RELEASES
}
""".replace("\\\\", "\\")
OLD, NEW = "II, region: C", "I, region: A"  # two patterns without a cell in common


@dataclass(frozen=True)
class Scenario:
    """A way to call `protect`; `before`: there is an earlier release in the same place."""

    name: str
    releases: tuple[str, ...] = (
        'csv "o.csv"',
        'html "o.html"',
        'parquet "o.parquet"',
        'sdmx "o.sdmx.csv"',
        'jj "o.jj"',
    )
    options: tuple[str, ...] = ()
    lock: str = "p.sdc.lock"
    before: bool = True

    def policy(self, sensitive: str) -> str:
        releases = "\n".join(f"  release {one}" for one in self.releases)
        return POLICY.replace("@SENSITIVE", sensitive).replace("@RELEASES", releases)


_TWO = ('csv "o.csv"', 'argus "deep/er/o.tab"')
_OUT = ("--out", "new/publish")
SCENARIOS = (
    Scenario("five formats, again"),
    Scenario("five formats, for the first time", before=False),
    Scenario("--out, again", _TWO, _OUT, "new/publish/internal/p.sdc.lock"),
    Scenario("--out, a new folder", _TWO, _OUT, "new/publish/internal/p.sdc.lock", before=False),
    Scenario("several folders and a certificate", _TWO, ("--certificate", "proof/p.cert"), "p.sdc.lock"),
)


# ---- runs ------------------------------------------------------------------------------------------------


def loaded() -> None:
    """Everything that a run imports, so that each one starts with it; nothing is run, since threads do not survive a
    fork."""
    import highspy  # noqa: F401, PLC0415
    import polars  # noqa: F401, PLC0415

    import sdcdsl.accelerate.csp.driver  # noqa: PLC0415
    import sdcdsl.cli.protect_display  # noqa: PLC0415
    import sdcdsl.cli.protect_output  # noqa: PLC0415
    import sdcdsl.cli.protect_watching  # noqa: PLC0415
    import sdcdsl.cli.verify_lock  # noqa: PLC0415
    import sdcdsl.pipeline.protect  # noqa: PLC0415
    import sdcdsl.report.page.assembling  # noqa: F401, PLC0415
    from sdcdsl.cli import COMMANDS, cli  # noqa: PLC0415

    for name in COMMANDS:
        cli.get_command(None, name)  # type: ignore[arg-type]


def run(folder: Path, arguments: list[str], at: int = 0, fault: Callable[[str], None] | None = None) -> tuple[int, str]:
    """The exit code, negative after a kill, and what was printed on standard output. `fault` is called before the call
    number `at`, and before all that follow."""
    said = folder.parent / "said"
    child = os.fork()
    if not child:
        try:
            os.chdir(folder)
            out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(out, 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            if fault is not None:
                _count(at, fault)
            os._exit(_command(arguments))
        finally:
            os._exit(99)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, said.read_text()


def _command(arguments: list[str]) -> int:
    import sys  # noqa: PLC0415

    from sdcdsl.cli import main  # noqa: PLC0415

    sys.argv = ["sdcdsl", *arguments]
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  the inherited one is a test's own
    try:
        main()
    except SystemExit as end:
        sys.stdout.flush()
        return end.code if isinstance(end.code, int) else 1
    return 0


def _count(at: int, fault: Callable[[str], None]) -> None:
    """In a process that will not live to see anything else."""
    calls = 0

    def counted(name: str, real: Callable) -> Callable:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal calls
            if name != "open" or args[1] & os.O_CREAT:
                calls += 1
                if calls >= at:
                    fault(name)
            return real(*args, **options)

        return call

    for name in (*NAMES, "open"):
        setattr(os, name, counted(name, getattr(os, name)))


def killed(name: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def full_disk(name: str) -> None:
    """For good: what takes back fails, too."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Once:
    """One call fails, and the next one does not."""

    def __init__(self) -> None:
        self.done = False

    def __call__(self, name: str) -> None:
        if not self.done:
            self.done = True
            raise OSError(errno.EIO, os.strerror(errno.EIO))


# ---- what is there ---------------------------------------------------------------------------------------

Files = dict[str, bytes]


def files_of(folder: Path) -> Files:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class World:
    """One scenario: the folder before the run, and after one that nothing happened to."""

    def __init__(self, scenario: Scenario, room: Path) -> None:
        self.scenario, self.room = scenario, room
        self.arguments = ["protect", "p.sdc", "--today", "2026-01-01", *scenario.options]
        self.start = room / "start"
        self.start.mkdir(parents=True)
        if "--certificate" in scenario.options:
            (self.start / "proof").mkdir()
        if scenario.before:
            self._say(self.start, OLD)
            assert run(self.start, self.arguments)[0] == 0
        self._say(self.start, NEW)
        self.old = files_of(self.start)
        done = self.fresh()
        assert run(done, self.arguments)[0] == 0
        self.new = files_of(done)
        assert not [name for name in (*self.old, *self.new) if STAGING in name]
        self.told = sorted(n for n in self.new if self.old.get(n) != self.new[n] and self._says(n))
        assert len(self.told) >= len(scenario.releases)

    def _says(self, name: str) -> bool:
        """Files that tell old from new by their bytes: the page shows how long it took, and the lock knows the page."""
        return not name.endswith((".internal.html", ".lock"))

    def _say(self, folder: Path, sensitive: str) -> None:
        (folder / "p.sdc").write_text(self.scenario.policy(sensitive), encoding="utf-8")

    def fresh(self) -> Path:
        """A folder as it was before the run; a copy, but for its staging folders nothing knows."""
        folder = self.room / "work"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.start, folder)
        return folder

    # ---- judging -------------------------------------------------------------------------------------

    def wrong_at_once(self, folder: Path) -> Iterator[str]:
        """Nothing has run since: files may be missing, and old and new ones never stand side by side."""
        now = {name: content for name, content in files_of(folder).items() if STAGING not in name}
        new = [name for name in self.told if name in now and now[name] == self.new[name]]
        old = [name for name in self.told if name in now and now[name] == self.old.get(name)]
        other = [name for name in self.told if name in now and name not in (*old, *new)]
        if other:
            yield f"neither old nor new: {other}"
        if old and new:
            yield f"old {old} beside new {new}"
        lock = now.get(self.scenario.lock)
        if lock is not None and lock == self.old.get(self.scenario.lock) and new:
            yield f"the old lock beside new {new}"
        if lock is not None and lock != self.old.get(self.scenario.lock):
            absent = [name for name in self.told if name not in new]
            if absent:
                yield f"the new lock without {absent}"

    def wrong_settled(self, folder: Path, said: str) -> Iterator[str]:
        """After the next command."""
        now = files_of(folder)
        if any(STAGING in str(path) for path in folder.rglob("*")):
            yield "a staging folder is left"
        which = self.state(folder)
        if which is None:
            yield f"neither the old release nor the new one: {sorted(now)}"
            return
        if which == "old" and not self.scenario.before:
            return
        lock = tomllib.loads(now[self.scenario.lock].decode())
        patterns = {block["pattern"] for block in lock["blocks"]}
        wanted = tomllib.loads((self.old if which == "old" else self.new)[self.scenario.lock].decode())
        if patterns != {block["pattern"] for block in wanted["blocks"]}:
            yield f"all files are {which}, and the lock is not"
        checks = json.loads(said)["checks"]
        # The policy is the new one in any case: the lock of the old release says so.
        broken = [c for c in checks if c["state"] != "holds" and c["what"] not in ("policy", "version")]
        if broken or not any(c["what"].startswith("release") for c in checks):
            yield f"the lock of the {which} release does not hold: {broken}"

    def state(self, folder: Path) -> str | None:
        now = files_of(folder)
        for which, wanted in (("old", self.old), ("new", self.new)):
            if set(now) == set(wanted) and all(now[name] == wanted.get(name) for name in self.told if name in now):
                return which
        return None


@dataclass
class Tally:
    kills: int = 0
    ends: Counter[str] = field(default_factory=Counter)  # what the next command left
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.kills += other.kills
        self.ends += other.ends
        self.wrong += other.wrong


def tried(world: World, at: int, fault: Callable[[str], None] = killed, again: int = 0) -> Tally | None:
    """One run with a fault at the call `at`, and if `again`, a kill at that call of the command that settles it. None
    if the run ended before its call `at`."""
    folder, out, name = world.fresh(), Tally(1), f"{world.scenario.name}, call {at}, {again}"
    code, _ = run(folder, world.arguments, at, fault)
    if fault is killed and code == 0:
        return None
    out.wrong += [f"{name}: {wrong}" for wrong in world.wrong_at_once(folder)]
    verify = ["verify", world.scenario.lock, "--json"]
    if again and run(folder, verify, again, killed)[0] == -signal.SIGKILL:
        out.kills += 1
        out.wrong += [f"{name}: {wrong}" for wrong in world.wrong_at_once(folder)]
    _, said = run(folder, verify)
    out.wrong += [f"{name}: {wrong}" for wrong in world.wrong_settled(folder, said)]
    state = world.state(folder) or "mixed"
    out.ends[state] += 1
    if code == 0 and state != "new":
        out.wrong.append(f"{name}: exit code 0, and the release is {state}")
    return out


def every_point(world: World) -> Tally:
    """A kill before each call, until a run has no more of them; the first run that ends tells how many there are."""
    out = Tally()
    for at in range(1, 10_000):
        one = tried(world, at)
        if one is None:
            return out
        out.add(one)
    raise AssertionError("a run without end")


def many(kills: int, seed: int = 0) -> Iterator[tuple[str, Tally]]:
    """At least so many, spread over the scenarios: every point once, then random ones, each followed by a kill of the
    command that settles it."""
    loaded()
    share = -(-kills // len(SCENARIOS))
    for scenario in SCENARIOS:
        chance = random.Random(f"{scenario.name} {seed}")
        with TemporaryDirectory() as room:
            world = World(scenario, Path(room))
            out = every_point(world)
            last = out.kills
            while out.kills < share:
                out.add(tried(world, chance.randint(1, last), again=chance.randint(1, 40)) or Tally())
        yield scenario.name, out


def short() -> None:
    """Prints what `tests/faults/test_kills.py` asks for: it forks, and must not do so in a process with threads."""
    loaded()
    found: dict[str, Any] = {}
    with TemporaryDirectory() as room:
        world = World(SCENARIOS[0], Path(room) / "0")
        every = every_point(world)
        found["every point"] = every
        found["twice"] = Tally()
        for at in range(every.kills * 2 // 3, every.kills, 5):
            found["twice"].add(tried(world, at, again=1 + at % 12) or Tally())
        for name, number in (("a new folder", 3), ("several folders", 4)):
            world = World(SCENARIOS[number], Path(room) / str(number))
            found[name] = Tally()
            for at in range(3, 200, 7):
                found[name].add(tried(world, at) or Tally())
            for fault in ("one call fails", "all calls fail"):
                tally = found.setdefault(fault, Tally())
                for at in range(1, 150, 11):
                    tally.add(tried(world, at, Once() if fault == "one call fails" else full_disk) or Tally())
    print(json.dumps({name: {"kills": t.kills, "ends": t.ends, "wrong": t.wrong} for name, t in found.items()}))
