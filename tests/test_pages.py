"""The long explanations: every code has one, and every example in them does what the page says."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest

from sdcdsl.diagnostics import CODES, Diagnostic, Source, has_errors
from sdcdsl.diagnostics.codes import page
from sdcdsl.policy.lint import lint
from sdcdsl.policy.read import read_text
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse

PAGES = Path(__file__).parent.parent / "sdcdsl" / "diagnostics" / "pages"
TODAY = datetime.date(2026, 1, 1)
_BLOCK = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(code: str, info: str) -> list[str]:
    return [text for word, more, text in _BLOCK.findall(page(code)) if f"{word}{more}" == info]


def diagnose(text: str, advice: bool) -> list[Diagnostic]:
    policy, found = read_text(Source("page.sdc", text), Path("page.sdc"))
    return [*found, *lint(policy, TODAY)] if advice and not has_errors(found) else found


def is_advice(code: str) -> bool:
    return code.startswith("SDC2")


def test_every_page_explains_a_code():
    assert sorted(path.stem for path in PAGES.glob("*.md")) == sorted(CODES)
    assert not [path.name for path in PAGES.iterdir() if path.suffix != ".md"]


@pytest.mark.parametrize("code", CODES)
def test_page_has_its_form(code):
    text = page(code)
    lines = text.splitlines()
    assert lines[0] == f"# {code} · {CODES[code].title}"
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Example", "Fix"]
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    about = text.partition("## Example")[0].splitlines()[1:]
    assert 40 < len(" ".join(about)) < 900


@pytest.mark.parametrize("code", CODES)
def test_page_shows_a_policy_or_a_message(code):
    assert len(blocks(code, "sdc bad")) + len(blocks(code, "text")) == 1
    assert len(blocks(code, "sdc bad")) == len(blocks(code, "sdc"))
    for shown in blocks(code, "text"):
        assert re.match(rf"(error|warning)\[{code}\]: ", shown)


@pytest.mark.parametrize("code", [code for code in CODES if blocks(code, "sdc bad")])
def test_example_provokes_the_code(code):
    (text,) = blocks(code, "sdc bad")
    said = {d.code for d in diagnose(text, is_advice(code))}
    assert code in said
    if not is_advice(code):
        assert said == {code}


@pytest.mark.parametrize("code", [code for code in CODES if blocks(code, "sdc")])
def test_fix_is_right(code):
    (text,) = blocks(code, "sdc")
    assert text.startswith("sdc 1\n")
    found = diagnose(text, is_advice(code))
    assert not has_errors(found)
    assert code not in {d.code for d in found}
    assert format_text(parse(Source("page.sdc", text))[0]) == text
