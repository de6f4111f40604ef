"""From bytes to text: encodings, byte order marks, and files that are no text at all."""

from __future__ import annotations

import codecs
from pathlib import Path

from sdcdsl.bind.readers.file_kinds import KINDS, kind_of_bytes
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic
from sdcdsl.ordinary_files import open_ordinary

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LOOKED_AT = 1 << 16


def open_bytes(path: Path) -> tuple[bytes | None, list[Diagnostic]]:
    try:
        with open_ordinary(path) as file:
            return file.read(), []
    except (OSError, ValueError) as error:
        return None, [_cannot_read(path, error)]


def unopenable(path: Path) -> list[Diagnostic]:
    """Why a file cannot be opened at all, for libraries that say it less well."""
    try:
        with open_ordinary(path):
            return []
    except (OSError, ValueError) as error:
        return [_cannot_read(path, error)]


def _cannot_read(path: Path, error: OSError | ValueError) -> Diagnostic:
    # A ValueError is a path no operating system has, such as one with a zero byte in it.
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return diagnostic("SDC302", f"cannot read {path}: {reason}", FilePlace(str(path)))


def open_text(source: Path | Source, encoding: str | None = None) -> tuple[Source | None, list[Diagnostic]]:
    """The text of a file. Without an encoding UTF-8 is expected, and a byte order mark believed: guessing would
    silently turn one office's `Å` into another's."""
    if isinstance(source, Source):
        return source, []
    raw, problems = open_bytes(source)
    if raw is None:
        return None, problems
    text, problems = decode(raw, str(source), encoding)
    return (None if text is None else Source(str(source), text)), problems


def decode(raw: bytes, name: str, encoding: str | None = None) -> tuple[str | None, list[Diagnostic]]:
    mark, marked = next(((m, e) for m, e in BOMS if raw.startswith(m)), (b"", None))
    if marked == "utf-8" and (encoding is None or _is_utf8(encoding)):
        raw, encoding = raw[len(mark) :], "utf-8"
    chosen = encoding or marked or "utf-8"
    if b"\0" in raw[:LOOKED_AT] and not _plain(chosen).startswith(("utf16", "utf32")):
        kind = kind_of_bytes(raw[:LOOKED_AT])
        what = f"{name} is {KINDS[kind].words}, and not text" if kind else f"{name} is not a text file"
        return None, [diagnostic("SDC302", what, FilePlace(name), "holds zero bytes")]
    try:
        text = raw.decode(chosen)
    except LookupError:
        return None, [
            diagnostic(
                "SDC317",
                f"no encoding is called `{chosen}`",
                FilePlace(name),
                help="usual ones are utf-8, latin-1, cp1252 and utf-16",
            )
        ]
    except UnicodeError as error:
        return None, [_undecodable(raw, name, chosen, getattr(error, "start", 0))]
    if encoding is not None and not _is_utf8(encoding) and not raw.isascii() and _is_utf8_text(raw):
        return None, [
            diagnostic(
                "SDC317",
                f"{name} is UTF-8 text, not {chosen}",
                FilePlace(name),
                "its letters with accents would come out as two each",
                help="read it as utf-8",
            )
        ]
    return text, []


def lines(text: str) -> list[str]:
    """Lines as an editor counts them (str.splitlines also breaks at form feeds and the like)."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _undecodable(raw: bytes, name: str, encoding: str, at: int) -> Diagnostic:
    line = raw.count(b"\n", 0, at) + 1
    column = at - (raw.rfind(b"\n", 0, at) + 1) + 1
    byte = f"byte 0x{raw[at]:02x} has no meaning in {encoding}" if at < len(raw) else ""
    return diagnostic(
        "SDC317",
        f"{name} is not {encoding.upper()} text",
        FilePlace(name, line=line, column=column),
        byte,
        help='say the encoding of the file, often { encoding "cp1252" }' if _is_utf8(encoding) else None,
    )


def _is_utf8(encoding: str) -> bool:
    return _plain(encoding) in ("utf8", "utf8sig")


def _plain(encoding: str) -> str:
    return encoding.lower().replace("-", "").replace("_", "")


def _is_utf8_text(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
