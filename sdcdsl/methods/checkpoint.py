"""What a long search knows, on disk, so that it can go on after it was killed.

A checkpoint is an uncompressed `.npz` file: arrays of numbers and a heading in JSON, and no objects, so that reading
one runs nothing. The heading says what the search was about: a digest of the table problem, the method's options, the
seed and the version of the program; a file about anything else is not used. It holds what the table holds, so only its
owner may read it, and it goes when the search has ended. It is written beside its place and renamed: whenever the
program is killed, there is a whole file, or none.

Nothing in it is believed. What a method reads back it makes anew (a cut from multipliers and relations, `cutting.kept`)
or attacks again (a release) before it counts: a wrong file can cost time, and never protection or a bound.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import struct
import tokenize
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.version import __version__

FORM = "sdcdsl-checkpoint/1"
EVERY = 60.0  # seconds between two of them
BUSY = 0.05  # and no more than this share of the time goes into writing them
NOT_ABOUT = ("time_limit", "threads")  # options that change how long a search takes, not what it is about


@dataclass(frozen=True, eq=False)
class CheckpointState:
    """What a method kept: plain facts, and arrays by name."""

    facts: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)


class Checkpointer:
    """Writes states of one search to `path`, now and then; `found` is what an earlier run left there, if that was asked
    for and fits. Without a path nothing is kept."""

    def __init__(self, path: Path | None = None, about: str = "", every: float = EVERY) -> None:
        self.path, self.about, self.every = path, about, every
        self.found: CheckpointState | None = None
        self.why: str | None = None  # why a file that is there was not used
        self._next = monotonic() + every
        self.written = 0
        self.save: Callable[[], None] | None = None  # of the method: keeps what it knows, if it is due

    def resume(self) -> None:
        """Reads what is there."""
        if self.path is None:
            return
        if not self.path.exists():
            self.why = "there is none"
            return
        self.found, self.why = read(self.path, self.about)

    @property
    def due(self) -> bool:
        return self.path is not None and monotonic() >= self._next

    def keep(self, state: CheckpointState) -> None:
        """At once; who asks `due` before knows that it is time."""
        if self.path is None:
            return
        begun = monotonic()
        with contextlib.suppress(OSError):  # a full disk is no reason to end a search
            write(self.path, self.about, state)
            self.written += 1
        self._next = monotonic() + max(self.every, (monotonic() - begun) / BUSY)

    def now(self) -> bool:
        """What the search knows at this moment, whenever it would be due; says whether there is a checkpoint."""
        self._next = 0.0
        if self.save is not None:
            self.save()
        return self.path is not None and self.path.exists()

    def end(self) -> None:
        """The search is over, and nobody needs it any more."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def about(problem: TableProblem, method: str, options: Mapping[str, Any], seed: int, before: np.ndarray | None) -> str:
    """A digest of everything that a search depends on."""
    made = hashlib.sha256(json.dumps([FORM, __version__, method, seed]).encode())
    for name in sorted(str(variable) for variable in problem.dataset.variables):
        _enter(made, name, problem.dataset[name].values)
    for name in sorted(options):
        if name not in NOT_ABOUT:
            _enter(made, name, options[name])
    _enter(made, "before", before)
    return made.hexdigest()


def _enter(digest: Any, name: str, value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{name}:{value.dtype}:{value.shape}:".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    else:
        shown = value.tolist() if isinstance(value, np.ndarray) else value
        digest.update(f"{name}:{shown!r};".encode())


def write(path: Path, what: str, state: CheckpointState) -> None:
    heading = {"form": FORM, "version": __version__, "about": what, "facts": state.facts}
    arrays: dict[str, Any] = {f"_{name}": array for name, array in state.arrays.items()}
    made = io.BytesIO()
    np.savez(made, heading=np.frombuffer(json.dumps(heading).encode(), dtype=np.uint8), **arrays)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True)
        (path.parent / ".gitignore").write_text("*\n")  # it holds what the table holds
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(made.getvalue())
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def read(path: Path, what: str) -> tuple[CheckpointState | None, str | None]:
    """What is in it; or None, and why it is not used."""
    try:
        follow = getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, os.O_RDONLY | follow), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                stored = all(member.compress_type == zipfile.ZIP_STORED for member in members)
                if not stored or sum(member.file_size for member in members) > size:
                    return None, "it is not one of ours"  # nothing in it may be larger than the file
                arrays = {member.filename.removesuffix(".npy"): archive.read(member) for member in members}
        heading = json.loads(_array(arrays["heading"]).tobytes().decode())
        if not isinstance(heading, dict) or heading.get("form") != FORM:
            return None, "it is not one of ours"
        if heading.get("version") != __version__:
            return None, f"it was written by version {heading.get('version')}, and this is {__version__}"
        if heading.get("about") != what:
            return None, "it is about other data, other options or another seed"
        inside = {name[1:]: _array(raw) for name, raw in arrays.items() if name != "heading"}
        return CheckpointState(dict(heading["facts"]), inside), None
    except _ODD as error:
        return None, f"it cannot be read: {type(error).__name__}"


# What zipfile, numpy and json say of files that somebody broke.
_ODD = (
    *(OSError, EOFError, ArithmeticError, LookupError, ValueError, TypeError, AttributeError, RuntimeError),
    *(SyntaxError, MemoryError, tokenize.TokenError, struct.error, zipfile.BadZipFile),
)


def _array(raw: bytes) -> np.ndarray:
    """As `np.load` without objects; the numbers must be there before an array is made for them."""
    file = io.BytesIO(raw)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("another version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(raw) - file.tell():
        raise ValueError("objects, or another size")
    return np.frombuffer(raw, dtype, offset=file.tell()).reshape(shape, order="F" if fortran else "C").copy()
