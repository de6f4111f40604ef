"""What need not wait for the end of a long search: methods, solvers and formats that are not there, files that nobody
can write, blocks that publish the same figures."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.options import option_values
from sdcdsl.diagnostics import Diagnostic, FilePlace, Span, diagnostic
from sdcdsl.methods.solving import unavailable
from sdcdsl.outcome import End
from sdcdsl.pipeline.release import kept, led_out, misplaced, targets
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.pipeline.shared_cells import refused_together
from sdcdsl.policy import document as d
from sdcdsl.policy.expressions import Text
from sdcdsl.registry import unloaded
from sdcdsl.report.release import Staged, companions
from sdcdsl.solve import missing
from sdcdsl.vocabulary.formats import READERS, REVIEWS, WRITERS
from sdcdsl.vocabulary.methods import METHODS, Limits


def refused(request: ProtectRequest) -> tuple[list[Diagnostic], End | None]:
    if not request.blocks:
        headline = "the policy protects nothing: it has no protect block"
        return [diagnostic("SDC503", headline, FilePlace(str(request.source)))], End.WRONG_POLICY
    absent = [problem for name in request.blocks for problem in _missing(request, request.policy.protects[name])]
    absent += _without_effect(request)
    if absent:
        return absent, End.WRONG_POLICY
    if together := refused_together(request):
        return together, End.WRONG_POLICY
    unwritable = list(_unwritable(request))
    return unwritable, End.WRONG_DATA if unwritable else None


def _missing(request: ProtectRequest, protect: d.Block) -> Iterator[Diagnostic]:
    """The first method of a chain must be there; the others, only if it comes to them."""
    engines = protect.the(d.MethodChain).engines
    if (why := unavailable(engines[0].name)) is not None:
        yield not_available(engines[0], why)
    for engine in engines:
        solver = request.instead.get("backend") or option_values(engine.options, Limits)["backend"]
        if (why := missing(solver)) is not None:
            yield diagnostic("SDC502", why, engine.span, help="leave out the option backend")
    for release in protect.all(d.Release):
        if (why := unloaded(WRITERS[release.file.format].write)) is not None:
            yield diagnostic("SDC501", f"the format `{release.file.format}` cannot be written: {why}", release.span)
        yield from _strange_signs(release.file)
    for review in request.reviews:
        if (why := unloaded(REVIEWS[review].write)) is not None:
            yield diagnostic("SDC501", f"the review `{review}` cannot be written: {why}", protect.heading)


def _without_effect(request: ProtectRequest) -> Iterator[Diagnostic]:
    """Options of the command that no method of the run would look at; in the policy, SDC147 is found by the check."""
    engines = [e for name in request.blocks for e in request.policy.protects[name].the(d.MethodChain).engines]
    for option in sorted(request.instead):
        if all(_forgets(request, engine, option) for engine in engines):
            names = " and ".join(f"`{name}`" for name in dict.fromkeys(engine.name for engine in engines))
            headline = f"--{option.replace('_', '-')} has no effect on {names}"
            yield diagnostic("SDC147", headline, FilePlace(str(request.source)), help="leave it out")


def _forgets(request: ProtectRequest, engine: d.Engine, option: str) -> bool:
    if engine.name not in METHODS or option not in METHODS[engine.name].lacks:
        return False
    solver = request.instead.get("backend") or option_values(engine.options, Limits)["backend"]
    return not (option == "threads" and solver not in (None, "highs"))


def _strange_signs(file: d.FileReference) -> Iterator[Diagnostic]:
    for option in file.options:
        sign = str(option_values((option,), WRITERS[file.format].options).get(option.name))
        if option.name == "delimiter" and (len(sign) != 1 or not sign.isascii() or sign in '"\r\n'):
            yield diagnostic("SDC109", "a delimiter is a single ASCII character", option.span, help='delimiter ";"')
        if option.name == "decimal" and sign not in (".", ","):
            yield diagnostic("SDC109", "the decimal sign is a point or a comma", option.span, help='decimal ","')


def not_available(engine: d.Engine, why: str) -> Diagnostic:
    headline = f"the method `{engine.name}` cannot run: {why}"
    return diagnostic("SDC501", headline, engine.span, help="put its package in order, or choose another method")


# ---- files -----------------------------------------------------------------------------------------


def _unwritable(request: ProtectRequest) -> Iterator[Diagnostic]:
    if request.certificate is not None and len(request.blocks) > 1:
        names = ", ".join(request.blocks)
        headline = f"a certificate is about one protect block, and the policy has several: {names}"
        yield diagnostic("SDC503", headline, help=f"--block {request.blocks[0]}")
    if (wrong := misplaced(request)) is not None:
        yield wrong
    wanted = list(_wanted(request))
    read = {place for path in _read(request) if (place := _place(path)) is not None}
    taken: dict[Path, Path] = {}
    hindered: dict[tuple[Path, str], list[tuple[Path, Span | None]]] = {}
    # What the person who runs it names may be anywhere.
    led = {path: why for path, span in wanted if span is not None and (why := led_out(request, path)) is not None}
    obstacles = led | _obstacles([path for path, _ in wanted if path not in led])
    for path, span in wanted:
        place, why = _place(path), obstacles[path]
        if why is None and place in read:
            why = "it holds what is to be protected"
        if why is None and (data := _read_next_time(request, path)) is not None:
            why = f"the next run would take it for data of `{data}`"
        if why is None and place in taken:
            why = f"this run writes {taken[place].name} there as well"
        if why is not None:
            hindered.setdefault((path.parent, why), []).append((path, span))
        elif place is not None:
            taken[place] = path
    for (_, why), files in hindered.items():  # one folder, one reason: said once
        (path, span), more = files[0], [other.name for other, _ in files[1:]]
        what = f"{path.name} and {len(more)} more" if more else path.name
        notes = [f"also {', '.join(dict.fromkeys(more))}"] if more else []
        yield diagnostic("SDC503", f"{what} cannot be written: {why}", span or FilePlace(str(path)), notes=notes)
    for place, path in taken.items():
        inside = next((other for other in taken if place in other.parents), None)
        if inside is not None:
            why = f"a folder must have that name, for {taken[inside].name}"
            yield diagnostic("SDC503", f"{path.name} cannot be written: {why}", FilePlace(str(path)))


def _wanted(request: ProtectRequest) -> Iterator[tuple[Path, Span | None]]:
    """Every file that the run writes, and those that some formats may put beside them."""
    for name in request.blocks:
        for target in targets(request, name):
            yield target.path, target.span
            table = request.policy.tables.get(target.table)
            by = [name for s in table.all(d.By) for name in s.dimensions] if table is not None else []
            for path in companions(target.file.format, target.path, by):
                yield path, target.span
    for path in kept(request):
        yield path, None


def _read_next_time(request: ProtectRequest, path: Path) -> str | None:
    """The data that a written file would become part of: those of a folder, or of a pattern that matches it."""
    for name, data in request.policy.data.items():
        file = data.the(d.Origin).file
        suffix = READERS[file.format].suffix
        if suffix is not None and request.places.would_find(name, file.path, path, suffix):
            return name
    return None


def _read(request: ProtectRequest) -> Iterator[Path]:
    """The policy and all files it names, but for releases: last period's among them, which may be replaced."""
    yield request.source
    yield from (file.path for file in request.policy.files)
    yield from request.places.instead.values()
    places = FileLocations(request.places.folder, allow_outside=request.places.allow_outside)  # not noted as read
    blocks = (block for named in request.policy.blocks.values() for block in named.values())
    statements = [s for block in blocks for s in block.statements if not isinstance(s, d.Release)]
    for statement in [*statements, *request.policy.facts]:
        file = getattr(statement, "file", None)
        if isinstance(file, d.FileReference):
            yield request.places.folder / file.path
            suffix = READERS[file.format].suffix if isinstance(statement, d.Origin) and file.format in READERS else None
            if suffix is not None:
                yield from places.find_all("", file.path, None, suffix)[0]
            for option in file.options:
                if option.name == "metadata" and option.values and isinstance(option.values[0], Text):
                    yield request.places.folder / option.values[0].value


