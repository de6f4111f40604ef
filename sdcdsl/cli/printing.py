"""Standard output that nobody reads any more, or that is full, and the exit code, which tells the truth all the same.

Printing never ends a command: what cannot be printed is dropped, and remembered. A closed pipe (`… | head`) is nobody's
fault. Anything else is an error of a command whose product is what it prints; not of one that has written its files.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any

from sdcdsl.cli.exits import UNPRINTED

_standard: _Forgiving | None = None  # output, once `keep_for_results` was called
_written = False
_code: int | None = None


class _Forgiving(io.FileIO):
    failed: OSError | None = None

    def write(self, data: Any, /) -> int:
        if self.failed is None:
            try:
                return super().write(data)
            except BlockingIOError:
                raise
            except OSError as error:
                self.failed = error
        return len(data)


def written(code: int | None = None) -> None:
    """Files are written: not being able to print is no error any more. With `code`, it is the exit code, even if
    something goes wrong before the command can say so itself."""
    global _written, _code
    _written, _code = True, code if code is not None else _code


def decided() -> int | None:
    """The exit code that nothing changes any more."""
    return _code


def final(code: int) -> int:
    """What a command ends with, whose own exit code is `code`."""
    if _standard is None:
        return code
    sys.stdout.flush()
    failed = _standard.failed
    if failed is None or isinstance(failed, BrokenPipeError):
        return code
    with suppress(OSError, ValueError, AttributeError):  # no standard error either
        files = "; all files are written" if _written else ""
        sys.stderr.write(f"standard output cannot be written: {failed.strerror}{files}\n")
        sys.stderr.flush()
    return UNPRINTED if code == 0 and not _written else code


def keep_for_results() -> None:
    """Keeps standard output for results. Solvers print on it now and then, from code that Python does not see, and may
    quote data: what goes to the process's own standard output goes nowhere, and Python's where the user wants it."""
    global _standard  # noqa: PLW0603
    _no_gaps()
    sys.stdout, sys.stderr = (
        stream if stream is not None else open(os.devnull, "w")  # noqa: SIM115  as long as the process lives
        for stream in (sys.stdout, sys.stderr)  # None: closed when the process began
    )
    if (handle := _handle(sys.stderr)) is not None:
        sys.stderr = _text(_Forgiving(handle, "w", closefd=False), sys.stderr, line_buffering=True)
    if (handle := _handle(sys.stdout)) is None:
        return
    with suppress(OSError):
        sys.stdout.flush()
    kept = os.dup(handle)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, handle)
    os.close(nowhere)
    _standard = _Forgiving(kept, "w")
    sys.stdout = _text(_standard, sys.stdout, line_buffering=sys.stdout.isatty())


def _no_gaps() -> None:
    """The first file that is opened gets the lowest number that is free: were it that of standard output, solvers would
    print into it."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _handle(stream: Any) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):  # closed, or not a file at all
        return None


def _text(raw: _Forgiving, like: Any, line_buffering: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=like.encoding, errors=like.errors, line_buffering=line_buffering
    )
