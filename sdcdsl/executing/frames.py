"""Messages between a process and its workers: objects, pickled, each behind its length."""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct("<Q")


def packed(message: Any) -> bytes:
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


def send(to: IO[bytes], frame: bytes) -> None:
    to.write(_LENGTH.pack(len(frame)))
    to.write(frame)
    to.flush()


def receive(source: IO[bytes]) -> bytes:
    """Raises EOFError where the other side is gone."""
    [length] = _LENGTH.unpack(_exactly(source, _LENGTH.size))
    return _exactly(source, length)


def _exactly(source: IO[bytes], count: int) -> bytes:
    parts = []
    while count:
        part = source.read(count)
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
