"""Every cell of random small tables against a literal recomputation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdcdsl.bind.microdata import Columns, contributors_among, first_rows, without_contributors
from sdcdsl.bind.tabulate import tabulate
from sdcdsl.bind.tabulation import Contributions
from tests.bind.small_worlds import contributors_by_cell, dimension, flat, holder_of, records, tree, worlds

ROLES = {"x", "w", "unit", "group"}


def columns(dims, roles=ROLES) -> Columns:
    return Columns(
        tuple(d.name for d in dims),
        measure="x" if "x" in roles else None,
        unit="unit" if "unit" in roles else None,
        group="group" if "group" in roles else None,
        weight="w" if "w" in roles else None,
    )


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), st.sets(st.sampled_from(sorted(ROLES))), st.integers(1, 3))
def test_every_cell_equals_the_slow_way(world, roles, k):
    dims, frame = world
    table, found = tabulate(frame, dims, columns(dims, roles), k=k)
    assert found == []
    assert table is not None
    x = frame["x"].to_list() if "x" in roles else [1.0] * len(frame)
    w = frame["w"].to_list() if "w" in roles else [1.0] * len(frame)
    holders = holder_of(frame, "unit" in roles, "group" in roles)
    first = {h: i for i, h in reversed(list(enumerate(holders)))}
    weighted = [a * b for a, b in zip(x, w, strict=True)]
    rows = contributors_by_cell(dims, frame, list(range(len(frame))), x)
    own = [{i: amount for i, amount in mine.items() if isinstance(i, int)} for _, mine in rows]
    for cell, (codes, mine) in enumerate(contributors_by_cell(dims, frame, holders, weighted)):
        assert table.lattice.codes(cell) == dict(zip([d.name for d in dims], codes, strict=True))
        assert table.value[cell] == sum(mine.values())
        assert table.unweighted[cell] == sum(own[cell].values())
        assert table.weighted_count[cell] == sum(w[i] for i in own[cell])
        assert table.count[cell] == len(mine)
        assert table.nonzero[cell] == sum(c != 0 for c in mine.values())
        assert table.absolute[cell] == sum(abs(c) for c in mine.values())
        top = sorted(((abs(c), -first[h]) for h, c in mine.items()), reverse=True)[:k]
        assert table.largest[cell].tolist() == [a for a, _ in top] + [0.0] * (k - len(top))
        assert table.holding[cell].tolist() == [-at for _, at in top] + [-1] * (k - len(top))


@settings(max_examples=100, deadline=None)
@given(worlds(most_dims=2))
def test_own_values_rank_but_weights_still_fill_the_remainder(world):
    dims, frame = world
    table, _ = tabulate(frame, dims, columns(dims), k=2, ranked="own")
    assert table is not None
    holders = holder_of(frame, unit=True, group=True)
    x, w = frame["x"].to_list(), frame["w"].to_list()
    weighted = contributors_by_cell(dims, frame, holders, [a * b for a, b in zip(x, w, strict=True)])
    reported = contributors_by_cell(dims, frame, holders, x)
    for cell, ((_, mine), (_, own)) in enumerate(zip(weighted, reported, strict=True)):
        top = sorted((abs(c) for c in own.values()), reverse=True)[:2]
        assert table.largest[cell].tolist() == top + [0.0] * (2 - len(top))
        assert table.absolute[cell] == sum(abs(c) for c in mine.values())


@settings(max_examples=60, deadline=None)
@given(worlds(most_dims=2, most_rows=12))
def test_kept_contributions_are_those_of_the_leaves(world):
    dims, frame = world
    table, _ = tabulate(frame, dims, columns(dims), keep_contributions=True)
    assert table is not None
    kept = table.contributions
    assert isinstance(kept, Contributions)
    weighted = (frame["x"] * frame["w"]).to_list()
    holders = holder_of(frame, unit=True, group=True)
    expected = {}
    for cell, (_, mine) in enumerate(contributors_by_cell(dims, frame, holders, weighted)):
        if table.lattice.is_leaf[cell]:
            expected |= {(cell, h): c for h, c in mine.items()}
    names = [table.name(int(h)) for h in kept.holding]
    assert dict(zip(zip(kept.cell.tolist(), names, strict=True), kept.amount.tolist(), strict=True)) == expected


@given(st.lists(st.integers(-5, 5)), st.sampled_from([1, 10**12]), st.booleans())
def test_first_rows(values, factor, as_text):
    series = pl.Series("v", [v * factor for v in values], dtype=pl.Int64)
    series = series.cast(pl.String) if as_text else series
    assert first_rows(series).tolist() == [values.index(v) for v in values]


def test_holding_in_two_leaves_is_one_contributor_of_the_total():
    dim = flat("a", ["a0", "a1"])
    frame = records([dim], [("a0", 6.0, 1.0, "u0", "h"), ("a1", 5.0, 1.0, "u1", "h"), ("a1", 9.0, 1.0, "u2", None)])
    table, _ = tabulate(frame, [dim], columns([dim]))
    assert table is not None
    total = table.lattice.cell({"a": "T"})
    assert table.count[total] == 2
    assert table.largest[total].tolist() == [11.0, 9.0]
    assert [table.name(h) for h in table.holding[total]] == ["h", "u2"]


def test_unknown_missing_and_inner_codes_are_named():
    dim = flat("a", ["a0", "a1"])
    odd = [f"z{i}" for i in range(13)]
    frame = records([dim], [(code, 1.0, 1.0, "u", None) for code in ["a0", "T", None, None, *odd, "z0"]])
    table, found = tabulate(frame, [dim], columns([dim]))
    assert table is None
    assert [d.code for d in found] == ["SDC304"] * 3
    says = {d.headline for d in found}
    assert "2 records have no code of dimension a" in says
    assert any("`z0`, `z1`" in s and "`z9` and 3 more" in s for s in says)
    assert any("`T`" in s and "sums up others" in s for s in says)
    assert any("13 codes on 14 records" in note for d in found for note in d.notes)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None])
def test_a_measure_that_is_not_finite_names_its_rows(bad):
    dim = flat("a", ["a0"])
    frame = records([dim], [("a0", 1.0, 1.0, "u", None), ("a0", bad, 1.0, "u", None)])
    table, found = tabulate(frame, [dim], columns([dim]))
    assert table is None
    assert [d.code for d in found] == ["SDC307"]
    assert "records 2 (of 2" in found[0].notes[0]


def test_text_measures_negative_weights_and_missing_columns():
    dim = flat("a", ["a0"])
    frame = records([dim], [("a0", 1.0, -1.0, "u", None)])
    assert [d.code for d in tabulate(frame, [dim], columns([dim]))[1]] == ["SDC323"]
    text = frame.with_columns(pl.lit("many").alias("x"))
    assert [d.code for d in tabulate(text, [dim], columns([dim], {"x"}))[1]] == ["SDC306"]
    assert [d.code for d in tabulate(frame.drop("w"), [dim], columns([dim]))[1]] == ["SDC303"]


def test_too_many_cells_and_trees_that_disagree():
    dims = [flat(name, [f"{name}{i}" for i in range(9)]) for name in "abc"]
    table, found = tabulate(records(dims, []), dims, columns(dims), limit=999)
    assert table is None
    assert [d.code for d in found] == ["SDC327"]
    assert "1,000 cells" in found[0].headline
    clash = dimension("a", tree("T", [("T", "a0", 1), ("T", "a1", 1)]), tree("T", [("T", "a0", 1), ("T", "a2", 1)]))
    table, found = tabulate(records([clash], []), [clash], columns([clash]))
    assert [d.code for d in found] == ["SDC312"]
    assert "`a1` and `a2`" in found[0].notes[0]


def test_an_empty_table_is_full_of_zeros():
    dims = [flat("a", ["a0", "a1"]), flat("b", ["b0"])]
    table, found = tabulate(records(dims, []).lazy(), dims, columns(dims))
    assert found == []
    assert table is not None
    assert table.value.shape == (6,)
    assert not table.value.any()
    assert (table.holding == -1).all()


def test_waived_contributors_leave():
    dim = flat("a", ["a0"])
    rows = [("a0", 5.0, 1.0, "u0", None), ("a0", 3.0, 1.0, "u1", None), ("a0", 2.0, 1.0, None, None)]
    everybody = records([dim], rows)
    assert without_contributors(everybody, "unit", ["u0", "nobody"]).collect()["x"].to_list() == [3.0, 2.0]
    assert contributors_among(everybody, "unit", ["u0", "nobody"]) == {"u0"}


def test_a_large_table_agrees_with_polars_level_by_level():
    """The dense paths (bincount, compressed ranking) at a size the random worlds do not reach."""
    rng = np.random.default_rng(7)
    n = 20_000
    edges = [("T", f"g{i}", 1) for i in range(4)] + [(f"g{i % 4}", f"a{i}", 1) for i in range(40)]
    a = dimension("a", tree("T", edges))
    b = flat("b", [f"b{i}" for i in range(6)])
    frame = pl.DataFrame(
        {
            "a": [f"a{i}" for i in rng.integers(0, 40, n)],
            "b": [f"b{i}" for i in rng.integers(0, 6, n)],
            "x": rng.lognormal(3, 2, n).round(2),
            "group": rng.integers(0, 3000, n),
        }
    )
    table, _ = tabulate(frame, [a, b], Columns(("a", "b"), "x", group="group"))
    assert table is not None
    frame = frame.with_columns(g="g" + (pl.col("a").str.slice(1).cast(pl.Int32) % 4).cast(pl.String), T=pl.lit("T"))
    for first in ("a", "g", "T"):
        for second in ("b", "T"):
            per = frame.group_by(pl.col(first).alias("p"), pl.col(second).alias("q"), "group").agg(pl.col("x").sum())
            for (p, q), part in per.group_by("p", "q"):
                cell = table.lattice.cell({"a": str(p), "b": str(q)})
                assert table.count[cell] == len(part)
                np.testing.assert_allclose(table.value[cell], float(part["x"].sum()))
                np.testing.assert_allclose(table.largest[cell], part["x"].top_k(2).sort(descending=True))
