"""`period quarter "2025Q3" previous "2025Q2"`: what changes from one publication to the next, said once.

The period and the one before are parameters: `{quarter}` and `{previous}` stand in the names of files. And a
method that can keep to what was published before (`previous`) does so with the file that the block released then, which
is called like the one it releases now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.parameters import Parameter
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.option import options_of

PREVIOUS = "previous"


def consistent(
    blocks: Mapping[str, d.Block], period: d.Period | None, parameters: Mapping[str, Parameter]
) -> dict[str, d.Block]:
    """The blocks with `previous` in each method that takes it and does not say it, if the policy names a period."""
    now, before = (_text(parameters, name) for name in (period.name if period else "", PREVIOUS))
    if period is None or period.previous is None or not now or not before:
        return dict(blocks)
    return {name: _with_previous(block, period, now, before) for name, block in blocks.items()}


def _text(parameters: Mapping[str, Parameter], name: str) -> str:
    return parameters[name].text if name in parameters else ""


def _with_previous(block: d.Block, period: d.Period, now: str, before: str) -> d.Block:
    paths = [r.file.path for r in block.all(d.Release) if now in r.file.path and r.file.format in ("csv", "parquet")]
    if not paths:
        return block
    path = paths[0].replace(now, before)
    statements = tuple(
        replace(s, engines=tuple(_engine(e, period, path) for e in s.engines)) if isinstance(s, d.MethodChain) else s
        for s in block.statements
    )
    return replace(block, statements=statements)


def _engine(engine: d.Engine, period: d.Period, path: str) -> d.Engine:
    method = METHODS.get(engine.name)
    if method is None or PREVIOUS not in options_of(method.options):
        return engine
    if any(option.name == PREVIOUS for option in engine.options):
        return engine
    return replace(engine, options=(*engine.options, *_options(engine, period, path)))


def _options(engine: d.Engine, period: d.Period, path: str) -> Iterator[d.Option]:
    yield d.Option(PREVIOUS, (x.Text(path, span=period.span),), span=period.span)
    said = {option.name for option in engine.options}
    for option in period.options:
        if option.name == "discount" and "previous_discount" not in said:
            yield replace(option, name="previous_discount")
