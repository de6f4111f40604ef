"""Records tabulated a few at a time give what they give all at once: the same cells, contributors, names and faults."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdcdsl.bind.holdings import contributions_to
from sdcdsl.bind.lattice import lattice
from sdcdsl.bind.microdata import Columns
from sdcdsl.bind.sense_keys import cell_keys
from sdcdsl.bind.tabulate import tabulate
from sdcdsl.bind.tabulation import Tabulation
from sdcdsl.diagnostics import FilePlace
from tests.bind.small_worlds import flat, holder_of, worlds

ROLES = ("group", "unit", "w", "x")


def columns(dims, roles) -> Columns:
    given = {"measure": "x", "unit": "unit", "group": "group", "weight": "w"}
    return Columns(tuple(d.name for d in dims), **{k: v for k, v in given.items() if v in roles})


def both(frame: pl.DataFrame, dims, asked: Columns, at_once: int, **options) -> tuple[Tabulation, Tabulation]:
    whole, found = tabulate(frame.lazy(), dims, asked, keep_contributions=True, **options)
    assert whole is not None, found
    parts, found = tabulate(frame.lazy(), dims, asked, keep_contributions=True, at_once=at_once, **options)
    assert parts is not None, found
    assert parts is not whole
    return whole, parts


def same(whole: Tabulation, parts: Tabulation) -> None:
    for name in ("value", "unweighted", "count", "nonzero", "weighted_count", "largest", "holding"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name)), name
    assert parts.absolute == pytest.approx(whole.absolute, rel=1e-13)
    for holding in np.unique(whole.holding[whole.holding >= 0]).tolist():
        assert parts.name(holding) == whole.name(holding)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    worlds(),
    st.sets(st.sampled_from(ROLES)),
    st.integers(1, 3),
    st.integers(1, 5),
    st.sampled_from(["weighted", "own"]),
    st.sampled_from([1.0, 1 / 3]),
)
def test_a_few_at_a_time_is_as_good_as_all_at_once(world, roles, k, at_once, ranked, unit):
    dims, frame = world
    frame = frame.with_columns(pl.col("x") * unit)  # thirds are no binary fractions: sums depend on their order
    whole, parts = both(frame, dims, columns(dims, roles), at_once, k=k, ranked=ranked)
    same(whole, parts)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(most_dims=2), st.sets(st.sampled_from(ROLES)), st.integers(1, 4), st.data())
def test_contributions_are_read_again(world, roles, at_once, data):
    dims, frame = world
    whole, parts = both(frame, dims, columns(dims, roles), at_once)
    assert whole.contributions is not None
    assert parts.contributions is not None
    n = whole.lattice.size
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    ours = contributions_to(parts.lattice, parts.contributions, chosen)
    theirs = contributions_to(whole.lattice, whole.contributions, chosen)
    assert np.array_equal(ours.cell, theirs.cell)
    assert np.array_equal(ours.holding, theirs.holding)
    assert ours.amount == pytest.approx(theirs.amount, rel=1e-13)
    holders = holder_of(frame, "unit" in roles, "group" in roles)
    for holding in np.unique(ours.holding).tolist():
        assert parts.name(holding) == whole.name(holding)
        assert {holders[holding]} == {holders[i] for i in range(len(holders)) if holders[i] == holders[holding]}


DIMS = [flat("a", ["a1", "a2"])]
GOOD = pl.DataFrame(
    {"a": ["a1", "a2", "a1", "a2", "a1"], "x": [1.0, 2, 3, 4, 5], "w": [1.0] * 5, "h": ["p", None, "p", "q", None]}
)
ASKED = Columns(("a",), "x", group="h", weight="w")


@pytest.mark.parametrize(
    ("column", "entries", "code"),
    [
        ("a", ["a1", "a9", "a1", "a2", "a9"], "SDC304"),
        ("a", ["a1", "a2", None, "a2", "a1"], "SDC304"),
        ("a", ["a1", "a2", "T", "a2", "a1"], "SDC304"),
        ("x", [1.0, None, 3.0, 4.0, 5.0], "SDC307"),
        ("x", [1.0, 2.0, 3.0, float("inf"), 5.0], "SDC307"),
        ("w", [1.0, 1.0, -1.0, 1.0, float("nan")], "SDC307"),
        ("w", [1.0, 1.0, -1.0, 1.0, -2.0], "SDC323"),
        ("x", ["1", "2", "3", "4", "5"], "SDC306"),
    ],
)
def test_faults_are_told_in_the_same_words(column, entries, code):
    frame = GOOD.with_columns(pl.Series(column, entries))
    told = [tabulate(frame.lazy(), DIMS, ASKED, at_once=n, place=FilePlace("f")) for n in (4, 10)]
    assert [made for made, _ in told] == [None, None]
    assert told[0][1] == told[1][1]
    assert [problem.code for problem in told[0][1]] == [code]


def test_more_faults_than_memory_holds_are_not_counted_to_the_end():
    frame = GOOD.with_columns(a=pl.lit("nowhere"))
    _, [found] = tabulate(frame.lazy(), DIMS, ASKED, at_once=2)
    assert found.notes[0] == "1 code on 2 records"
    assert "there may be more" in found.notes[1]


def test_who_has_no_name_is_called_by_its_record():
    made, _ = tabulate(GOOD.lazy(), DIMS, ASKED, at_once=2, k=5)
    assert made is not None
    total = made.lattice.cell({"a": "T"})
    names = [made.name(int(h)) for h in made.holding[total] if h >= 0]
    assert names == ["record 5", "p", "q", "record 2"]  # 5, then p with 1 + 3 before q with 4, then 2


def test_keys_do_not_depend_on_how_records_come():
    cells, _ = lattice(DIMS)
    assert cells is not None
    asked = Columns(("a",), "x", unit="h")
    several = GOOD.lazy()
    once = cell_keys(several, cells, asked, 7)
    backwards = cell_keys(GOOD.filter(pl.col("h").is_not_null()).reverse().lazy(), cells, asked, 7)
    named = cell_keys(GOOD.filter(pl.col("h").is_not_null()).lazy(), cells, asked, 7)
    assert once is not None
    assert backwards is not None and named is not None
    assert np.array_equal(backwards, named)
    assert not np.array_equal(once, named)  # the nameless have keys as well
