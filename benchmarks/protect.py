"""The whole of `protect`, phase by phase: read, bind, build, solve, audit and write.

    python benchmarks/protect.py --json benchmarks/results/protect.json
    python benchmarks/protect.py --only 'cube-22:*'

A three-dimensional table with its sums stands in a CSV file with a policy beside it (`tables.sdc` is written for every
method), and goes through the stages of the pipeline: the policy is *read*, data and policy are *bound*, the method
*solves*, the result is *audited*, and table, report and lock are *written*. *Build* is the full model for a solver
outside, as `compile` writes it; only for a small table, since it grows with cells × pairs. CPU seconds of one core,
imports not counted.

`cube-k` has k × k × k cells and their margins, adjusted in L1, all senses up: promised is that everything but the
report and the lock takes 1.5 times what HiGHS alone takes on the linear program, from arrays that are there already, in
the same process.
`enterprises` is the example of that name: two linked tables from 5 000 records, for two attackers.
"""

from __future__ import annotations

import datetime
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
import polars as pl
from asking import branches
from cta import Box, bare_l1
from generators import hierarchy, magnitude
from measuring import DEADLINES, figure, measured, said
from registry import PHASES, Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.audit import audit
from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.methods.cta.settings import settings_of
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition, modelled, run
from sdcdsl.outcome import Attempt, End, Outcome, Prepared
from sdcdsl.pipeline.method_plan import plan_of
from sdcdsl.pipeline.release import release
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy import document as d
from sdcdsl.policy.read import read_policy
from sdcdsl.solve.writing import write
from sdcdsl.utility import measure

KIND = "Phases of protect"
ROOT = Path(__file__).resolve().parent.parent
DAY = datetime.date(2026, 1, 1)
METHODS = {
    "csp": "csp",
    "ip": "ip",
    "cta": "cta {\n    norm L1\n    sense up\n  }",
    "ecta": "ecta {\n    alpha 50%\n    tries 5\n  }",
    "rounding": "rounding {\n    base 5\n  }",
    "perturb": "perturb {\n    range 30% of value .. 30% of value\n  }",
}
COSTS = {"cta": "if value > 0 then 1 / value otherwise 1", "perturb": "1", "rounding": "1"}
POLICY = """sdc 1
policy "a made table"

data cells {{
  csv "cells.csv"
}}

{dimensions}
table t {{
  from cells
  by a, b, c
  value value
  status status
}}

sensitive by status

attacker external {{
  bounds 0 .. inf
}}

protect t {{
  lpl {level}
  upl {level}
  against external
  cost {cost}
  method {method}
  release csv "out.csv"
}}
"""
SIZES = {"made-500": ((2, 6), (7,), (6,)), "made-4000": ((3, 15), (14,), (13,)), "made-100000": ((6, 40), (46,), (45,))}
MODELLED = "made-500"  # of which the full models are built
SLOW = {"made-100000": ("cta",), "made-4000": ("csp", "ip", "cta", "rounding")}
CUBES = (22, 47, 100)
BARE = 1.5
LIMIT = 30.0


def written(folder: Path, problem: TableProblem, dimensions: Any, method: str) -> Path:
    """A CSV file of the cells, a hierarchy file for each dimension, and the policy."""
    values = problem.dataset["a"].values
    status = np.where(problem.dataset["status"].values == "u", "u", "s")
    shape = [len(side.codes) for side in dimensions]
    at = np.indices(shape).reshape(len(shape), -1)
    frame = pl.DataFrame(
        {side.name: np.array(side.codes)[index] for side, index in zip(dimensions, at, strict=True)}
    ).with_columns(pl.Series("value", values), pl.Series("status", status))
    frame.write_csv(folder / "cells.csv")
    texts = []
    for side in dimensions:
        (folder / f"{side.name}.hrc").write_text("\n".join(branches(side.trees[0])) + "\n")
        texts.append(f'dimension {side.name} {{\n  hierarchy hrc "{side.name}.hrc"\n  total {side.total}\n}}\n')
    level = "2" if method in ("rounding",) else "10% of value"
    text = POLICY.format(
        dimensions="\n".join(texts), level=level, cost=COSTS.get(method, "value"), method=METHODS[method]
    )
    path = folder / "tables.sdc"
    path.write_text(text, encoding="utf-8")
    return path


# ---- a row ----------------------------------------------------------------------------------------------------------


