"""Tables of files without anything sensitive, every cell with a weight of 1."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import Source
from sdcdsl.policy.read import read_text

POLICY = """sdc 1
policy "rounding"
table t {
  jj "FILE"
}
protect t {
  method rounding {
    base 5
  }
}
"""


def unprotected(path: Path) -> TableProblem:
    policy, _ = read_text(Source("rounding.sdc", POLICY.replace("FILE", path.name)), path.parent / "rounding.sdc")
    problem, found = bind_protect(Binding(policy, FileLocations(path.parent), date(2026, 1, 1)), policy.protects["t"])
    assert problem is not None, found
    d = problem.dataset.isel(pair=np.zeros(0, dtype=np.int64))
    return replace(problem, dataset=d.assign(status=("cell", np.full(problem.n, "s")), w=("cell", np.ones(problem.n))))
