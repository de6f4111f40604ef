"""Controlled rounding: every promise a row, measured and audited, and gconfid's rounding of the same table beside ours.

    python benchmarks/rounding.py --json benchmarks/results/rounding.json       # everything: about twenty minutes
    python benchmarks/rounding.py --only 'network-*'                            # a quick look

Seconds are of CPU time, of one core. All cells weigh the same, so that the loss is Σ |v - a|. Nothing is sensitive in
these tables, but in those that resemble the tables of paper 000 (`protected-*`): there a tenth of the cells is, with
levels of 2, and every rounding has to keep them against an outsider; and in cubes of counts (`counts-*`), with levels
of 1.

`sosialFiktiv` (statisticsnorway/ssb-ssbtools, MIT) is a table of counts: 437 regions, which belong to counties and to
types of municipality, by 4 sources of income by 3 periods in 2 halves of the year; with all sums 11 800 cells.

gconfid gets the same windows around every value, the same weights, and as many CPU seconds as we do; it runs where its
environment can be installed (`--cache FOLDER`), after us and in the same run. We go on as long as the gap is open: "no
slower" compares its CPU seconds with ours until our loss was no larger.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
import polars as pl
from asking import Workshop
from generators import added_up, cells_over, dimension, frequency, problem, tree
from instances import DATA, LARGE, LOOKALIKES, business, network
from measuring import DEADLINES, Case, audited, figure, measured, peak_memory, said, share
from patterns import CSPLIB, from_file
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import Progress, Result, SolveContext
from sdcdsl.methods.solving import run

KIND = "Controlled rounding"
SOSIAL = DATA / "tables" / "ssbtools" / "sosialFiktiv.csv"
GAP = 1e-3


@dataclass(frozen=True)
class Promise:
    """Beside a release that the audit does not call exposed: `seconds`, and a gap where one is asked for."""

    seconds: float
    gap: float | None = None
    peer: bool = False

    @property
    def text(self) -> str:
        words = "additive" if self.gap is None else f"additive, gap ≤ {100 * self.gap:g} %"
        return f"{words}, ≤ {self.seconds:g} s" + (", no larger loss and no slower than gconfid" if self.peer else "")

    def met(self, row: Row) -> bool:
        if row.get("audit") not in ("protected", "nothing to check") or row.get("off") != 0:
            return False
        near = self.gap is None or (row["gap"] is not None and row["gap"] <= self.gap)
        theirs = row.get("peer") or {}
        if self.peer and theirs.get("loss") is not None:
            when = matched(row, theirs["loss"])
            near &= when is not None and when <= theirs["cpu"]
        return near and row["cpu"] <= self.seconds


def matched(row: Row, loss: float) -> float | None:
    """CPU seconds after which ours was no larger."""
    return next((cpu for cpu, objective in row.get("trace", []) if objective <= loss * (1 + 1e-9)), None)


@dataclass(frozen=True)
class Claim:
    case: Case
    promise: Promise
    base: float


def claims() -> Iterator[Claim]:
    for size in (10_000, 100_000):
        made = Case(f"network-{size}-5", lambda size=size: bare(network(LARGE[size], zeros=0.05)), 28.0, GAP)
        yield Claim(made, Promise(30, 0.01), 5)
    for number in (1, 5):
        made = Case(f"protected-{number}-5", lambda number=number: levels_of_two(number), 57.0, GAP)
        yield Claim(made, Promise(60, 0.01), 5)
    for base in (3, 5):
        made = Case(f"sosial-{base}", sosial, 114.0, GAP, SOSIAL.is_file(), "general")
        yield Claim(made, Promise(120, 0.01, True), base)
    for size, seconds, gap in ((100_000, 300.0, 0.05), (1_000_000, 600.0, None)):
        made = Case(f"counts-{size}-3", lambda size=size: counts(size), 0.95 * seconds, gap or 0.1, kind="general")
        yield Claim(made, Promise(seconds, gap), 3)
    path = CSPLIB / "hier13.jj"
    made = Case("hier13-5", lambda: bare(from_file(path)), 114.0, GAP, path.is_file(), "general")
    yield Claim(made, Promise(120, None, True), 5)


def bare(made: TableProblem) -> TableProblem:
    """The table without anything sensitive, all weights 1."""
    d = made.dataset.isel(pair=np.zeros(0, dtype=np.int64))
    return replace(made, dataset=d.assign(status=("cell", np.full(made.n, "s")), w=("cell", np.ones(made.n))))


def counts(size: int) -> TableProblem:
    """A cube of counts, mostly 0, 1 and 2, a tenth of the cells sensitive with levels of 1; all weights 1."""
    made = frequency(((round(size ** (1 / 3)) - 1,),) * 3, seed=0)
    return replace(made, dataset=made.dataset.assign(w=("cell", np.ones(made.n))))


def levels_of_two(number: int) -> TableProblem:
    made = network(LOOKALIKES[number], seed=1000 * number)
    pairs = made.dataset.sizes["pair"]
    two = np.minimum(2.0, made.dataset["a"].values[made.dataset["cell_at"].values])
    d = made.dataset.assign(lpl=("pair", two), upl=("pair", np.full(pairs, 2.0)), w=("cell", np.ones(made.n)))
    return replace(made, dataset=d)


def sosial() -> TableProblem:
    data = pl.read_csv(SOSIAL)
    regions = data.select("region", "fylke", "kostragr").unique().sort("region")
    names = [f"r{int(code)}" for code in regions["region"]]

    def by(column: str) -> CodeTree:
        codes, parent = ["Total"], [-1]
        for group in regions[column].unique().sort().to_list():
            codes.append(f"{column}{int(group)}")
            parent.append(0)
            mine = [name for name, other in zip(names, regions[column], strict=True) if other == group]
            parent += [len(codes) - 1] * len(mine)
            codes += mine
        return tree(codes, parent)

    region = dimension("region", by("fylke"), by("kostragr"))
    income = ["Total", *data["hovedint"].unique().sort().to_list()]
    period = ["Total", "6-12", "6_9", "10_12", "1_5"]
    dimensions = [
        region,
        dimension("hovedint", tree(income, [-1, 0, 0, 0, 0])),
        dimension("mnd", tree(period, [-1, 0, 1, 1, 0])),
    ]
    leaves = np.zeros([len(d.codes) for d in dimensions])
    for code, kind, months, count in data.select("region", "hovedint", "mnd", "ant").iter_rows():
        at = region.index[f"r{int(code)}"], dimensions[1].index[kind], dimensions[2].index[months]
        leaves[at] += count
    none = np.zeros(0, dtype=np.int64)
    a = added_up(leaves, dimensions).ravel()
    return bare(problem(cells_over(dimensions), a, none, np.zeros(0), np.zeros(0)))


# ---- a row ------------------------------------------------------------------------------------------------------


def row_of(case: Case, base: float, clock: str) -> Row:
    warm = bare(network(LOOKALIKES[1])) if case.kind == "network" else bare(business(seed=99))
    run(warm, "rounding", SolveContext({"base": 5.0, "gap": 0.2}, DEADLINES[clock](5.0)))
    made = case.make()
    trace: list[tuple[float, float]] = []
    began = process_time()

    def tell(progress: Progress) -> None:
        if progress.objective is not None and (not trace or progress.objective < trace[-1][1]):
            trace.append((round(process_time() - began, 2), progress.objective))

    context = SolveContext({"base": base, "gap": case.gap}, DEADLINES[clock](case.limit), report=tell)
    result, cpu = measured(lambda: run(made, "rounding", context))
    row: Row = {
        "instance": case.name,
        "method": "rounding",
        "cells": made.n,
        "sensitive": len(made.sensitive),
        "limit": case.limit,
        "status": result.status,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "cpu": cpu,
        "steps": result.facts.get("steps", 0),
        "trace": [*trace, *([(cpu, result.objective)] if result.objective is not None else [])],
        "notes": list(result.notes),
        "load": round(os.getloadavg()[0], 1),
    }
    return row | {"off": _off(made, base, result)} | audited(made, result.pattern, result.moves)


def _off(made: TableProblem, base: float, result: Result) -> float | None:
    """By how much sums are missed, or multiples: zero, or something is wrong."""
    if result.pattern is None:
        return None
    v = result.pattern.value
    return float(max(np.abs(Instance(made).M @ v - made.dataset["b"].values).max(), np.mod(v, base).max()))


def peer(made: TableProblem, base: float, steps: int, seconds: float, workshop: Workshop) -> Row:
    """gconfid on the same table, with the same windows."""
    python = workshop.python("gconfid")
    if isinstance(python, str):
        return {"said": python}
    d, a = made.dataset, made.dataset["a"].values
    low = np.maximum(np.floor(a / base) - steps, 0) * base
    high = (np.ceil(a / base) + steps) * base
    table = {"a": a, "w": d["w"].values, "low": low, "high": high}
    table |= {name: d[of].values for name, of in (("equation", "equation_of"), ("cell", "cell_of"))}
    table |= {"coefficient": d["coefficient"].values.astype(int)}
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder) / "table.json", Path(folder) / "answer.json"
        file.write_text(json.dumps({name: values.tolist() for name, values in table.items()}))
        script = Path(__file__).with_name("peer_gconfid_rounding.py")
        setting = json.dumps({"base": int(base), "seconds": seconds})
        command = [str(python), str(script), str(file), str(answer), setting]
        try:
            subprocess.run(command, check=False, timeout=10 * seconds + 300, capture_output=True, cwd=folder)
        except subprocess.TimeoutExpired:
            return {"said": "no answer"}
        if not answer.is_file():
            return {"said": "ended without an answer"}
        got = json.loads(answer.read_text())
    if got["values"] is None:
        return {"said": got["said"], "cpu": got["cpu"], "version": got["version"]}
    v = np.array(got["values"])
    off = float(np.abs(Instance(made).M @ v - d["b"].values).max())
    valid = off < 1e-6 and (np.abs(v / base - np.round(v / base)) < 1e-6).all()
    loss = float((d["w"].values * np.abs(v - a)).sum())
    word = "" if valid else "no table in its time" if got["stopped"] else "not additive, or no multiples"
    return {"loss": loss if valid else None, "cpu": got["cpu"], "version": got["version"], "said": word}


def _words(row: Row) -> tuple[str, ...]:
    theirs = row.get("peer") or {}
    beside = "–" if not theirs else theirs.get("said") or f"{theirs['loss']:,.0f} in {theirs['cpu']:.0f} s"
    if theirs.get("loss") is not None:
        beside += f"; ours after {figure(matched(row, theirs['loss']), 0)} s"
    if theirs.get("said") and theirs.get("cpu") is not None:
        beside += f" ({theirs['cpu']:.0f} s)"
    return (
        row["instance"],
        figure(row.get("cells")),
        figure(row.get("sensitive")),
        figure(row["limit"], 1),
        said(row),
        figure(row.get("steps")),
        figure(row.get("objective"), 0),
        figure(row.get("bound"), 1),
        share(row.get("gap")),
        figure(row.get("cpu"), 1),
        row.get("audit", "–"),
        beside,
        row["promise"],
        "yes" if row["met"] else "**NO**",
    )


NAMES = (
    "instance",
    "cells",
    "sensitive",
    "limit s",
    "status",
    "steps",
    "loss",
    "bound",
    "gap",
    "CPU s",
    "audit",
    "gconfid",
    "promise",
    "met",
)
COLUMNS = Columns(NAMES, _words)
TABLES = {KIND: COLUMNS}


# ---- the suite --------------------------------------------------------------------------------------------------


def entries(done: Done) -> Iterator[Entry]:
    for claim in claims():
        yield Entry(
            KIND,
            claim.case.name,
            "rounding",
            lambda setting, claim=claim: with_peer(claim, setting),
            claim.case.limit,
            judge=lambda row, claim=claim: {"promise": claim.promise.text, "met": claim.promise.met(row)},
            about=claim.promise.text,
            here=claim.case.here,
            quick=QUICK.get(claim.case.name),
            longer=2 * claim.case.limit if claim.promise.peer else 0.0,
        )


def with_peer(claim: Claim, setting: Setting) -> Row:
    """gconfid runs after us, where its environment can be had."""
    case = replace(claim.case, limit=setting.limit)
    row = row_of(case, claim.base, setting.clock)
    if claim.promise.peer and setting.cache:
        row["memory"] = peak_memory()
        workshop = Workshop(Path(setting.cache))
        row["peer"] = peer(case.make(), claim.base, row.get("steps") or 0, setting.limit, workshop)
    return row


QUICK = {"network-10000-5": 10.0, "protected-1-5": 20.0}
SUITE = Suite("rounding", __doc__, entries, TABLES)

if __name__ == "__main__":
    main([SUITE], __doc__)
