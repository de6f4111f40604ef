"""Token sequences that lead the parser into each of its states: the shortest way through the automaton."""

from __future__ import annotations

from collections import deque

from sdcdsl.diagnostics import Source
from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.tree import Token

SAMPLES = {
    "NAME": "alpha",
    "INT": "1",
    "NUMBER": "1.5",
    "PERCENT": "10%",
    "STRING": '"text"',
    "DATE": "2030-01-31",
    "DURATION": "10 min",
    "ROW": "| a | 1 |",
    "BULLET": "- ",
    "_NL": "\n",
}


def spelling(terminal: str) -> str:
    return SAMPLES.get(terminal) or tables().spelling[terminal]


def shortest_yields() -> dict[str, tuple[str, ...]]:
    """For each symbol, the shortest sequence of terminals it stands for."""
    yields: dict[str, tuple[str, ...]] = {t: (t,) for t in tables().terminals}
    changed = True
    while changed:
        changed = False
        for rule in tables().rules:
            if all(s in yields for s in rule.symbols):
                found = tuple(t for s in rule.symbols for t in yields[s])
                if rule.origin not in yields or len(found) < len(yields[rule.origin]):
                    yields[rule.origin] = found
                    changed = True
    return yields


def ways() -> dict[int, tuple[str, ...]]:
    """For each state, terminals that lead there from the start."""
    t, yields = tables(), shortest_yields()
    out: dict[int, tuple[str, ...]] = {t.start: ()}
    queue = deque([t.start])
    while queue:
        state = queue.popleft()
        steps = sorted(
            (len(yields[symbol]), symbol, action - 1) for symbol, action in t.actions[state].items() if action > 0
        )
        for _, symbol, target in steps:
            if target not in out:
                out[target] = out[state] + yields[symbol]
                queue.append(target)
    return out


def tokens_of(terminals: tuple[str, ...]) -> tuple[Source, list[Token]]:
    """The terminals as a text and its tokens."""
    text, tokens = "", []
    for terminal in terminals:
        word = spelling(terminal)
        if text and not text.endswith("\n"):
            text += " "
        # The lexer makes names of all words; the parser settles which are keywords.
        kind = "NAME" if word.isalpha() and word in tables().keywords else terminal
        tokens.append(Token(kind, word, len(text), len(text) + len(word)))
        text += word
    return Source("viable.sdc", text), tokens
