"""The models of a policy's protect blocks, as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition, labelled_model, modelled
from sdcdsl.methods.witness_tables import too_many_variables
from sdcdsl.pipeline.bind import bind
from sdcdsl.pipeline.method_plan import plan_of
from sdcdsl.pipeline.model_text import described
from sdcdsl.pipeline.request import Inputs, ProtectRequest, writing_nothing
from sdcdsl.policy import document as d
from sdcdsl.vocabulary.methods import METHODS

if TYPE_CHECKING:
    import linopy


def shown_models(inputs: Inputs) -> tuple[str, list[Diagnostic]]:
    """Of every block the model of the first method of its chain."""
    if not inputs.policy.protects:
        headline = "the policy protects nothing: it has no protect block"
        return "", [diagnostic("SDC504", headline, FilePlace(str(inputs.source)))]
    bound = bind(inputs)
    if bound.wrong:
        return "", list(bound.found)
    request = writing_nothing(inputs)
    texts: list[str] = []
    found = list(bound.found)
    for name, problem in bound.problems.items():
        text, wrong = _shown(problem, inputs.policy.protects[name], request)
        texts.append(text)
        found += wrong
    return "\n".join(filter(None, texts)), found


def model_with_codes(
    problem: TableProblem, protect: d.Block, inputs: Inputs
) -> tuple[linopy.Model | None, list[Diagnostic]]:
    """The model of the first method of the block, for people: variables have the codes of their cells."""
    first, found = _first(problem, protect, writing_nothing(inputs))
    if first is None:
        return None, found
    return labelled_model(problem, *first, too_many_variables(problem) is None), found


def _shown(problem: TableProblem, protect: d.Block, request: ProtectRequest) -> tuple[str, list[Diagnostic]]:
    first, found = _first(problem, protect, request)
    if first is None:
        return "", found
    name, context = first
    too_large = too_many_variables(problem)
    defined = definition(name)
    model = defined.model(problem, context, too_large is None)
    lines = list(described(problem, METHODS[name], defined, model))
    if too_large is not None:
        lines.append(f"  {too_large}: its witness tables are left out here")
    return "".join(f"{line}\n" for line in lines), found


def _first(
    problem: TableProblem, protect: d.Block, request: ProtectRequest
) -> tuple[tuple[str, SolveContext] | None, list[Diagnostic]]:
    """The first method of the block's chain, with what it is given; None if it has no model."""
    chain = protect.last(d.MethodChain)
    if chain is None:
        return None, [diagnostic("SDC504", f"the block of `{problem.name}` names no method", protect.span)]
    engine = chain.engines[0]
    if engine.name not in modelled():
        headline = f"the method `{engine.name}` has no model that could be shown"
        return None, [diagnostic("SDC501", headline, engine.span)]
    plan, found = plan_of(engine, protect, problem, request)
    if has_errors(found):
        return None, found
    return (engine.name, SolveContext(plan.options, seed=request.policy.seed or 0, before=plan.before)), found
