"""Files for editors against the grammar and the vocabulary they are written from."""

from __future__ import annotations

import importlib.util
import json
import re
from types import ModuleType

from pygments.token import Keyword, Name, String, Token

from sdcdsl.editing.colouring import KINDS
from sdcdsl.editing.pygments_lexer import _TOKENS, SdcLexer
from sdcdsl.syntax.grammar import tables
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.rules import RULES
from tests.conftest import ROOT
from tests.editing.texts import POLICY


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "editors/generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_files_are_those_that_the_generator_writes() -> None:
    made = generator()
    for name, write in made.FILES.items():
        assert (ROOT / "editors" / name).read_text(encoding="utf-8") == write(), (
            f"run python editors/generate.py: {name}"
        )


def test_no_word_of_the_language_is_missing_and_none_stands_twice() -> None:
    words = [word for listed in generator().words().values() for word in listed]
    assert len(words) == len(set(words))
    assert {*tables().keywords, *METHODS.built_in, *RULES} <= set(words)


def test_patterns_of_the_textmate_grammar_find_what_the_lexer_finds() -> None:
    grammar = json.loads((ROOT / "editors/vscode/syntaxes/sdc.tmLanguage.json").read_text(encoding="utf-8"))
    patterns = [(p.get("name", ""), re.compile(p["match"])) for p in grammar["patterns"] if "match" in p]

    def kind(line: str, word: str) -> list[str]:
        return [name for name, p in patterns for m in p.finditer(line) if m.group() == word]

    assert kind("  upl 10% of value", "10%") == ["constant.numeric.sdc"]
    assert kind("    time_limit 10 min", "10 min") == ["constant.numeric.duration.sdc"]
    assert kind("  upl 10% of value", "of") == ["keyword.operator.word.sdc"]
    assert kind("protect turnover {", "protect") == ["keyword.control.sdc"]
    assert kind("  region.coast", "region") == []


def test_pygments_has_a_colour_for_every_kind_of_word() -> None:
    assert _TOKENS.keys() == KINDS.keys()


def test_pygments_loses_nothing_and_knows_names() -> None:
    tokens = list(SdcLexer().get_tokens(POLICY))
    assert "".join(text for _, text in tokens) == POLICY
    kinds = {text: kind for kind, text in tokens}
    assert kinds["region"] is Name.Class and kinds["csp"] is Name.Function and kinds["protect"] is Keyword
    assert kinds['"id"'] is String.Double


def test_pygments_colours_a_part_of_a_policy_and_what_is_none() -> None:
    part = "sensitive by p_percent(10%)\n"
    assert (Name.Function, "p_percent") in list(SdcLexer().get_tokens(part))
    for text in ("", "}{ §$% \x00", "𝛑 é\n"):
        tokens = list(SdcLexer(ensurenl=False, stripnl=False).get_tokens(text))
        assert "".join(t for _, t in tokens) == text
        assert all(kind in Token for kind, _ in tokens)
