"""Functions behind the language server, on texts; the server itself is tested in tests/lsp."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from sdcdsl.diagnostics import Source, has_errors
from sdcdsl.editing.colouring import KINDS, coloured
from sdcdsl.editing.completion import complete
from sdcdsl.editing.fixing import fixed
from sdcdsl.editing.hints import hints
from sdcdsl.editing.hover import hover
from sdcdsl.editing.names import Names
from sdcdsl.editing.opened import Opened, open_text
from sdcdsl.editing.renaming import Refused, rename, renameable
from sdcdsl.editing.symbols import outline
from sdcdsl.syntax.lexer import lex
from sdcdsl.vocabulary.methods import METHODS
from tests.editing.texts import HOUSE, POLICY, at, opened

CORPUS = sorted(path for path in Path("specs").rglob("*.sdc") if path.is_file())
DAY = datetime.date(2026, 1, 1)


def words_of(opened: Opened, offset: int) -> list[str]:
    names = Names(opened.policy)
    found = names.at(opened.parsed, offset)
    assert found is not None
    return [f"{Path(span.source.name).name}:{span.first[0]}:{span.text}" for span in names.uses(found[1])]


def test_the_policy_of_these_tests_is_right() -> None:
    assert not has_errors(opened().mistakes)


def test_uses_of_a_dimension_are_found_in_every_kind_of_statement() -> None:
    found = words_of(opened(), at(POLICY, "by region", 4))
    lines = [n for n, line in enumerate(POLICY.splitlines(), 1) if "region" in line and "#" not in line]
    assert found == [f"main.sdc:{n}:region" for n in lines]


def test_a_name_of_a_used_file_is_found_in_both_files() -> None:
    found = words_of(opened(), at(POLICY, "office.external", 9))
    line = POLICY[: at(POLICY, "office.external")].count("\n") + 1
    assert sorted(found) == ["house.sdc:4:external", "house.sdc:9:external", f"main.sdc:{line}:external"]


def test_renaming_changes_the_last_word_only_and_gives_the_same_policy() -> None:
    before = opened()
    spans = rename(before, at(POLICY, "office.external", 9), "outsider")
    texts = {before.source: POLICY, next(s.source for s in spans if s.source is not before.source): HOUSE}
    for span in sorted(spans, key=lambda s: -s.start):
        texts[span.source] = texts[span.source][: span.start] + "outsider" + texts[span.source][span.end :]
    policy, house = texts.values()
    after = opened(policy, house)
    assert not has_errors(after.mistakes)
    assert "office.outsider" in after.policy.attackers and "against office.outsider" in policy


@pytest.mark.parametrize(
    ("word", "new", "why"),
    [
        ("by region", "if", "reserved"),
        ("by region", "1a", "not a name"),
        ("by region", "value", "means something else"),
        ("office\n", "house", "`use` line"),
        ("10% of", "x", "no name"),
    ],
)
def test_names_that_would_not_do_are_refused(word: str, new: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        rename(opened(), at(POLICY, word, word.rindex(" ") + 1 if " " in word and "%" not in word else 1), new)


def test_a_name_that_is_taken_is_refused() -> None:
    text = POLICY + "\nattacker other {\n  bounds 0 .. inf\n}\n\nattacker another {\n  bounds 0 .. inf\n}\n"
    with pytest.raises(Refused, match="already"):
        rename(opened(text), at(text, "attacker other", 10), "another")


def test_a_block_named_after_its_table_has_no_name_to_change() -> None:
    text = POLICY.replace(" as main", "")
    assert renameable(opened(text), at(text, "protect turnover", 9)).text == "turnover"  # the table's


@pytest.mark.parametrize(
    ("word", "more", "said"),
    [
        ("p_percent", 2, "one contributor can estimate another"),
        ("csp", 1, "cell suppression"),
        ("time_limit", 1, "a time"),
        ("office.external", 9, "Anybody who reads the table."),
        ("by region", 5, "The regions of the country."),
        ("needed", 1, "what marked the cell"),
        ("max(", 1, "the largest"),
        ("10% of", 1, "`10% of value` is a number"),
        ("region = A and", 12, "`region = A and value > 3` is a condition"),
        ("release csv", 9, "comma-separated"),
        ("upl", 1, "upl AMOUNT"),
        ("column unit", 8, "who contributes"),
        ("sensitive", 1, "sensitive [TABLE]"),
    ],
)
def test_hover_says_what_is_under_the_cursor(word: str, more: int, said: str) -> None:
    found = hover(opened(), at(POLICY, word, more))
    assert found is not None and said in found.markdown


def test_hover_says_nothing_of_spaces_and_comments() -> None:
    assert hover(opened(), at(POLICY, "# The regions", 4)) is None
    assert hover(opened(), at(POLICY, "\n  codes", 2)) is None


def proposals(text: str, codes: Iterable[str] = ()) -> list[str]:
    """`|` is the cursor."""
    cursor = text.index("|")
    whole = text[:cursor] + text[cursor + 1 :]
    return [p.text for p in complete(opened(whole), cursor, lambda _: codes)[1]]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("  by region", "  by |", {"region"}),
        ("from enterprises", "from |", {"enterprises"}),
        ("against office.external", "against |", {"office.external"}),
        ("scenarios office.careful", "scenarios off|", {"office.careful"}),
        ("method csp {", "method c| {", set(METHODS)),
        ("} else ip", "} else |", set(METHODS)),
        ("time_limit 10 min", "ti|", {"time_limit", "gap", "backend"}),
        ("time_limit 10 min", "backend |", {"highs", "scip"}),
        ("by p_percent(10%)", "by |", {"threshold", "p_percent", "dominance"}),
        ("region = A and", "region = | and", {"A", '"10-49"', "Total"}),
        ("at (region: B)", "at (region: |)", {"A", '"10-49"', "Total"}),
        ("at (region: B)", "at (|", {"region"}),
        ("where region under Total", "where region under |", {"A", '"10-49"'}),
        ("where region under Total", "where region in (A, |", {"A", '"10-49"'}),
        ("lpl max(1, 10% of value)", "lpl |", {"value", "max", "needed", "region"}),
        ("release csv", "release |", {"csv", "parquet", "html"}),
        ("column unit", "column |", {"unit", "group", "region"}),
        ("  from enterprises", "  |", {"from", "by", "sum", "count", "csv", "jj"}),
        ("protect turnover as main {", "protect |", {"turnover"}),
        ("suppress turnover at (region: B)", "|", {"suppress", "protect", "dimension", "attacker"}),
    ],
)
def test_completion_offers_what_fits(old: str, new: str, expected: set[str]) -> None:
    assert old in POLICY
    found = proposals(POLICY.replace(old, new, 1), codes=["A", "10-49", "Total"])
    assert expected <= set(found)
    assert len(found) == len(set(found))


def test_completion_is_silent_in_texts_and_comments() -> None:
    assert proposals(POLICY.replace('"turnover-release.csv"', '"turn|')) == []
    assert proposals(POLICY.replace("# The regions", "# The |")) == []


def test_what_is_offered_is_what_the_parser_takes() -> None:
    """Every keyword that is offered at the start of a statement begins one that the messages know."""
    for place in ("dimension region {\n  |", "table turnover {\n  |", "protect turnover as main {\n  |"):
        text = POLICY.replace(place[:-1], place)
        assert proposals(text)


def test_outline_names_blocks_and_facts() -> None:
    found = [(s.kind, s.name) for s in outline(opened().file.document)]
    assert found[0] == ("file", "office")
    assert ("dimension", "region") in found and ("protect", "main") in found
    assert [kind for kind, _ in found].count("fact") == 2


def test_hints_name_arguments_and_the_levels_of_scenarios() -> None:
    found = hints(opened())
    assert (found[0].text, found[0].argument) == ("p:", True)
    assert "lpl 20% of value" in found[1].text and "office.careful" in found[1].text
    assert POLICY[found[1].offset] == "\n"


@pytest.mark.long
def test_every_policy_of_the_corpus_is_coloured_without_overlaps() -> None:
    for path in CORPUS:
        here = open_text(path.read_bytes().decode("utf-8", errors="replace"), path)
        found = coloured(here)
        assert all(a.end <= b.start for a, b in pairwise(found)), path
        assert {c.kind for c in found} <= set(KINDS)
        assert here.diagnostics(DAY) is not None
        outline(here.file.document)
        hints(here)


def test_no_place_of_a_text_that_breaks_off_there_is_a_surprise() -> None:
    """Editors ask about texts that are half written."""
    for end in range(0, len(POLICY), 11):
        here = opened(POLICY[:end])
        hover(here, end)
        complete(here, end)
        coloured(here)
        hints(here)
        Names(here.policy).at(here.parsed, end)


def test_colours_tell_names_from_words() -> None:
    found = {POLICY[c.start : c.end]: c.kind for c in coloured(opened())}
    assert found["region"] == "dimension" and found["csp"] == "method" and found["p_percent"] == "rule"
    assert found["needed"] == "quantity" and found["time_limit"] == "option" and found["A"] == "code"
    assert found["office.external"] == "attacker" and found["10%"] == "number"


def test_all_replacements_are_applied_at_once() -> None:
    text = POLICY.replace("value > 3", "value ≥ 3").replace("10% of value", "10 % of value")
    here = opened(text)
    assert has_errors(here.mistakes)
    assert fixed(here.source, here.mistakes) == POLICY.replace("value > 3", "value >= 3")


def test_a_text_of_another_open_file_counts_and_not_the_file(tmp_path: Path) -> None:
    (tmp_path / "house.sdc").write_text("sdc 1\n", encoding="utf-8")
    here = open_text(POLICY, tmp_path / "main.sdc", others={(tmp_path / "house.sdc").resolve(): HOUSE})
    assert not has_errors(here.mistakes)
    assert has_errors(open_text(POLICY, tmp_path / "main.sdc").mistakes)


def test_tokens_under_every_place_of_a_text_are_found() -> None:
    here = opened()
    for token in lex(Source("x", POLICY)).tokens:
        if token.type == "NAME":
            found = here.token_at(token.start)
            assert found is not None and found.text == token.text


PARAMETERS = """sdc 1
policy "Turnover {year}"
param year = 2025
param share = 10%
table t {
  csv "turnover-{year}.csv"
  only where year = "{year}"
}
protect t {
  lpl share of value
  upl 2 * (share of value)
}
"""


def parameters(text: str = PARAMETERS) -> Opened:
    return open_text(text, Path("p.sdc"))


def test_a_parameter_is_renamed_in_texts_and_amounts_and_a_column_is_not() -> None:
    text = PARAMETERS
    for name in ("year", "share"):
        spans = rename(parameters(), at(PARAMETERS, f"param {name}", 6), "other")
        for span in sorted(spans, key=lambda s: -s.start):
            text = text[: span.start] + "other" + text[span.end :] if name == "year" else text
        assert len(spans) == {"year": 4, "share": 3}[name]
    assert "only where year = " in text
    assert text.count("{other}") == 3


def test_a_parameter_shows_its_value_and_is_proposed() -> None:
    found = hover(parameters(), at(PARAMETERS, "{year}", 2))
    assert found is not None
    assert "param year = 2025" in found.markdown
    _, proposals = complete(parameters(), at(PARAMETERS, "{year}", 3))
    assert [p.text for p in proposals] == ["year", "share"]
    assert [s.name for s in outline(parameters().file.document) if s.kind == "param"] == ["year", "share"]
