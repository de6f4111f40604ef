"""The documentation runs: every example is checked, every command line is executed, every word is documented.

How examples are written stands in CONTRIBUTING.md, "Examples in the documentation". `pytest --bless` fills in what the
commands print and writes the generated page of words again.
"""

from __future__ import annotations

import doctest
import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sdcdsl.cli import COMMANDS, cli, protect_display
from sdcdsl.diagnostics import CODES, Source
from sdcdsl.diagnostics.render import render
from sdcdsl.policy.read import read_text
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.messages import USAGE
from sdcdsl.syntax.parser import parse
from sdcdsl.syntax.tree import Node, Token
from sdcdsl.vocabulary import formats
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.methods import EXPERIMENTS, METHODS, ExperimentOptions
from sdcdsl.vocabulary.option import OptionSpec, options_of
from sdcdsl.vocabulary.quantities import KNOWLEDGE, QUANTITIES, ROLES
from sdcdsl.vocabulary.rules import RULES

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
VOCABULARY = DOCS / "language" / "vocabulary.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<language>\w*)(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S
)


# ---- examples ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """One fenced block: ```language flag key=value"""

    page: Path
    line: int
    language: str
    body: str
    flags: frozenset[str] = frozenset()
    keys: dict[str, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def examples_of(page: Path) -> Iterator[Example]:
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        words = match["info"].split()
        keys = dict(word.split("=", 1) for word in words if "=" in word)
        flags = frozenset(word for word in words if "=" not in word)
        line = text.count("\n", 0, match.start()) + 1
        yield Example(page, line, match["language"], match["body"], flags, keys)


ALL = [example for page in PAGES for example in examples_of(page)]
POLICIES = [e for e in ALL if e.language == "sdc" and "console" not in e.flags]


@cache
def setting() -> str:
    """The tables and attackers that fragments take for granted; it stands in docs/language.md for the reader."""
    (found,) = [e for e in POLICIES if "setting" in e.flags]
    return found.body


def wrapped(e: Example) -> str:
    """A fragment as a complete policy."""
    place, _, method = e.keys.get("in", "file").partition(":")
    body = e.body
    if place in ("amount", "condition"):
        word = "lpl" if place == "amount" else "sensitive where"
        body = "".join(f"{word} {line}\n" for line in body.splitlines() if line.strip())
        place = "protect" if place == "amount" else "file"
    if place == "method":
        place, body = "protect", f"method {method} {{\n{textwrap.indent(body, '  ')}}}\n"
    if place == "protect":
        rule = "sensitive turnover by threshold(3)"
        return f"{setting()}\n{rule}\n\nprotect turnover, by_size {{\n{_indented(body)}{_completed(body)}}}\n"
    if place == "file":
        own = "" if re.search(r"^protect\b", body, re.M) else _PROTECT.format("turnover, by_size, ready")
        return f"{setting()}\n{body}{own}"
    protect = _PROTECT.format("example") if place == "table" else ""
    return f"{setting()}\n{place} example {{\n{_indented(body)}}}\n{protect}"


_PROTECT = "\nprotect {} {{\n  lpl needed\n  against external\n  method csp\n}}\n"


def _indented(body: str) -> str:
    return textwrap.indent(body, "  ")


def _completed(body: str) -> str:
    """What a protect block needs and the fragment does not say."""
    said = set(re.findall(r"(?:^|;)[ \t]*(\w+)", body, re.M))
    out = "" if said & {"lpl", "upl", "spl", "scenarios"} else "  lpl needed\n"
    out += "" if said & {"against", "scenarios"} else "  against external, respondent\n"
    return out + ("" if "method" in said else "  method csp\n")


def complete(e: Example) -> str:
    return wrapped(e) if "fragment" in e.flags or "in" in e.keys else e.body


def test_there_are_examples() -> None:
    assert len(POLICIES) > 60


@pytest.mark.parametrize("e", POLICIES, ids=str)
def test_policy(e: Example, tmp_path: Path) -> None:
    text = complete(e)
    for other in POLICIES:
        if other.page == e.page and "file" in other.keys and other is not e:
            (tmp_path / other.keys["file"]).write_text(other.body, encoding="utf-8")
    _, found = read_text(Source(str(e), text), tmp_path / "example.sdc")
    wrong = e.keys.get("wrong")
    if wrong is not None:
        assert sorted({d.code for d in found}) == sorted(wrong.split(",")), render(found)
        return
    assert not found, render(found)
    if "loose" not in e.flags and not e.keys.get("in", "").startswith(("amount", "condition")):
        formatted = format_text(parse(Source("example", text))[0])
        assert all(line in formatted.splitlines() for line in _lines(e)), f"not in canonical form:\n{formatted}"


def _lines(e: Example) -> list[str]:
    place = e.keys.get("in", "file").partition(":")[0]
    deep = 4 if place == "method" else 0 if place == "file" else 2
    return textwrap.indent(e.body, " " * deep).splitlines()


# ---- Python ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", sorted({e.page for e in ALL if e.language == "pycon"}), ids=lambda p: p.name)
def test_python(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page types into Python, in order, with the files of the page."""
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    for e in examples_of(page):
        if "file" in e.keys:
            (tmp_path / e.keys["file"]).write_text(e.body, encoding="utf-8")
        elif e.language == "pycon":
            typed = doctest.DocTestParser().get_doctest(e.body, known, str(e), str(page), e.line)
            said: list[str] = []
            doctest.DocTestRunner().run(typed, out=said.append, clear_globs=False)
            assert not said, "".join(said)
            known = typed.globs


# ---- command lines -----------------------------------------------------------------------------------------


def _pages_with_commands() -> list[Path]:
    return [page for page in PAGES if any(e.page == page and e.language == "console" for e in ALL)]


def _tier(page: Path) -> Any:
    """Pages whose commands start processes by the dozen are long."""
    return pytest.param(page, marks=pytest.mark.long) if page.name in ("compare.md", "executors.md") else page


@pytest.mark.parametrize(
    "page", [_tier(page) for page in _pages_with_commands()], ids=lambda p: str(p.relative_to(ROOT))
)
def test_commands(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """The commands of a page, in order, in one folder where the page's files are made as it goes on."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(protect_display, "PATIENCE", 3600)  # pages do not show how long a machine took
    session = Session()
    bless = request.config.getoption("--bless")
    text = page.read_text(encoding="utf-8")
    for e in examples_of(page):
        if "file" in e.keys:
            path = tmp_path / e.keys["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(e.body, encoding="utf-8")
        elif e.language == "console":
            actual = session.run(e.body)
            if bless and not _matches(e.body, actual):
                text = text.replace(e.body, actual, 1)
            elif not bless:
                assert _matches(e.body, actual), f"{e} prints:\n{actual}\nthe page says:\n{e.body}"
    if bless:
        page.write_text(text, encoding="utf-8", newline="\n")


class Session:
    """A shell that knows `sdcdsl …`, `cat FILE` and `echo $?`."""

    def __init__(self) -> None:
        self.code = 0

    def run(self, body: str) -> str:
        commands = [line for line in body.splitlines() if line.startswith("$ ")]
        return "".join(f"{line}\n{self._one(shlex.split(line[2:]))}" for line in commands)

    def _one(self, words: list[str]) -> str:
        match words:
            case ["echo", "$?"]:
                return f"{self.code}\n"
            case ["cat", name]:
                return Path(name).read_text(encoding="utf-8")
            case ["sdcdsl", *arguments]:
                result = CliRunner().invoke(cli, arguments, prog_name="sdcdsl")
                if result.exception is not None and not isinstance(result.exception, SystemExit):
                    raise result.exception
                self.code = result.exit_code
                return result.output
        raise AssertionError(f"the documentation uses a command that is not run: {words}")


def _matches(expected: str, actual: str) -> bool:
    """Equal, where a line `…` stands for any number of lines."""
    parts = [re.escape(part) for part in re.split(r"^…\n", expected, flags=re.M)]
    return re.fullmatch(r"(?:.*\n)*?".join(parts), actual) is not None


# ---- is everything there? -----------------------------------------------------------------------------------


@cache
def reference_trees() -> list[tuple[str, Node]]:
    """The text and tree of every right example of the language reference."""
    out = []
    for e in POLICIES:
        if e.page.is_relative_to(DOCS / "language") or e.page == DOCS / "language.md":
            text = complete(e)
            if "wrong" not in e.keys:
                out.append((text, parse(Source(str(e), text))[0].tree))
    return out


def test_every_statement_has_an_example() -> None:
    wanted = {(block, word) for block, forms in USAGE.items() for word in forms}
    shown: set[tuple[str, str]] = set()
    for text, tree in reference_trees():
        shown |= set(_statements(text, "file", tree))
    missing = sorted(wanted - shown)
    assert not missing, f"no example in docs/language shows {missing}"


def _statements(text: str, block: str, node: Node) -> Iterator[tuple[str, str]]:
    for child in node.nodes():
        word = re.match(r"\w*", text[child.start :])
        assert word is not None
        own_word = child.kind in ("source", "option")
        yield block, "" if own_word else word.group()
        inner = child.node("dimension", "data", "table", "attacker", "scenario", "protect")
        if child.kind == "override" and inner is not None:
            yield from _statements(text, inner.kind, inner)
        elif child.kind in USAGE:
            yield from _statements(text, child.kind, child)
        yield from (("options", "") for options in _inside(child) if options.kind == "options")


def _inside(node: Node | Token) -> Iterator[Node]:
    if isinstance(node, Node):
        yield node
        for child in node.children:
            yield from _inside(child)


def test_every_rule_of_the_grammar_has_an_example() -> None:
    shown = {node.kind for _, tree in reference_trees() for node in _inside(tree)}
    wanted = {rule.kind for rule in tables().rules if not rule.splice and not rule.unwrap and rule.origin != "$root"}
    wanted = {kind for kind in wanted if not kind.startswith(("_", "$"))}
    missing = sorted(wanted - shown)
    assert not missing, f"no example in docs/language shows {missing}"


def _code_words(*pages: Path) -> set[str]:
    """All words between backticks or in examples."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    examples = "\n".join(m["body"] for m in _FENCE.finditer(text))
    inline = " ".join(re.findall(r"`([^`\n]+)`", _FENCE.sub("", text)))
    return set(re.findall(r"[\w-]+", f"{inline} {examples}"))


def test_every_word_is_explained() -> None:
    """The page of words is generated; these must also be explained by a person."""
    reference = [DOCS / "language.md", *sorted((DOCS / "language").glob("*.md"))]
    known = _code_words(*(page for page in reference if page != VOCABULARY))
    wanted = {*METHODS, *RULES, *(a for r in RULES.values() for a in r.aliases), *EXPERIMENTS}
    wanted |= {*QUANTITIES, *FUNCTIONS, *ROLES, *(word for what in KNOWLEDGE for word in what.split())}
    for kind in formats.FORMATS.values():
        wanted |= {*kind}
    wanted |= {name for r in RULES.values() for name in options_of(r.arguments)}
    missing = sorted(wanted - known)
    assert not missing, f"no page of docs/language explains {missing}"


def test_every_option_is_mentioned() -> None:
    known = _code_words(*PAGES)
    described = [*(m.options for m in METHODS.values()), ExperimentOptions, formats.StatusOptions, formats.ValueOptions]
    for kind in formats.FORMATS.values():
        described += [f.options for f in kind.values()]
    missing = sorted({name for one in described for name in options_of(one)} - known)
    assert not missing, f"no page of docs mentions {missing}"


def test_every_command_and_its_options_are_mentioned() -> None:
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        assert f"## sdcdsl {name}" in text
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert not option.startswith("--") or f"`{option}" in text, f"{name} {option}"


def test_codes_that_are_cited_exist() -> None:
    for page in PAGES:
        cited = set(re.findall(r"\bSDC\d{3}\b", page.read_text(encoding="utf-8")))
        assert cited <= set(CODES), page


def test_sections_of_the_semantics_that_are_cited_exist() -> None:
    text = (DOCS / "language" / "semantics.md").read_text(encoding="utf-8")
    there = re.findall(r"^### (S\d+)\b", text, re.M)
    assert there == [f"S{i + 1}" for i in range(len(there))]
    for page in PAGES:
        prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
        assert set(re.findall(r"\bS\d{1,2}\b", prose)) <= set(there), page


# ---- links --------------------------------------------------------------------------------------------------


def _links(page: Path) -> Iterator[tuple[str, str]]:
    prose = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text(encoding="utf-8")))
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if not target.startswith(("http:", "https:")):
            path, _, anchor = target.partition("#")
            yield path, anchor


@cache
def _anchors(page: Path) -> frozenset[str]:
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    seen: dict[str, int] = {}
    out = set(re.findall(r'<a id="([^"]+)">', prose))
    for heading in re.findall(r"^#+ (.*)$", prose, re.M):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        out.add(slug if count == 0 else f"{slug}-{count}")
    return frozenset(out)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links(page: Path) -> None:
    for path, anchor in _links(page):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.relative_to(ROOT)} links to {path}"
        if anchor:
            assert anchor in _anchors(target), f"{page.relative_to(ROOT)} links to {path}#{anchor}"


def test_every_page_can_be_reached() -> None:
    reached, queue = {ROOT / "README.md"}, [ROOT / "README.md"]
    while queue:
        page = queue.pop()
        for path, _ in _links(page):
            target = (page.parent / path).resolve() if path else page
            if target.suffix == ".md" and target not in reached:
                reached.add(target)
                queue.append(target)
    assert set(PAGES) <= reached


# ---- the generated page ---------------------------------------------------------------------------------------


def test_vocabulary_page(golden) -> None:
    golden(VOCABULARY, vocabulary_page())


_INTRODUCTION = """\
# The words of edition 1

Rules, methods, formats, experiments, quantities and functions are words of the vocabulary, not of the grammar. This
page is generated from their records in the registry, the same ones that `sdcdsl check` works with. The
other pages of the [reference](../language.md) explain them.

*takes*: what is written after the word. *per cell*: may be repeated with `where`; the last match wins.
"""


def vocabulary_page() -> str:
    out = [_INTRODUCTION, "## Rules\n\nIn `sensitive by RULE(…)`.\n"]
    for rule in RULES.values():
        also = f" Also called {', '.join(f'`{a}`' for a in rule.aliases)}." if rule.aliases else ""
        out.append(f"### Rule {rule.name}\n\n{_sentence(rule.about)}{also}\n\n{_options(options_of(rule.arguments))}")
    out.append("## Methods\n\nIn `method NAME { … }`. All take `gap`, `time_limit`, `threads` and `backend`.\n")
    for method in METHODS.values():
        marks = [" It draws random numbers: the policy needs a seed."] if method.stochastic else []
        also = f" Also called {', '.join(f'`{a}`' for a in method.aliases)}." if method.aliases else ""
        about = (
            f"{_sentence(method.about)}{also} It publishes {method.publishes}.{''.join(marks)} Paper: {method.paper}."
        )
        out.append(f"### Method {method.name}\n\n{about}\n\n{_options(options_of(method.options))}")
    out.append("## Experiments\n\nIn `assess NAME, … { … }`.\n")
    out.append("\n".join(f"* `{e.name}`: {e.about}" for e in EXPERIMENTS.values()) + "\n")
    out.append(_options(options_of(ExperimentOptions)))
    out.append("## Formats\n")
    for kind, known in formats.FORMATS.items():
        out.append(f"### Formats of {kind}\n")
        out += [f"`{f.name}`: {f.about}.\n\n{_options(options_of(f.options))}" for f in known.values()]
    out.append(f"### Options of `value`\n\n{_options(options_of(formats.ValueOptions))}")
    out.append(f"### Options of a status column\n\n{_options(options_of(formats.StatusOptions))}")
    out.append("## Quantities of a cell\n")
    for q in QUANTITIES.values():
        places = ", ".join(sorted(str(place) for place in q.places))
        out.append(f"* `{q.name}`: {q.about}. In: {places}.")
    out.append("\n## Functions\n")
    out += [f"* `{f.name}`: {f.about}" for f in FUNCTIONS.values()]
    out.append("\n## Roles of columns\n")
    out += [f"* `{name}`: {about}" for name, about in ROLES.items()]
    out.append("\n## What an attacker can know\n")
    out += [f"* `{name}`: {about}" for name, about in KNOWLEDGE.items()]
    return "\n".join(out).rstrip() + "\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _options(options: dict[str, OptionSpec]) -> str:
    if not options:
        return "No options.\n"
    rows = ["| name | takes | default | what it says |", "|---|---|---|---|"]
    for spec in options.values():
        default = "required" if spec.required else "–" if spec.default in (None, False, "") else f"`{spec.default}`"
        takes = spec.form.replace(" | ", ", ") + (", per cell" if spec.per_cell else "")
        rows.append(f"| `{spec.name}` | {takes} | {default} | {spec.about} |")
    return "\n".join(rows) + "\n"
