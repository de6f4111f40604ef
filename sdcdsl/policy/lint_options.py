"""Advice on options of methods and on levels: those that have no effect beside the others."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.resolve import Policy

_OF_BOTH_NORMS = ("omega1", "omega2", "squared")


def idle_options(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """Weights of the two norms count only where both are used."""
    for protect in policy.protects.values():
        chain = protect.last(d.MethodChain)
        for engine in chain.engines if chain is not None else ():
            norms = [o.values[0] for o in engine.options if o.name == "norm" and o.values]
            if engine.name != "cta" or x.Name("L1L2") in norms:
                continue
            for option in engine.options:
                if option.name in _OF_BOTH_NORMS:
                    headline = f"`{option.name}` has no effect: it is for `norm L1L2`"
                    yield diagnostic("SDC216", headline, option.span, help="norm L1L2")


def idle_slides(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """An adjusted table leaves nobody an interval that could be wide."""
    for protect in policy.protects.values():
        chain = protect.last(d.MethodChain)
        adjusting = [e.name for e in chain.engines if e.name == "cta"] if chain is not None else []
        for level in protect.all(d.Level) if adjusting else ():
            if level.level == "spl" and not (isinstance(level.amount, x.Number) and level.amount.value == 0):
                yield diagnostic(
                    "SDC216",
                    "`spl` requires an interval of a certain width, and `cta` publishes none",
                    level.span,
                    notes=["it is satisfied where lpl and upl together are as large, and refused elsewhere"],
                    help="lpl and upl for `cta`; csp, ip and ecta keep to spl",
                )
