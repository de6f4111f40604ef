"""Large and hostile texts. Nothing is timed: work is counted, and the sizes are such that a loop inside a loop would
take minutes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdcdsl.diagnostics import Source
from sdcdsl.diagnostics.diagnostic import MOST_PROBLEMS
from sdcdsl.syntax import parser
from sdcdsl.syntax.explaining import explain
from sdcdsl.syntax.layout import cells_of, depths_of
from sdcdsl.syntax.parser import DEEPEST
from sdcdsl.syntax.tree import Node, Parsed, Token
from tests.syntax.reading import codes, read


def test_no_words_are_looked_for_once_enough_is_said(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr(parser, "explain", lambda stop: asked.append(stop) or explain(stop))
    parsed, found = read("sdc 1\n" + "nonsense here\n" * 5000 + "seed 1\n")
    assert len(asked) == MOST_PROBLEMS
    assert found[-1].unlisted == 5000 - MOST_PROBLEMS
    assert [n.kind for n in parsed.tree.nodes()] == ["edition", "seed"]


@pytest.mark.parametrize(
    "lines",
    [
        "policy 'x'\n",
        "sensitive by threshold(3\n",
        "attacker a\n  bounds 0 .. inf\n}\n",
        "attacker a:\n  bounds 0 .. inf\n",
        "attacker a {\n  bounds 0 .. inf\n",
        "}\n",
    ],
)
def test_ten_thousand_mistakes_of_a_kind(lines: str):
    parsed, found = read("sdc 1\n" + lines * 10_000)
    assert len(found) == MOST_PROBLEMS + 1
    assert sum(parsed.is_damaged(t.start, t.end) for t in parsed.tokens) >= 0


@pytest.mark.parametrize("amount", ["if value > 1 then 1 otherwise ", "2 ^ ", "- ", "1 + "])
def test_the_stack_stays_small(amount: str):
    """A line of it costs one message, and the statements behind it are read."""
    parsed, found = read(f"sdc 1\nprotect t {{\n  cost {amount * 30_000}1\n}}\n")
    assert [d.code for d in found] == ["SDC007"]
    assert parsed.tree.depth <= DEEPEST


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)).map(lambda p: (p[0], p[0] + p[1])), max_size=6),
    st.integers(0, 24),
    st.integers(0, 5),
)
def test_damage_is_found_where_it_is(damaged: list[tuple[int, int]], start: int, size: int):
    parsed = Parsed(Source("x", ""), Node("start", [], 0, 0), [], [])
    for one in damaged:  # also when it comes to light later
        parsed.damaged.append(one)
        parsed.is_damaged(0, 0)
    assert parsed.is_damaged(start, start + size) == any(start < e and s < start + size for s, e in damaged)


def test_a_tree_of_forty_thousand_lines():
    lines = "".join(f"    - P{i}\n      - C{i}\n" for i in range(20_000))
    parsed, found = read(f"sdc 1\ndimension d {{\n  hierarchy tree\n{lines}}}\n")
    assert not found
    (dimension,) = parsed.tree.nodes("dimension")
    (tree_of_codes,) = dimension.nodes("hierarchy_tree")
    assert depths_of(tree_of_codes, parsed.source) == [0, 1] * 20_000


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ("    - A\n      - B\n", 0),
        ("\t- A\n\t\t- B\n", 0),
        ("  - A\n\t- B\n", 1),
        ("\t- A\n\t  - B\n  - C\n", 1),
    ],
)
def test_tabs_and_spaces_are_not_mixed_in_a_tree(lines: str, wrong: int):
    assert codes(f"sdc 1\ndimension d {{\n  hierarchy tree\n{lines}}}\n") == ["SDC024"] * wrong


@given(st.text('|" a-', max_size=14))
def test_cells_and_bars(inside: str):
    """Whatever is quoted how: the cells of a row are stretches of it, in order, and none holds a bar outside quotes."""
    row = Token("ROW", "|" + inside, 7, 8 + len(inside))
    at = 8
    for cell in cells_of(row):
        assert cell.start >= at
        assert row.text[cell.start - 7 :].startswith(cell.text)
        assert "|" not in cell.text or '"' in cell.text
        at = cell.start + len(cell.text)
