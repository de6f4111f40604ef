"""Certificates that are small and stand for a lot: what checking them takes follows from the size of the file.

Each file is checked in a process of its own, which says by how much its peak has grown.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sdcdsl.proof.allowance import Allowance, needed
from sdcdsl.proof.checking import verify
from tests.proof.worlds import investment

MOST = 200_000_000  # bytes
SIZE = 392_000  # bytes of the files that ask for as much as they may
MEASURED = """
import json, resource, sys
from sdcdsl.proof.checking import verify
verify(sys.argv[2])  # libraries are loaded when they are first needed

def status(which):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(which))

open("/proc/self/clear_refs", "w").write("5")  # the peak starts from here
kept = status("VmRSS")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 1_500_000_000, used + 1_500_000_000))
found = verify(sys.argv[1])
print(json.dumps({"ok": found.ok, "reason": (found.reasons or [""])[0], "grown": status("VmHWM") - kept}))
"""


def measured(path: Path) -> dict[str, Any]:
    small = investment().write(path.with_name("small.jsonl"))
    command = [sys.executable, "-c", MEASURED, str(path), str(small)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


def counts(**more: int) -> dict[str, int]:
    none = dict.fromkeys(("cells", "relations", "entries", "views", "attackers", "known", "pairs"), 0)
    return {**none, **more}


def written(path: Path, declared: dict[str, int], records: Iterable[Any], size: int = 0, packed: bool = True) -> Path:
    """With all digests right. The first record is filled up with letters that do not compress until the file has `size`
    bytes, about."""
    chance = random.Random(1)
    more = "".join(chance.choices("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-", k=4 * size // 3))
    header = {"sdcdsl-certificate": 2, "tolerance": 1e-9, "counts": declared, "notice": more}
    digest, count = hashlib.sha256(), {"witness": 0, "claim": 0, "bound": 0}
    with gzip.open(path, "wb", 9) if packed else path.open("wb") as out:
        for record in (header, *records):
            line = record if isinstance(record, bytes) else json.dumps(record, separators=(",", ":")).encode() + b"\n"
            for kind in count:
                count[kind] += line.startswith(b'{"%s"' % kind.encode())
            digest.update(line)
            out.write(line)
        last = {"witnesses": count["witness"], "claims": count["claim"], "bounds": count["bound"]}
        out.write(json.dumps({"end": {**last, "sha256": digest.hexdigest()}}).encode() + b"\n")
    return path


def pieces(total: int, largest: int = 500_000) -> Iterator[int]:
    return (min(largest, total - at) for at in range(0, total, largest))


def zeros(n: int) -> dict[str, str]:
    return {"u1": "AAAA" * (n // 3) + {0: "", 1: "AA==", 2: "AAA="}[n % 3]}


def runs(value: float, n: int) -> Any:
    return {"runs": [value, n]} if n else []


def cells(n: int) -> Iterator[Any]:
    return ({"cells": zeros(k)} for k in pieces(n))


def relations(relations: int, entries: int) -> Iterator[Any]:
    """One long relation, and others without entries."""
    sizes = [entries, *[0] * (relations - 1)]
    yield {
        "relations": {
            "sizes": sizes,
            "cells": runs(0, entries),
            "coefficients": runs(1, entries),
            "b": runs(0, relations),
        }
    }


def pairs(n: int) -> Iterator[Any]:
    for k in pieces(n):
        levels = {"lpl": runs(0, k), "upl": runs(0, k), "spl": runs(0, k)}
        yield {"pairs": {"cells": zeros(k), "attackers": runs(0, k), **levels}}
    yield {"verdicts": ["n", n]}


VIEW = {"view": {"number": 0, "like": None, "cells": [0], "low": [0], "high": [None]}}
ONE = {"attackers": {"labels": ["x"], "views": [0]}}


def at_most(*kinds: str) -> int:
    """How many of each of these a file of SIZE bytes may declare beside a few others."""
    few = counts(cells=10, relations=10, entries=10, views=1, attackers=10, known=10, pairs=10)
    return (Allowance(SIZE).memory - needed(few)) // (160 * len(kinds))


# ---- more than the file has room for ------------------------------------------------------------------


def test_counts_are_compared_with_the_size_of_the_file(tmp_path: Path):
    """Twenty million cells and relations, all of them there, in 70 kB."""
    n = 20_000_000
    whole = written(
        tmp_path / "bomb.cert",
        counts(cells=n, relations=n, entries=n, views=1, attackers=1, pairs=1),
        (
            *({"cells": zeros(k)} for k in pieces(n, 5_000_000)),
            *relations(1, n),
            VIEW,
            ONE,
            *pairs(1),
        ),
    )
    assert whole.stat().st_size < 100_000
    found = measured(whole)
    assert not found["ok"] and "10,000 MB in memory" in found["reason"]
    assert found["grown"] < 20_000_000


@pytest.mark.parametrize("packed", [True, False])
def test_boxes_of_many_views(tmp_path: Path, packed: bool):
    """Ten thousand views like the first, of ten thousand cells."""
    n = 10_000
    views = [{"view": {"number": i, "like": 0 if i else None, "cells": [], "low": [], "high": []}} for i in range(n)]
    path = written(tmp_path / "bomb.cert", counts(cells=n, views=n), (*cells(n), *views), packed=packed)
    found = measured(path)
    assert not found["ok"] and "MB in memory" in found["reason"]
    assert found["grown"] < MOST


def test_more_numbers_than_were_counted(tmp_path: Path):
    """The first record is modest; what follows is not."""
    path = written(
        tmp_path / "bomb.cert",
        counts(cells=3, relations=1, entries=50_000_000, views=1, attackers=1, pairs=1),
        (*cells(3), *relations(1, 50_000_000)),
    )
    assert "MB in memory" in measured(path)["reason"]
    path = written(
        tmp_path / "runs.cert",
        counts(cells=3, relations=1, entries=3, views=1, attackers=1, pairs=1),
        (*cells(3), *relations(1, 50_000_000)),
        packed=False,
    )
    found = measured(path)
    assert "the header counts 3 entries, the file has 50,000,000 or more" in found["reason"]
    assert found["grown"] < 20_000_000


def test_more_text_than_a_file_of_this_size_has(tmp_path: Path):
    """Witnesses by which nothing is claimed, without end."""
    line = b'{"witness":{"cells":[0,1],"move":[1,1]%s}}\n' % (b" " * 40_000)
    declared = counts(cells=2, relations=1, entries=2, views=1, attackers=1, pairs=1)
    relation = {"relations": {"sizes": [2], "cells": [0, 1], "coefficients": [1, -1], "b": [0]}}
    one = {"pairs": {"cells": [0], "attackers": [0], "lpl": [0], "upl": [0], "spl": [0]}}
    many = (line for _ in range(1000))
    path = written(tmp_path / "bomb.cert", declared, (*cells(2), relation, VIEW, ONE, one, *many))
    assert path.stat().st_size < 300_000
    found = verify(path)
    assert not found.readable and "bytes of text are the limit for a file of" in found.reasons[0]


# ---- as much as the file has room for ------------------------------------------------------------------


def as_much_as_allowed(kind: str) -> tuple[dict[str, int], list[Any]]:
    few = [*cells(2)]
    match kind:
        case "cells":
            n = at_most("cells") * 160 // 180
            return counts(cells=n, views=1, attackers=1, pairs=1), [*cells(n - n // 8), *cells(n // 8), VIEW, ONE]
        case "entries":
            n = at_most("entries")
            return counts(cells=2, relations=1, entries=n, views=1, attackers=1), [*few, *relations(1, n), VIEW, ONE]
        case "relations":
            n = at_most("relations", "entries")
            n -= n % 3
            made = {"sizes": {"u1": "AQEB" * (n // 3)}, "cells": runs(0, n), "coefficients": runs(0.1, n)}
            made["b"] = runs(0, n)
            return counts(cells=2, relations=n, entries=n, views=1, attackers=1), [*few, {"relations": made}, VIEW, ONE]
        case "pairs":
            n = at_most("pairs")
            return counts(cells=2, views=1, attackers=1, pairs=n), [*few, VIEW, ONE, *pairs(n)]
        case "known":
            n = at_most("known")
            known = [
                {"known": {"attackers": runs(0, k), "cells": zeros(k), "low": runs(0, k), "high": runs(0, k)}}
                for k in pieces(n)
            ]
            return counts(cells=2, views=1, attackers=1, known=n, pairs=1), [*few, VIEW, ONE, *known, *pairs(1)]
        case "attackers":
            n = at_most("attackers")
            names = ["ab"] * n
            parts = [names[i : i + 100_000] for i in range(0, n, 100_000)]
            made = [{"attackers": {"labels": part, "views": runs(0, len(part))}} for part in parts]
            return counts(cells=2, views=1, attackers=n), [*few, VIEW, *made]
    n = 1000
    views = (Allowance(SIZE).memory - 160 * 1100) // (20 * (n + 1)) - 20
    made = [{"view": {"number": i, "like": 0 if i else None, "cells": [], "low": [], "high": []}} for i in range(views)]
    return counts(cells=n, views=views, attackers=1, pairs=1), [*cells(n), *made, ONE, *pairs(1)]


@pytest.mark.parametrize("kind", ["cells", "entries", "relations", "pairs", "known", "attackers", "views"])
def test_what_is_allowed_takes_less_than_200_mb(tmp_path: Path, kind: str):
    declared, records = as_much_as_allowed(kind)
    if not any("verdicts" in record for record in records):
        records.extend(pairs(declared["pairs"]))
    path = written(tmp_path / "full.cert", declared, records, size=SIZE)
    assert needed(declared) > 0.9 * Allowance(path.stat().st_size).memory
    found = measured(path)
    assert "MB in memory" not in found["reason"], found
    assert found["grown"] < MOST, found


def test_a_hub_in_every_witness(tmp_path: Path):
    """One cell in 200 000 relations, moved by a hundred witnesses; none of it adds up, and each is looked at."""
    n = 200_000 - 200_000 % 3
    ones = {"u1": "AQEB" * (n // 3)}
    relation = {"relations": {"sizes": ones, "cells": runs(0, n), "coefficients": runs(0.1, n), "b": runs(0, n)}}
    one = {"pairs": {"cells": [0], "attackers": [0], "lpl": [1], "upl": [1], "spl": [0]}}
    proof = [{"witness": {"cells": [0], "move": [3 + i]}} for i in range(100)]
    claim = {"claim": {"step": 1, "up": [0], "down": []}}
    proofs = [record for witness in proof for record in (witness, claim)]
    declared = counts(cells=2, relations=n, entries=n, views=1, attackers=1, pairs=1)
    records = (*cells(2), relation, VIEW, ONE, one, *proofs, {"verdicts": ["n", 1]})
    found = measured(written(tmp_path / "hub.cert", declared, records, size=SIZE))
    assert "the table breaks relation" in found["reason"]
    assert found["grown"] < MOST, found


def test_an_attacker_who_knows_much_in_every_claim(tmp_path: Path):
    """100 000 cells that one attacker knows more about, and sixty claims against it."""
    n, many = 100_000, 60
    each = {"u1": "AAEB" + "AQEB" * (n // 3 - 1)}  # differences: 0, 1, 1, …
    n -= n % 3
    view = {"view": {"number": 0, "like": None, "cells": each, "low": runs(-1, n), "high": runs(1, n)}}
    at = {"u4": base64.b64encode(struct.pack(f"<{n}I", *range(n))).decode()}
    known = {"known": {"attackers": runs(0, n), "cells": at, "low": runs(-1, n), "high": runs(1, n)}}
    one = {"pairs": {"cells": [0], "attackers": [0], "lpl": [1], "upl": [1], "spl": [0]}}
    claims = [{"claim": {"step": 1 + i, "up": [0], "down": []}} for i in range(many)]
    records = (*cells(n), view, ONE, known, one, {"witness": {"cells": [0], "move": [1]}}, *claims)
    declared = counts(cells=n, views=1, attackers=1, known=n, pairs=1)
    found = measured(written(tmp_path / "known.cert", declared, (*records, {"verdicts": ["n", 1]}), size=SIZE))
    assert "outside the box of attacker 0" in found["reason"]
    assert found["grown"] < MOST, found


def test_a_relation_of_all_cells_in_every_bound(tmp_path: Path):
    n, many = 150_000, 60
    one = {"pairs": {"cells": [0], "attackers": [0], "lpl": [1], "upl": [1], "spl": [0]}}
    bound = {"bound": {"pair": 0, "side": "up", "equations": [0], "gamma": [1], "denominator": 7}}
    at = {"relations": {"sizes": [n], "cells": zeros(n), "coefficients": runs(0.1, n), "b": [0]}}
    records = (*cells(n), at, VIEW, ONE, one, *[bound] * many, {"verdicts": ["n", 1]})
    declared = counts(cells=n, relations=1, entries=n, views=1, attackers=1, pairs=1)
    found = measured(written(tmp_path / "bounds.cert", declared, records, size=SIZE))
    assert found["ok"]
    assert found["grown"] < MOST, found
