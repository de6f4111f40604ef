"""Every accelerator in the tree has a page that says what it promises, and benchmark rows next to the model alone."""

import sys
from pathlib import Path

import pytest

from sdcdsl.vocabulary.methods import METHODS

ROOT = Path(__file__).resolve().parents[2]
PROMISES = ("What it accelerates", "From which size", "At any moment", "Deadline", "Bound", "Deterministic", "Figures")
DRIVERS = sorted(path.parent.name for path in (ROOT / "sdcdsl/accelerate").glob("*/driver.py"))


def test_every_accelerator_is_named_by_its_method():
    named = sorted(name for name, method in METHODS.built_in.items() if method.accelerator is not None)
    assert named == DRIVERS
    for name in DRIVERS:
        assert METHODS[name].accelerator == f"sdcdsl.accelerate.{name}.driver:solve"


@pytest.mark.parametrize("name", DRIVERS)
def test_every_accelerator_has_a_page(name):
    page = (ROOT / "docs/accelerators" / f"{name}.md").read_text(encoding="utf-8")
    assert [word for word in PROMISES if word not in page] == []
    assert "benchmarks/accelerators.py" in page
    assert f"({name}.md)" in (ROOT / "docs/accelerators/README.md").read_text(encoding="utf-8")


def test_every_accelerator_has_benchmark_rows(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from accelerators import ASKED  # noqa: PLC0415

    assert {asked.method for asked in ASKED.values()} == set(DRIVERS)
    assert "accelerators" in sys.modules
