"""Plug-ins that cannot be used: each is a diagnostic where a policy names it, and none is a crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from sdcdsl.diagnostics import Source
from sdcdsl.policy.read import read_text
from sdcdsl.registry import PluginFailed, forget
from sdcdsl.vocabulary.backends import BACKENDS
from sdcdsl.vocabulary.formats import READERS, WRITERS
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.rules import RULES

MODULE = """
from sdcdsl.methods.csp import CspOptions
from sdcdsl.record import record
from sdcdsl.vocabulary.backends import Backend
from sdcdsl.vocabulary.formats import Reader, Writer
from sdcdsl.vocabulary.functions import Function
from sdcdsl.vocabulary.methods import Method
from sdcdsl.vocabulary.rules import Rule, RuleArguments

@record
class Silent(RuleArguments):
    pass

@record
class Raising(RuleArguments):
    def judge(self, cells):
        return cells.nothing

@record
class Vague(RuleArguments):
    def judge(self, cells):
        return cells.value > 0

class Undescribed:
    pass

described = Method("described", "a method", "nothing", "none", CspOptions)
elsewhere = Method("elsewhere", "a method", "nothing", "none", CspOptions, solve="half.nowhere:solve")
optionless = Method("optionless", "a method", "nothing", "none", Undescribed, solve=print)
renamed = Method("another", "a method", "nothing", "none", CspOptions, solve=print)
csp = Method("csp", "a method", "nothing", "none", CspOptions, solve=print)
silent = Rule("silent", "a rule", Silent)
strange = Rule("strange", "a rule", dict)
greedy = Rule("greedy", "a rule", Vague, needs=("everything",))
named = Rule("named", "a rule", Vague, aliases=("freq",))
raising = Rule("raising", "a rule", Raising)
vague = Rule("vague", "a rule", Vague)
unread = Reader("unread", "a format")
unwritten = Writer("unwritten", "a format")
unsolved = Backend("unsolved", "a backend")
unnamed = Function("unnamed", "a function", 1, 1)
missing = Function("missing", "a function", 1, 1, "half:nowhere")
failing = Function("failing", "a function", 1, 1, lambda amount: amount.nothing)
solve = print
"""
POINTS = {
    "methods": "described elsewhere optionless renamed csp solve",
    "rules": "silent strange greedy named raising vague",
    "readers": "unread",
    "writers": "unwritten",
    "backends": "unsolved",
    "functions": "unnamed missing failing",
}
ALSO = {"methods": "broken = half_broken:METHOD\nabsent = half:ABSENT\n"}
TINY = (Path(__file__).resolve().parents[2] / "examples" / "tiny" / "tiny.sdc").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    info = tmp_path / "site" / "half-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: half\nVersion: 1.0\n", encoding="utf-8")
    groups = (
        f"[sdcdsl.{kind}]\n" + "".join(f"{name} = half:{name}\n" for name in names.split()) + ALSO.get(kind, "")
        for kind, names in POINTS.items()
    )
    (info / "entry_points.txt").write_text("".join(groups), encoding="utf-8")
    (tmp_path / "site" / "half.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "site" / "half_broken.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    forget()
    yield
    forget()


def problems(old: str, new: str) -> list[tuple[str, str]]:
    assert old in TINY
    _, found = read_text(Source("tiny.sdc", TINY.replace(old, new)), Path("tiny.sdc"))
    return [(d.code, d.headline) for d in found]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("described", "no implementation: give `model`, `accelerator` or `solve`"),
        ("elsewhere", "half.nowhere:solve"),
        ("optionless", "its options are not described"),
        ("renamed", "its record has another name, `another`"),
        ("solve", "half:solve is a builtin_function_or_method, and a Method is needed, which describes it"),
        ("broken", "half_broken:METHOD cannot be loaded (SystemExit: 3)"),
        ("absent", "half:ABSENT cannot be loaded (AttributeError"),
    ],
)
def test_methods(name: str, why: str):
    ((code, headline),) = problems("method csp", f"method {name}")
    assert code == "SDC148" and f"`{name}` of the package half (methods) cannot be used" in headline and why in headline


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("silent", "no implementation: give the class of its arguments a method `judge(cells)`"),
        ("strange", "no class that inherits from RuleArguments"),
        ("greedy", "it needs `everything`"),
        ("named", "sdcdsl itself has the name `freq`"),
    ],
)
def test_rules(name: str, why: str):
    found = problems('sensitive investment at (activity: II, region: C) because "', f'sensitive by {name} because "')
    assert [code for code, _ in found] == ["SDC148"] and why in found[0][1]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('csv "investment.csv"', 'unwritten "investment.csv"', "give `write`"),
        ("method csp", "method csp { backend unsolved }", "give `solver`"),
        ("cost value", "cost unnamed(value)", "give `of`"),
        ("cost value", "cost missing(value)", "has no attribute 'nowhere'"),
        ("dimension activity", 'data d { unread "x" }\ndimension activity', "give `read`"),
    ],
)
def test_other_kinds(old: str, new: str, why: str):
    assert [(code, headline) for code, headline in problems(old, new) if code == "SDC148" and why in headline]


def test_what_is_ours_stays_ours():
    assert problems("method csp", "method csp") == []
    assert METHODS["csp"].model is not None
    assert {fault.name for fault in METHODS.faults} == {*POINTS["methods"].split(), "broken", "absent"}
    assert RULES.find("freq") is RULES["threshold"]
    for registry in (RULES, READERS, WRITERS, BACKENDS, FUNCTIONS):
        assert set(registry.built_in_names) == set(registry.built_in) and not set(registry.plugins) & set(
            registry.built_in_names
        )


def test_methods_and_explain_name_them():
    listed = CliRunner().invoke(cli, ["methods"])
    assert listed.exit_code == 0
    assert "the plug-in `described` of the package half (methods) cannot be used" in listed.output
    told = CliRunner().invoke(cli, ["explain", "unread"])
    assert told.exit_code == 2 and "give `read`" in told.output


@pytest.mark.parametrize(("name", "why"), [("raising", "it raised AttributeError"), ("vague", "returns a ndarray")])
def test_a_rule_that_fails_at_work_says_so(tmp_path: Path, name: str, why: str):
    (tmp_path / "firms.csv").write_text("firm,region,x\na,N,5\nb,N,7\nc,S,9\n", encoding="utf-8")
    text = 'sdc 1\ndata firms { csv "firms.csv"; column unit = "firm" }\ndimension region { codes N, S; total all }\n'
    text += f"table t {{ from firms; by region; sum x }}\nsensitive by {name}\n"
    text += "attacker a { bounds 0 .. inf }\nprotect t { lpl needed; upl needed; against a; cost value; method csp }\n"
    (tmp_path / "t.sdc").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(cli, ["plan", str(tmp_path / "t.sdc")])
    assert done.exit_code == 3 and "SDC148" in done.output and why in done.output, done.output


def test_a_function_that_fails_at_work_says_so(tmp_path: Path):
    (tmp_path / "tiny.sdc").write_text(TINY.replace("cost value", "cost failing(value)"), encoding="utf-8")
    done = CliRunner().invoke(cli, ["plan", str(tmp_path / "tiny.sdc")])
    assert isinstance(done.exception, PluginFailed)
    assert "the plug-in `failing` (functions) failed: it raised AttributeError in line" in str(done.exception)