def _place(path: Path) -> Path | None:
    """Where a file is or would be, whatever way leads there; for a file that is there, the file behind its links."""
    try:
        return path.resolve() if path.exists() else path.parent.resolve() / path.name
    except (OSError, RuntimeError):  # links in a circle
        return None


def _obstacles(paths: Sequence[Path]) -> dict[Path, str | None]:
    """Why nobody can write there. Nothing tells better than writing something, which is taken away again."""
    staged = Staged()
    try:
        return {path: _obstacle(path, staged) for path in paths}
    finally:
        staged.discard()


def _obstacle(path: Path, staged: Staged) -> str | None:
    try:
        stands = _standing(path)
        if stands is None:
            staged.beside(path).write_bytes(b"?")
        return stands
    except OSError as error:
        return _reason(path, error)


def _standing(path: Path) -> str | None:
    """What is there already and cannot be replaced."""
    above = next((p for p in path.absolute().parents if os.path.lexists(p)), None)
    if above is not None and not above.is_dir():
        return f"{above.name} is not a folder"
    if not os.path.lexists(path):
        return None
    if path.is_dir():
        return "a folder has that name"
    return None if path.is_file() or not path.exists() else "what is there is no ordinary file"


def _reason(path: Path, error: OSError) -> str:
    match error.errno:
        case errno.EROFS:
            return "the file system is read-only"
        case errno.ENAMETOOLONG:
            return "its name is too long"
        case errno.EACCES | errno.EPERM:
            return f"no permission to write to {path.parent.name or path.parent}"
        case errno.ENOENT:
            return f"the folder {path.parent.name or path.parent} cannot be made"
        case errno.ELOOP:
            return "its folder is a link to itself"
        case _:
            return (error.strerror or str(error)).lower()
