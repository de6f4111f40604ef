"""No way for the parser to stop lacks a message in plain words."""

from __future__ import annotations

import pytest

from sdcdsl.diagnostics import Span
from sdcdsl.syntax import messages
from sdcdsl.syntax.automaton import END, Automaton
from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.parser import _Parser
from tests.syntax.viable import spelling, tokens_of, ways

WAYS = ways()
WRONG = [
    "NAME",
    "INT",
    "NUMBER",
    "STRING",
    "PERCENT",
    "DATE",
    "COMMA",
    "LPAR",
    "RPAR",
    "EQUAL",
    "WHERE",
    "_NL",
    "RBRACE",
]


def test_every_state_can_be_reached():
    assert set(WAYS) == set(range(len(tables().actions)))


@pytest.mark.parametrize("block", range(0, len(tables().actions), 40))
def test_every_state_has_words_for_what_it_expects(block: int):
    for state in range(block, min(block + 40, len(WAYS))):
        automaton = _at(state)
        if automaton is None:
            continue
        accepted = automaton.accepted()
        words = messages.expected(accepted, None)
        assert accepted or automaton.states[-1] == tables().end, state
        assert words or not accepted, state
        assert all(word and "_" not in word.split("`")[0] for word in words), words


@pytest.mark.parametrize("block", range(0, len(tables().actions), 40))
def test_every_stop_is_explained_once_and_at_its_place(block: int):
    explained = 0
    for state in range(block, min(block + 40, len(WAYS))):
        if len(WAYS[state]) < 3:
            continue
        # A token is taken whole or not at all: the parser stops only where it stands after taking one.
        accepted = _standing_after(WAYS[state]).accepted()
        for wrong in WRONG:
            if wrong in accepted:
                continue
            source, tokens = tokens_of((*WAYS[state], wrong))
            parser = _Parser(source, tokens)
            parser.run()
            stops = [d for d in parser.diagnostics if d.code != "SDC014"]
            at_the_stop = [d for d in stops if isinstance(d.place, Span) and d.place.end >= _before(tokens)]
            assert at_the_stop, (state, WAYS[state], wrong)
            first = at_the_stop[0]
            assert first.headline
            assert first.notes or first.help or first.marks[0].label or first.code == "SDC015", (state, first)
            explained += 1
    assert explained or block == 0


def _before(tokens) -> int:
    """A message may point at the last good word: where a statement stops too early there is nothing else to see."""
    return tokens[-2].end if len(tokens) > 1 else 0


def _standing_after(terminals: tuple[str, ...]) -> Automaton:
    automaton = Automaton(tables())
    for token in tokens_of(terminals)[1]:
        automaton.settle(token)
        assert automaton.feed(token), terminals
    return automaton


def _at(state: int) -> Automaton | None:
    automaton = _standing_after(WAYS[state])
    return automaton if automaton.states[-1] == state else _reduced(automaton, state)


def _reduced(automaton: Automaton, state: int) -> Automaton | None:
    """A state behind a nonterminal is entered by a reduction that only the next token triggers."""
    for terminal in sorted(tables().terminals - {END}):
        if automaton.accepts(terminal):
            probe = Automaton(tables())
            probe.restore(automaton.checkpoint())
            rules, actions = tables().rules, tables().actions
            action = actions[probe.states[-1]].get(terminal, 0)
            while action < 0 and probe.states[-1] != state:
                probe._reduce(rules[-action - 1])
                action = actions[probe.states[-1]].get(terminal, 0)
            if probe.states[-1] == state:
                return probe
    return None


def test_usages_show_their_own_example():
    """Each example line is accepted where its statement belongs."""
    for block, forms in messages.USAGE.items():
        for word, usage in forms.items():
            assert usage.pattern
            assert usage.example.split()[0].split("(")[0] == word or not word, (block, word)


def test_terminals_all_have_words():
    named = {t for t in tables().terminals if t not in tables().spelling} - {"COMMENT"}
    assert set(messages.TERMINALS) >= named
    assert all(spelling(t) for t in tables().terminals - {"COMMENT", END})
