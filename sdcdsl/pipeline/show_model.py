"""The models of a policy's protect blocks, as people read them."""

from __future__ import annotations

from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition, modelled
from sdcdsl.methods.witness_tables import too_many_variables
from sdcdsl.pipeline.bind import bind
from sdcdsl.pipeline.method_plan import plan_of
from sdcdsl.pipeline.model_text import described
from sdcdsl.pipeline.request import Inputs, ProtectRequest, writing_nothing
from sdcdsl.policy import document as d
from sdcdsl.vocabulary.methods import METHODS


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


def _shown(problem: TableProblem, protect: d.Block, request: ProtectRequest) -> tuple[str, list[Diagnostic]]:
    chain = protect.last(d.MethodChain)
    if chain is None:
        return "", [diagnostic("SDC504", f"the block of `{problem.name}` names no method", protect.span)]
    engine = chain.engines[0]
    if engine.name not in modelled():
        headline = f"the method `{engine.name}` has no model that could be shown"
        return "", [diagnostic("SDC501", headline, engine.span)]
    plan, found = plan_of(engine, protect, problem, request)
    if has_errors(found):
        return "", found
    too_large = too_many_variables(problem)
    context = SolveContext(plan.options, seed=request.policy.seed or 0, before=plan.before)
    defined = definition(engine.name)
    model = defined.model(problem, context, too_large is None)
    lines = list(described(problem, METHODS[engine.name], defined, model))
    if too_large is not None:
        lines.append(f"  {too_large}: its witness tables are left out here")
    return "".join(f"{line}\n" for line in lines), found
