"""Cell suppression: every promise a row, measured and audited.

    python benchmarks/csp.py --cache FOLDER --json benchmarks/results/csp.json     # everything: about an hour
    python benchmarks/csp.py --only 'lookalike-1-*,small*' --limit 5 --no-peers    # a quick look
    python benchmarks/csp.py --list

Costs are values. The secondary cost is that of cells hidden beside the sensitive ones, the total has these too; the gap
is that of the total, in brackets that of the secondary cost. Seconds are of CPU time, of one core. The method gets 95 %
of the seconds promised, so that it ends within them.

`small` and `mid` come with their peers, measured just before on the same table: ours get a tenth of the time that
τ-ARGUS took, a quarter of gconfid's. Peers cannot hide cells of 0; ours do, for nothing, and in rows with `no zeros`
they do not. Without a peer its time is that of ../shared/design.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

from asking import COLUMNS as PEER_COLUMNS
from asking import KIND as PEERS_KIND
from asking import OPTIONS as PEER_OPTIONS
from asking import PEERS, entry_of, secondary, without_zeros
from generators import respondents
from instances import ASYMMETRIC, BENCH, SYMMETRIC, bench, business, large, lookalike
from measuring import Case, figure, said, share, solved
from patterns import CSPLIB, from_file
from registry import Columns, Done, Entry, Row, Suite
from runner import main

from sdcdsl.pattern.pattern import HIDDEN

KIND = "Cell suppression"
ARGUS, GCONFID = "τ-ARGUS OPT", "gconfid, known ± 50 %"
THEIR_SECONDS = {"small": (ARGUS, 118.0, 0.1), "mid": (GCONFID, 82.0, 0.25)}  # measured once; our share of the time
Groups = tuple[tuple[int, int], ...]
OF_GCONFID = 0.7  # of the 276 065 that gconfid needs on mid


# Cells of business tables in three dimensions: codes and parts of each dimension, seconds, and gap.
RESPONDENTS: dict[int, tuple[Groups, float, float | None]] = {
    3_125: (((4, 5), (4, 5), (4, 0)), 60.0, 0.25),
    24_966: (((8, 6), (8, 8), (5, 0)), 60.0, None),
    84_693: (((12, 8), (10, 10), (6, 0)), 200.0, None),
    721_287: (((20, 15), (20, 15), (6, 0)), 1800.0, None),
}


@dataclass(frozen=True)
class Promise:
    """What a row has to show, beside a release that the audit calls protected. None: nothing."""

    seconds: float | None = None
    with_audit: bool = False  # the seconds are for search and audit together
    gap: float | None = None
    of_secondary: bool = False  # the gap is that of the secondary cost
    secondary: float | None = None
    proven: bool = False

    @property
    def text(self) -> str:
        words = ["valid"]
        if self.proven:
            words.append("proven optimal")
        if self.secondary is not None:
            words.append(f"secondary ≤ {figure(self.secondary)}")
        if self.gap is not None:
            words.append(f"gap ≤ {100 * self.gap:g} %")
        if self.seconds is not None:
            words.append(f"{'with audit ' if self.with_audit else ''}≤ {self.seconds:.3g} s")
        return ", ".join(words)

    def met(self, row: Row) -> bool:
        if row.get("audit") != "protected":
            return False
        gap = row["secondary_gap"] if self.of_secondary else row["gap"]
        spent = row["cpu"] + (row["audit_cpu"] if self.with_audit else 0.0)
        return (
            (self.seconds is None or spent <= self.seconds)
            and (self.gap is None or (gap is not None and gap <= self.gap))
            and (self.secondary is None or row["secondary_cost"] <= self.secondary)
            and (not self.proven or row["status"] == "optimal")
        )


@dataclass(frozen=True)
class Claim:
    case: Case
    promise: Promise


def claims() -> Iterator[Claim]:
    for number in (1, 4, 5, 6, 2, 3):
        seconds, gap = (300, 0.005) if number in (2, 3) else (60, 0.001)
        for word, levels in (("symmetric", SYMMETRIC), ("asymmetric", ASYMMETRIC)):
            made = Case(f"lookalike-{number}-{word}", _lookalike(number, levels), 0.95 * seconds, gap)
            yield Claim(made, Promise(seconds, gap=gap))
    for n, seconds, ours in ((10_000, 10, 6), (100_000, 120, 80)):
        made = Case(f"network-{n}", _network(n), ours)
        yield Claim(made, Promise(seconds, with_audit=True))
    for seed in range(5):
        made = Case(f"business-{seed}", _business(seed), 57, kind="general")
        yield Claim(made, Promise(60, proven=True))
    for suffix, zeros in (("", True), ("-no-zeros", False)):
        small = Case(f"small-tenth{suffix}", _bench("small", zeros), 11, 0, (BENCH / "small").is_dir(), "general")
        yield Claim(small, Promise(11.8, secondary=35_508))
        longer = replace(small, name=f"small-100{suffix}", limit=95)
        yield Claim(longer, Promise(100, gap=0.02, of_secondary=True, secondary=34_426))
        mid = Case(f"mid-quarter{suffix}", _bench("mid", zeros), 20, 0, (BENCH / "mid").is_dir(), "general")
        yield Claim(mid, Promise(20.5, secondary=OF_GCONFID * 276_065))
    for cells, (groups, seconds, gap) in RESPONDENTS.items():
        for seed in (1, 2, 3):
            made = Case(f"respondents-{cells}-{seed}", _respondents(groups, seed), 0.95 * seconds, 0, kind="product")
            yield Claim(made, Promise(seconds, gap=gap))
    for name, seconds, cost, gap in (
        ("targus", 60, None, None),
        ("table7", 60, None, None),
        ("table8", 60, None, None),
        ("osorio", 60, None, None),
        ("hier13x7x7d", 60, 561_225, None),
        ("hier13", 120, 7_560_000, 0.5),
        ("hier16", 120, 12_200_000, 0.5),
        ("ninenew", 120, 13_300_000, None),
        ("two5in6", 120, 10_400_000, None),
        ("cbs", 300, None, None),
    ):
        path = CSPLIB / f"{name}.jj"
        made = Case(name, _file(path), 0.95 * seconds, 0, path.is_file(), "general")
        yield Claim(made, Promise(None if cost is None else seconds, gap=gap, secondary=cost))


def _lookalike(number: int, levels: tuple[float, float]):
    return lambda: lookalike(number, levels)


def _network(n: int):
    return lambda: large(n)


def _business(seed: int):
    return lambda: business(seed=seed)


def _respondents(groups: Groups, seed: int):
    def make():
        with TemporaryDirectory() as folder:
            return respondents(Path(folder), groups, seed)

    return make


def _bench(name: str, zeros: bool):
    return lambda: bench(name) if zeros else without_zeros(bench(name))


def _file(path: Path):
    return lambda: from_file(path)


# ---- a row ------------------------------------------------------------------------------------------------------


def row_of(case: Case, clock: str) -> Row:
    _warm_up(case, clock)
    problem, result, row = solved(case, "csp", clock)
    if result.pattern is None:
        return row | {"secondary_cost": None, "secondary_gap": None}
    d, w = problem.dataset, problem.dataset["w"].values
    hidden = (result.pattern.status == HIDDEN) & d["published"].values
    chosen = secondary(problem, hidden)
    cost = float(w[chosen].sum())
    least = None if result.bound is None else result.bound - float(w[hidden & ~chosen].sum())
    zeros = int((chosen & (d["a"].values == 0)).sum())
    return row | {
        "secondary": int(chosen.sum()),
        "zeros_hidden": zeros,
        "secondary_cost": cost,
        "secondary_gap": None if least is None else max(0.0, (cost - least) / cost) if cost > 0 else 0.0,
    }


def _warm_up(case: Case, clock: str) -> None:
    """Loads compiled kernels and solvers; what it finds does not matter."""
    small = {"network": _lookalike(1, SYMMETRIC), "product": _respondents(((3, 4), (3, 4), (4, 0)), 99)}
    make = small.get(case.kind, _business(99))
    solved(replace(case, make=make, limit=min(3.0, case.limit)), "csp", clock)


def _words(row: Row) -> tuple[str, ...]:
    phases = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in row.get("phases", {}).items())
    return (
        row["instance"],
        figure(row.get("cells")),
        figure(row.get("sensitive")),
        figure(row["limit"], 1),
        said(row),
        figure(row.get("secondary_cost")),
        figure(row.get("objective")),
        figure(row.get("bound")),
        f"{share(row.get('gap'))} ({share(row.get('secondary_gap'))})",
        figure(row.get("cpu"), 1),
        phases,
        row.get("audit", "–"),
        figure(row.get("audit_cpu"), 2),
        row["promise"],
        "yes" if row["met"] else "**NO**",
    )


NAMES = (
    "instance",
    "cells",
    "sensitive",
    "limit s",
    "status",
    "secondary cost",
    "total cost",
    "bound",
    "gap",
    "CPU s",
    "by phase",
    "audit",
    "audit s",
    "promise",
    "met",
)
COLUMNS = Columns(NAMES, _words)
TABLES = {PEERS_KIND: PEER_COLUMNS, KIND: COLUMNS}


# ---- the suite --------------------------------------------------------------------------------------------------


def entries(done: Done) -> Iterator[Entry]:
    """The peers first: some of ours get a share of the time that a peer took."""
    for name in THEIR_SECONDS:
        for peer in PEERS:
            yield entry_of(name, peer, lambda name=name: bench(name), here=(BENCH / name).is_dir())
    for stated in claims():
        claim, beside = against(stated, done)
        yield Entry(
            KIND,
            claim.case.name,
            "csp",
            lambda setting, claim=claim: row_of(replace(claim.case, limit=setting.limit), setting.clock),
            claim.case.limit,
            judge=lambda row, claim=claim, beside=beside: {
                "promise": claim.promise.text,
                "met": claim.promise.met(row),
                "peers": beside,
            },
            about=claim.promise.text,
            here=claim.case.here,
            quick=QUICK.get(claim.case.name),
        )


def against(claim: Claim, done: Done) -> tuple[Claim, list[str]]:
    """With the time that the peer took in this run, and how it did."""
    name, _, which = claim.case.name.partition("-")
    if name not in THEIR_SECONDS or which.startswith("100"):
        return claim, []
    peer, _, part = THEIR_SECONDS[name]
    row = done.get((name, peer), {})
    if row.get("cpu") is None:
        return claim, [f"{peer} did not run: its time of another run"]
    seconds = part * row["cpu"]
    beside = [
        f"{other}: {figure(their['secondary_cost'])}"
        for (table, other), their in done.items()
        if table == name and their.get("secondary_cost") is not None
    ]
    case, promise = replace(claim.case, limit=0.95 * seconds), replace(claim.promise, seconds=seconds)
    return Claim(case, promise), beside


# Rows of the quick run, with their seconds.
QUICK = {"lookalike-1-symmetric": 10.0, "lookalike-1-asymmetric": 10.0, "network-10000": 6.0, "business-3": 20.0}
SUITE = Suite("csp", __doc__, entries, TABLES, PEER_OPTIONS)

if __name__ == "__main__":
    main([SUITE], __doc__)
