"""What `compile` does behind its options: bind, build the model, write it; read a solution, publish it on trial, audit
it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdcdsl.audit import audit_release
from sdcdsl.bind.known_codes import unknown_codes
from sdcdsl.bind.naming import first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.cli import exits
from sdcdsl.cli.compile_solution import read_solution
from sdcdsl.cli.streams import written
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition as definition_of
from sdcdsl.methods.solving import modelled
from sdcdsl.methods.witness_tables import too_many_variables
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.pipeline.method_plan import Plan, plan_of
from sdcdsl.pipeline.request import Request
from sdcdsl.policy import document as d
from sdcdsl.solve.modelling import by_variable, column_names, numbers
from sdcdsl.solve.writing import write

if TYPE_CHECKING:
    import linopy

WHOLE = 1e-4


@dataclass(frozen=True)
class Asked:
    method: str | None
    output: Path | None
    solution: Path | None


@dataclass
class Done:
    blocks: list[dict[str, Any]] = field(default_factory=list)
    found: list[Diagnostic] = field(default_factory=list)
    exit: int = exits.DONE
    text: str = ""


def compiled(request: Request, asked: Asked) -> Done:
    if request.block is None:
        return _refused([diagnostic("SDC504", "the policy protects nothing: it has no protect block", _place(request))])
    protect = request.policy.protects[request.block]
    engine, found = _engine(protect, asked.method)
    if engine is None:
        return _refused(found, exits.WRONG_POLICY)
    found = _unwritable(asked.output, request) if asked.output is not None else []
    if found:
        return _refused(found)
    solution = None
    if asked.solution is not None:
        solution, refused = _read(asked.solution)
        if refused is not None:
            return refused
    binding = Binding(request.policy, request.places, request.day)
    problem, found = bind_protect(binding, protect)
    found = list(dict.fromkeys([*binding.diagnostics, *found, *unknown_codes(request.policy, binding.dimensions)]))
    if problem is None or has_errors(found):
        return _refused(found)
    plan, problems = plan_of(engine, protect, problem, request)
    found += problems + ([] if engine.name in ("cta", "ecta") else _too_large(problem))
    if has_errors(found):
        return _refused(found)
    return _done(problem, plan, asked, solution, found)


def _read(path: Path) -> tuple[dict[str, float], Done | None]:
    """The values of a solution, before anything takes its time."""
    read, found = read_solution(path)
    if read is None:
        return {}, _refused(found)
    if read.values:
        return read.values, None
    said = f": its status is {read.status}" if read.status else ""
    found = [diagnostic("SDC507", f"{path} holds no solution{said}", FilePlace(str(path)))]
    return {}, _refused(found, exits.INFEASIBLE if "infeasible" in read.status.lower() else exits.LIMIT)


def _refused(found: list[Diagnostic], code: int = exits.WRONG_DATA) -> Done:
    return Done([], found, code)


def _place(request: Request) -> FilePlace:
    return FilePlace(str(request.source))


def _engine(protect: d.Block, asked: str | None) -> tuple[d.Engine | None, list[Diagnostic]]:
    chain = protect.last(d.MethodChain)
    engines = {e.name: e for e in chain.engines} if chain is not None else {}
    name = asked or next(iter(engines), None)
    if name in engines and name in modelled():
        return engines[name], []
    can = " or ".join(f"`{m}`" for m in modelled())
    if name is not None and name not in engines:
        headline = f"the block does not name the method `{name}`: its chain is {', '.join(engines) or 'empty'}"
        return None, [diagnostic("SDC504", headline, protect.span)]
    span = engines[name].span if name is not None else protect.span
    headline = f"this version cannot write a model of the method `{name}`"
    return None, [diagnostic("SDC501", headline, span, help=f"models are written of {can}")]


def _unwritable(path: Path, request: Request) -> list[Diagnostic]:
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


def _done(
    problem: TableProblem, plan: Plan, asked: Asked, solution: dict[str, float] | None, found: list[Diagnostic]
) -> Done:
    method = plan.engine.name
    context = SolveContext(plan.options, before=plan.before)
    definition = definition_of(method)
    model = definition.model(problem, context)
    seen = numbers(model)
    size = {"binaries": int(seen.integer.sum()), "others": int((~seen.integer).sum()), "rows": len(seen.row_low)}
    block: dict[str, Any] = {"name": problem.name, "method": method, "model": size}
    done = Done([block], found)
    if asked.output is not None:
        problems = _written(model, asked.output, _about(problem, method))
        if problems:
            return _refused([*found, *problems])
        block["file"] = str(asked.output)
        done.text += (
            f"{asked.output}: {method} for {problem.name}, {size['binaries']} binaries, "
            f"{size['others']} other variables, {size['rows']} rows\n"
        )
    if asked.solution is not None and solution is not None:
        values, problems = _fitted(problem, model, solution, FilePlace(str(asked.solution)))
        if values is None:
            return _refused([*found, *problems])
        done.blocks[0]["solution"] = str(asked.solution)
        _tried(problem, method, context, definition.pattern(problem, values, context), done)
    return done


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
    written()
    return []


# ---- a solution --------------------------------------------------------------------------------------


def _tried(problem: TableProblem, method: str, context: SolveContext, released: Pattern, done: Done) -> None:
    """The release that a solution stands for, audited."""
    verdict = audit_release(problem, released, exact=False)
    # What was cheaper because of the last period costs what it costs.
    loss = definition_of(method).objective(problem, released, replace(context, before=None))
    touched = int((problem.dataset["published"].values & (released.status != EXACT)).sum())
    done.blocks[0] |= {"objective": loss, "touched": touched, "verdict": verdict.verdict}
    done.exit = exits.DONE if verdict.verdict in ("protected", "nothing to check") else exits.EXPOSED
    what = "hidden" if method == "csp" else "not published as they are"
    done.text += f"{problem.name}: {method}, objective {loss:.10g}, {touched} cells {what}\n"
    done.text += f"verdict: {verdict.verdict}\n"
    exposed = np.flatnonzero(verdict.verdicts != "p")
    if done.exit == exits.EXPOSED and len(exposed):
        cells = verdict.proofs.problem.pairs.cell[exposed]
        done.text += f"  {first_cells(np.unique(cells), verdict.problem.label)}\n"


def _fitted(
    problem: TableProblem, model: linopy.Model, given: dict[str, float], place: FilePlace
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
