"""The pages that name files and functions of the program name those that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
_ROW = re.compile(r"^\| ([\d.]+) \| `([^`]+)` \| `([^`]+)` \|", re.M)
_FILE = re.compile(r"`((?:sdcdsl/)?[\w/]+\.py)\b")

HOPS = {number: (file, function) for number, file, function in _ROW.findall(PAGE.read_text(encoding="utf-8"))}


def test_the_walk_is_one_page() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert len(HOPS) > 15
    assert len(lines) <= 50


@pytest.mark.parametrize("number", HOPS)
def test_hop(number: str) -> None:
    """The file defines the function, and the file of the hop above speaks of it."""
    file, function = HOPS[number]
    assert function in _defined(ROOT / file), f"{file} does not define {function}"
    above = number.rpartition(".")[0]
    if above:
        caller = HOPS[above][0]
        assert function in _names_in(ROOT / caller), f"{caller} does not call {function}"


def test_hops_are_in_the_order_of_the_walk() -> None:
    numbers = [[int(part) for part in number.split(".")] for number in HOPS]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda p: str(p.relative_to(ROOT)))
def test_files_of_the_program_that_pages_name_exist(page: Path) -> None:
    for name in _FILE.findall(page.read_text(encoding="utf-8")):
        there = any((ROOT / top / name).exists() for top in ("", "sdcdsl", "benchmarks"))
        anywhere = "/" not in name and any((ROOT / "sdcdsl").rglob(name))
        assert there or anywhere, f"there is no {name}"


_TOLERANCE = re.compile(r"`(\w+(?:/\w+)+)`((?:,? `[A-Z_]+`)*)")
NUMBERS = sorted(set(_TOLERANCE.findall((ROOT / "docs" / "numerics.md").read_text(encoding="utf-8"))))


@pytest.mark.parametrize(("module", "constants"), NUMBERS)
def test_tolerances_stand_where_the_page_says(module: str, constants: str) -> None:
    tops = [ROOT / "sdcdsl", ROOT / "sdcdsl" / "numerics", ROOT]
    path = next((top / f"{module}.py" for top in tops if (top / f"{module}.py").exists()), None)
    if path is None:
        assert (ROOT / module).is_dir(), f"there is no {module}"
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    assert set(re.findall(r"[A-Z_]+", constants)) <= assigned


def _defined(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


# What docs/glossary.md has other words for. Code in examples may say what it likes.
REPLACED = {
    r"\b(?:he|him|his|himself)\b": "they: an attacker, a respondent",
    r"\brooms?\b": "slack, level; layer of the program",
    r"\bowes\b|\basks? for\b": "requires; a rule gives a level",
    r"\bhad a say\b": "the result depends on time",
    r"\bfor ever\b": "no time limit",
    r"\bas then\b": "of the same version",
    r"\b(?:one|a) (?:line|row|column) an? \w+\b": "per",
}
PROSE = [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "sdcdsl" / "diagnostics" / "pages").glob("*.md"))]


@pytest.mark.parametrize("page", PROSE, ids=lambda p: p.stem)
def test_pages_use_the_words_of_the_glossary(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    for pattern, instead in REPLACED.items():
        found = re.search(pattern, prose)
        assert found is None, f"{page.relative_to(ROOT)} says “{found and found.group()}”; the word is {instead}"
