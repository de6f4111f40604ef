"""What is under the cursor: a word of the language, a name and where it is declared, an expression and its type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from sdcdsl.diagnostics import Span
from sdcdsl.editing import vocabulary
from sdcdsl.editing.names import ALIAS, PARAM, Meaning, Names
from sdcdsl.editing.opened import Opened
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.types import Checker, Type
from sdcdsl.policy.write import expression, heading, param, statement
from sdcdsl.syntax.automaton import RESERVED
from sdcdsl.syntax.tree import Node, Token
from sdcdsl.vocabulary.quantities import Place

MOST_LINES = 20  # of a block that is shown


@dataclass(frozen=True)
class Hover:
    markdown: str
    span: Span


def hover(opened: Opened, offset: int) -> Hover | None:
    token = opened.token_at(offset)
    if token is None:
        return None
    here = Span(opened.source, token.start, token.end)
    names = Names(opened.policy)
    named = names.at(opened.parsed, offset)
    if named is not None:
        _, said = named
        return Hover(_declared(said, names), said.span)
    text = _word(opened, token)
    if text is not None:
        return Hover(text, here)
    return _typed(opened, token)


# ---- names ---------------------------------------------------------------------------------------------


def _declared(said: Meaning, names: Names) -> str:
    if said.kind == ALIAS:
        return f"`{said.whole}`: the names of a used file"
    if said.kind == PARAM:
        found = names.policy.parameters[said.whole]
        return f"```sdc\n{param(said.whole, found.value)}\n```\n\n{found.kind}, declared at {found.span}"
    block, place = names.policy.blocks[said.kind][said.whole], names.declaration(said)
    lines = [f"{heading(block)} {{", *(f"  {line}" for s in block.statements for line in statement(s).split("\n"))]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], "  …"]
    parts = ["\n".join(["```sdc", *lines, "}", "```"])]
    if block.documentation:
        parts.append(block.documentation)
    if place is not None:
        parts.append(f"declared at {place}")
    return "\n\n".join(parts)


# ---- words of the language ---------------------------------------------------------------------------------


def _word(opened: Opened, token: Token) -> str | None:
    nodes = opened.nodes_at(token.start, token.end)
    kinds = [node.kind for node in nodes]
    inner = nodes[-1]
    first = inner.children[0] if inner.children else None
    if token.type == "NAME":
        return _named_word(opened, nodes, inner, token, first is token)
    if not token.text[:1].isalpha() or token.text in _IN_EXPRESSIONS:
        return None
    statement_of = next((node for node in reversed(nodes) if node.kind in _STATEMENTS or node.kind in kinds[1:3]), None)
    block = _block_of(kinds)
    said = vocabulary.of_statement(block, token.text)
    if said is None and statement_of is not None:
        said = vocabulary.of_statement(block, _first_word(opened, statement_of))
    if token.text in ("lpl", "upl", "spl"):
        return "\n\n".join(filter(None, [vocabulary.of_quantity(token.text), said]))
    return said


_IN_EXPRESSIONS = RESERVED - {"where", "because", "until", "against", "else"}
_BLOCKS = ("dimension", "data", "table", "attacker", "scenario", "protect")
_STATEMENTS = frozenset(
    {"level", "conditional", "hierarchy_file", "hierarchy_sum", "hierarchy_prefix", "hierarchy_tree"}
)


def _block_of(kinds: list[str]) -> str:
    """The kind of block whose statements a node is one of; a block's own heading stands in the file."""
    inside = next((i for i in range(len(kinds) - 1, -1, -1) if kinds[i] in _BLOCKS), None)
    return kinds[inside] if inside is not None and inside < len(kinds) - 1 else "file"


def _first_word(opened: Opened, node: Node) -> str:
    return opened.source.text[node.start : node.end].split(maxsplit=1)[0]


def _named_word(opened: Opened, nodes: list[Node], inner: Node, token: Token, first: bool) -> str | None:
    kind = inner.kind
    if kind == "rule" and first:
        return vocabulary.of_rule(token.text)
    if kind == "engine" and first:
        return vocabulary.of_method(token.text)
    if kind == "assess":
        return vocabulary.of_experiment(token.text)
    if kind == "option" and first:
        spec = _options_around(opened, nodes).get(token.text)
        return None if spec is None else vocabulary.of_option(spec)
    if kind in ("source", "release", "hierarchy_file", "from_file") and first:
        word = {"source": "", "hierarchy_file": "hierarchy", "from_file": "sensitive"}.get(kind, kind)
        return vocabulary.of_format(token.text, word)
    if kind == "role":
        return vocabulary.of_role(token.text)
    if kind == "knows":
        return vocabulary.of_knowledge(" ".join(t.text for t in inner.tokens()))
    if kind in ("each", "coalition"):
        return vocabulary.of_role(token.text)
    if kind in ("name", "call") and first:
        return vocabulary.of_quantity(token.text)
    return None


def _options_around(opened: Opened, nodes: list[Node]) -> dict:
    """The options that the block around an option knows."""
    at = next((i for i, node in enumerate(nodes) if node.kind == "options"), None)
    if at is None:
        return {}
    owner = nodes[at - 1]
    words = tuple(t.text for t in opened.parsed.tokens if owner.start <= t.start < nodes[at].start)
    return vocabulary.options_in(("method", *words) if owner.kind == "engine" else words)


# ---- expressions -------------------------------------------------------------------------------------------

# What is worth a type: literals and single words say themselves what they are.
_TYPED = (x.Call, x.Negative, x.Binary, x.Compare, x.Member, x.Under, x.AtLevel, x.Not, x.Every, x.Some, x.Cond)
_PLACES = {
    d.Level: Place.LEVEL,
    d.Conditional: Place.CONDITIONAL,
    d.Cost: Place.COST,
    d.Bounds: Place.BOUNDS,
    d.Each: Place.EACH,
    d.Only: Place.RECORDS,
    d.Require: Place.REQUIRE,
    d.Option: Place.OPTION,
}


def _typed(opened: Opened, token: Token) -> Hover | None:
    """The smallest expression around a token that is more than one word."""
    best: tuple[x.Expression, Place] | None = None
    for item in opened.file.document.items:
        for found, place in _expressions(item, Place.SELECT):
            span = found.span
            if span is None or not (span.start <= token.start and token.end <= span.end):
                continue
            if best is None or best[0].span is None or span.end - span.start <= best[0].span.end - best[0].span.start:
                best = found, place
    if best is None or best[0].span is None:
        return None
    e, place = best
    type = Checker(opened.policy, place).type_of(e)
    return None if type is Type.UNKNOWN else Hover(f"`{expression(e)}` is {type}", best[0].span)


def _expressions(value: object, place: Place) -> Iterator[tuple[x.Expression, Place]]:
    if isinstance(value, tuple):
        for one in value:
            yield from _expressions(one, place)
    elif isinstance(value, x.Located) and is_dataclass(value):
        place = _PLACES.get(type(value), place)
        if isinstance(value, _TYPED):
            yield value, place
        for f in fields(value):
            if f.name not in ("span", "heading"):
                yield from _expressions(getattr(value, f.name), place)
