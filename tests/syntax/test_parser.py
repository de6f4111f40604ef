"""Trees with exact places, and recovery that loses one line at a time."""

from __future__ import annotations

import pytest

from sdcdsl.diagnostics import Diagnostic, Span
from sdcdsl.syntax.tree import Node, Token, outline
from tests.syntax.reading import codes, read


def first(found: Diagnostic) -> tuple[int, int]:
    """Line and column where its mark begins."""
    assert isinstance(found.place, Span)
    return found.place.first


def tree(text: str) -> Node:
    parsed, found = read(text)
    assert not found, found
    return parsed.tree


def test_spans_cover_the_statement_and_nothing_else():
    text = "sdc 1\n\nprotect t {\n  upl 12% of value where nace under C  # why\n}\n"
    (_, protect) = tree(text).children
    assert isinstance(protect, Node)
    level = protect.node("level")
    assert level is not None
    assert text[level.start : level.end] == "upl 12% of value where nace under C"
    under = level.node("where")
    assert under is not None
    assert text[under.start : under.end] == "where nace under C"


def test_words_are_keywords_only_where_the_grammar_has_a_place_for_them():
    text = "sdc 1\ndimension unit {\n  codes total, codes, by, sum, up, level\n  total dimension\n}\n"
    (_, dimension) = tree(text).children
    assert isinstance(dimension, Node)
    name = dimension.token("NAME")
    assert name is not None
    assert name.text == "unit"
    listed = dimension.node("codes")
    assert listed is not None
    words = [c.children[0].text for c in listed.nodes("code") if isinstance(c.children[0], Token)]
    assert words == ["total", "codes", "by", "sum", "up", "level"]


@pytest.mark.parametrize("word", ["in", "at", "not", "if", "of", "where", "inf"])
def test_reserved_words_are_no_names(word: str):
    assert codes(f"sdc 1\ndimension {word} {{\n  codes A\n}}\n") == ["SDC025"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", ";", " ; "])
def test_statements_end_at_newlines_and_semicolons(newline: str):
    text = f"sdc 1{newline}seed 7{newline}protect t {{{newline if newline != ';' else ''} lpl 1{newline}upl 2 }}"
    if newline.strip() == ";":
        text = "sdc 1;seed 7;protect t { lpl 1;upl 2 }"
    root = tree(text)
    assert [c.kind for c in root.nodes()] == ["edition", "seed", "protect"]


def test_newlines_are_free_in_parentheses_after_commas_and_before_else():
    text = """sdc 1
sensitive t at (
  region: A,  # a comment
  size: B
)
protect t {
  against a,
    b
  method csp
  else ip {
    gap 1%
  }
  else cta
}
"""
    (_, _, protect) = tree(text).nodes()
    chain = protect.node("method")
    assert chain is not None
    assert len(list(chain.nodes("engine"))) == 3


def test_precedence():
    text = 'sdc 1\nrequire a + b * c ^ 2 > -d and not e = f or g > 1 because "x"\n'
    lines = outline(read(text)[0]).split("\n")
    shape = [line.split("  [")[0] for line in lines if "[" in line and not line.strip()[0].isupper()]
    wanted = [
        "start", "  edition", "  require", "    disjunction", "      conjunction", "        compare", "          add",
        "            name", "            multiply", "              name", "              power_of",
        "                name",
        "                number", "          comparator", "          negative", "            name", "        negation",
        "          compare", "            name", "            comparator", "            name", "      compare",
        "        name", "        comparator", "        number", "    because",
    ]  # fmt: skip
    assert shape == wanted


def test_one_run_reports_every_mistake():
    text = """sdc 1
polcy "x"
dimension a {
  coeds A
  total
}
attacker b {
  bounds 0 , inf
  each unit wher value > 3
}
sensitive by threshold 3)
protect t {
  lpl
  upl 3 against
  method csp {
    gap
    limit = 3
  }
}
"""
    found = read(text)[1]
    lines = sorted(first(one)[0] for one in found)
    assert lines == [2, 4, 5, 8, 9, 11, 13, 14, 17]


def test_a_broken_header_does_not_hide_its_block():
    parsed, found = read("sdc 1\ndimension a b {\n  codes A\n  totl T\n}\nseed 1\n")
    assert [d.code for d in found] == ["SDC010", "SDC012"]
    assert [n.kind for n in parsed.tree.nodes()] == ["edition", "dimension", "seed"]


def test_a_forgotten_brace_costs_one_message():
    parsed, found = read("sdc 1\ndimension a {\n  codes A\n\ndimension b {\n  codes B\n}\n")
    assert [d.code for d in found] == ["SDC014"]
    assert first(found[0]) == (2, 13)
    assert [n.kind for n in parsed.tree.nodes()] == ["edition", "dimension", "dimension"]


def test_a_forgotten_parenthesis_costs_one_message():
    parsed, found = read("sdc 1\nsensitive by threshold(3\nseed 1\n")
    assert [d.code for d in found] == ["SDC016"]
    assert [n.kind for n in parsed.tree.nodes()] == ["edition", "seed"]


def test_unknown_blocks_are_skipped_whole():
    assert codes("sdc 1\nfrobnicate x {\n  a b c\n  d { e }\n}\nseed 1\n") == ["SDC011"]


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# only a comment\n", "seed 3\n", "sdc\n", "sdc one\n", "dimension a {\n"]
)
def test_the_edition_comes_first(text: str):
    assert codes(text)[0] == "SDC005"


