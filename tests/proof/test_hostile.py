"""Files that are no certificates, or not whole ones, or made to do harm: always a reason, never a traceback."""

from __future__ import annotations

import base64
import copy
import gzip
import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcdsl.proof import allowance
from sdcdsl.proof.checking import verify
from tests.proof.worlds import investment, records, rewrite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return investment().write(tmp_path / "investment.jsonl")


def test_every_truncation_is_refused(path: Path):
    raw = path.read_bytes()
    for size in range(0, len(raw), 7):
        path.write_bytes(raw[:size])
        got = verify(path)
        assert not got.ok
        assert not got.readable
        assert len(got.reasons) == 1


def test_lines_left_out_doubled_or_moved(path: Path):
    found = records(path)
    for i in range(len(found)):
        assert not verify(rewrite(path, copy.deepcopy(found[:i] + found[i + 1 :]), digest=i < len(found) - 1)).ok, i
        doubled = verify(rewrite(path, copy.deepcopy(found[: i + 1] + found[i:]), digest=True))
        assert not doubled.ok, i
    moved = [found[0], found[2], found[1], *found[3:]]
    assert "`cells` where none belongs" in verify(rewrite(path, moved, digest=True)).reasons[0]


HEADER = {
    "sdcdsl-certificate": 1,
    "tolerance": 1e-9,
    "counts": {"cells": 2, "relations": 1, "entries": 2, "views": 1, "attackers": 1, "known": 0, "pairs": 1},
}
GOOD = [
    b'{"cells":[1,1]}',
    b'{"relations":{"sizes":[2],"cells":[0,1],"coefficients":[1,-1],"b":[0]}}',
    b'{"view":{"number":0,"like":null,"cells":[0,1],"low":[0,0],"high":[null,null]}}',
    b'{"attackers":{"labels":["x"],"views":[0]}}',
    b'{"pairs":{"cells":[0],"attackers":[0],"lpl":[1],"upl":[1],"spl":[0]}}',
    b'{"witness":{"cells":[0,1],"move":[1,1]}}',
    b'{"claim":{"step":1,"up":[0],"down":[]}}',
    b'{"claim":{"step":-1,"up":[],"down":[0]}}',
    b'{"verdicts":["p",1]}',
]


def put_together(path: Path, lines: list[bytes], header: dict[str, Any] = HEADER) -> Path:
    text = b"".join(line + b"\n" for line in [json.dumps(header).encode(), *lines])
    kinds = {"witnesses": b'{"witness"', "claims": b'{"claim"', "bounds": b'{"bound"'}
    counts = {name: sum(line.startswith(kind) for line in lines) for name, kind in kinds.items()}
    end = {"end": {**counts, "sha256": hashlib.sha256(text).hexdigest()}}
    path.write_bytes(text + json.dumps(end).encode() + b"\n")
    return path


def test_the_good_file(tmp_path: Path):
    assert verify(put_together(tmp_path / "good", GOOD)).ok


