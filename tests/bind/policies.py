"""Short forms for tests that bind policies: from text or file to problems and diagnostics."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import Diagnostic, Source, has_errors
from sdcdsl.diagnostics.render import render
from sdcdsl.policy.read import read_policy, read_text
from sdcdsl.policy.resolve import Policy

TODAY = datetime.date(2026, 1, 1)


def bound(policy: Policy, places: FileLocations) -> tuple[dict[str, TableProblem], list[Diagnostic]]:
    """Every protect block, and everything that was said on the way."""
    binding = Binding(policy, places, TODAY)
    problems, found = {}, []
    for name, protect in policy.protects.items():
        problem, said = bind_protect(binding, protect)
        found += said
        if problem is not None:
            problems[name] = problem
    return problems, binding.diagnostics + found


def bind_text(text: str, folder: Path = Path()) -> tuple[dict[str, TableProblem], list[Diagnostic]]:
    policy, wrong = read_text(Source("test.sdc", text), folder / "test.sdc")
    assert not has_errors(wrong), render(wrong)
    return bound(policy, FileLocations(folder))


def problem_of(text: str, folder: Path = Path()) -> TableProblem:
    """The only problem of a policy that must bind."""
    problems, found = bind_text(text, folder)
    assert not has_errors(found), render(found)
    [problem] = problems.values()
    return problem


def bind_file(path: Path, instead: Mapping[str, Path]) -> dict[str, TableProblem]:
    """The problems of a policy file, with other files in place of those it names."""
    policy, wrong = read_policy(path, str(path))
    assert not has_errors(wrong), render(wrong)
    problems, found = bound(policy, FileLocations(path.parent, instead))
    assert not has_errors(found), render(found)
    return problems


def matrix(problem: TableProblem) -> sp.csr_array:
    d = problem.dataset
    entries = (d["coefficient"].values, (d["equation_of"].values, d["cell_of"].values))
    return sp.csr_array(entries, shape=(problem.m, problem.n))


def adds_up(problem: TableProblem, tolerance: float = 1e-9) -> bool:
    """M a = b, relative to the largest term of each relation."""
    m, a, b = matrix(problem), problem.dataset["a"].values, problem.dataset["b"].values
    scale = np.maximum(abs(m) @ np.abs(a), 1.0)
    return bool((np.abs(m @ a - b) <= tolerance * scale).all())


def cell(problem: TableProblem, **codes: str) -> int:
    """The common number of a cell of a problem with one table."""
    [table] = problem.tables
    assert table.lattice is not None
    return table.lattice.cell(codes)


def sensitive_labels(problem: TableProblem) -> set[str]:
    return {problem.label(int(c)) for c in problem.sensitive if problem.dataset["published"].values[c]}
