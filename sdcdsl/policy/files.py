"""From the file a person names to the documents it is made of, through `use`.

Reading is careful: only regular files, only text, only a sane size, and nothing outside the policy's own folder tree
unless the caller allows it.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, Span, diagnostic, did_you_mean
from sdcdsl.ordinary_files import open_ordinary
from sdcdsl.policy.document import Document, Use
from sdcdsl.policy.lower import lower
from sdcdsl.syntax.parser import parse
from sdcdsl.syntax.tree import Parsed

LARGEST_FILE = 4_000_000  # bytes; a policy with more data than this keeps it in a data file
DEEPEST_USE = 16
MOST_USES = 500  # files that use the next one twice, under two names, double with every level
LARGEST_POLICY = 4 * LARGEST_FILE  # characters of all its files, each as often as it is used
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")


@dataclass(frozen=True)
class File:
    """One file of a policy: `prefix` is what `use … as` put before its names."""

    path: Path
    parsed: Parsed
    document: Document
    prefix: str = ""
    used_at: Span | None = None
    again: bool = False  # used before under another name
    missing: frozenset[str] = frozenset()  # prefixes of files that could not be read, of the whole policy


@dataclass
class _Loading:
    root: Path
    allow_outside: bool
    # Texts at hand are not read from disk; what is read is read once, under however many names.
    others: Mapping[Path, str] = field(default_factory=dict[Path, str])
    files: list[File] = field(default_factory=list[File])
    seen: set[tuple[Path, str]] = field(default_factory=set[tuple[Path, str]])
    texts: dict[Path, tuple[Parsed, Document]] = field(default_factory=dict[Path, tuple[Parsed, Document]])
    uses: int = 0
    size: int = 0
    known: set[Path] = field(default_factory=set[Path])
    full: bool = False  # nothing more is read
    missing: set[str] = field(default_factory=set[str])
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])


def read_file(path: Path, name: str, used_at: Span | None = None) -> tuple[Source | None, list[Diagnostic]]:
    """The text of a policy file, or why it is none."""
    place = used_at or FilePlace(name)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None, [diagnostic("SDC001", f"{name} is not a file", place)]
        if status.st_size > LARGEST_FILE:
            return None, [_too_large(name, status.st_size, place)]
        with open_ordinary(path) as handle:
            data = handle.read(LARGEST_FILE + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return None, [diagnostic("SDC001", f"cannot read {name}: {reason}", place)]
    return decode(data, name, place)


def decode(data: bytes, name: str, place: Span | FilePlace | None = None) -> tuple[Source | None, list[Diagnostic]]:
    """Bytes to text, with the reason where they are none."""
    place = place or FilePlace(name)
    if len(data) > LARGEST_FILE:
        return None, [_too_large(name, len(data), place)]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        what = f"byte {data[error.start]:#04x} in line {line}"
        at = _at(place, name, line, column)
        return None, [diagnostic("SDC003", f"{name} is not UTF-8 text", at, what, help="save the file as UTF-8")]
    odd = _NOT_TEXT.search(text)
    if odd is not None:
        line, column = Source(name, text).position(odd.start())
        what = f"character U+{ord(odd.group()):04X} in line {line}"
        return None, [diagnostic("SDC004", f"{name} is not a text file", _at(place, name, line, column), what)]
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # One spelling of é: composed and decomposed letters look alike and must mean the same.
    return Source(name, text if text.isascii() else unicodedata.normalize("NFC", text)), []


def _at(place: Span | FilePlace, name: str, line: int, column: int) -> Span | FilePlace:
    """Where a file is used, that is marked; else the place in the file."""
    return place if isinstance(place, Span) else FilePlace(name, line=line, column=column)


def _too_large(name: str, size: int, place: Span | FilePlace) -> Diagnostic:
    return diagnostic(
        "SDC002",
        f"{name} is larger than {LARGEST_FILE // 1_000_000} MB",
        place,
        help='keep large tables in a data file, and name it: data cells { csv "cells.csv" }',
    )


def load(path: Path, name: str | None = None, allow_outside: bool = False) -> tuple[list[File], list[Diagnostic]]:
    """The file and all it uses: used files before the files that use them."""
    name = name or str(path)
    source, found = read_file(path, name)
    if source is None:
        return [], found
    return load_source(source, path, allow_outside)


def load_source(
    source: Source, path: Path, allow_outside: bool = False, others: Mapping[Path, str] | None = None
) -> tuple[list[File], list[Diagnostic]]:
    """As `load`, for a text that is at hand; `path` says where its `use` lines start from."""
    loading = _Loading(path.resolve().parent, allow_outside, others or {})
    _understand(loading, source, path.resolve())
    _add(loading, path, prefix="", chain=(), used_at=None)
    loading.files[-1] = replace(loading.files[-1], missing=frozenset(loading.missing))
    return loading.files, loading.diagnostics


def _understand(loading: _Loading, source: Source, real: Path) -> None:
    parsed, found = parse(source)
    document, more = lower(parsed)
    loading.texts[real] = parsed, document
    loading.diagnostics += found + more


def _add(loading: _Loading, path: Path, prefix: str, chain: tuple[Path, ...], used_at: Span | None) -> None:
    real = path.resolve()
    parsed, document = loading.texts[real]
    again = real in loading.known
    loading.known.add(real)
    loading.seen.add((real, prefix))
    loading.size += len(parsed.source.text)
    for use in document.all(Use):
        if loading.full:
            break
        _follow(loading, use, path, prefix, (*chain, real))
    loading.files.append(File(real, parsed, document, prefix, used_at, again))


def _follow(loading: _Loading, use: Use, user: Path, prefix: str, chain: tuple[Path, ...]) -> None:
    assert use.span is not None
    if not use.path or "\x00" in use.path:
        loading.diagnostics.append(diagnostic("SDC050", "`use` needs the path of a file", use.span))
        return
    if "{" in use.path or "}" in use.path:
        headline = "which file is used does not depend on a parameter"
        help = "a parameter stands in the names of data and of releases"
        loading.diagnostics.append(diagnostic("SDC151", headline, use.span, help=help))
        loading.missing.add(".".join(part for part in (prefix, use.alias) if part))
        return
    loading.uses += 1
    if _too_many(loading, use):
        return
    before = len(loading.diagnostics), len(loading.files)
    _try(loading, use, user, prefix, chain)
    if len(loading.files) == before[1] and len(loading.diagnostics) > before[0]:
        loading.missing.add(".".join(part for part in (prefix, use.alias) if part))


def _too_many(loading: _Loading, use: Use) -> bool:
    if loading.uses <= MOST_USES and loading.size <= LARGEST_POLICY:
        return False
    loading.full = True
    loading.missing.add("")  # whatever name is not known may stand in what is not read
    much = f"{MOST_USES} files" if loading.uses > MOST_USES else f"{LARGEST_POLICY // 1_000_000} MB of text"
    notes = ["a file counts once for every name it is used under, and so do the files it uses"]
    help = "use each file under one name, from the policy itself"
    loading.diagnostics.append(diagnostic("SDC054", f"a policy of more than {much}", use.span, notes=notes, help=help))
    return True


def _try(loading: _Loading, use: Use, user: Path, prefix: str, chain: tuple[Path, ...]) -> None:
    assert use.span is not None
    target = user.parent / use.path
    real = target.resolve()
    name = os.path.normpath(os.path.join(os.path.dirname(use.span.source.name), use.path))
    inner = ".".join(part for part in (prefix, use.alias) if part)
    if not loading.allow_outside and not real.is_relative_to(loading.root):
        through = " (through a link)" if Path(os.path.abspath(target)).is_relative_to(loading.root) else ""
        loading.diagnostics.append(
            diagnostic(
                "SDC052",
                f'"{use.path}" lies outside the policy\'s folder{through}',
                use.span,
                notes=["a policy reads only its own folder and what lies below"],
                help="copy the file there, or allow it with --allow-outside",
            )
        )
    elif real in chain:
        circle = [*chain[chain.index(real) :], real]
        loading.diagnostics.append(
            diagnostic(
                "SDC051",
                "these files use each other in a circle",
                use.span,
                notes=[" → ".join(p.name for p in circle)],
            )
        )
    elif len(chain) >= DEEPEST_USE:
        loading.diagnostics.append(diagnostic("SDC053", f"files use files more than {DEEPEST_USE} deep", use.span))
    elif (real, inner) not in loading.seen:
        _read_used(loading, use, target, name, inner, chain)


def _read_used(loading: _Loading, use: Use, target: Path, name: str, prefix: str, chain: tuple[Path, ...]) -> None:
    assert use.span is not None
    real = target.resolve()
    if real not in loading.others and not target.exists():
        siblings = [p.name for p in target.parent.glob("*.sdc")] if target.parent.is_dir() else []
        near = did_you_mean(target.name, siblings)
        loading.diagnostics.append(diagnostic("SDC050", f'there is no file "{use.path}"', use.span, near))
        return
    if real not in loading.texts:
        if real in loading.others:
            source, found = Source(name, loading.others[real]), []
        else:
            source, found = read_file(target, name, use.span)
        loading.diagnostics += found
        if source is None:
            return
        _understand(loading, source, real)
    _add(loading, target, prefix, chain, use.span)
