"""What need not wait for the end of a long search: methods, solvers and formats that are not there, files that nobody
can write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from sdcdsl.bind.options import option_values
from sdcdsl.diagnostics import Diagnostic, FilePlace, Span, diagnostic
from sdcdsl.methods.run import available
from sdcdsl.pipeline.outcome import End
from sdcdsl.pipeline.releasing import targets
from sdcdsl.pipeline.request import Request
from sdcdsl.policy import document as d
from sdcdsl.report.release import WRITERS
from sdcdsl.solve.registry import missing
from sdcdsl.vocabulary.methods import Limits


def refused(request: Request) -> tuple[list[Diagnostic], End | None]:
    if not request.blocks:
        headline = "the policy protects nothing: it has no protect block"
        return [diagnostic("SDC503", headline, FilePlace(str(request.source)))], End.WRONG_POLICY
    absent = [problem for name in request.blocks for problem in _missing(request, request.policy.protects[name])]
    if absent:
        return absent, End.WRONG_POLICY
    unwritable = list(_unwritable(request))
    return unwritable, End.WRONG_DATA if unwritable else None


def _missing(request: Request, protect: d.Block) -> Iterator[Diagnostic]:
    """The first method of a chain must be there; the others, only if it comes to them."""
    engines = protect.the(d.MethodChain).engines
    if not available(engines[0].name):
        yield not_available(engines[0])
    for engine in engines:
        solver = request.instead.get("backend") or option_values(engine.options, Limits)["backend"]
        if (why := missing(solver)) is not None:
            yield diagnostic("SDC502", why, engine.span, help="leave out the option backend")
    for release in protect.all(d.Release):
        if release.file.format not in WRITERS:
            headline = f"this version does not write the format `{release.file.format}` yet"
            yield diagnostic("SDC501", headline, release.span, help=f"it writes {' and '.join(WRITERS)}")


def not_available(engine: d.Engine) -> Diagnostic:
    headline = f"there is no engine for the method `{engine.name}`: its options are checked, and it does not run"
    help = "install the package that has it (entry point group sdcdsl.engines), or choose another method"
    return diagnostic("SDC501", headline, engine.span, help=help)


def _unwritable(request: Request) -> Iterator[Diagnostic]:
    for name in request.blocks:
        for target in targets(request, name):
            yield from _obstacle(request, target.path, target.span)
    if request.certificate is not None:
        if len(request.blocks) > 1:
            names = ", ".join(request.blocks)
            headline = f"a certificate is about one protect block, and the policy has several: {names}"
            yield diagnostic("SDC503", headline, help=f"--block {request.blocks[0]}")
        yield from _obstacle(request, request.certificate, None)


def _obstacle(request: Request, path: Path, span: Span | None) -> Iterator[Diagnostic]:
    folder = next(p for p in path.absolute().parents if p.exists())
    read = [request.source, *request.places.instead.values()]
    own = [request.places.folder / f.file.path for b in request.policy.data.values() for f in b.all(d.Origin)]
    own += [request.places.folder / f.file.path for b in request.policy.tables.values() for f in b.all(d.Origin)]
    if not folder.is_dir():
        yield _cannot(path, f"{folder.name} is not a folder", span)
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield _cannot(path, f"no permission to write to {folder.name}", span)
    elif path.is_dir():
        yield _cannot(path, "a folder has that name", span)
    elif path.exists() and any(other.exists() and path.samefile(other) for other in [*read, *own]):
        yield _cannot(path, "it holds what is to be protected", span)


def _cannot(path: Path, why: str, span: Span | None) -> Diagnostic:
    return diagnostic("SDC503", f"{path.name} cannot be written: {why}", span or FilePlace(str(path)))
