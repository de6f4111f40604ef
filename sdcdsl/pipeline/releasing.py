"""Where released files go, and the last stage: all of them, or none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, FilePlace, Span, diagnostic
from sdcdsl.pipeline.outcome import End, Outcome, Prepared
from sdcdsl.pipeline.request import Request
from sdcdsl.policy import document as d
from sdcdsl.policy.meaning import files_by_table
from sdcdsl.report.certificate import inputs_of, write_certificate
from sdcdsl.report.release import Staged, write_table


@dataclass(frozen=True)
class Target:
    """One table of a block on its way into one file."""

    table: str
    file: d.FileReference
    path: Path

    @property
    def span(self) -> Span | None:
        return self.file.span


def targets(request: Request, block: str) -> Iterator[Target]:
    protect = request.policy.protects[block]
    for statement in protect.all(d.Release):
        for table, path in files_by_table(statement.file.path, protect.tables).items():
            yield Target(table, statement.file, request.folder / path)


def release(prepared: Prepared, request: Request) -> tuple[dict[str, list[str]], list[Diagnostic]]:
    """Writes everything beside its place, then renames all of it. Only what was found protected gets here.

    Gives the files of each block, and what was in the way.
    """
    if prepared.end is not End.DONE:
        raise ValueError(f"not to be released: {prepared.end}")
    written: dict[str, list[str]] = {outcome.name: [] for outcome in prepared.outcomes}
    staged = Staged()
    try:
        for outcome in prepared.outcomes:
            for target in targets(request, outcome.name):
                _write(staged, outcome, target)
                written[outcome.name].append(str(target.path))
        if request.certificate is not None:
            [outcome] = prepared.outcomes
            assert outcome.audit is not None
            if outcome.audit.distance is not None:
                headline = "an adjusted table has no certificate: nothing is published about how values were changed"
                place = FilePlace(str(request.certificate))
                return {name: [] for name in written}, [diagnostic("SDC408", headline, place, "nothing was released")]
            inputs = inputs_of(request.source, request.policy, request.places.read)
            write_certificate(outcome.audit, staged.beside(request.certificate), inputs)
        staged.rename()
    except OSError as error:
        headline = f"a file could not be written: {error.strerror or error}"
        place = FilePlace(str(error.filename2 or error.filename or request.folder))
        return {name: [] for name in written}, [diagnostic("SDC503", headline, place, "nothing was released")]
    finally:
        staged.discard()
    return written, []


def _write(staged: Staged, outcome: Outcome, target: Target) -> None:
    assert outcome.pattern is not None and outcome.verdict == "protected"
    write_table(outcome.problem, outcome.pattern, target.table, target.file, staged.beside(target.path))
