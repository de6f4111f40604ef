"""What may be written at the cursor: keywords that fit, names that are declared, words of the vocabulary, codes.

The text before the cursor goes through the parser, which knows what it would accept next. Names and codes come from
the policy as it was understood last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sdcdsl.diagnostics import Source
from sdcdsl.editing import vocabulary
from sdcdsl.editing.opened import Opened
from sdcdsl.policy.resolve import Policy
from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.messages import USAGE
from sdcdsl.syntax.parser import Ahead, ahead
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.methods import EXPERIMENTS, METHODS
from sdcdsl.vocabulary.option import OptionSpec
from sdcdsl.vocabulary.quantities import KNOWLEDGE, QUANTITIES, ROLES
from sdcdsl.vocabulary.rules import find_rule, rule_names

Codes = Callable[[str], Iterable[str]]  # the codes of a dimension, by its whole name
_WORD = re.compile(r"[^\W\d][\w.]*$")
_CODE_TEXT = re.compile(r"[^\W\d]\w*")  # a code that needs no quotes
_OPEN_BRACE = re.compile(r"(?<!\{)\{([\w.]*)$")  # in a text: the name of a parameter follows
_NAMED = {
    "from": "data",
    "by": "dimension",
    "recode": "dimension",
    "against": "attacker",
    "scenarios": "scenario",
    "protect": "table",
    "like": "protect",
    "publish": "table",
    "suppress": "table",
    "fix": "table",
}


@dataclass(frozen=True)
class Proposal:
    text: str
    kind: str  # "keyword", "rule", "method", "option", "format", "quantity", "function", "code", or a kind of block
    detail: str = ""
    documentation: str = ""


def complete(opened: Opened, offset: int, codes: Codes | None = None) -> tuple[int, list[Proposal]]:
    """Where the word under the cursor begins, and what may stand there; each word once."""
    before = opened.source.text[:offset]
    line = before[before.rfind("\n") + 1 :]
    if line.count('"') % 2 and (brace := _OPEN_BRACE.search(line)) is not None:
        start = offset - len(brace.group(1))
        return start, [*_parameters(opened.policy)]
    if line.count('"') % 2 or "#" in line.split('"')[::2][-1]:
        return offset, []  # in a text or a comment
    word = _WORD.search(before)
    start = word.start() if word else offset
    state = ahead(Source(opened.source.name, before[:start]))
    found = {p.text: p for p in reversed([*_fitting(opened.policy, state, codes or _none), *_keywords(state)])}
    return start, list(reversed(found.values()))


def _none(_: str) -> Iterable[str]:
    return ()


def _block(state: Ahead) -> str:
    return state.blocks[-1][0] if state.blocks else "file"


def _keywords(state: Ahead) -> Iterator[Proposal]:
    block, spelling = _block(state), tables().spelling
    for terminal in sorted(state.accepted):
        word = spelling.get(terminal, "")
        if word[:1].isalpha():
            usage = vocabulary.usage_of(block, word) if not state.statement else None
            if state.statement or word in USAGE.get(block, {}):
                yield Proposal(word, "keyword", usage.pattern if usage else "", usage.example if usage else "")


def _fitting(policy: Policy, state: Ahead, codes: Codes) -> Iterator[Proposal]:
    if not state.accepted & {"NAME", "STRING"}:
        return
    words = [t.text for t in state.statement]
    types = [t.type for t in state.statement]
    first, last = (words[0], words[-1]) if words else ("", "")
    dimension = _coded(policy, words)
    if _block(state) == "options":
        yield from _options(state, words)
    elif not words:
        if _block(state) in ("data", "table"):
            yield from _formats("")
    elif dimension is not None:
        yield from (Proposal(_written(code), "code", dimension) for code in codes(dimension))
    elif "NAME" not in state.accepted:
        return
    elif last in ("method", "else") and first == "method":
        yield from _methods()
    elif first == "assess":
        yield from (Proposal(name, "method", e.about) for name, e in EXPERIMENTS.items())
    elif first == "sensitive" and last == "by":
        yield from _rules()
    elif (first, last) in (("release", "release"), ("hierarchy", "hierarchy"), ("sensitive", "from")):
        yield from _formats(first)
    elif first in ("column", "each", "coalition"):
        yield from (Proposal(name, "quantity", about) for name, about in ROLES.items())
        yield from _blocks(policy, "dimension") if first == "column" else ()
    elif first == "knows":
        yield from (Proposal(name, "quantity", f"the attacker knows {about}") for name, about in KNOWLEDGE.items())
    elif _at_a_coordinate(words):
        yield from _blocks(policy, "dimension")
    elif last == "against" or (first in _NAMED and _only_names(types, words)):
        yield from _blocks(policy, "attacker" if last == "against" else _NAMED[first])
    elif state.accepted >= {"INT", "NUMBER"}:
        yield from _expression(policy)
    elif first == "override" and len(words) == 2:
        yield from _blocks(policy, words[1])
    elif first in ("sensitive", "waive") and len(words) == 1:
        yield from _blocks(policy, "table")


def _only_names(types: list[str], words: list[str]) -> bool:
    """`against a, b, `: nothing but names and commas follows the first word."""
    return all(t in ("NAME", "COMMA", "TO", "LEVEL", "INT") for t in types[1:]) and words[-1] in (words[0], ",")


def _at_a_coordinate(words: list[str]) -> bool:
    if "at" not in words or words[-1] not in ("(", ","):
        return False
    since = words[len(words) - words[::-1].index("at") :]
    return all(word != "level" for word in since) and since.count("(") > since.count(")")


def _coded(policy: Policy, words: list[str]) -> str | None:
    """The dimension a code of which stands at the cursor."""
    if len(words) < 2:
        return None
    name = words[-2]
    if words[-1] in ("(", ","):
        back = len(words) - 1
        while back > 0 and words[back] != "(":
            back -= 1
        if back < 1 or words[back - 1] != "in":
            return None
        name = words[back - 2] if back >= 2 else ""
        name = words[back - 3] if name == "not" and back >= 3 else name
    elif words[-1] == "under":
        name = words[-3] if name == "not" and len(words) > 2 else name
    elif words[-1] not in (":", "=", "!="):
        return None
    parts = name.split(".")
    wholes = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((whole for whole in wholes if whole in policy.dimensions), None)


def _written(code: str) -> str:
    return code if _CODE_TEXT.fullmatch(code) and code not in tables().keywords else '"' + code.replace('"', '""') + '"'


def _options(state: Ahead, words: list[str]) -> Iterator[Proposal]:
    opening = tuple(t.text for t in state.blocks[-1][1])
    known: dict[str, OptionSpec] = vocabulary.options_in(opening)
    if not words:
        yield from (Proposal(name, "option", s.form, vocabulary.of_option(s)) for name, s in known.items())
    elif words[0] in known and len(words) == 1:
        spec = known[words[0]]
        yield from (Proposal(choice, "keyword", spec.about) for choice in spec.choices)
        yield from _expression(None) if spec.per_cell else ()


def _methods() -> Iterator[Proposal]:
    for method in METHODS.values():
        for name in (method.name, *method.aliases):
            yield Proposal(name, "method", method.about, vocabulary.of_method(name) or "")


def _rules() -> Iterator[Proposal]:
    for name in rule_names():
        rule = find_rule(name)
        if rule is not None:
            yield Proposal(name, "rule", rule.about, vocabulary.of_rule(name) or "")


def _formats(word: str) -> Iterator[Proposal]:
    yield from (Proposal(name, "format", f.about) for name, f in vocabulary.formats_of(word).items())


def _blocks(policy: Policy, kind: str) -> Iterator[Proposal]:
    for name, block in policy.blocks.get(kind, {}).items():
        yield Proposal(name, kind, block.documentation.split("\n")[0])


def _expression(policy: Policy | None) -> Iterator[Proposal]:
    yield from (Proposal(name, "quantity", q.about) for name, q in QUANTITIES.items())
    yield from (Proposal(name, "function", f.about) for name, f in FUNCTIONS.items())
    if policy is not None:
        yield from _blocks(policy, "dimension")
        yield from _parameters(policy)


def _parameters(policy: Policy) -> Iterator[Proposal]:
    yield from (Proposal(name, "param", p.text, p.kind) for name, p in policy.parameters.items())
