"""What people see of a diagnostic."""

from __future__ import annotations

import pytest

from sdcdsl.diagnostics import FilePlace, Source, Span, diagnostic, in_reading_order, nearest
from sdcdsl.diagnostics.diagnostic import count, for_reading, not_listed
from sdcdsl.diagnostics.render import render
from sdcdsl.diagnostics.render.text import render_one
from sdcdsl.diagnostics.suggest import renew_effort


def test_the_marked_text_is_underlined():
    source = Source("a.sdc", "sdc 1\n  totl Total\n")
    d = diagnostic(
        "SDC012", "no statement `totl`", Span(source, 8, 12), "did you mean `total`?", notes=["a note"], help="x"
    )
    wanted = """error[SDC012]: no statement `totl`
  --> a.sdc:2:3
   |
 1 | sdc 1
 2 |   totl Total
   |   ^^^^ did you mean `total`?
   = a note
   = help: x
"""
    assert render_one(d) == wanted


def test_secondary_marks_and_data_places():
    source = Source("a.sdc", "one\ntwo\n")
    d = (
        diagnostic("SDC100", "twice", Span(source, 4, 7))
        .mark(Span(source, 0, 3), "first")
        .mark(FilePlace("d.csv", "2 cells"))
    )
    text = render_one(d)
    assert "  ::: a.sdc:1:1\n 1 | one\n   | --- first\n" in text
    assert "  ::: d.csv (2 cells)\n" in text


def test_wide_and_control_characters_do_not_move_the_marks():
    source = Source("a.sdc", "東京\t\x1b[31m x y")
    at = source.text.index("y")
    lines = render_one(diagnostic("SDC018", "h\x1b[0m", Span(source, at, at + 1))).split("\n")
    assert "\x1b" not in "".join(lines)
    shown, marks = lines[-3], lines[-2]
    # 東 and 京 take two columns each.
    assert marks.index("^") == shown.index("y") + 2


def test_long_lines_are_cut_around_the_mark():
    source = Source("a.sdc", "a" * 5000 + "HERE" + "b" * 5000)
    lines = render_one(diagnostic("SDC018", "h", Span(source, 5000, 5004))).split("\n")
    shown, marks = lines[-3], lines[-2]
    assert len(shown) < 200
    assert shown[marks.index("^") : marks.index("^") + 4] == "HERE"
    assert marks.count("^") == 4


def test_colours_only_when_asked():
    d = diagnostic("SDC001", "h", FilePlace("x"))
    assert "\x1b" not in render([d], "text")
    assert "\x1b[1;31m" in render([d], "text", colour=True)


def test_github_escapes_what_would_end_the_command():
    d = diagnostic("SDC001", "100%\nnext", FilePlace("a,b:c.sdc", line=3))
    assert render([d], "github") == "::error file=a%2Cb%3Ac.sdc,line=3,title=SDC001::100%25%0Anext\n"


def test_reading_order_says_things_once():
    source = Source("a.sdc", "abc")
    one = diagnostic("SDC018", "x", Span(source, 2, 3))
    two = diagnostic("SDC018", "x", Span(source, 0, 1))
    assert in_reading_order([one, two, one]) == [two, one]


def test_suggestions_are_near():
    assert nearest("totl", ["codes", "total"]) == "total"
    assert nearest("tootal", ["codes", "total"]) == "total"
    assert nearest("ttoal", ["codes", "total"]) == "total"
    assert nearest("TOTAL", ["codes", "total"]) == "total"
    assert nearest("xyzzy", ["codes", "total"]) is None
    assert nearest("a" * 10_000, ["codes"]) is None


def test_the_rest_of_a_file_is_counted():
    first, second = Source("a.sdc", "x" * 300), Source("b.sdc", "x")
    found = [diagnostic("SDC018", f"h{i}", Span(first, i, i + 1)) for i in range(250)]
    found += [not_listed("a.sdc", 7), diagnostic("SDC018", "h", Span(second, 0, 1)), diagnostic("SDC001", "nowhere")]
    shown = for_reading(in_reading_order(found))
    assert [d.code for d in shown[:2]] == ["SDC001", "SDC018"]
    assert shown[-1].place == Span(second, 0, 1)
    assert shown[-2].headline == "157 more problems in a.sdc are not listed"
    assert len(shown) == 1 + 100 + 1 + 1
    assert count(found) == count(shown) == 250 + 7 + 2


@pytest.mark.parametrize("output", ["text", "concise", "json", "github", "sarif"])
def test_names_of_megabytes_are_cut(output: str):
    source = Source("a.sdc", "x" * 1_000_000)
    d = diagnostic("SDC018", "h" * 100_000, Span(source, 0, 1_000_000), "l" * 100_000, notes=["n" * 100_000], help="?")
    assert len(render([d], output)) < 10_000


def test_the_end_of_a_long_line_is_shown():
    source = Source("a.sdc", "a" * 5000 + "END")
    lines = render_one(diagnostic("SDC018", "h", Span(source, 5000, 5003))).split("\n")
    shown, marks = lines[-3], lines[-2]
    assert shown.endswith("END")
    assert shown[marks.index("^") :] == "END"


def test_suggestions_do_not_depend_on_order_nor_on_what_came_before():
    words = [f"name{i:03}" for i in range(200)]
    assert nearest("nam117", words) == nearest("nam117", set(words)) == nearest("nam117", words[::-1])
    while nearest("nam117", words):
        pass  # until the effort is spent
    renew_effort()
    assert nearest("nam117", words) == "name117"
