"""Released tables, ours or somebody else's, under attack; and the certificate of what was proved.

`audit_blocks` computes and writes nothing; `certify` writes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from sdcdsl.audit import NOT_EXCLUDED, Audit, audit_release
from sdcdsl.audit.emptiness import empty_regions
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.diagnostics.confidential import secret
from sdcdsl.executing import SERIAL, Team
from sdcdsl.pattern import Pattern
from sdcdsl.pipeline.bind import BoundBlocks, bind
from sdcdsl.pipeline.released_tables import ReleasedTables
from sdcdsl.pipeline.request import Inputs, Watch
from sdcdsl.pipeline.shared_cells import BlockRelease, contradicting
from sdcdsl.policy import document as d
from sdcdsl.released import pattern_of_jj
from sdcdsl.report.certificate import inputs_of, write_certificate
from sdcdsl.report.journal import settle_around
from sdcdsl.vocabulary.methods import METHODS

WORST = ("exposed", "not proven", NOT_EXCLUDED, "protected", "nothing to check")
CONTRADICTION = "SDC515"  # one release says what another one hides


@dataclass(frozen=True)
class AuditRequest(Inputs):
    """Without released tables, cells that are sensitive or already hidden count as hidden."""

    released: ReleasedTables = field(default_factory=ReleasedTables)
    exact: bool = True  # intervals are worked out as far as they can be, not only as far as verdicts need
    integer: bool | None = None  # attackers know that values are whole numbers; None: where the policy says so
    certificate: Path | None = None


@dataclass(frozen=True, eq=False)
class AuditedBlocks:
    """By name; none if something was wrong before anything could be audited."""

    audits: Mapping[str, Audit] = field(default_factory=dict[str, Audit])
    found: tuple[Diagnostic, ...] = ()

    @property
    def verdict(self) -> str | None:
        """The worst of them."""
        if self.contradictory:
            return "exposed"
        found = {made.verdict for made in self.audits.values()}
        return next((word for word in WORST if word in found), None)

    @property
    def contradictory(self) -> bool:
        """One release says what another one hides: each alone may be protected."""
        return any(one.code == CONTRADICTION for one in self.found)

    @property
    def wrong(self) -> bool:
        """The data or a release is, or a certificate could not be written."""
        return has_errors(one for one in self.found if one.code != CONTRADICTION)


def audit_blocks(
    request: AuditRequest, team: Team = SERIAL, watch: Watch | None = None, bound: BoundBlocks | None = None
) -> AuditedBlocks:
    """Every protect block, or the one that was required; nothing is audited if something is wrong with one. `bound`:
    the blocks, where somebody has bound them before."""
    found = _impossible(request)
    if found:
        return AuditedBlocks(found=tuple(found))
    if bound is None:
        bound = bind(request, request.released.files.values())
        found = list(bound.found)
    else:
        found = settle_around(request.released.files.values())
    if has_errors(found):
        return AuditedBlocks(found=tuple(found))
    patterns, problems = _patterns(bound.problems, request)
    found += problems
    if has_errors(found):
        return AuditedBlocks(found=tuple(dict.fromkeys(found)))
    audits: dict[str, Audit] = {}
    for name, pattern in patterns.items():
        audits[name] = audit_release(
            bound.problems[name],
            pattern,
            exact=request.exact,
            integer=request.integer,
            progress=partial(watch.auditing, name) if watch is not None else None,
            team=team,
        )
    if request.released.files:
        said = [BlockRelease(name, bound.problems[name], pattern) for name, pattern in patterns.items()]
        found += contradicting(request.policy, said)
    return AuditedBlocks(audits, tuple(dict.fromkeys(found)))


def certify(audited: AuditedBlocks, request: AuditRequest) -> list[Diagnostic]:
    """Writes the certificate that the request names; gives what is in the way."""
    path, [made] = request.certificate, audited.audits.values()
    assert path is not None
    place = FilePlace(str(path))
    if made.distance is not None:
        headline = "there is nothing to certify: no attacker was simulated"
        return [diagnostic("SDC408", headline, place, notes=["nothing is published about how values were changed"])]
    try:
        inputs = inputs_of(request.source, request.policy, request.places, request.released.files)
        write_certificate(made, path, [one.entry() for one in inputs])
    except OSError as error:
        return [diagnostic("SDC408", f"{path} cannot be written: {error.strerror or error}", place)]
    return []


def _impossible(request: AuditRequest) -> list[Diagnostic]:
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
    read = [request.source, *request.released.files.values(), *request.places.instead.values()]
    if path.exists() and any(other.exists() and path.samefile(other) for other in read):
        return [diagnostic("SDC408", f"{path} would overwrite a file that the audit reads", place)]
    return []


def _patterns(
    problems: Mapping[str, TableProblem], request: AuditRequest
) -> tuple[dict[str, Pattern], list[Diagnostic]]:
    """What the released tables of every block say, or the statuses of its data."""
    out: dict[str, Pattern] = {}
    found: list[Diagnostic] = []
    for name, problem in problems.items():
        pattern, wrong = _pattern(problem, request.released, _draws(request.policy.protects[name]))
        found += [*wrong, *(_fractions(problem) if request.integer else [])]
        if pattern is not None:
            out[name] = pattern
    return out, found


def _draws(protect: d.Block) -> bool:
    """Whether the release is of a method that draws, as far as the policy says."""
    engines = [e for chain in protect.all(d.MethodChain) for e in chain.engines]
    return any(e.name in METHODS and METHODS[e.name].random_noise for e in engines)


def _pattern(problem: TableProblem, released: ReleasedTables, drawn: bool) -> tuple[Pattern | None, list[Diagnostic]]:
    if not released.files:
        return pattern_of_jj(problem), []
    pattern, found = released.read(problem)
    if pattern is not None and drawn:
        pattern = replace(pattern, random=True)
    if pattern is None and found and all(f.code in ("SDC403", "SDC405") for f in found):
        wrong, _ = released.read(problem, even_if_wrong=True)
        if wrong is not None:
            found += empty_regions(problem, wrong)
    return pattern, found


def _fractions(problem: TableProblem) -> list[Diagnostic]:
    a = problem.dataset["a"].values
    fraction = np.abs(a - np.round(a)) > 1e-9 * np.maximum(np.abs(a), 1)
    odd = np.flatnonzero(fraction & problem.dataset["published"].values)
    if not len(odd):
        return []
    headline = f"attackers cannot know that values are whole numbers: {cells(odd)} of `{problem.name}`"
    notes = [first_cells(odd, lambda cell: f"{problem.label(cell)}: {secret(f'{a[cell]:.12g}')}")]
    verb = "is not" if len(odd) == 1 else "are not"
    return [diagnostic("SDC408", f"{headline} {verb}", notes=notes, help="audit without --integer")]
