from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared" / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("needs the data folder ../shared/data beside the repository")
    return SHARED
