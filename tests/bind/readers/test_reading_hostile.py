"""Files that mean harm, or come from a broken disk: every reader answers with diagnostics, and soon."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.readers.arb import read_arb
from sdcdsl.bind.readers.argus_data import read_argus_data
from sdcdsl.bind.readers.correspondence import read_correspondence
from sdcdsl.bind.readers.hrc import read_hrc
from sdcdsl.bind.readers.hst import read_hst
from sdcdsl.bind.readers.jj import read_jj
from sdcdsl.bind.readers.parents import read_parents
from sdcdsl.bind.readers.rda import Metadata, Variable, read_rda
from sdcdsl.bind.readers.records import ColumnSelection
from sdcdsl.diagnostics import CODES, Diagnostic, Source
from tests.bind.readers.reading import read_records
from tests.waiting import HANGS

CODE, NUMBER = frozenset({"code"}), frozenset({"number"})
FIXED = Metadata("m", (Variable("a", 1, 1, 2, roles=CODE), Variable("b", 2, 3, 4, roles=NUMBER)), False, None)
FREE = Metadata("m", (Variable("a", 1, roles=CODE), Variable("b", 2, roles=NUMBER)), True, ";")

READERS: dict[str, Callable[[Path | Source], tuple[object, list[Diagnostic]]]] = {
    "jj": read_jj,
    "hrc": lambda s: read_hrc(s, total="T"),
    "correspondence": lambda s: read_correspondence(s, total="T"),
    "parents": read_parents,
    "csv": lambda s: read_records(s, ColumnSelection(["a"], ["b"])),
    "rda": read_rda,
    "fixed": lambda s: read_argus_data(s, FIXED),
    "free": lambda s: read_argus_data(s, FREE),
    "hst": read_hst,
    "arb": read_arb,
}
every_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)


def answered(result) -> bool:
    """A value, or at least one diagnostic of the data's kind; and never a flood."""
    value, problems = result
    assert all(p.code in CODES and p.code.startswith("SDC3") for p in problems)
    assert len(problems) <= 25
    assert all(len(p.marks) <= 10 for p in problems)
    assert all(len(p.headline) < 1000 and all(len(m.label) < 1000 for m in p.marks) for p in problems)
    return value is not None or bool(problems)


@every_reader
@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=60) | st.text(st.sampled_from('ab01.,;:|"()<>@-\n\t T'), max_size=80))
def test_any_text_is_answered(reader, text):
    assert answered(reader(Source("x", text)))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile") / "x.csv"


@every_reader
@settings(max_examples=40, deadline=None)
@given(raw=st.binary(max_size=80))
def test_any_bytes_are_answered(reader, scratch, raw):
    scratch.write_bytes(raw)
    assert answered(reader(scratch))


JJ = "0\n2\n0 1 1 s 0 9 0 0 0\n1 1 1 s 0 9 0 0 0\n1\n0 2 : 0 ( -1 ) 1 ( 1 )\n"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(JJ) - 1), st.sampled_from("09-e.:() \nsuxn")), min_size=1, max_size=4))
def test_a_damaged_jj_file_is_answered(changes):
    text = list(JJ)
    for at, character in changes:
        text[at] = character
    assert answered(read_jj(Source("x.jj", "".join(text))))


@pytest.mark.parametrize("length", range(0, len(JJ) - 1, 3))
def test_a_cut_off_jj_file_is_refused(length):
    table, problems = read_jj(Source("x.jj", JJ[:length]))
    assert table is None
    assert problems


LONG = 1_000_000
FLOODS = {
    "one letter": "x" * LONG,
    "leaders": "@" * LONG,
    "delimiters": "," * LONG,
    "quotes": '"' * (LONG + 1),
    "brackets": "<" * LONG,
    "parentheses": "0\n1\n" + "(" * LONG,
    "blank lines": "\n" * LONG,
    "short lines": "a,b\n" + "x\n" * (LONG // 10),
    "unknown commands": "<NOSUCHWORD> 1\n" * (LONG // 10),
    "variables": "".join(f"v{i} {i + 1} 1\n" for i in range(LONG // 20)),
    "one long number": "a,b\nx," + "9" * LONG + "\n",
    "small circles": "parent,child\n" + "".join(f"{i},{i}x\n{i}x,{i}\n" for i in range(LONG // 40)),
    "one big circle": "parent,child\n0,z\nz,9999\n" + "".join(f"{i + 1},{i}\n" for i in range(9_999)),
}


@every_reader
@pytest.mark.parametrize("text", FLOODS.values(), ids=FLOODS)
def test_floods_are_answered(reader, text):
    """Who compares every character with every other one needs hours for a million of them."""
    start = time.process_time()  # its own: others may be at work beside
    assert answered(reader(Source("x", text)))
    assert time.process_time() - start < HANGS


@every_reader
def test_binary_is_called_binary(reader, tmp_path):
    file = tmp_path / "x.csv"
    file.write_bytes(bytes(range(256)) * 40)
    value, problems = reader(file)
    assert value is None
    assert [p.code for p in problems] == ["SDC302"]
