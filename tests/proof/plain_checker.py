"""A second checker, written from docs/certificates.md alone: plain Fractions, no numpy, slow, and with none of the
program's code. It expects well-formed files, and says whether the certificate holds and which verdicts it gives."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import struct
from fractions import Fraction
from pathlib import Path

TAU = Fraction(1, 10**9)


LETTERS = {"u1": "B", "u2": "H", "u4": "I", "i1": "b", "i2": "h", "i4": "i", "f8": "d"}


def unpacked(record: dict):
    """Packed numbers as the list that they stand for."""
    if len(record) == 1 and next(iter(record)) in LETTERS:
        ((name, text),) = record.items()
        raw = base64.b64decode(text)
        found = struct.unpack(f"<{len(raw) // int(name[1])}{LETTERS[name]}", raw)
        return [None if isinstance(x, float) and math.isinf(x) else x for x in found]
    return record


def exact(x) -> Fraction:
    return Fraction(float(x))


def numbers(value) -> list:
    if isinstance(value, dict):
        runs = value["runs"]
        return [v for v, n in zip(runs[::2], runs[1::2], strict=True) for _ in range(n)]
    return value


def steps(value) -> list[int]:
    out: list[int] = []
    for gap in value:
        out.append(gap + (out[-1] if out else 0))
    return out


def ends(value) -> list[Fraction | None]:
    return [None if x is None else exact(x) for x in numbers(value)]


class Checker:
    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
        self.lines = raw.splitlines(keepends=True)
        self.a: list[Fraction] = []
        self.relations: list[dict[int, Fraction]] = []
        self.b: list[Fraction] = []
        self.views: list[dict[int, tuple]] = []
        self.view_of: list[int] = []
        self.known: list[tuple] = []
        self.pairs: list[tuple] = []
        self.verdict: list[str] = []
        self.up: dict[int, Fraction] = {}
        self.down: dict[int, Fraction] = {}
        self.can_up: dict[int, Fraction] = {}
        self.can_down: dict[int, Fraction] = {}
        self.found = {"witness": 0, "claim": 0, "bound": 0}
        self.holds = True

    def run(self) -> tuple[bool, str]:
        header = json.loads(self.lines[0])
        for line in self.lines[1:-1]:
            ((kind, body),) = json.loads(line, object_hook=unpacked).items()
            if kind in self.found:
                self.found[kind] += 1
            getattr(self, f"_{kind}")(body)
        self._true_table()
        end = json.loads(self.lines[-1])["end"]
        self._must(end["sha256"] == hashlib.sha256(b"".join(self.lines[:-1])).hexdigest())
        self._must([end["witnesses"], end["claims"], end["bounds"]] == list(self.found.values()))
        self._must(header["counts"]["pairs"] == len(self.pairs) == len(self.verdict))
        for pair, letter in enumerate(self.verdict):
            self._judge(pair, letter)
        return self.holds, "".join(self.verdict)

    def _must(self, condition: bool) -> None:
        self.holds = self.holds and condition

    def _cells(self, body) -> None:
        self.a += [exact(x) for x in body]

    def _relations(self, body) -> None:
        cells, coefficients = iter(body["cells"]), iter(numbers(body["coefficients"]))
        for size in body["sizes"]:
            row: dict[int, Fraction] = {}
            for _ in range(size):
                cell = next(cells)
                row[cell] = row.get(cell, Fraction(0)) + exact(next(coefficients))
            self.relations.append(row)
        self.b += [exact(x) for x in numbers(body["b"])]

    def _view(self, body) -> None:
        if body["like"] != body["number"]:
            self.views.append({} if body["like"] is None else dict(self.views[body["like"]]))
        for cell, low, high in zip(steps(body["cells"]), ends(body["low"]), ends(body["high"]), strict=True):
            self.views[-1][cell] = (low, high)

    def _attackers(self, body) -> None:
        self.view_of += numbers(body["views"])

    def _known(self, body) -> None:
        self.known += zip(numbers(body["attackers"]), body["cells"], ends(body["low"]), ends(body["high"]), strict=True)

    def _pairs(self, body) -> None:
        levels = ([exact(x) for x in numbers(body[name])] for name in ("lpl", "upl", "spl"))
        self.pairs += zip(body["cells"], numbers(body["attackers"]), *levels, strict=True)

    def _verdicts(self, body) -> None:
        self.verdict += numbers({"runs": body})

    def box(self, attacker: int) -> list[tuple[Fraction | None, Fraction | None]]:
        view = self.views[self.view_of[attacker]]
        out = [view.get(i, (value, value)) for i, value in enumerate(self.a)]
        for who, cell, low, high in self.known:
            if who == attacker:
                lows = [x for x in (out[cell][0], low) if x is not None]
                highs = [x for x in (out[cell][1], high) if x is not None]
                out[cell] = (max(lows, default=None), min(highs, default=None))
        return out

    def _true_table(self) -> None:
        for row, b in zip(self.relations, self.b, strict=True):
            terms = [m * self.a[i] for i, m in row.items()]
            self._must(abs(sum(terms) - b) <= TAU * (sum(map(abs, terms)) + abs(b)))

    def _witness(self, body) -> None:
        self.d = dict(zip(steps(body["cells"]), map(exact, body["move"]), strict=True))

    def _claim(self, body) -> None:
        t = exact(body["step"])
        sides = [(pair, True) for pair in steps(body["up"])] + [(pair, False) for pair in steps(body["down"])]
        good = True
        for attacker in {self.pairs[pair][1] for pair, _ in sides}:
            mine = [(self.pairs[pair], up) for pair, up in sides if self.pairs[pair][1] == attacker]
            levels = [level for p, up in mine for level in (p[3] if up else p[2], p[4]) if level > 0]
            slack = TAU * min(levels, default=Fraction(0))
            for (low, high), value, i in zip(self.box(attacker), self.a, range(len(self.a)), strict=True):
                y = value + t * self.d.get(i, 0)
                good &= (low is None or low - slack <= y) and (high is None or y <= high + slack)
            for row in self.relations:
                good &= abs(t * sum(m * self.d.get(i, 0) for i, m in row.items())) <= slack
        for pair, up in sides:
            amount = t * self.d.get(self.pairs[pair][0], Fraction(0)) * (1 if up else -1)
            good &= amount > 0
            reached = self.up if up else self.down
            reached[pair] = max(reached.get(pair, Fraction(0)), amount)
        self._must(good)

    def _bound(self, body) -> None:
        cell, attacker, *_ = self.pairs[body["pair"]]
        c = {cell: Fraction(1)}
        for relation, gamma in zip(steps(body["equations"]), body["gamma"], strict=True):
            for i, m in self.relations[relation].items():
                c[i] = c.get(i, Fraction(0)) - m * exact(gamma) / body["denominator"]
        sign = 1 if body["side"] == "up" else -1
        box, total = self.box(attacker), Fraction(0)
        for i, amount in c.items():
            end = box[i][1] if sign * amount > 0 else box[i][0]
            if amount != 0 and end is None:
                return
            if amount != 0 and end is not None:
                total += sign * amount * (end - self.a[i])
        can = self.can_up if body["side"] == "up" else self.can_down
        can[body["pair"]] = min(can.get(body["pair"], total), total)

    def _judge(self, pair: int, letter: str) -> None:
        _, _, lpl, upl, spl = (x * (1 - TAU) for x in self.pairs[pair])
        up, down = self.up.get(pair, Fraction(0)), self.down.get(pair, Fraction(0))
        can_up, can_down = self.can_up.get(pair, math.inf), self.can_down.get(pair, math.inf)
        if letter == "p":
            self._must(up >= upl and down >= lpl and up + down >= spl)
        elif letter == "e":
            self._must(can_up < upl or can_down < lpl or can_up + can_down < spl)
