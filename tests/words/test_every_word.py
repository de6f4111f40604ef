"""Every word that names knowledge, a level or a limit has an effect: for each there are two policies that differ in it
alone and come out differently. A word that is added without such a case fails here."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from sdcdsl.vocabulary.methods import EXPERIMENTS, METHODS, ExperimentOptions
from sdcdsl.vocabulary.option import Kind, options_of
from sdcdsl.vocabulary.quantities import KNOWLEDGE, QUANTITIES, ROLES
from sdcdsl.vocabulary.rules import RULES
from tests.by_search import by_search
from tests.conftest import ROOT
from tests.words.cases import (
    EXPERIMENT_CASES,
    KNOWLEDGE_CASES,
    OPTIONS,
    QUANTITY_CASES,
    ROLE_CASES,
    RULE_ARGUMENTS,
    STATEMENTS,
    Case,
)
from tests.words.outcomes import assessed, protected

# How the work is done, not what comes of it: the result must be the same (tests/executing, tests/solve). Methods that
# do not listen to `threads` refuse it (SDC147).
EFFORT = ("threads", "backend")
# The relaxation of small roundings is whole, so that they end with a proof before a gap is asked about; the large one
# of tests/methods/rounding shows it.
ELSEWHERE = {"rounding gap"}
GRAMMAR = (ROOT / "grammar" / "sdc.lark").read_text(encoding="utf-8")


def rule(name: str) -> list[str]:
    """The alternatives of one rule of the grammar."""
    found = re.search(rf"^[!?]?{name}:(.*(?:\n +\|.*)*)", GRAMMAR, re.MULTILINE)
    assert found is not None, name
    return [word.strip() for word in found[1].replace("\n", " ").split("|")]


def option_words() -> set[str]:
    out = set()
    for method in METHODS.values():
        for option in options_of(method.options).values():
            if option.name not in EFFORT:
                out.add(f"{method.name} {option.name}")
    return out - ELSEWHERE


def choice_words() -> set[tuple[str, str]]:
    """Every choice of an option of a method, with the option it belongs to."""
    return {
        (f"{method.name} {option.name}", choice)
        for method in METHODS.values()
        for option in options_of(method.options).values()
        if option.kind is Kind.CHOICE and option.name not in EFFORT
        for choice in option.choices
    }


def statement_words() -> set[str]:
    words = {*rule("_attacker_statement"), *rule("_protect_statement"), *rule("_scenario_statement"), "level_against"}
    words |= {f"price {word.strip(chr(34))}" for word in rule("price")}
    words |= {word.strip(chr(34)) for word in rule("level_name")}
    # Of what a block does with its result there is nothing to know, and methods and knowledge have words of their own.
    return words - {"level", "knows", "method", "assess", "release"}


FACTS = {"publish", "suppress", "fix", "waive", "require", "together", "seed"}


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        (KNOWLEDGE_CASES, set(KNOWLEDGE)),
        (STATEMENTS, statement_words() | FACTS),
        (QUANTITY_CASES, set(QUANTITIES)),
        (ROLE_CASES, set(ROLES)),
        (RULE_ARGUMENTS, {f"{r.name} {o}" for r in RULES.values() for o in options_of(r.arguments)}),
        (EXPERIMENT_CASES, {*EXPERIMENTS, *options_of(ExperimentOptions)}),
    ],
    ids=["knowledge", "statements", "quantities", "roles", "rules", "experiments"],
)
def test_every_word_has_a_case(cases: dict[str, Case], words: set[str]):
    missing, left_over = sorted(words - set(cases)), sorted(set(cases) - words)
    assert not missing and not left_over, f"tests/words/cases.py lacks {missing}, and has {left_over} of no word"


def test_every_option_and_every_choice_has_a_case():
    missing = sorted(option_words() - set(OPTIONS))
    assert not missing, f"OPTIONS of tests/words/cases.py lack {missing}"
    for option, choice in choice_words():
        said = re.compile(rf"\b{option.split()[1]} {choice}\b")
        default = options_of(METHODS[option.split()[0]].options)[option.split()[1]].default == choice
        mine = [case for word, case in OPTIONS.items() if word == option or word.startswith(f"{option} ")]
        assert default or any(said.search(case.without) or said.search(case.given) for case in mine), (option, choice)


ALL = {
    f"{kind}: {word}": case
    for kind, cases in (
        ("knows", KNOWLEDGE_CASES),
        ("statement", STATEMENTS),
        ("quantity", QUANTITY_CASES),
        ("role", ROLE_CASES),
        ("rule", RULE_ARGUMENTS),
        ("option", OPTIONS),
        ("experiment", EXPERIMENT_CASES),
    )
    for word, case in cases.items()
}


# The model proves small tables whatever gap is asked for; the search stops where the gap allows.
BY_SEARCH = {"option: csp gap"}


@pytest.mark.parametrize("word", ALL)
def test_the_word_changes_the_outcome(tmp_path: Path, word: str):
    case = ALL[word]
    outcome = protected if case.by == "protect" else assessed
    with by_search() if word in BY_SEARCH else nullcontext():
        without, given = (outcome(tmp_path, text, case.files) for text in (case.without, case.given))
    assert without["exit"] in (0, 4, 5), without  # not a mistake of the case itself
    assert without != given


@pytest.mark.parametrize("method", [m for m in METHODS if METHODS[m].lacks])
def test_what_a_method_does_not_listen_to_is_refused(tmp_path: Path, method: str):
    for option in METHODS[method].lacks:
        said = {"gap": "gap 1%", "threads": "threads 2", "backend": "backend scip", "unions": "unions off"}[option]
        case = OPTIONS[f"{method} time_limit"]
        assert protected(tmp_path, case.given.replace("time_limit 0 s", said), case.files)["codes"] == ["SDC147"]


EXCLUDED = [(method, *pair) for method in METHODS for pair in METHODS[method].excludes]


@pytest.mark.parametrize(("method", "option", "excluded"), EXCLUDED)
def test_an_option_that_another_leaves_without_effect_is_refused(
    tmp_path: Path, method: str, option: str, excluded: str
):
    case = OPTIONS[f"{method} {option}"]
    said = case.given.replace(f"{option} ", f"{excluded} 1\n    {option} ", 1)
    assert protected(tmp_path, said, case.files)["codes"] == ["SDC147"]
