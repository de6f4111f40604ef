"""The model of one block for a solver outside: bind, build, write. And its solution back: read, published on trial,
audited; nothing is released."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sdcdsl.audit import Audit, audit_release
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition as definition_of
from sdcdsl.methods.solving import modelled
from sdcdsl.methods.witness_tables import too_many_variables
from sdcdsl.outcome import SAFE, End
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.pipeline.bind import bind
from sdcdsl.pipeline.method_plan import Plan, plan_of
from sdcdsl.pipeline.request import Inputs, writing_nothing
from sdcdsl.pipeline.solution_file import read_solution
from sdcdsl.policy import document as d
from sdcdsl.solve.modelling import by_variable, column_names, numbers
from sdcdsl.solve.writing import write
from sdcdsl.vocabulary.methods import METHODS

if TYPE_CHECKING:
    import linopy

WHOLE = 1e-4


@dataclass(frozen=True)
class CompileRequest(Inputs):
    """Of the block that `block` names."""

    method: str | None = None  # of its chain; else the first
    output: Path | None = None  # where the model is written
    solution: Path | None = None  # a solution of it to read


@dataclass(frozen=True)
class ModelSize:
    binaries: int
    others: int
    rows: int


@dataclass(frozen=True, eq=False)
class Trial:
    """The release that a solution stands for, audited."""

    objective: float
    touched: int  # cells that it does not publish as they are
    audit: Audit

    @property
    def safe(self) -> bool:
        return self.audit.verdict in SAFE

    @property
    def exposed(self) -> np.ndarray:
        """Cells of pairs that are not proven to be protected."""
        return np.unique(self.audit.proofs.problem.pairs.cell[np.flatnonzero(self.audit.verdicts != "p")])


@dataclass(frozen=True, eq=False)
class CompiledBlock:
    problem: TableProblem
    method: str
    size: ModelSize
    trial: Trial | None = None

    @property
    def name(self) -> str:
        return self.problem.name


@dataclass(frozen=True, eq=False)
class Compiled:
    """Without a block something was wrong, and `end` says what."""

    block: CompiledBlock | None = None
    found: tuple[Diagnostic, ...] = ()
    end: End = End.DONE


def compile_block(request: CompileRequest) -> Compiled:
    if request.block is None:
        place = FilePlace(str(request.source))
        return _refused([diagnostic("SDC504", "the policy protects nothing: it has no protect block", place)])
    protect = request.policy.protects[request.block]
    engine, found = _engine(protect, request.method)
    if engine is None:
        return _refused(found, End.WRONG_POLICY)
    found = _unwritable(request.output, request) if request.output is not None else []
    if found:
        return _refused(found)
    solution: dict[str, float] = {}
    if request.solution is not None:  # before anything takes its time
        solution, found, end = _solution(request.solution)
        if found:
            return _refused(found, end)
    bound = bind(request)
    problem, found = bound.problems.get(request.block), list(bound.found)
    if problem is None or has_errors(found):
        return _refused(found)
    plan, problems = plan_of(engine, protect, problem, writing_nothing(request))
    found += problems + ([] if engine.name in ("cta", "ecta") else _too_large(problem))
    if has_errors(found):
        return _refused(found)
    return _compiled(problem, plan, request, solution, found)


def _refused(found: list[Diagnostic], end: End = End.WRONG_DATA) -> Compiled:
    return Compiled(None, tuple(found), end)


def _solution(path: Path) -> tuple[dict[str, float], list[Diagnostic], End]:
    read, found = read_solution(path)
    if read is None:
        return {}, found, End.WRONG_DATA
    if read.values:
        return read.values, [], End.DONE
    said = f": its status is {read.status}" if read.status else ""
    found = [diagnostic("SDC507", f"{path} holds no solution{said}", FilePlace(str(path)))]
    return {}, found, End.INFEASIBLE if "infeasible" in read.status.lower() else End.LIMIT


def _engine(protect: d.Block, method: str | None) -> tuple[d.Engine | None, list[Diagnostic]]:
    chain = protect.last(d.MethodChain)
    engines = {e.name: e for e in chain.engines} if chain is not None else {}
    known = METHODS.find(method) if method is not None else None
    name = known.name if known is not None else method or next(iter(engines), None)
    if name in engines and name in modelled():
        return engines[name], []
    can = " or ".join(f"`{m}`" for m in modelled())
    if name is not None and name not in engines:
        headline = f"the block does not name the method `{name}`: its chain is {', '.join(engines) or 'empty'}"
        return None, [diagnostic("SDC504", headline, protect.span)]
    span = engines[name].span if name is not None else protect.span
    headline = f"this version cannot write a model of the method `{name}`"
    return None, [diagnostic("SDC501", headline, span, help=f"models are written of {can}")]


def _unwritable(path: Path, request: CompileRequest) -> list[Diagnostic]:
    place, folder = FilePlace(str(path)), path.parent
    read = [request.source, *request.places.instead.values()]
    why = None
    if not folder.is_dir():
        why = f"there is no folder {folder}"
    elif not os.access(folder, os.W_OK | os.X_OK):
        why = f"no permission to write to {folder}"
    elif path.is_dir():
        why = "it is a folder"
    elif path.exists() and any(other.exists() and path.samefile(other) for other in read):
        why = "it would overwrite a file that is read"
    return [] if why is None else [diagnostic("SDC504", f"{path} cannot be written: {why}", place)]


def _too_large(problem: TableProblem) -> list[Diagnostic]:
    headline = too_many_variables(problem)
    if headline is None:
        return []
    notes = ["it has a table of its own for every level of every pair of attacker and cell"]
    return [diagnostic("SDC504", headline, notes=notes, help="`sdcdsl protect` solves it without writing it down")]


def _compiled(
    problem: TableProblem,
    plan: Plan,
    request: CompileRequest,
    solution: Mapping[str, float],
    found: list[Diagnostic],
) -> Compiled:
    method = plan.engine.name
    context = SolveContext(plan.options, before=plan.before)
    definition = definition_of(method)
    model = definition.model(problem, context)
    seen = numbers(model)
    size = ModelSize(int(seen.integer.sum()), int((~seen.integer).sum()), len(seen.row_low))
    if request.output is not None:
        problems = _written(model, request.output, _about(problem, method))
        if problems:
            return _refused([*found, *problems])
    trial = None
    if request.solution is not None:
        values, problems = _fitted(model, solution, FilePlace(str(request.solution)))
        if values is None:
            return _refused([*found, *problems])
        trial = _tried(problem, method, context, definition.pattern(problem, values, context))
    end = End.EXPOSED if trial is not None and not trial.safe else End.DONE
    return Compiled(CompiledBlock(problem, method, size, trial), tuple(found), end)


def _about(problem: TableProblem, method: str) -> list[str]:
    """Which numbers mean what."""
    pairs = zip(problem.dataset["attacker_at"].values, problem.dataset["cell_at"].values, strict=True)
    return [
        f"{method} for {problem.name}",
        *(f"cell {i}: {problem.label(i)}" for i in range(problem.n)),
        *(f"pair {i}: {problem.attackers[k]} about {problem.label(int(p))}" for i, (k, p) in enumerate(pairs)),
    ]


def _written(model: linopy.Model, path: Path, about: list[str]) -> list[Diagnostic]:
    beside = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        beside.unlink(missing_ok=True)
        beside.touch(mode=0o600)  # a model holds the data; whoever writes to it keeps the mode
        write(model, beside, about)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        return [diagnostic("SDC504", f"{path} cannot be written: {error.strerror or error}", FilePlace(str(path)))]
    return []


# ---- a solution --------------------------------------------------------------------------------------


def _tried(problem: TableProblem, method: str, context: SolveContext, released: Pattern) -> Trial:
    audit = audit_release(problem, released, exact=False)
    # What was cheaper because of the last period costs what it costs.
    loss = definition_of(method).objective(problem, released, replace(context, before=None))
    touched = int((problem.dataset["published"].values & (released.status != EXACT)).sum())
    return Trial(loss, touched, audit)


def _fitted(
    model: linopy.Model, given: Mapping[str, float], place: FilePlace
) -> tuple[dict[str, np.ndarray] | None, list[Diagnostic]]:
    """Values by variable, in the units of the table. Solvers leave out what is zero."""
    known = {name: position for position, name in enumerate(column_names(model))}
    strange = [name for name in given if name not in known]
    if strange:
        headline = f"{place.name} is no solution of this model: it has no variable {strange[0]}"
        notes = [f"nor {len(strange) - 1} others"] if len(strange) > 1 else []
        help = "a model belongs to one policy and its data: write it again with -o, and solve that"
        return None, [diagnostic("SDC506", headline, place, notes=notes, help=help)]
    seen = numbers(model)
    values = np.zeros(seen.n)
    for name, value in given.items():
        values[known[name]] = value
    off = seen.integer & (np.abs(values - np.round(values)) > WHOLE)
    outside = (values < seen.low - WHOLE) | (values > seen.high + WHOLE)
    for wrong, why in ((off, "is not a whole number"), (outside, "is outside its bounds")):
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            name = next(n for n, position in known.items() if position == at)
            headline = f"{place.name} is no solution of this model: {name} = {values[at]:g} {why}"
            return None, [diagnostic("SDC506", headline, place)]
    values = np.clip(values, seen.low, seen.high)
    return by_variable(model, values / seen.unit), []
