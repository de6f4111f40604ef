"""The models of a policy's protect blocks, as people read them."""

from __future__ import annotations

from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition, modelled
from sdcdsl.methods.witness_tables import too_many_variables
from sdcdsl.pipeline.bind import bind
from sdcdsl.pipeline.method_plan import plan_of
from sdcdsl.pipeline.model_text import described
from sdcdsl.pipeline.request import Inputs, writing_nothing
from sdcdsl.policy import document as d
from sdcdsl.vocabulary.methods import METHODS


def shown_models(inputs: Inputs) -> tuple[str, list[Diagnostic]]:
    """Of every block the model of the first method of its chain."""
    bound, request = bind(inputs), writing_nothing(inputs)
    texts: list[str] = []
    found = list(bound.found)
    for name, problem in () if bound.wrong else bound.problems.items():
        protect = inputs.policy.protects[name]
        engine = protect.the(d.MethodChain).engines[0]
        if engine.name not in modelled():
            headline = f"the method `{engine.name}` has no model that could be shown"
            found.append(diagnostic("SDC501", headline, engine.span))
            continue
        plan, wrong = plan_of(engine, protect, problem, request)
        found += wrong
        if has_errors(wrong):
            continue
        too_large = too_many_variables(problem)
        context = SolveContext(plan.options, seed=inputs.policy.seed or 0, before=plan.before)
        model = definition(engine.name).model(problem, context, too_large is None)
        lines = list(described(problem, METHODS[engine.name], definition(engine.name), model))
        if too_large is not None:
            lines.append(f"  {too_large}: its witness tables are left out here")
        texts.append("\n".join(lines))
    if not inputs.policy.protects:
        place = FilePlace(str(inputs.source))
        found.append(diagnostic("SDC504", "the policy protects nothing: it has no protect block", place))
    return "".join(f"{text}\n" for text in texts), list(dict.fromkeys(found))
