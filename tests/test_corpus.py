"""The policies in `specs/`: what the program says about each of them.

`pytest tests/test_corpus.py --bless` writes the expected outputs of `specs/bad` anew; review them as a user would.
"""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from sdcdsl.diagnostics import CODES, Source
from sdcdsl.policy.lint import lint
from sdcdsl.policy.read import read_policy
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.parser import parse
from tests.conftest import ROOT

SPECS = ROOT / "specs"
TODAY = datetime.date(2026, 1, 1)

ALONE = sorted((SPECS / "bad").glob("*.sdc"))
SEVERAL = sorted((SPECS / "bad" / "use").rglob("main.sdc"))
IDENTITY = sorted((SPECS / "identity").rglob("*.sdc"))
KNOWN = sorted((SPECS / "known").glob("*.sdc"))
LIBRARY = sorted((SPECS / "library").glob("*.sdc"))
GOOD = [*IDENTITY, *KNOWN, *LIBRARY]

_HEADLINE = re.compile(r"^error\[(SDC\d+)\]: (.*)$", re.MULTILINE)
_EXPECT = re.compile(r'(\w+)=("[^"]*"|\S+)')
_EXPECT_KEYS = {
    "steps",
    "audit",
    "method",
    "objective",
    "pattern",
    "interval",
    "deviations",
    "multipliers",
    "norm2",
    "unique",
}


def named(path: Path) -> str:
    return path.relative_to(SPECS).as_posix()


def over(paths: list[Path]):
    return pytest.mark.parametrize("path", paths, ids=named)


def run(*arguments: str, monkeypatch: pytest.MonkeyPatch):
    """The command in this process, from the top of the repository, so that paths read as the user typed them."""
    monkeypatch.chdir(ROOT)
    return CliRunner().invoke(cli, list(arguments))


# ---- bad --------------------------------------------------------------------------------------


@over([*ALONE, *SEVERAL])
def test_bad_policy_gets_its_message(path, golden, monkeypatch):
    result = run("check", f"specs/{named(path)}", monkeypatch=monkeypatch)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    golden(path.with_suffix(".expected"), result.stdout)


@over([*ALONE, *SEVERAL])
def test_bad_output_can_be_trusted(path):
    said = path.with_suffix(".expected").read_text(encoding="utf-8")
    assert "Traceback" not in said
    assert "\x1b" not in said
    assert str(ROOT) not in said
    found = _HEADLINE.findall(said)
    assert found
    assert {code for code, _ in found} <= set(CODES)
    assert not [headline for _, headline in found if not headline.strip() or "None" in headline]


def test_every_expected_output_belongs_to_a_policy():
    expected = {path.with_suffix(".sdc") for path in (SPECS / "bad").rglob("*.expected")}
    assert expected == {*ALONE, *SEVERAL}


def test_there_are_many_different_mistakes():
    headlines = {_HEADLINE.findall(path.with_suffix(".expected").read_text(encoding="utf-8"))[0] for path in ALONE}
    assert len(ALONE) >= 75
    assert len(headlines) >= 60


def test_every_code_of_a_policy_has_a_bad_file():
    """All codes that `check` can say occur in the corpus, except two that need a huge file, one that needs a plug-in
    (tests/plugins)."""
    said = {
        code
        for path in [*ALONE, *SEVERAL]
        for code, _ in _HEADLINE.findall(path.with_suffix(".expected").read_text(encoding="utf-8"))
    }
    checked = {code for code in CODES if code < "SDC200"}
    assert checked - said == {"SDC002", "SDC008", "SDC148", "SDC150"}


def test_several_mistakes_are_reported_in_one_run():
    counts = [len(_HEADLINE.findall(path.with_suffix(".expected").read_text(encoding="utf-8"))) for path in ALONE]
    assert max(counts) >= 10


# ---- good -------------------------------------------------------------------------------------


@over(GOOD)
def test_good_policy_has_no_mistakes(path, monkeypatch):
    result = run("check", f"specs/{named(path)}", monkeypatch=monkeypatch)
    assert result.stdout == ""
    assert result.exit_code == 0


@over(GOOD)
def test_good_policy_is_in_canonical_form(path, monkeypatch):
    text = path.read_bytes().decode("utf-8")
    parsed, wrong = parse(Source(named(path), text))
    assert not wrong
    assert format_text(parsed) == text
    assert run("fmt", "--check", f"specs/{named(path)}", monkeypatch=monkeypatch).exit_code == 0


def test_identity_covers_every_keyword():
    words = set()
    for path in IDENTITY:
        parsed, _ = parse(Source(named(path), path.read_text(encoding="utf-8")))
        words |= {token.text for token in parsed.tokens if token.type == tables().keywords.get(token.text)}
    assert set(tables().keywords) - words == set()


@over(LIBRARY)
def test_house_rules_need_no_advice(path):
    policy, wrong = read_policy(path, named(path))
    assert not wrong
    assert lint(policy, TODAY) == []
    assert not policy.protects
    assert any(line.startswith("# ") for line in path.read_text(encoding="utf-8").splitlines())


@over(LIBRARY)
def test_house_rules_can_be_used(path, tmp_path):
    for other in LIBRARY:
        (tmp_path / other.name).write_bytes(other.read_bytes())
    user = tmp_path / "user.sdc"
    user.write_text(f'sdc 1\nuse "{path.name}" as house\npolicy "A user"\n', encoding="utf-8")
    policy, wrong = read_policy(user)
    assert not wrong
    assert policy.facts or policy.attackers
    assert all(name.startswith("house.") for blocks in policy.blocks.values() for name in blocks)


@over(KNOWN)
def test_known_answer_says_what_to_expect(path):
    first, second, *_ = path.read_text(encoding="utf-8").splitlines()
    assert first == "sdc 1"
    assert second.startswith("#! expect ")
    said = dict(_EXPECT.findall(second))
    assert set(said) <= _EXPECT_KEYS
    assert {"objective", "norm2", "deviations"} & set(said)
    policy, _ = read_policy(path, named(path))
    (protect,) = policy.protects.values()
    engines = [engine.name for statement in protect.statements for engine in getattr(statement, "engines", ())]
    assert engines == [said["method"]]
