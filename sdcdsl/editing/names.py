"""Where names of a policy are declared and where they are used, word by word.

The records of a policy know their statements; the tree knows every word. So occurrences come from the tree, and what
they mean comes from the policy: `office.external` is the attacker `external` of the file that is used `as office`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sdcdsl.diagnostics import Span
from sdcdsl.policy.files import File
from sdcdsl.policy.resolve import KINDS, Policy
from sdcdsl.syntax.tree import Node, Parsed, Token

ALIAS = "alias"  # of a used file
PARAM = "param"
_BRACED = re.compile(r"\{\{|\}\}|\{[ \t]*([^\W\d][\w.]*)[ \t]*\}")
_CELLS = frozenset({"sensitive", "publish", "suppress", "fix", "waive"})  # facts, which may name a table
_LISTS = {
    "from_": "data",
    "classified": "dimension",
    "against": "attacker",
    "level_against": "attacker",
    "scenarios": "scenario",
    "like": "protect",
}
_FIRST_IS_DIMENSION = frozenset({"recode", "recode_file", "coordinate", "member", "under", "at_level"})


@dataclass(frozen=True)
class Occurrence:
    """A word that names something, as it stands in its file."""

    kind: str
    name: str
    token: Token
    parsed: Parsed
    declares: bool = False
    column: bool = False  # a word in `only where`, where names are columns


@dataclass(frozen=True)
class Meaning:
    """What a word names: a block of the policy by its whole name, and which stretch of the word says so.

    In `office.region.coast` the name is `region`: `office` is a used file, `coast` one of the dimension's trees.
    """

    kind: str
    whole: str
    span: Span


def occurrences(parsed: Parsed) -> list[Occurrence]:
    """All names in a file, in reading order. A word in an expression may turn out to be none: `meaning` tells."""
    return sorted(_in_node(parsed.tree, parsed), key=lambda o: o.token.start)


def _in_node(node: Node, parsed: Parsed, override: bool = False, column: bool = False) -> Iterator[Occurrence]:
    names = list(node.tokens("NAME"))
    if node.kind == "protect":
        yield from _protect(node, names, parsed, override)
    elif node.kind in KINDS:
        yield Occurrence(node.kind, names[0].text, names[0], parsed, declares=not override)
    elif node.kind in _LISTS:
        yield from (Occurrence(_LISTS[node.kind], t.text, t, parsed) for t in names)
    elif node.kind in _FIRST_IS_DIMENSION or node.kind in ("name", "role"):
        yield from (Occurrence("dimension", t.text, t, parsed, column=column) for t in names[:1])
    elif node.kind in _CELLS:
        yield from (Occurrence("table", t.text, t, parsed) for t in names[:1])
    elif node.kind in (PARAM, "period"):
        yield from (Occurrence(PARAM, t.text, t, parsed, declares=True) for t in names[:1])
    elif node.kind == "share_of":
        yield from (Occurrence(PARAM, t.text, t, parsed) for t in names[:1])
    elif node.kind == "use":
        yield from (Occurrence(ALIAS, t.text, t, parsed, declares=True) for t in names[:1])
    for text in node.tokens("STRING"):
        yield from _in_text(text, parsed)
    for child in node.nodes():
        yield from _in_node(child, parsed, node.kind == "override", column or node.kind == "only")


def _in_text(text: Token, parsed: Parsed) -> Iterator[Occurrence]:
    """`{year}` in a text; braces that are doubled mean themselves."""
    for match in _BRACED.finditer(text.text):
        if match.group(1) is not None:
            start = text.start + match.start(1)
            token = Token("NAME", match.group(1), start, start + len(match.group(1)))
            yield Occurrence(PARAM, token.text, token, parsed)


def _protect(node: Node, names: list[Token], parsed: Parsed, override: bool) -> Iterator[Occurrence]:
    as_ = node.node("as_")
    if override and as_ is None:
        yield Occurrence("protect", names[0].text, names[0], parsed)
        return
    yield from (Occurrence("table", t.text, t, parsed) for t in names)
    if as_ is not None:
        yield from (Occurrence("protect", t.text, t, parsed, declares=not override) for t in as_.tokens("NAME"))


def meaning(occurrence: Occurrence, file: File, policy: Policy) -> Meaning | None:
    """What an occurrence in a file of the policy names; None if it is a quantity, a code or nothing that is known."""
    if occurrence.kind == ALIAS:
        whole = ".".join(part for part in (file.prefix, occurrence.name) if part)
        return Meaning(ALIAS, whole, Span(occurrence.parsed.source, occurrence.token.start, occurrence.token.end))
    found = _named(occurrence, occurrence.kind, file, policy)
    if found is None and occurrence.kind == "dimension" and not occurrence.column:  # a word in an expression
        found = _named(occurrence, PARAM, file, policy)
    return found


def _named(occurrence: Occurrence, kind: str, file: File, policy: Policy) -> Meaning | None:
    known, parts = declared_of(policy, kind), occurrence.name.split(".")
    for count in range(len(parts), 0, -1):
        whole = ".".join([*([file.prefix] if file.prefix else []), *parts[:count]])
        if whole in known:
            end = occurrence.token.start + len(".".join(parts[:count]))
            return Meaning(kind, whole, Span(occurrence.parsed.source, end - len(parts[count - 1]), end))
    return None


def declared_of(policy: Policy, kind: str) -> Mapping[str, Any]:
    """What is declared of a kind, by its whole name."""
    return policy.parameters if kind == PARAM else policy.blocks[kind]


class Names:
    """All names of a policy: what each word means, where it is declared, where it is used."""

    def __init__(self, policy: Policy):
        self.policy = policy
        self.words: list[tuple[Occurrence, Meaning]] = []
        self._declared: dict[tuple[str, str], Span] = {}
        for file in policy.files:
            for occurrence in occurrences(file.parsed):
                said = meaning(occurrence, file, policy)
                if said is not None:
                    self.words.append((occurrence, said))
                    if occurrence.declares:
                        self._declared[said.kind, said.whole] = said.span

    def at(self, parsed: Parsed, offset: int) -> tuple[Occurrence, Meaning] | None:
        """The name under the cursor."""
        for occurrence, said in self.words:
            if occurrence.parsed is parsed and occurrence.token.start <= offset <= occurrence.token.end:
                return occurrence, said
        return None

    def declaration(self, said: Meaning) -> Span | None:
        """The word that declares it; of a protect block without a name of its own, its heading."""
        found = self._declared.get((said.kind, said.whole))
        if found is None and said.kind == "protect" and said.whole in self.policy.protects:
            found = self.policy.protects[said.whole].heading
        return found

    def uses(self, said: Meaning) -> list[Span]:
        """Every word that names the same thing, its declaration included; each place once, under however many names
        its file is used."""
        there = self.declaration(said)
        same = [w.span for _, w in self.words if w.kind == said.kind and self.declaration(w) == there]
        return list({(id(span.source), span.start): span for span in same}.values())
