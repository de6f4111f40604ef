"""Random noise: does the policy say how much of it there is, and where the keys come from that it is drawn by?"""

from __future__ import annotations

from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.methods import METHODS

AMOUNT = ("deviation", "variance", "smallest")
SECRETS = ("secret_file", "secret_variable")


def check(policy: Policy) -> Iterator[Diagnostic]:
    for protect in policy.protects.values():
        for chain in protect.all(d.MethodChain):
            for engine in chain.engines:
                if engine.name in METHODS and METHODS[engine.name].random_noise:
                    yield from _amount(engine)
                    yield from _keys(policy, protect, engine)


def _amount(engine: d.Engine) -> Iterator[Diagnostic]:
    said = {o.name: o for o in engine.options}
    if "ptable" not in said and not {"deviation", "variance"} <= set(said):
        headline = f"`{engine.word}` does not say how much noise there is"
        yield diagnostic("SDC164", headline, engine.span, help='deviation 5 and variance 3, or ptable "ptable.csv"')
    for name in AMOUNT:
        if "ptable" in said and name in said:
            headline = f"`{name}` has no effect beside a table of probabilities"
            yield diagnostic("SDC147", headline, said[name].span, "the file says it", help="leave it out")


def _keys(policy: Policy, protect: d.Block, engine: d.Engine) -> Iterator[Diagnostic]:
    secrets = [o for o in engine.options if o.name in SECRETS]
    if len(secrets) > 1:
        yield diagnostic("SDC164", "the secret is in one place", secrets[1].span, "and here")
        return
    for name in protect.tables:
        table = policy.tables.get(name)
        if table is None or policy.is_damaged(table.span):
            continue
        origin = table.last(d.From)
        data = policy.data.get(origin.data) if origin is not None else None
        if origin is not None and (data is None or policy.is_damaged(data.span)):
            continue
        roles = {c.role for c in data.all(d.Column)} if data is not None else set[str]()
        if "key" in roles:
            continue
        micro = bool(table.all(d.Sum)) or any(c.column is None for c in table.all(d.Count))
        if micro and "unit" in roles and secrets:
            continue
        headline = f"`{engine.word}` draws noise by the keys of records, and table `{name}` has none"
        help = 'column key = "…" in its data'
        if micro:
            help += ', or column unit = "…" and a secret that keys are made from: secret_file "secret.txt"'
        yield diagnostic("SDC164", headline, engine.span, help=help).mark(table.heading, "this table")
