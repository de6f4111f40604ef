"""Where a long search leaves what it knows, and what it finds there when it is to go on."""

from __future__ import annotations

import re
from pathlib import Path

from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.methods.checkpoint import Keeping, about
from sdcdsl.pipeline.ordering import Plan
from sdcdsl.pipeline.request import Request
from sdcdsl.policy import document as d


def keeping_for(problem: TableProblem, plan: Plan, request: Request) -> tuple[Keeping, list[Diagnostic]]:
    """For one method of a block's chain."""
    if request.checkpoints is None:
        return Keeping(), []
    path = _place(request, problem.name, plan.engine.name)
    seed = request.policy.seed or 0
    keeping = Keeping(path, about(problem, plan.engine.name, plan.options, seed, plan.before), request.every)
    if not request.resume:
        return keeping, []
    keeping.resume()
    if keeping.why is None:
        return keeping, []
    headline = f"the search of `{problem.name}` by `{plan.engine.name}` begins anew: no checkpoint to go on from"
    return keeping, [diagnostic("SDC520", headline, FilePlace(str(path)), notes=[keeping.why])]


def forget(request: Request) -> None:
    """Once everything is written, or proved to be impossible."""
    for block in request.blocks:
        for engine in request.policy.protects[block].the(d.MethodChain).engines:
            if request.checkpoints is not None:
                _place(request, block, engine.name).unlink(missing_ok=True)
    if request.checkpoints is not None and request.checkpoints.is_dir():
        left = list(request.checkpoints.iterdir())
        if [path.name for path in left] == [".gitignore"] and left[0].read_bytes() == b"*\n":  # made for them alone
            left[0].unlink()
            request.checkpoints.rmdir()


def _place(request: Request, block: str, method: str) -> Path:
    assert request.checkpoints is not None
    name = re.sub(r"[^\w.-]", "_", f"{request.source.stem}.{block}.{method}.checkpoint")
    return request.checkpoints / name
