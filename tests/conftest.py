"""What the tests share: golden files, and where the common data lies."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("tests", deadline=None)  # a busy machine is no mistake
settings.load_profile("tests")

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="write golden files anew from what the program says now")


@pytest.fixture
def golden(request: pytest.FixtureRequest):
    """Compare a text with the file that holds what was expected; `--bless` rewrites the file for review in the diff."""

    def compare(path: Path, actual: str) -> None:
        if request.config.getoption("--bless"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8", newline="\n")
        assert path.is_file(), f"{path} is missing: run pytest --bless and review it"
        assert actual == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def shared_data() -> Path:
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the common data is not at {SHARED_DATA}")
    return SHARED_DATA
