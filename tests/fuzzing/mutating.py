"""Files broken at random, for machines without atheris and for the short form: the same seed gives the same files."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

LONGEST = 60_000
ODD = (b"\x00", b"\xff", b"\r", b"\n", b'"', b"\xef\xbb\xbf", "\u2028".encode(), "\u202e".encode(), b"\xff\xfe", b" ")


def mutated(seeds: Sequence[bytes], words: Sequence[str], chance: random.Random) -> Iterator[bytes]:
    """First every seed as it is, then changes without end."""
    yield from seeds
    known = [word.encode() for word in words]
    while True:
        raw = bytearray(chance.choice(seeds))
        for _ in range(chance.choice((1, 1, 2, 3, 6))):
            _change(raw, known, seeds, chance)
        yield bytes(raw[:LONGEST])


def _change(raw: bytearray, words: list[bytes], seeds: Sequence[bytes], chance: random.Random) -> None:
    at = chance.randint(0, len(raw))
    end = min(len(raw), at + chance.choice((0, 1, 2, 5, 20, 200)))
    match chance.randrange(9):
        case 0:
            del raw[at:end]
        case 1:
            raw[at:end] = chance.choice(words) if words else b""
        case 2:
            raw[at:at] = chance.choice(words) if words else b"0"
        case 3:
            raw[at:at] = chance.choice(ODD)
        case 4 if raw:
            raw[at % len(raw)] ^= 1 << chance.randrange(8)
        case 5:
            raw[at:at] = raw[at:end] * chance.choice((1, 2, 50))
        case 6:
            other = chance.choice(seeds)
            cut = chance.randint(0, len(other))
            raw[at:end] = other[cut : cut + chance.choice((5, 50, 500))]
        case 7:  # a line somewhere else
            lines = raw.split(b"\n")
            lines.insert(chance.randrange(len(lines) + 1), lines.pop(chance.randrange(len(lines))))
            raw[:] = b"\n".join(lines)
        case _:
            del raw[at:]
