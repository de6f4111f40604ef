"""The documentation site: its pictures are what the program computes now, its navigation reaches every page."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

SITE = ROOT / "docs" / "site"


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


def test_pictures_are_those_that_the_program_draws(golden) -> None:
    drawn = module("pictures").pictures()
    assert {path.name for path in (ROOT / "docs" / "pictures").glob("*.svg")} == set(drawn)
    for name, text in drawn.items():
        golden(ROOT / "docs" / "pictures" / name, text)


def test_pictures_say_what_the_example_says() -> None:
    """The intervals of examples/tiny, worked out by hand: rows and columns add up, and nothing is negative."""
    tiny = module("pictures").Tiny()
    assert tiny.interval("alone") == (22, 22)
    assert tiny.interval("weak") == (5, 30)  # 22 - 17 of III·A; 22 + 8 of II·A
    assert tiny.interval("better") == (0, 34)  # 22 - 22; 22 + 12 of III·C
    low, high = tiny.witnesses("better")
    for table in (low, high):
        assert table.min() >= 0
        for row in ("I", "II", "III", "Total"):
            parts = [table[tiny.at[row, column]] for column in "ABC"]
            assert sum(parts) == table[tiny.at[row, "Total"]]
    assert low[tiny.sensitive] <= 12 and high[tiny.sensitive] >= 34


@pytest.fixture(scope="module")
def conf() -> ModuleType:
    pytest.importorskip("pygments")
    return module("conf")


def test_every_page_is_in_the_navigation(conf: ModuleType) -> None:
    """Each entry is a page, and each page of docs/ is an entry once."""
    entries: list[Path] = []
    for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "results" / "README.md"]:
        name = str(page.relative_to(ROOT).with_suffix(""))
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", conf.with_navigation(name, page.read_text("utf-8")), re.S):
            lines = [line for line in tree.splitlines() if line and not line.startswith(":") and "*" not in line]
            entries += [(page.parent / f"{line}.md").resolve() for line in lines]
    assert all(entry.is_file() for entry in entries)
    assert len(entries) == len(set(entries))
    missing = {path.resolve() for path in (ROOT / "docs").rglob("*.md")} - set(entries)
    assert missing == {ROOT / "docs" / "README.md"}