HOSTILE = [
    (0, b'{"cells":[1,NaN]}', "NaN is not a number"),
    (0, b'{"cells":[1,-Infinity]}', "-Infinity is not a number"),
    (0, b'{"cells":[1,1e999]}', "beyond the range of doubles"),
    (0, b'{"cells":[1,null]}', "not a list of numbers"),
    (0, b'{"cells":[1,true]}', "not true or false"),
    (0, b'{"cells":[1,"1"]}', "not a list of numbers"),
    (0, b'{"cells":[1,[1]]}', "not a list of numbers"),
    (0, b'{"cells":1}', "a list was expected"),
    (0, b'{"cells":[1,1,1]}', "the header counts 2 cells, the file has 3"),
    (0, b'{"cells":[1,' + b"9" * 5000 + b"]}", "not a JSON record"),
    (0, b'{"cells":[1,' + b"9" * 400 + b"]}", "not a list of numbers"),
    (0, b'{"cells":[1,1],"cells":[1,1]}', "appears twice"),
    (0, b'{"cells":' + b"[" * 100_000 + b"}", "nested too deeply"),
    (0, b'{"cells":[1,1],"more":1}', "a record has one kind"),
    (0, b'{"cells":[1,1]', "not a JSON record"),
    (0, b'\xff{"cells":[1,1]}', "not a JSON record"),
    (0, b"[1]", "not a record"),
    (0, b'{"c\\u0065lls\\u001b[31m":1}', "of a kind that does not exist"),
    (1, GOOD[1].replace(b"[0,1]", b"[0,2]"), "out of range"),
    (1, GOOD[1].replace(b"[0,1]", b"[0,-1]"), "out of range"),
    (1, GOOD[1].replace(b"[2]", b"[99999999]"), "the header counts 2 entries, the file has 99,999,999 or more"),
    (1, GOOD[1].replace(b"[2]", b"[-2]"), "out of range"),
    (1, GOOD[1].replace(b"[0,1]", b"[0,1.5]"), "whole numbers"),
    (1, GOOD[1].replace(b"[0,1]", b"[0,99999999999999999999999]"), "whole numbers"),
    (1, GOOD[1].replace(b"[1,-1]", b'{"runs":[1,99999999]}'), "the right length"),
    (1, GOOD[1].replace(b"[1,-1]", b'{"runs":[1,1,-1,1,5,0]}'), "the right length"),
    (1, GOOD[1].replace(b"[1,-1]", b'{"runs":[1,3,1,-1]}'), "out of range"),
    (1, GOOD[1].replace(b"[1,-1]", b'{"runs":[1]}'), "values and counts in turn"),
    (2, GOOD[2].replace(b'"like":null', b'"like":3'), "no such number"),
    (2, GOOD[2].replace(b'"like":null', b'"like":0'), "no such number"),
    (2, GOOD[2].replace(b'"number":0', b'"number":1'), "view 0 was expected"),
    (2, GOOD[2].replace(b"[0,1]", b"[0,0]"), "appears twice"),
    (2, GOOD[2].replace(b"[0,1]", b"[1,1]"), "out of range"),
    (3, GOOD[3].replace(b'["x"]', b"[5]"), "are texts"),
    (3, GOOD[3].replace(b"[0]", b"[1]"), "out of range"),
    (4, GOOD[4].replace(b'"lpl":[1]', b'"lpl":[-1]'), "a level below zero"),
    (4, GOOD[4].replace(b'"attackers":[0]', b'"attackers":[1]'), "out of range"),
    (5, GOOD[6], "a claim without a witness"),
    (5, GOOD[5].replace(b"[1,1]", b"[1,1,1]"), "3 numbers where 2 were expected"),
    (6, GOOD[6].replace(b"[0]", b"[1]"), "out of range"),
    (6, GOOD[6].replace(b"[0]", b"[]"), "without a pair"),
    (6, GOOD[6].replace(b":1,", b":1e999,"), "a finite number"),
    (6, b'{"bound":{"pair":1,"side":"up","equations":[],"gamma":[],"denominator":1}}', "no such number"),
    (6, b'{"bound":{"pair":0,"side":1,"equations":[],"gamma":[],"denominator":1}}', "up or down"),
    (6, b'{"bound":{"pair":0,"side":"up","equations":[],"gamma":[],"denominator":0}}', "denominator"),
    (6, b'{"bound":{"pair":0,"side":"up","equations":[1],"gamma":[1],"denominator":1}}', "out of range"),
    (8, b'{"verdicts":["p",2]}', "out of range"),
    (8, b'{"verdicts":["p",1,"p",1]}', "more verdicts than pairs"),
    (8, b'{"verdicts":["p",0]}', "0 verdicts for 1 pairs"),
    (8, b'{"verdicts":["q",1]}', "letters"),
    (8, b'{"verdicts":[["p"],1]}', "letters"),
]


