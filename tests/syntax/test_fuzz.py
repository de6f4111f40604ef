"""Texts drawn from the grammar itself, and texts broken at random: the first are read, the second survived."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark
from lark import Lark

from sdcdsl.diagnostics.render import FORMATS, render
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.grammar import grammar_folder, tables
from tests.syntax.reading import formatted, read, spelled

ROOT = Path(__file__).resolve().parents[2]
GRAMMAR = Lark((grammar_folder() / "sdc.lark").read_text(encoding="utf-8"), parser="lalr", maybe_placeholders=False)
LENIENT = (
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
)
SLOW = settings(max_examples=150, deadline=None, suppress_health_check=LENIENT)

# Layout is the lexer's business, not the grammar's: rows stand on lines of their own, words are kept apart.
_WORDS = st.sampled_from(["alpha", "β", "größe", "a.b", "unit", "value", "count", "size_2", "東京", "L1"])
_CODES = st.sampled_from(['"x"', '"10-49"', '"a ""b"""', '""', '"| # {"', '"é"'])
_EXPLICIT = {
    "NAME": _WORDS.map(lambda w: f" {w} "),
    "STRING": _CODES.map(lambda s: f" {s} "),
    "INT": st.integers(1, 99).map(lambda n: f" {n} "),
    "NUMBER": st.sampled_from([" 1.5 ", " 2e3 ", " 0.25 "]),
    "PERCENT": st.sampled_from([" 10% ", " 0.5% "]),
    "DATE": st.sampled_from([" 2027-12-31 ", " 2030-02-01 "]),
    "DURATION": st.sampled_from([" 10 min ", " 90s ", " 1.5 h "]),
    "ROW": st.sampled_from(["\n| a | 1 |", "\n | b | 2 |  "]),
    "BULLET": st.just("\n  - "),
    "_NL": st.sampled_from(["\n", ";", "\n\n  ", " # note\n", "\r\n"]),
    "COMMENT": st.just(""),
}
_EXPLICIT |= {terminal: st.just(f" {word} ") for word, terminal in tables().keywords.items()}
POLICIES = from_lark(GRAMMAR, start="start", explicit=_EXPLICIT)


@SLOW
@given(POLICIES)
def test_what_the_grammar_makes_the_parser_reads(text: str):
    _, found = read(text)
    unexpected = [d for d in found if d.code not in ("SDC006", "SDC022", "SDC024")]
    assert not unexpected, render(unexpected)


@SLOW
@given(POLICIES)
def test_formatting_keeps_every_token_and_is_done_in_one_step(text: str):
    parsed, found = read(text)
    if found:
        return
    once = format_text(parsed)
    assert formatted(once) == once
    assert spelled(read(once)[0]) == spelled(parsed)
    assert [c.text for c in read(once)[0].comments] == [c.text for c in parsed.comments]


SAMPLES = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "sdcdsl" / "cli" / "starters").glob("*.sdc"))]


@SLOW
@given(st.sampled_from(SAMPLES), st.data())
def test_broken_texts_are_explained(text: str, data: st.DataObject):
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        put = data.draw(st.sampled_from(["", "}", "{", "(", ")", '"', "|", "- ", ";", "where", "\n", "é", "%", "=="]))
        text = text[:at] + put + text[at + cut :]
    parsed, found = read(text)
    for output in FORMATS:
        assert isinstance(render(found, output), str)
    if not found:
        assert formatted(format_text(parsed)) == format_text(parsed)


@SLOW
@given(st.text(max_size=300))
def test_any_text_at_all(text: str):
    parsed, found = read(text)
    assert found or parsed.tree.children
