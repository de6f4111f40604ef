"""The scripts of `benchmarks/` stand outside the package and import each other by their plain names."""

from __future__ import annotations

import sys

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
