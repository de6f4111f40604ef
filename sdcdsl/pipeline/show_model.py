"""The models of a policy's protect blocks, as people read them."""

from __future__ import annotations

from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition, modelled
from sdcdsl.methods.witness_tables import too_many_variables
from sdcdsl.pipeline.method_plan import plan_of
from sdcdsl.pipeline.model_text import described
from sdcdsl.pipeline.request import Request
from sdcdsl.policy import document as d
from sdcdsl.vocabulary.methods import METHODS


def shown_models(request: Request) -> tuple[str, list[Diagnostic]]:
    """Of every block the model of the first method of its chain."""
    binding = Binding(request.policy, request.places, request.day)
    texts: list[str] = []
    found: list[Diagnostic] = []
    for protect in request.policy.protects.values():
        problem, wrong = bind_protect(binding, protect)
        found += wrong
        chain = protect.last(d.MethodChain)
        if problem is None or chain is None or has_errors(wrong):
            continue
        engine = chain.engines[0]
        if engine.name not in modelled():
            headline = f"the method `{engine.name}` has no model that could be shown"
            found.append(diagnostic("SDC501", headline, engine.span))
            continue
        plan, wrong = plan_of(engine, protect, problem, request)
        found += wrong
        if has_errors(wrong):
            continue
        too_large = too_many_variables(problem)
        context = SolveContext(plan.options, seed=request.policy.seed or 0, before=plan.before)
        model = definition(engine.name).model(problem, context, too_large is None)
        lines = list(described(problem, METHODS[engine.name], definition(engine.name), model))
        if too_large is not None:
            lines.append(f"  {too_large}: its witness tables are left out here")
        texts.append("\n".join(lines))
    found = list(dict.fromkeys([*binding.diagnostics, *found]))
    if not request.policy.protects:
        place = FilePlace(str(request.source))
        found.append(diagnostic("SDC504", "the policy protects nothing: it has no protect block", place))
    return "".join(f"{text}\n" for text in texts), found
