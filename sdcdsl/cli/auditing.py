"""What `audit` does behind its options: bind, read the release, attack, write the certificate."""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.audit import Audit, audit_release
from sdcdsl.audit.emptiness import empty_regions
from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.known_codes import unknown_codes
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.cli.audit_output import Result
from sdcdsl.cli.audit_text import shown
from sdcdsl.cli.limits import committing
from sdcdsl.cli.progress import counting
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.diagnostics.confidential import secret
from sdcdsl.executing import Team
from sdcdsl.pattern import Pattern
from sdcdsl.pipeline.shared_cells import Said, contradicting
from sdcdsl.policy.resolve import Policy
from sdcdsl.released import pattern_of_jj, read_release
from sdcdsl.report.certificate import inputs_of, write_certificate
from sdcdsl.report.journal import settle_around


@dataclass(frozen=True)
class Request:
    policy: Policy
    source: Path  # of the policy, or the JJ file
    places: RecordedLocations
    day: datetime.date
    block: str | None
    released: dict[str, Path]  # by table
    reading: dict[str, Any]  # how `read_release` is to read them
    exact: bool
    integer: bool
    certificate: Path | None

    @property
    def blocks(self) -> list[str]:
        return [self.block] if self.block is not None else list(self.policy.protects)


def audit_all(request: Request, team: Team) -> Result:
    """Every protect block, or the one that was asked for; nothing is audited if something is wrong with one."""
    interrupted = settle_around((request.source, *request.released.values()))
    found = interrupted if has_errors(interrupted) else _impossible(request)
    if found:
        return Result({}, found=found)
    tasks, found = _tasks(request)
    found = [*interrupted, *found]
    if has_errors(found):
        return Result({}, found=found)
    audits = {name: _audited(problem, pattern, request, team) for name, (problem, pattern) in tasks.items()}
    released = bool(request.released)
    if released:
        found += contradicting(request.policy, [Said(name, *task) for name, task in tasks.items()])
    if request.certificate is None:
        return Result(audits, released, found=found)
    [made] = audits.values()
    committing()
    problems = _certified(made, request.certificate, request)
    return Result(audits, released, None if problems else str(request.certificate), [*found, *problems])


def _impossible(request: Request) -> list[Diagnostic]:
    """What need not wait for the end of a long audit."""
    if not request.blocks:
        headline = "the policy protects nothing: it has no protect block to audit"
        return [diagnostic("SDC408", headline, FilePlace(str(request.source)))]
    path = request.certificate
    if path is None:
        return []
    place, folder = FilePlace(str(path)), path.parent
    if len(request.blocks) > 1:
        names = ", ".join(request.blocks)
        headline = f"a certificate is about one protect block, and the policy has several: {names}"
        return [diagnostic("SDC408", headline, place, help=f"--block {request.blocks[0]}")]
    if not folder.is_dir():
        return [diagnostic("SDC408", f"{path} cannot be written: there is no folder {folder}", place)]
    if not os.access(folder, os.W_OK | os.X_OK):
        return [diagnostic("SDC408", f"{path} cannot be written: no permission to write to {folder}", place)]
    read = [request.source, *request.released.values(), *request.places.instead.values()]
    if path.exists() and any(other.exists() and path.samefile(other) for other in read):
        return [diagnostic("SDC408", f"{path} would overwrite a file that the audit reads", place)]
    return []


def _tasks(request: Request) -> tuple[dict[str, tuple[TableProblem, Pattern]], list[Diagnostic]]:
    """What is attacked: the problem of every block, and what its released tables say."""
    binding = Binding(request.policy, request.places, request.day)
    out: dict[str, tuple[TableProblem, Pattern]] = {}
    found: list[Diagnostic] = []
    for name in request.blocks:
        problem, problems = bind_protect(binding, request.policy.protects[name])
        found += problems
        if problem is None or has_errors(problems):
            continue
        pattern, problems = _pattern(problem, request)
        problems += _fractions(problem) if request.integer else []
        found += problems
        if pattern is not None:
            out[name] = problem, pattern
    found += unknown_codes(request.policy, binding.dimensions)
    return out, list(dict.fromkeys(binding.diagnostics + found))


def _pattern(problem: TableProblem, request: Request) -> tuple[Pattern | None, list[Diagnostic]]:
    if not request.released:
        return pattern_of_jj(problem), []
    mine = {t.name: request.released[t.name] for t in problem.tables if t.name in request.released}
    pattern, found = read_release(problem, mine, **request.reading)
    if pattern is None and found and all(f.code in ("SDC403", "SDC405") for f in found):
        wrong, _ = read_release(problem, mine, **request.reading, even_if_wrong=True)
        if wrong is not None:
            found += empty_regions(problem, wrong)
    return pattern, found


def _fractions(problem: TableProblem) -> list[Diagnostic]:
    a = problem.dataset["a"].values
    odd = np.flatnonzero(
        (np.abs(a - np.round(a)) > 1e-9 * np.maximum(np.abs(a), 1)) & problem.dataset["published"].values
    )
    if not len(odd):
        return []
    headline = f"attackers cannot know that values are whole numbers: {cells(odd)} of `{problem.name}`"
    notes = [first_cells(odd, lambda cell: f"{problem.label(cell)}: {secret(shown(a[cell], a[cell]))}")]
    verb = "is not" if len(odd) == 1 else "are not"
    return [diagnostic("SDC408", f"{headline} {verb}", notes=notes, help="audit without --integer")]


def _audited(problem: TableProblem, pattern: Pattern, request: Request, team: Team) -> Audit:
    with counting(f"auditing {problem.name}", "pairs") as progress:
        return audit_release(
            problem, pattern, exact=request.exact, integer=request.integer, progress=progress, team=team
        )


# ---- the certificate --------------------------------------------------------------------------------


def _certified(made: Audit, path: Path, request: Request) -> list[Diagnostic]:
    place = FilePlace(str(path))
    if made.distance is not None:
        headline = "there is nothing to certify: no attacker was simulated"
        return [diagnostic("SDC408", headline, place, notes=["nothing is published about how values were changed"])]
    try:
        inputs = inputs_of(request.source, request.policy, request.places, request.released)
        write_certificate(made, path, [one.entry() for one in inputs])
    except OSError as error:
        return [diagnostic("SDC408", f"{path} cannot be written: {error.strerror or error}", place)]
    return []
