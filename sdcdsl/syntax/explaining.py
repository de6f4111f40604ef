"""What to say where a statement cannot go on: what was expected, what was found, and what people usually meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sdcdsl.diagnostics import Diagnostic, Fix, Source, Span, diagnostic, did_you_mean, nearest
from sdcdsl.syntax import messages
from sdcdsl.syntax.automaton import END, RESERVED
from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.tree import Node, Token

WITH_BLOCK = frozenset({"dimension", "data", "table", "attacker", "scenario", "protect"})
ENDS = ("_NL", END, "RBRACE")

# Words of other languages inside a statement, and at its start.
_WORDS = {
    "between": "value >= 1 and value <= 10",
    "is": "compare with a number: value = 0",
    "like": 'codes are compared whole: nace = "47", or nace under C',
    "AND": "keywords are written small: and",
    "OR": "keywords are written small: or",
    "NOT": "keywords are written small: not",
    "IN": "keywords are written small: in",
    "or": "the next choice follows `else`: method csp else ip",
}
_STATEMENTS = {
    "import": 'another file is taken over with: use "FILE" as NAME',
    "include": 'another file is taken over with: use "FILE" as NAME',
    "let": "there are no variables: write the amount where it is used",
    "var": "there are no variables: write the amount where it is used",
    "for": "there are no loops: a condition speaks of all its cells, as in suppress where value < 3",
    "if": "there are no branches: a condition follows `where`",
    "select": "cells are selected where they are spoken of: sensitive by threshold(3) where CONDITION",
}


@dataclass(frozen=True)
class Stop:
    """A place where the parser cannot go on."""

    source: Source
    block: str  # the kind of block it is in
    statement: Sequence[Token]  # what was read of the statement so far
    token: Token  # what does not fit
    after: Token | None  # what follows it
    accepted: frozenset[str]  # what would have fitted

    @property
    def span(self) -> Span:
        return Span(self.source, self.token.start, self.token.end)

    @property
    def before(self) -> Token | None:
        return self.statement[-1] if self.statement else None


def explain(stop: Stop) -> Diagnostic:
    token, statement = stop.token, stop.statement
    if not statement and token.type not in ENDS:
        return unknown_statement(stop, token)
    if len(statement) == 1 and statement[0].type == "NAME" and _is_slip(statement[0].text, stop.block):
        return unknown_statement(stop, statement[0])
    if token.text in RESERVED and "NAME" in stop.accepted:
        return _reserved(stop)
    before = stop.before
    first = statement[0].text if statement else ""
    words = messages.either(messages.expected(stop.accepted, before))
    usage = messages.usage(stop.block, first)
    notes = [f"write: {usage.pattern}"] if usage else []
    if token.type not in ENDS:
        headline = f"{messages.found(token)} does not fit here"
        return diagnostic("SDC010", headline, stop.span, f"expected {words}", notes=notes, help=_hint(stop))
    where = stop.span
    if before is not None and token.type != "RBRACE":
        where = Span(stop.source, before.start, before.end)
    headline = f"`{first}` stops too early" if first else "the file stops too early"
    return diagnostic("SDC013", headline, where, f"expected {words} after this", notes=notes)


def _is_slip(word: str, block: str) -> bool:
    """`form enterprises`: read as FORMAT "FILE", meant as a keyword with a slip in it."""
    return block in ("data", "table") and nearest(word, [w for w in messages.USAGE[block] if w]) is not None


def _reserved(stop: Stop) -> Diagnostic:
    word = stop.token.text
    help = f'a code is quoted: "{word}"' if "STRING" in stop.accepted else "choose another name"
    if word == "if" and "LPAR" in stop.accepted:
        help = "inside a larger expression a conditional stands in parentheses: 1 + (if … then … otherwise …)"
    return diagnostic("SDC025", f"`{word}` is a reserved word", stop.span, "a name belongs here", help=help)


def unknown_statement(stop: Stop, token: Token) -> Diagnostic:
    forms = [word for word in messages.USAGE[stop.block] if word and word != "sdc"]
    span = Span(stop.source, token.start, token.end)
    if token.text == "sdc":
        return diagnostic("SDC143", "the edition stands once, in the first line", span)
    near = nearest(token.text, forms) if token.type == "NAME" or token.text.isalpha() else None
    label = did_you_mean(token.text, forms) if near else ""
    if "" in messages.USAGE[stop.block]:
        forms.append(messages.USAGE[stop.block][""].pattern)
    notes = [f"{messages.BLOCKS[stop.block]} takes: {', '.join(forms)}"]
    elsewhere = [name for b, name in messages.BLOCKS.items() if token.text in messages.USAGE[b] and b != stop.block]
    if token.text in RESERVED:
        notes = ["a statement stands on one line; break it only after a comma or inside parentheses"]
    elif token.text.casefold() in _STATEMENTS:
        notes.insert(0, _STATEMENTS[token.text.casefold()])
    elif token.text == "-" and stop.after is not None and stop.after.text == "-":
        notes.insert(0, "comments start with `#`")
    elif token.text == "<":
        notes.insert(0, "lines of a τ-ARGUS batch file are imported, not pasted: sdcdsl import FILE.arb")
    if elsewhere and not near:
        notes.insert(0, f"`{token.text}` belongs in {elsewhere[-1]}")
    if not token.text.isidentifier():
        return diagnostic("SDC010", f"a statement cannot start with {messages.found(token)}", span, notes=notes)
    code = "SDC011" if stop.block == "file" else "SDC012"
    headline = f"no statement `{token.text[:40]}` in {messages.BLOCKS[stop.block]}"
    return diagnostic(code, headline, span, label, notes=notes, fix=Fix(span, near, certain=False) if near else None)


def _hint(stop: Stop) -> str | None:
    """What people usually meant, most telling first."""
    return _comma_above(stop) or _about_words(stop) or _about_signs(stop)


def _comma_above(stop: Stop) -> str | None:
    """A line that ends in a comma goes on in the next one."""
    if len(stop.statement) < 2 or stop.statement[-2].type != "COMMA":
        return None
    broken = "\n" in stop.source.text[stop.statement[-2].end : stop.statement[-1].start]
    return "is there a comma too many at the end of the line above?" if broken else None


def _about_words(stop: Stop) -> str | None:
    before, token, accepted = stop.before, stop.token, stop.accepted
    if before is None:
        return None
    first = stop.statement[0]
    if accepted == {"COLON"}:
        return "the dimensions are named: at (DIMENSION: CODE, …)"
    if token.type in ("EQUAL", "COLON") and before is first:
        return f"the value follows its word directly: {before.text} …"
    if accepted == {"LBRACE"}:
        return "a name is one word of letters, digits and `_`"
    if token.text in _WORDS:
        return _WORDS[token.text]
    spelling = tables().spelling
    near = nearest(token.text, [spelling[t] for t in accepted if t in spelling]) if token.type == "NAME" else None
    if near:
        return f"did you mean `{near}`?"
    if before.type == "PERCENT" and token.type == "NAME":
        return f"{before.text} of {token.text}"
    if token.type == "OF":
        return f"only a percentage is `of` something: 10% of value, or {before.text} * value"
    if token.text in ("<", ">", "<=", ">=", "=") and "PLUS" in accepted:
        return "a comparison has two sides; join two comparisons with `and`"
    if first.text in ("codes", "total", "hierarchy") and before.type == "NAME" and token.type == "NAME":
        return f'a comma stands between two codes; one code of two words is quoted: "{before.text} {token.text}"'
    return None


def _about_signs(stop: Stop) -> str | None:
    before, token, accepted = stop.before, stop.token, stop.accepted
    if before is None:
        return None
    touching = before.end == token.start
    after = stop.after
    if before.type == "INT" and token.type == "COMMA" and touching and after and after.start == token.end:
        return f"decimals are written with a point: {before.text}.{after.text}"
    if before.type == "INT" and token.type == "INT" and len(token.text) == 3:
        return f"numbers have no separators between their digits: {before.text}{token.text}"
    signs = ("LBRACE", "LPAR", "RPAR", "COMMA", "COLON", "EQUAL")
    if touching and before.type in ("INT", "NUMBER", "NAME", "DATE") and token.type not in signs:
        return f'a code with signs in it is quoted: "{before.text}{token.text}…"'
    if "STRING" in accepted and token.type in ("NAME", "INT") and "NAME" not in accepted:
        return f'texts are quoted: "{token.text}"'
    if token.type == "ELSE":
        return "inside expressions the alternative is written `otherwise`"
    if token.type in ("EQUAL", "COLON") and "NAME" not in accepted:
        return f"the value follows its word directly: {before.text} …"
    return None


# ---- about more than a place in a statement ---------------------------------------------------------------


def is_something_else(tokens: list[Token], found: list[Diagnostic]) -> bool:
    """No edition, and a first word that starts no statement either: one message is enough."""
    no_edition = bool(found) and found[0].code == "SDC005"
    return no_edition and bool(tokens) and tokens[0].text.casefold() not in messages.USAGE["file"]


def too_deep(source: Source, tree: Node, deepest: int) -> Diagnostic:
    node = tree
    while node.depth > deepest // 2:
        node = max((c for c in node.children if isinstance(c, Node)), key=lambda c: c.depth)
    return nested_at(source, node.start, min(node.end, node.start + 1))


def nested_at(source: Source, start: int, end: int) -> Diagnostic:
    help = 'many alternatives are written as a list: nace in ("45", "46")'
    return diagnostic("SDC007", "this expression is nested too deeply", Span(source, start, end), "too deep", help=help)


def likely_header(block: str, line: list[Token]) -> list[Token]:
    """The header of a block that was probably meant by a line that cannot be read."""
    if not line:
        return []
    words = list(messages.USAGE[block])
    first = line[0].text if line[0].text in words else nearest(line[0].text, [w for w in words if w])
    overriding = first == "override"
    if overriding and len(line) > 1:
        line = line[1:]
        first = nearest(line[0].text, WITH_BLOCK)
    if first not in WITH_BLOCK | {"method"}:
        return []
    line[0].text = first
    name = line[1].text if len(line) > 1 and line[1].text.isidentifier() else ""
    at = line[0].start
    made = [Token(first.upper(), first, at, line[0].end), Token("NAME", name, at, line[0].end)]
    return [Token("OVERRIDE", "override", at, at), *made] if overriding else made