def test_another_edition_is_the_only_complaint():
    assert codes("sdc 2\nnew_word that { nobody knows }\n") == ["SDC006"]


def test_ten_thousand_statements():
    facts = "".join(f'sensitive t at (nace: C{i}, nuts: "DE{i}")\n' for i in range(5000))
    levels = "".join(f"  lpl max(needed, {i}% of value) where nace = C{i} and value > {i}\n" for i in range(5000))
    parsed, found = read(f"sdc 1\n{facts}protect t {{\n{levels}}}\n")
    assert not found
    (*_, protect) = parsed.tree.nodes()
    assert len(list(parsed.tree.nodes("sensitive"))) == 5000
    assert len(list(protect.nodes("level"))) == 5000


@pytest.mark.parametrize(
    "text",
    [
        "require " + "(" * 10_000 + "1" + ")" * 10_000 + ' > 0 because "x"',
        "require " + "not " * 10_000 + 'a > 0 because "x"',
        "require " + "- " * 10_000 + '1 > 0 because "x"',
        "require " + " + ".join(["1"] * 10_000) + ' > 0 because "x"',
        "require if a > 0 then 1 otherwise " * 300 + "1",
        "protect t { method a { b " + "(" * 5000,
        "{" * 10_000,
    ],
)
def test_deep_nesting_is_a_diagnostic(text: str):
    found = read(f"sdc 1\n{text}\n")[1]
    assert found
    assert len(found) <= 101


def test_problems_are_counted_not_listed_without_end():
    found = read("sdc 1\n" + "nonsense here\n" * 500)[1]
    assert len(found) == 101
    assert found[-1].code == "SDC008"
    assert "400" in found[-1].headline


@pytest.mark.parametrize("amount", ["(value\n    - 3)", "max(value,\n  - 3)", "(\n  value\n)"])
def test_newlines_in_parentheses_mean_nothing(amount: str):
    (_, protect) = tree(f"sdc 1\nprotect t {{\n  lpl {amount}\n}}\n").nodes()
    assert [n.kind for n in protect.nodes()] == ["level"]


def test_a_word_that_opens_statements_is_only_a_word_inside_closed_parentheses():
    assert codes("sdc 1\nsensitive where (\n  cost > 3\n)\nseed 1\n") == []
