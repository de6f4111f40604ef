"""Locks are written by hand and read by the standard library."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdcdsl.report.toml import dumps

# What TOML has: no lone surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
plain = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), texts)
values = st.one_of(plain, st.lists(plain, max_size=3))
tables = st.recursive(
    st.dictionaries(texts, values, max_size=4),
    lambda inner: st.dictionaries(texts, st.one_of(values, inner, st.lists(inner, min_size=1, max_size=3)), max_size=4),
    max_leaves=8,
)


@given(tables)
def test_what_is_written_is_read_back(content):
    read = tomllib.loads(dumps(content))
    assert read == content
    assert dumps(read) == dumps(content)


def test_nothing_is_left_out_and_other_things_are_refused():
    assert dumps({"a": None, "b": 1}) == "b = 1\n"
    with pytest.raises(TypeError, match="complex"):
        dumps({"a": 1j})
