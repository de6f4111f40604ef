"""Rules that a policy calls, and values of options, as plain values. They have passed the checks."""

from __future__ import annotations

from typing import Any

from sdcdsl.policy import expressions as x
from sdcdsl.policy.meaning import bind_arguments
from sdcdsl.vocabulary.option import Kind, options_of, plain_default
from sdcdsl.vocabulary.rules import RULES, RuleArguments, find_rule


def rule_called(call: x.Call) -> RuleArguments | None:
    """The rule with its arguments, those that are not given included; None if there is no such rule."""
    rule = find_rule(call.name)
    if rule is None:
        return None
    known = options_of(rule.arguments)
    bound, _ = bind_arguments(call, known)
    return rule.arguments(
        **{
            name: plain_value(bound[name].value, spec.kind) if name in bound else plain_default(spec.kind, spec.default)
            for name, spec in known.items()
        }
    )


def largest_needed(call: x.Call) -> int:
    """How many of the largest contributions the rule looks at."""
    rule, made = find_rule(call.name), rule_called(call)
    return 0 if rule is None or made is None else RULES.call(rule.name, lambda: made.largest_needed)


def plain_value(value: x.Expression, kind: Kind) -> Any:
    if isinstance(value, x.Negative):
        return -plain_value(value.value, kind)
    match value:
        case x.Percent():
            return value.value
        case x.Number(text):
            if kind is Kind.NAMES:
                return text
            return int(text) if kind is Kind.WHOLE else value.value
        case x.Duration():
            return value.seconds
        case x.Name(name):
            return name
        case x.Text(text):
            return text
        case _:
            return value
