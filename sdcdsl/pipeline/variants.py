"""One policy under other methods and other levels: what `compare` runs side by side.

A variant is written as on the command line, `cta(norm: L2)`, and read by the parser of the language, so that every
mistake has the message it has in a policy. Options that a variant does not give are those of the same method in the
block's own chain; a method that is not there takes over the limits of the chain's first, to be fair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, Source, diagnostic, has_errors
from sdcdsl.methods.solving import unavailable
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.checks import check
from sdcdsl.policy.files import load_source
from sdcdsl.policy.meaning import LEVELS, brings_levels
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import option as written
from sdcdsl.vocabulary.methods import Limits
from sdcdsl.vocabulary.option import options_of

USUAL = ("csp", "ip", "cta", "rounding")
# Options without a default, which the data suggests (`fitting`). Any value passes the checks until then.
SUGGESTED = {"rounding": ("base", x.Number("1")), "perturb": ("range", x.Range(x.Number("0"), x.Number("1")))}
_WRITTEN = re.compile(r"\s*([^\s({]+)\s*(?:\((.*)\)|\{(.*)\})?\s*", re.S)


@dataclass(frozen=True)
class Variant:
    label: str  # `cta(norm: L2)`: with the options that were required
    engine: d.Engine

    @property
    def method(self) -> str:
        return self.engine.name

    @property
    def lacks(self) -> str | None:
        """The option that the data has to suggest."""
        name = SUGGESTED.get(self.method, (None,))[0]
        return None if name is None or any(o.name == name for o in self.engine.options) else name


@dataclass(frozen=True)
class LeftOut:
    """A method that cannot run here, and why."""

    method: str
    why: str


def usual_variants(policy: Policy, block: str) -> tuple[list[Variant], list[LeftOut]]:
    """The methods of the block's own chain, and the usual ones that can run."""
    chain = _chain(policy, block)
    names = [engine.name for engine in chain]
    made: list[Variant] = []
    left: list[LeftOut] = []
    for engine in chain:
        again = names.count(engine.name) > 1
        made.append(Variant(_label(engine.name, engine.options if again else ()), engine))
    made += [Variant(name, _completed(d.Engine(name), chain)) for name in USUAL if name not in names]
    kept: list[Variant] = []
    for variant in made:
        found = problems_of(policy, block, variant)
        if found:
            left.append(LeftOut(variant.label, found[0].headline))
        elif all(variant.engine != other.engine for other in kept):
            kept.append(variant)
    return kept, left


def stated_variants(text: str, policy: Policy, block: str) -> tuple[list[Variant], list[Diagnostic]]:
    """`csp, cta(norm: L2), rounding(base: 5)`, checked as if the policy said it."""
    chain = _chain(policy, block)
    made: list[Variant] = []
    found: list[Diagnostic] = []
    for part in filter(None, map(str.strip, split(text))):
        engine, problems = _read(part)
        if engine is not None and not has_errors(problems):
            variant = Variant(_label(engine.name, engine.options), _completed(engine, chain))
            problems = problems_of(policy, block, variant)
            if not problems and all(variant.engine != other.engine for other in made):
                made.append(variant)
        found += problems
    return made, list(dict.fromkeys(found))


def problems_of(policy: Policy, block: str, variant: Variant) -> list[Diagnostic]:
    """What the checks of the language say of the policy with this method."""
    engine = variant.engine
    if variant.lacks is not None:
        name, value = SUGGESTED[engine.name]
        engine = replace(engine, options=(*engine.options, d.Option(name, (value,))))
    found = [one for one in check(varied(policy, block, engine)) if has_errors([one])]
    if not found and (why := unavailable(engine.name)) is not None:
        found = [diagnostic("SDC501", f"the method `{engine.name}` cannot run: {why}", engine.span)]
    return found


# ---- policies ----------------------------------------------------------------------------------------


