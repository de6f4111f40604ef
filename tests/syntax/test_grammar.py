"""The kept tables and the frozen record of the edition are those of the grammar and the code."""

from __future__ import annotations

import json
import logging

import pytest
from lark import Lark, logger

from sdcdsl.syntax import grammar
from sdcdsl.syntax.automaton import RESERVED
from sdcdsl.syntax.messages import USAGE
from sdcdsl.vocabulary import edition

TEXT = (grammar.grammar_folder() / "sdc.lark").read_text(encoding="utf-8")


def test_tables_are_those_of_the_grammar():
    kept = (grammar.grammar_folder() / "sdc.tables.json").read_text(encoding="utf-8")
    assert kept == grammar.written(grammar.compile_grammar(TEXT)), "run: python -m sdcdsl.syntax.grammar"


def test_an_edited_grammar_is_compiled_anew(tmp_path, monkeypatch):
    edited = TEXT.replace('"policy" STRING', '"title" STRING')
    (tmp_path / "sdc.lark").write_text(edited, encoding="utf-8")
    stale = (grammar.grammar_folder() / "sdc.tables.json").read_text(encoding="utf-8")
    (tmp_path / "sdc.tables.json").write_text(stale, encoding="utf-8")
    monkeypatch.setattr(grammar, "grammar_folder", lambda: tmp_path)
    grammar.tables.cache_clear()
    try:
        assert "title" in grammar.tables().keywords
        assert "policy" not in grammar.tables().keywords
    finally:
        monkeypatch.undo()
        grammar.tables.cache_clear()
    assert "policy" in grammar.tables().keywords


def test_the_grammar_has_no_conflicts(caplog):
    with caplog.at_level(logging.DEBUG, logger=logger.name):
        Lark(TEXT, parser="lalr", lexer="basic", debug=True, maybe_placeholders=False)
    assert not [r for r in caplog.records if "conflict" in r.getMessage().lower()]


def test_a_conflict_would_be_an_error():
    ambiguous = TEXT.replace("_expr:      expr\n", '_expr:      expr | expr "+" expr\n')
    assert ambiguous != TEXT
    with pytest.raises(Exception, match=r"(?i)conflict|collision"):
        grammar.compile_grammar(ambiguous)


def test_the_edition_is_frozen():
    kept = json.loads((grammar.grammar_folder() / "edition-1.json").read_text(encoding="utf-8"))
    assert kept == edition.edition(), "run: python -m sdcdsl.vocabulary.edition (words may be added, none may go)"


def test_reserved_words_are_keywords():
    assert set(grammar.tables().keywords) >= RESERVED


def test_every_statement_of_the_grammar_has_a_usage():
    """The first words the grammar accepts in each block are exactly those that messages know how to write."""
    starts = {
        "file": "_item",
        "dimension": "_dimension_statement",
        "data": "_data_statement",
        "table": "_table_statement",
        "attacker": "_attacker_statement",
        "scenario": "_scenario_statement",
        "protect": "_protect_statement",
        "options": "option",
    }
    words = {terminal: word for word, terminal in grammar.tables().keywords.items()} | {"NAME": ""}
    for block, origin in starts.items():
        firsts = {words[t] for t in _first(origin, set()) if t in words}
        assert firsts == set(USAGE[block]) - {"sdc"}, block


def _first(symbol: str, seen: set[str]) -> set[str]:
    rules = [r for r in grammar.tables().rules if r.origin == symbol]
    if not rules:
        return {symbol}
    seen.add(symbol)
    return {t for r in rules if r.symbols[0] not in seen for t in _first(r.symbols[0], seen)}
