"""Writing a certificate: JSON Lines, one record a line, as docs/certificates.md describes it.

Witnesses are spooled into a file without a name, so that at the end each can be written with all its claims behind it:
who checks a certificate then needs only one witness at a time. The certificate itself is written beside its target and
takes its name when it is complete.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from sdcdsl.proof.bound import Bound
from sdcdsl.proof.exact import TOLERANCE
from sdcdsl.proof.families import Families
from sdcdsl.proof.packed import packed
from sdcdsl.proof.reading import FAMILIES, FORMAT
from sdcdsl.proof.system import ProofPairs, Regions, System
from sdcdsl.proof.witness import Claim, Witness
from sdcdsl.version import __version__

NOTICE = "Contains the true values of all cells. Keep it as confidential as the microdata."
CHUNK = 20_000  # numbers of one kind on a line


class Certificate:
    """`with Certificate(path, name) as out:` problem, then witnesses, claims and bounds in any order, then verdicts."""

    def __init__(self, path: Path | str, name: str, inputs: Sequence[dict[str, str]] = ()) -> None:
        self.path = Path(path)
        self.name = name
        self.inputs = list(inputs)  # {"what", "name", "sha256"}
        self._digest = hashlib.sha256()
        self._counts = {"witnesses": 0, "claims": 0, "bounds": 0}
        self._places: list[int] = []  # of witnesses in the spool
        self._claims: dict[int, list[Claim]] = {}
        self._pairs = -1
        self._verdicts: np.ndarray | None = None

    def __enter__(self) -> Certificate:
        handle, self._part = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.", suffix=".part")
        self._file = os.fdopen(handle, "wb")
        try:
            self._spool: IO[bytes] = tempfile.TemporaryFile(dir=self.path.parent)
            zipped = self.path.name.endswith(".gz")
            self._out: Any = gzip.GzipFile("", "wb", 6, self._file, mtime=0) if zipped else self._file
        except BaseException:
            self._discard()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None:
                return
            self._finish()
            if self._out is not self._file:
                self._out.close()
            self._file.close()
            os.replace(self._part, self.path)
        finally:
            self._spool.close()
            self._discard()

    def _discard(self) -> None:
        self._file.close()
        Path(self._part).unlink(missing_ok=True)

    def problem(
        self,
        system: System,
        regions: Regions,
        labels: Sequence[str],
        pairs: ProofPairs,
        families: Families | None = None,
    ) -> None:
        self._pairs = len(pairs)
        counts = {
            "cells": system.cells,
            "relations": system.equations,
            "entries": len(system.coefficient),
            "views": regions.views,
            "attackers": regions.attackers,
            "known": len(regions.known.cell),
            "pairs": len(pairs),
        }
        if families is not None:
            without = len(families.without_family)
            counts |= {"classes": len(families.anyone), "families": len(families), "left out": without}
        form = FORMAT if families is None else FAMILIES
        header = {"name": self.name, "program": f"sdcdsl {__version__}", "notice": NOTICE, "inputs": self.inputs}
        self._write({"sdcdsl-certificate": form, **header, "tolerance": TOLERANCE, "counts": counts})
        for chunk in _chunks(system.cells):
            self._write({"cells": plain(system.a[chunk])})
        for body in _relations(system):
            self._write({"relations": body})
        for body in _views(system.a, regions):
            self._write({"view": body})
        for chunk in _chunks(regions.attackers):
            self._write({"attackers": {"labels": list(labels[chunk]), "views": short(regions.view_of[chunk])}})
        for body in _known(regions):
            self._write({"known": body})
        for chunk in _chunks(len(pairs)):
            levels = {"lpl": short(pairs.lpl[chunk]), "upl": short(pairs.upl[chunk]), "spl": short(pairs.spl[chunk])}
            who = {"cells": plain(pairs.cell[chunk]), "attackers": short(pairs.attacker[chunk])}
            self._write({"pairs": {**who, **levels}})
        for kind, body in _families(families) if families is not None else ():
            self._write({kind: body})

    def witness(self, witness: Witness) -> int:
        """The number that claims name it by. A witness without claims is left out in the end."""
        order = np.argsort(witness.cells, kind="stable")
        order = order[witness.move[order] != 0]
        self._places.append(self._spool.tell())
        self._spool.write(
            _line({"witness": {"cells": steps(witness.cells[order]), "move": plain(witness.move[order])}})
        )
        return len(self._places) - 1

    def claim(self, claim: Claim) -> None:
        self._claims.setdefault(claim.witness, []).append(claim)

    def bound(self, bound: Bound) -> None:
        order = np.argsort(bound.equations, kind="stable")
        body = {
            "pair": int(bound.pair),
            "side": "up" if bound.up else "down",
            "equations": steps(bound.equations[order]),
            "gamma": plain(bound.gamma[order]),
            "denominator": int(bound.denominator),
        }
        if len(bound.also):
            body["also"] = steps(np.sort(bound.also))
        self._write({"bound": body})
        self._counts["bounds"] += 1

    def verdicts(self, verdicts: np.ndarray) -> None:
        """One letter a pair: p protected, e exposed, n not proven."""
        if len(verdicts) != self._pairs:
            raise ValueError(f"{len(verdicts)} verdicts for {self._pairs} pairs")
        self._verdicts = np.asarray(verdicts)

    def _finish(self) -> None:
        if self._verdicts is None:
            raise ValueError("a certificate without verdicts")
        for number in sorted(self._claims):
            self._spool.seek(self._places[number])
            self._write_line(self._spool.readline())
            self._counts["witnesses"] += 1
            for body in _claims(self._claims[number]):
                self._write({"claim": body})
                self._counts["claims"] += 1
        for chunk in _chunks(self._pairs):
            self._write({"verdicts": _runs(self._verdicts[chunk])})
        self._write({"end": {**self._counts, "sha256": self._digest.hexdigest()}})

    def _write(self, record: dict[str, Any]) -> None:
        self._write_line(_line(record))

    def _write_line(self, line: bytes) -> None:
        self._digest.update(line)
        self._out.write(line)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _chunks(count: int, size: int = CHUNK) -> Iterator[slice]:
    return (slice(i, min(i + size, count)) for i in range(0, count, size))


def plain(values: np.ndarray) -> list[Any] | dict[str, str]:
    """A list for JSON, packed if it is long."""
    return packed(values) or listed(values)


def listed(values: np.ndarray) -> list[Any]:
    """Floats that are whole are written as such."""
    if values.dtype.kind == "f" and (np.abs(values) < 2.0**53).all() and (np.rint(values) == values).all():
        values = values.astype(np.int64)
    return values.tolist()


def short(values: np.ndarray) -> list[Any] | dict[str, Any]:
    """The same, or with runs of equal values counted, where that is shorter."""
    if len(values) > 8 and 4 * int((values[1:] != values[:-1]).sum()) < len(values):
        return {"runs": _runs(values)}
    return plain(values)


def _runs(values: np.ndarray) -> list[Any]:
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    count = np.diff(np.append(first, len(values)))
    return [x for pair in zip(listed(values[first]), count.tolist(), strict=True) for x in pair]


def steps(ascending: np.ndarray) -> list[int] | dict[str, str]:
    """The first number, then the differences."""
    return plain(np.diff(ascending, prepend=0))


def _open(ends: list[Any] | dict[str, Any]) -> Any:
    """Infinite ends are written as null, if they are not packed."""
    if isinstance(ends, dict):
        return {"runs": _open(ends["runs"])} if "runs" in ends else ends
    return [None if x in (np.inf, -np.inf) else x for x in ends]


def _ends(values: np.ndarray) -> Any:
    return _open(short(values)) if np.isinf(values).any() else short(values)


def _relations(system: System) -> Iterator[dict[str, Any]]:
    entries = system.by_equation
    first = 0
    while first < system.equations:
        most = int(entries.start[first]) + CHUNK
        last = int(np.searchsorted(entries.start, most, side="right")) - 1
        last = min(max(last, first + 1), first + CHUNK, system.equations)
        mine = slice(int(entries.start[first]), int(entries.start[last]))
        yield {
            "sizes": plain(np.diff(entries.start[first : last + 1])),
            "cells": plain(entries.other[mine]),
            "coefficients": short(entries.coefficient[mine]),
            "b": short(system.b[first:last]),
        }
        first = last


def _views(a: np.ndarray, regions: Regions) -> Iterator[dict[str, Any]]:
    """Each view as its differences from the truth, from the first view or from the one before, whichever are fewest."""
    for view in range(regions.views):
        low, high = regions.low[view], regions.high[view]
        found: list[tuple[np.ndarray, int | None]] = [(np.flatnonzero((low != a) | (high != a)), None)]
        for like in sorted({0, view - 1} - {view, -1}):
            found.append((np.flatnonzero((low != regions.low[like]) | (high != regions.high[like])), like))
        cells, like = min(found, key=lambda one: len(one[0]))
        for chunk in list(_chunks(len(cells))) or [slice(0, 0)]:
            mine = cells[chunk]
            yield {
                "number": view,
                "like": like,
                "cells": steps(mine),
                "low": _ends(low[mine]),
                "high": _ends(high[mine]),
            }
            like = view


def _known(regions: Regions) -> Iterator[dict[str, Any]]:
    known = regions.known
    attacker = np.repeat(np.arange(regions.attackers), np.diff(known.start))
    for chunk in _chunks(len(known.cell)):
        yield {
            "attackers": short(attacker[chunk]),
            "cells": plain(known.cell[chunk]),
            "low": _ends(known.low[chunk]),
            "high": _ends(known.high[chunk]),
        }


def _families(families: Families) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, anyone in enumerate(families.anyone.tolist()):
        yield "class", {"anyone": anyone, "members": steps(np.flatnonzero(families.class_of == number))}
    for chunk in _chunks(len(families)):
        levels = {"lpl": short(families.lpl[chunk]), "upl": short(families.upl[chunk])}
        yield "families", {"classes": short(families.of[chunk]), "cells": plain(families.cell[chunk]), **levels}
    for chunk in _chunks(len(families.without_family)):
        who = plain(families.without_attacker[chunk])
        yield "left out", {"families": short(families.without_family[chunk]), "attackers": who}


def _claims(claims: Iterable[Claim]) -> Iterator[dict[str, Any]]:
    """Claims of one witness, those with the same step together: a pair says itself whose it is."""
    by_step: dict[float, list[Claim]] = {}
    for claim in claims:
        by_step.setdefault(float(claim.step), []).append(claim)
    for step, mine in by_step.items():
        up, down = (np.unique(np.concatenate(x)) for x in ([c.up for c in mine], [c.down for c in mine]))
        for i in range(0, max(len(up), len(down)), CHUNK):
            part = slice(i, i + CHUNK)
            yield {"step": listed(np.array([step]))[0], "up": steps(up[part]), "down": steps(down[part])}