def varied(policy: Policy, block: str, engine: d.Engine, factor: float = 1.0, nonnegative: bool = False) -> Policy:
    """The policy with one method in the block and its levels multiplied; without files and experiments."""
    protect = policy.protects[block]
    left_out = (d.Assess, d.Release, d.MethodChain)
    said = tuple(s for s in protect.statements if not isinstance(s, left_out))
    if factor != 1 and brings_levels(policy, protect) is not False:
        said = (*(d.Level(level, x.Name("needed")) for level in LEVELS), *said)  # what a JJ file brings along (S31)
    chain = d.MethodChain((engine,), span=protect.the(d.MethodChain).span)
    changed = replace(protect, statements=(*_scaled(said, factor, nonnegative), chain))
    blocks = {**policy.blocks, "protect": {block: changed}}
    if factor == 1:
        return replace(policy, blocks=blocks)
    blocks["scenario"] = {
        name: replace(one, statements=tuple(_scaled(one.statements, factor, nonnegative)))
        for name, one in policy.scenarios.items()
    }
    # A requirement is about the levels of the policy, not about those somebody tries out.
    facts = tuple(fact for fact in policy.facts if not isinstance(fact, d.Require))
    return replace(policy, blocks=blocks, facts=facts)


def _scaled(statements: Sequence[d.Statement], factor: float, nonnegative: bool) -> Iterator[d.Statement]:
    for statement in statements:
        if factor != 1 and isinstance(statement, d.Level | d.Conditional):
            amount = _times(statement.amount, factor)
            if nonnegative and factor > 1 and statement.level == "lpl" and _by_rule(statement.amount):
                # Rules never require more below a value than the value itself.
                most = _call("max", statement.amount, x.Name("value"))
                amount = _call("min", amount, most)
            yield replace(statement, amount=amount)
        else:
            yield statement


def _times(amount: x.Expression, factor: float) -> x.Expression:
    return x.Binary("*", x.Number(f"{factor:.15g}"), amount, span=amount.span)


def _by_rule(amount: x.Expression) -> bool:
    return any(isinstance(part, x.Name) and part.name == "needed" for part in x.walk(amount))


def _call(name: str, *arguments: x.Expression) -> x.Call:
    return x.Call(name, tuple(x.Argument(None, one) for one in arguments), span=arguments[0].span)


# ---- what is written on the command line -----------------------------------------------------------------


def split(text: str, at: str = ",") -> list[str]:
    """Parts between commas that stand outside parentheses, braces and quotes."""
    parts: list[str] = []
    depth, quoted, begun = 0, False, 0
    for i, sign in enumerate(text):
        if sign == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif sign in "({":
            depth += 1
        elif sign in ")}":
            depth -= 1
        elif sign == at and depth == 0:
            parts.append(text[begun:i])
            begun = i + 1
    return [*parts, text[begun:]]


def _read(part: str) -> tuple[d.Engine | None, list[Diagnostic]]:
    found = _WRITTEN.fullmatch(part)
    name, arguments, braces = found.groups() if found is not None else (part, None, None)
    inside = braces or ""
    if arguments is not None:
        inside = "; ".join(one.strip().replace(":", " ", 1) for one in split(arguments) if one.strip())
    said = f"{name} {{ {' '.join(inside.split())} }}" if inside.strip() else name
    # `protect` names a table; which one does not matter here.
    source = Source("--methods", f"sdc 1\nprotect t {{\n  method {said}\n}}\n")
    files, problems = load_source(source, Path("methods.sdc"))
    if has_errors(problems):
        return None, problems
    chains = [chain for block in files[-1].document.all(d.Block) for chain in block.all(d.MethodChain)]
    engines = [engine for chain in chains for engine in chain.engines]
    if len(engines) != 1:
        place = chains[0].span if chains else None
        return None, [diagnostic("SDC503", f"`{part}` is not one method", place, help="--methods 'csp, cta(norm: L2)'")]
    return engines[0], problems


def _label(name: str, options: Sequence[d.Option]) -> str:
    said = [written(one).replace(" ", ": ", 1) for one in options]
    return f"{name}({', '.join(said)})" if said else name


def _chain(policy: Policy, block: str) -> tuple[d.Engine, ...]:
    return policy.protects[block].the(d.MethodChain).engines


def _completed(engine: d.Engine, chain: Sequence[d.Engine]) -> d.Engine:
    own = next((other for other in chain if other.name == engine.name), None)
    limits = options_of(Limits)
    more = own.options if own is not None else tuple(o for o in chain[0].options if o.name in limits)
    given = {option.name for option in engine.options}
    kept = tuple(option for option in more if option.name not in given)
    return replace(engine, options=(*engine.options, *kept), span=engine.span or (own or chain[0]).span)
