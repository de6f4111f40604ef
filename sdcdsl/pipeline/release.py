"""Where files go, and the last stage: all of them, or none."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from sdcdsl.bind.options import option_values
from sdcdsl.diagnostics import Diagnostic, FilePlace, Span, diagnostic
from sdcdsl.outcome import SAFE, End, Outcome, Prepared
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy import document as d
from sdcdsl.policy.meaning import released_files
from sdcdsl.registry import load
from sdcdsl.report.certificate import sha256, write_certificate
from sdcdsl.report.journal import settle_around
from sdcdsl.report.lock import content_of, relative, write_lock
from sdcdsl.report.provenance import Provenance
from sdcdsl.report.release import INTERNAL, NOT_FOR_GIT, Staged, keep_from_git, leads_out, write_table
from sdcdsl.report.review.context import ReviewContext
from sdcdsl.report.signature import Signer
from sdcdsl.vocabulary.formats import REVIEWS, WRITERS, Review


@dataclass(frozen=True)
class Target:
    """One table of a block on its way into one file; or the whole block, where a format shows it on one page."""

    table: str
    file: d.FileReference
    path: Path

    @property
    def span(self) -> Span | None:
        return self.file.span


@dataclass(frozen=True)
class Written:
    """Files that were written: released ones by block, and what stays in the house."""

    released: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    certificate: Path | None = None
    report: Path | None = None
    lock: Path | None = None
    reviews: tuple[Path, ...] = ()

    @property
    def anything(self) -> bool:
        return any(self.released.values()) or any((self.certificate, self.report, self.lock, self.reviews))


def targets(request: ProtectRequest, block: str) -> Iterator[Target]:
    protect = request.policy.protects[block]
    for statement in protect.all(d.Release):
        for table, path in released_files(statement, protect.tables).items():
            yield Target(table, statement.file, request.folder / path)


def led_out(request: ProtectRequest, path: Path) -> str | None:
    """Why a released file is not to be written where its links lead."""
    if request.places.allow_outside or not leads_out(path, request.folder):
        return None
    return f"a link leads out of {request.folder.name or 'the folder'}; --allow-outside follows it"


def page_place(folder: Path, source: Path, public: bool) -> Path:
    """The report: what is confidential does not lie beside files to publish."""
    return folder / f"{source.stem}.public.html" if public else folder / INTERNAL / f"{source.stem}.internal.html"


def lock_place(folder: Path, source: Path, apart: bool) -> Path:
    """Beside the policy; but a folder that is for files to publish alone (`apart`) is not for the lock."""
    return (folder / INTERNAL if apart else folder) / f"{source.name}.lock"


def misplaced(request: ProtectRequest) -> Diagnostic | None:
    """A certificate in the folder that is for files to publish."""
    if request.certificate is None or not request.apart:
        return None
    place, folder = request.certificate.parent.resolve(), request.folder.resolve()
    if not place.is_relative_to(folder) or place.is_relative_to(folder / INTERNAL):
        return None
    headline = f"a certificate is confidential, and {request.folder} is for files to publish"
    help = f"--certificate {request.folder / INTERNAL / request.certificate.name}"
    return diagnostic("SDC519", headline, FilePlace(str(request.certificate)), help=help)


@dataclass(frozen=True)
class ReviewTarget:
    """One table on its way into a file for reviewers."""

    block: str
    table: str
    review: Review
    path: Path


def reviews(request: ProtectRequest) -> Iterator[ReviewTarget]:
    """Beside the internal report."""
    for name in request.reviews:
        review = REVIEWS[name]
        for block in request.blocks:
            for table in request.policy.protects[block].tables:
                stem = f"{request.source.stem}.{table}.internal{review.suffix}"
                yield ReviewTarget(block, table, review, request.folder / INTERNAL / stem)


def kept(request: ProtectRequest) -> list[Path]:
    """What is written for the people who ran it."""
    own = [path for path in (request.certificate, request.report, request.lock) if path is not None]
    return own + [review.path for review in reviews(request)]


def release(
    prepared: Prepared, request: ProtectRequest, signer: Signer | None = None
) -> tuple[Written, list[Diagnostic]]:
    """Writes everything beside its place, then renames all of it. Only what was found protected gets here.

    Gives what was written, and what was in the way. The lock is signed by `signer`, which is no part of the request:
    requests go to other processes.
    """
    if prepared.end is not End.DONE:
        raise ValueError(f"not to be released: {prepared.end}")
    if request.certificate is not None and any(o.audit is None or o.audit.distance for o in prepared.outcomes):
        headline = "an adjusted table has no certificate: nothing is published about how values were changed"
        return Written(), [diagnostic("SDC408", headline, FilePlace(str(request.certificate)), "nothing was released")]
    staged = Staged()
    try:
        staged.reserve(_all_files(request))
        written = _Writing(staged, prepared, request, signer).all()
        staged.rename()
    except OSError as error:
        headline = f"a file could not be written: {error.strerror or error}"
        place = FilePlace(str(error.filename2 or error.filename or request.folder))
        said = "the next command brings the old release back" if staged.unfinished else "nothing was released"
        return Written(), [*staged.settled, diagnostic("SDC503", headline, place, said)]
    finally:
        staged.discard()
    return written, staged.settled


def _all_files(request: ProtectRequest) -> Iterator[Path]:
    """The first is in the folder that all others are named from."""
    yield request.folder / "any"
    for block in request.blocks:
        yield from (target.path for target in targets(request, block))
    yield from kept(request)


def settled(request: ProtectRequest) -> list[Diagnostic]:
    """Finishes or takes back what a killed process has left where this request reads or writes."""
    return settle_around((request.source, *_all_files(request)))


def _named(path: Path, folder: Path) -> str:
    """As seen from the lock; a link in the place of a file is replaced, so only its folder is looked through."""
    return (PurePosixPath(relative(path.parent, folder)) / path.name).as_posix()


class _Writing:
    """Everything into staged files; the lock comes last, since it knows the digests of the others."""

    def __init__(self, staged: Staged, prepared: Prepared, request: ProtectRequest, signer: Signer | None = None):
        self.staged, self.request, self.signer = staged, request, signer
        self.outcomes = prepared.outcomes
        self.provenance = Provenance.of(
            request.policy, request.source, request.places, request.day, dict(request.instead)
        )
        self.what: dict[Path, str] = {}  # by where it will stand

    def all(self) -> Written:
        released = {outcome.name: [str(path) for path in self._released(outcome)] for outcome in self.outcomes}
        request = self.request
        internal = request.folder / INTERNAL
        if any(path.parent == internal for path in kept(request)):
            keep_from_git(self.staged, internal)
        if request.certificate is not None:
            [outcome] = self.outcomes
            assert outcome.audit is not None
            write_certificate(outcome.audit, self._part("certificate", request.certificate), self.provenance.inputs)
        if request.report is not None:
            part = self._part("report", request.report, confidential=not request.public)
            self._page(part, self.outcomes, request.public)
        written = tuple(self._review(target) for target in reviews(request))
        if request.lock is not None:
            content = self._lock(request.lock.parent)
            write_lock(self.staged.beside(request.lock, confidential=True), content, self.signer)
        return Written(released, request.certificate, request.report, request.lock, written)

    def _review(self, target: ReviewTarget) -> Path:
        [outcome] = [one for one in self.outcomes if one.name == target.block]
        wanted = f"release {target.table}"
        files = [(path.name, sha256(part)) for part, path in self.staged.files() if self.what.get(path) == wanted]
        part = self._part(f"review {target.table}", target.path, confidential=True)
        load(target.review.write)(outcome, target.table, part, ReviewContext(self.provenance, tuple(files)))
        return target.path

    def _released(self, outcome: Outcome) -> Iterator[Path]:
        assert outcome.pattern is not None and outcome.verdict in SAFE
        for target in targets(self.request, outcome.name):
            whole = WRITERS[target.file.format].whole_block
            if (why := led_out(self.request, target.path)) is not None:  # hours may have passed since it was looked at
                raise OSError(errno.ELOOP, why, str(target.path))
            part = self._part(f"release {outcome.name if whole else target.table}", target.path)
            if whole:
                options = option_values(target.file.options, WRITERS[target.file.format].options)
                self._page(part, [outcome], public=True, **options)
            else:
                write_table(outcome.problem, outcome.pattern, target.table, target.file, part)
            yield target.path

    def _page(self, part: Path, outcomes: Sequence[Outcome], public: bool, **options: Any) -> None:
        from sdcdsl.report.page import write_page  # noqa: PLC0415  templates take a while to load

        write_page(part, outcomes, self.provenance, public=public, **options)

    def _part(self, what: str, path: Path, *, confidential: bool = False) -> Path:
        self.what[path.parent.resolve() / path.name] = what
        return self.staged.beside(path, confidential=confidential)

    def _lock(self, folder: Path) -> dict[str, Any]:
        order = {path: number for number, path in enumerate(self.what)}
        files = sorted(self.staged.files(), key=lambda file: (order.get(file[1], len(order)), file[1]))
        outputs = [
            # Some formats put more files beside the one that was required.
            {"what": self.what.get(path, "release"), "path": _named(path, folder), "sha256": sha256(part)}
            for part, path in files
            if path.name != NOT_FOR_GIT
        ]
        return content_of(self.outcomes, self.provenance, self._run(folder), outputs, folder)

    def _run(self, folder: Path) -> dict[str, Any]:
        """What a replay has to be told."""
        request = self.request
        return {
            "policy": relative(request.source, folder),
            "folder": None if (below := relative(request.folder, folder)) == "." else below,
            "block": request.block,
            "day": request.day.isoformat(),
            "allow_outside": request.places.allow_outside,
            "options": dict(sorted(request.instead.items())),
            "data": {name: relative(path, folder) for name, path in sorted(request.places.instead.items())},
            "frames": sorted(request.places.frames) or None,
        }