class Phases:
    """The stages of a policy with one block, each timed."""

    def __init__(self, path: Path, folder: Path, setting: Setting, build: bool = False, report: bool = True):
        self.path, self.folder, self.setting, self.build, self.report = path, folder, setting, build, report
        self.timed: dict[str, float] = {}

    def _timed(self, phase: str, work: Callable[[], Any]) -> Any:
        answer, self.timed[phase] = measured(work)
        return answer

    def run(self) -> tuple[TableProblem, Row]:
        policy, found = self._timed("read", lambda: read_policy(self.path, str(self.path), False))
        assert policy is not None, found
        (name,) = policy.protects
        places = RecordedLocations(self.path.parent)
        kept: dict[str, Any] = (
            {"report": self.folder / "report.html", "lock": self.folder / "release.lock"} if self.report else {}
        )
        request = ProtectRequest(policy, self.path, places, DAY, self.folder, block=name, **kept)
        block = policy.protects[name]
        (engine,) = block.the(d.MethodChain).engines
        problem, plan = self._timed("bind", lambda: _bound(request, block, engine))
        deadline = DEADLINES[self.setting.clock](self.setting.limit)
        context = SolveContext({**plan.options, "threads": 1}, deadline, 0, plan.before)
        if self.build and engine.name in modelled():
            self._timed("build", lambda: self._built(problem, engine.name, context))
        result = self._timed("solve", lambda: run(problem, engine.name, context))
        row = {"cells": problem.n, "sensitive": len(problem.sensitive), "status": result.status, "timed": self.timed}
        row |= {"objective": result.objective, "bound": result.bound, "gap": result.gap, "notes": list(result.notes)}
        if result.pattern is not None:
            judged = self._timed("audit", lambda: audit(problem, result.pattern, exact=False))
            attempt = Attempt(engine.name, result)
            outcome = Outcome(name, problem, (attempt,), judged, measures=measure(problem, result.pattern))
            row["audit"] = judged.verdict
            if outcome.end is End.DONE:
                row["files"] = self._timed("write", lambda: self._written(request, outcome))
        row["cpu"] = sum(self.timed.values())
        return problem, row

    def _built(self, problem: TableProblem, method: str, context: SolveContext) -> None:
        write(definition(method).model(problem, context), self.folder / "model.lp", [])

    def _written(self, request: ProtectRequest, outcome: Outcome) -> int:
        request.places.digest()
        found, problems = release(Prepared((outcome,)), request)
        assert found and not problems, problems
        return sum(1 for file in self.folder.iterdir() if file.is_file())


def _bound(request: ProtectRequest, block: d.Block, engine: d.Engine) -> tuple[TableProblem, Any]:
    problem, found = bind_protect(Binding(request.policy, request.places, DAY), block)
    assert problem is not None, found
    plan, found = plan_of(engine, block, problem, request)
    assert not found, found
    return problem, plan


def made_row(levels: Any, method: str, setting: Setting, build: bool = False, bare: bool = False) -> Row:
    with tempfile.TemporaryDirectory() as name:  # loads what has to be loaded
        _made(((3,), (3,), (2,)), method, Path(name), setting, build, not bare)
    with tempfile.TemporaryDirectory() as name:
        problem, row = _made(levels, method, Path(name), setting, build, not bare)
    return row | (_against_bare(problem, row["cpu"]) if bare else {})


def _made(
    levels: Any, method: str, folder: Path, setting: Setting, build: bool, report: bool
) -> tuple[TableProblem, Row]:
    (folder / "in").mkdir()
    (folder / "out").mkdir()
    problem = magnitude(levels, share=0.05, zeros=0.0, seed=1)
    dimensions = [hierarchy(name, level) for name, level in zip("abc", levels, strict=True)]
    path = written(folder / "in", problem, dimensions, method)
    return Phases(path, folder / "out", setting, build, report).run()


def _against_bare(problem: TableProblem, cpu: float) -> Row:
    of = settings_of(problem, {"norm": "L1", "sense": "up"})
    l, u = of.of.box(of.of.sense)
    objective, bare = bare_l1(Box(of.of.M, of.w, l, u, of.sensitive), 600.0)
    return {"bare": objective, "bare_cpu": bare, "ratio": cpu / bare}


def example_row(setting: Setting) -> Row:
    with tempfile.TemporaryDirectory() as name:
        return Phases(ROOT / "examples/enterprises/enterprises.sdc", Path(name), setting).run()[1]


# ---- the suite ------------------------------------------------------------------------------------------------------


def entries(done: Done) -> Iterator[Entry]:
    for size, levels in SIZES.items():
        for method in SLOW.get(size, METHODS):
            build = size == MODELLED and method in modelled()
            yield Entry(
                KIND,
                size,
                method,
                lambda setting, levels=levels, method=method, build=build: made_row(levels, method, setting, build),
                LIMIT,
                PHASES if build else tuple(phase for phase in PHASES if phase != "build"),
                quick=5.0 if size == MODELLED else None,
                longer=300.0,
            )
    for k in CUBES:
        yield Entry(
            KIND,
            f"cube-{k}",
            "cta",
            lambda setting, k=k: made_row(((k,),) * 3, "cta", setting, bare=k < 100),
            240.0,
            ("read", "bind", "solve", "audit", "write"),
            _judged,
            f"≤ {BARE:g} × bare HiGHS" if k < 100 else "",
            quick=60.0 if k == 22 else None,
            longer=600.0,
        )
    yield Entry(KIND, "enterprises", "csp", example_row, LIMIT, quick=10.0, longer=100.0)


def _judged(row: Row) -> Row:
    if row.get("ratio") is None:
        return {}
    same = row["bare"] is not None and abs(row["objective"] - row["bare"]) <= 1e-6 * abs(row["bare"])
    return {"promise": f"≤ {BARE:g} × bare, same objective", "met": row["ratio"] <= BARE and same}


def _words(row: Row) -> tuple[str, ...]:
    return (
        row["instance"],
        row["method"],
        figure(row.get("cells")),
        said(row),
        *(figure(row.get("timed", {}).get(phase), 3) for phase in PHASES),
        figure(row.get("cpu"), 2),
        row.get("audit", "–"),
        figure(row.get("memory"), 2),
        figure(row.get("bare_cpu"), 2),
        figure(row.get("ratio"), 2),
        row.get("promise", "–"),
        {True: "yes", False: "**NO**", None: "–"}[row.get("met")],
    )


NAMES = ("instance", "method", "cells", "status", *PHASES, "CPU s", "audit", "GB", "bare s", "ratio", "promise", "met")
SUITE = Suite("protect", __doc__, entries, {KIND: Columns(NAMES, _words)})

if __name__ == "__main__":
    main([SUITE], __doc__)