@pytest.mark.parametrize(("line", "instead", "said"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_records(tmp_path: Path, line: int, instead: bytes, said: str):
    got = verify(put_together(tmp_path / "bad", [*GOOD[:line], instead, *GOOD[line + 1 :]]))
    assert not got.ok
    assert not got.readable
    assert said in got.reasons[0]
    assert len(got.reasons[0]) < 300


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sdcdsl-certificate": 4}, "not a certificate of format 1, 2 or 3"),
        ({"sdcdsl-certificate": True}, "not a certificate of format 1, 2 or 3"),
        ({"tolerance": 0.1}, "another tolerance"),
        ({"counts": []}, "expected an object"),
        ({"counts": {**HEADER["counts"], "cells": -1}}, "a count was expected"),
        ({"counts": {**HEADER["counts"], "cells": 2.0}}, "a count was expected"),
        ({"counts": {**HEADER["counts"], "pairs": 10**12}}, "more than the limit"),
        ({"counts": {**HEADER["counts"], "cells": 10**7, "views": 10**7}}, "views × cells"),
        ({"counts": {**HEADER["counts"], "known": 1}}, "the header counts 1 known"),
    ],
)
def test_hostile_headers(tmp_path: Path, change: dict[str, Any], said: str):
    got = verify(put_together(tmp_path / "bad", GOOD, {**HEADER, **change}))
    assert (got.ok, got.readable) == (False, False)
    assert said in got.reasons[0]


PACKED = {**HEADER, "sdcdsl-certificate": 2}


def test_packed_numbers_are_those_of_a_list(tmp_path: Path):
    view = b'{"view":{"number":0,"like":null,"cells":{"u1":"AAE="},"low":{"i2":"AAAAAA=="},"high":{"f8":"%s"}}}'
    lines = [b'{"cells":{"u1":"AQE="}}', GOOD[1], view % base64.b64encode(struct.pack("<2d", np.inf, 5.0)), *GOOD[3:]]
    assert verify(put_together(tmp_path / "packed", lines, PACKED)).ok
    assert verify(put_together(tmp_path / "lists", GOOD, PACKED)).ok
    assert not verify(put_together(tmp_path / "old", lines, HEADER)).readable, "format 1 has lists only"
    closed = [*lines[:2], view % base64.b64encode(struct.pack("<2d", 1.5, 5.0)), *lines[3:]]
    assert "outside the box" in verify(put_together(tmp_path / "closed", closed, PACKED)).reasons[0]


@pytest.mark.parametrize(
    "body",
    [b'{"u1":"AQ"}', b'{"u1":"A?=="}', b'{"u2":"AQEB"}', b'{"u1":[1,1]}', b'{"u3":"AQE="}', b'{"u1":"AQE=","u2":""}']
    + [b'{"f8":"%s"}' % base64.b64encode(struct.pack("<2d", 1.0, end)) for end in (np.inf, np.nan)],
)
def test_hostile_packed_numbers(tmp_path: Path, body: bytes):
    got = verify(put_together(tmp_path / "bad", [b'{"cells":%s}' % body, *GOOD[1:]], PACKED))
    assert (got.ok, got.readable) == (False, False)


def test_packed_indices_are_whole_and_in_range(tmp_path: Path):
    halves = base64.b64encode(struct.pack("<2d", 0.0, 1.0))
    for cells in (b'{"f8":"%s"}' % halves, b'{"i1":"/wE="}', b'{"u1":"AAI="}'):
        line = b'{"witness":{"cells":%s,"move":[1,1]}}' % cells
        assert not verify(put_together(tmp_path / "bad", [*GOOD[:5], line, *GOOD[6:]], PACKED)).readable


def test_the_letters_of_true_may_be_packed(tmp_path: Path):
    lines = [b'{"cells":{"u1":"true"}}', *GOOD[1:]]  # three numbers
    assert "the header counts 2 cells" in verify(put_together(tmp_path / "bad", lines, PACKED)).reasons[0]


def test_hostile_files(tmp_path: Path, path: Path):
    for name, raw, said in (
        ("empty", b"", "the file is empty"),
        ("no-line-end", b"{", "cut off"),
        ("long", b'{"' + b"x" * (allowance.LONGEST_LINE + 5), "longer than"),
        ("long.gz", gzip.compress(b'{"' + b"x" * 2**21), "longer than"),
        ("bad.gz", b"\x1f\x8b" + b"x" * 50, "damaged or incomplete"),
        ("cut.gz", gzip.compress(path.read_bytes())[:-20], "damaged or incomplete"),
        ("more", path.read_bytes() + b'{"cells":[]}\n', "where none belongs"),
    ):
        (tmp_path / name).write_bytes(raw)
        got = verify(tmp_path / name)
        assert (got.ok, got.readable) == (False, False), name
        assert said in got.reasons[0], name
    assert "no such file" in verify(tmp_path / "missing").reasons[0]
    assert "directory" in verify(tmp_path).reasons[0]
