"""Where a long search leaves what it knows, and what it finds there when it is to go on."""

from __future__ import annotations

import re
from pathlib import Path

from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.methods.checkpoint import Checkpointer, about
from sdcdsl.pipeline.method_plan import Plan
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy import document as d


def checkpointer_for(
    problem: TableProblem, plan: Plan, request: ProtectRequest, number: int = 1
) -> tuple[Checkpointer, list[Diagnostic]]:
    """For one method of a block's chain; `number`: of its problem, which grows by sums of cells."""
    if request.checkpoints is None:
        return Checkpointer(), []
    path = _place(request, problem.name, plan.engine.name, number)
    seed = request.policy.seed or 0
    checkpointer = Checkpointer(path, about(problem, plan.engine.name, plan.options, seed, plan.before), request.every)
    if not request.resume:
        return checkpointer, []
    checkpointer.resume()
    if checkpointer.why is None:
        return checkpointer, []
    headline = f"the search of `{problem.name}` by `{plan.engine.name}` begins anew: no checkpoint to go on from"
    return checkpointer, [diagnostic("SDC520", headline, FilePlace(str(path)), notes=[checkpointer.why])]


def forget(request: ProtectRequest) -> None:
    """Once everything is written, or proved to be impossible."""
    for block in request.blocks:
        for engine in request.policy.protects[block].the(d.MethodChain).engines:
            number = 1
            while request.checkpoints is not None and _forgotten(_place(request, block, engine.name, number)):
                number += 1
    if request.checkpoints is not None and request.checkpoints.is_dir():
        left = list(request.checkpoints.iterdir())
        if [path.name for path in left] == [".gitignore"] and left[0].read_bytes() == b"*\n":  # made for them alone
            left[0].unlink()
            request.checkpoints.rmdir()


def _forgotten(path: Path) -> bool:
    there = path.exists()
    path.unlink(missing_ok=True)
    return there


def _place(request: ProtectRequest, block: str, method: str, number: int) -> Path:
    assert request.checkpoints is not None
    again = f".{number}" if number > 1 else ""
    name = re.sub(r"[^\w.-]", "_", f"{request.source.stem}.{block}.{method}{again}.checkpoint")
    return request.checkpoints / name
