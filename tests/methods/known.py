"""The policies of `specs/known`, bound, and what they expect."""

from __future__ import annotations

import datetime
import re
import shlex
from pathlib import Path
from typing import Any

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.policy.read import read_policy


def bound(path: Path) -> TableProblem:
    policy, found = read_policy(path, str(path), False)
    assert not found, found
    (block,) = policy.protects.values()
    binding = Binding(policy, FileLocations(path.parent), datetime.date(2026, 1, 1))
    problem, found = bind_protect(binding, block)
    assert problem is not None, found
    return problem


def expected(path: Path) -> dict[str, Any]:
    said = re.search(r"^#! expect (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert said is not None, path
    out: dict[str, Any] = dict(part.split("=", 1) for part in shlex.split(said[1]))
    return {**out, "objective": float(out["objective"])}
