"""Tables that publish fewer codes than their data have: as if the data had been coded so in the first place."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.readers.grc import read_grc
from sdcdsl.bind.table import BoundTable
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import Diagnostic, Source, has_errors
from sdcdsl.pipeline.bind import bind
from sdcdsl.pipeline.request import Inputs
from sdcdsl.policy.coarser import CodeParents, NotCoarser, coarser
from sdcdsl.policy.read import read_policy

DAY = datetime.date(2026, 1, 1)
DIMENSIONS = """
dimension nace {
  hierarchy prefix 1, 2, 3
  total Total
}
dimension size {
  codes a, b, c, d
  total all
}
"""
COARSE = """
dimension nace {
  hierarchy prefix 1, 2
  total Total
}
dimension size {
  codes low, d
  total all
}
"""


def records(seed: int = 1, n: int = 300) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"u{i}" for i in random.integers(0, 60, n)],
            "nace": [f"{a}{b}{c}" for a, b, c in random.integers(1, 4, (n, 3))],
            "size": random.choice(["a", "b", "c", "d"], n),
            "w": random.integers(1, 5, n),
            "x": random.integers(0, 50, n),
        }
    )


def merged(frame: pl.DataFrame) -> pl.DataFrame:
    """What the coarse table is made of, by hand."""
    low = pl.when(pl.col("size") == "d").then(pl.lit("d")).otherwise(pl.lit("low")).alias("size")
    return frame.with_columns(pl.col("nace").str.slice(0, 2), low)


def bound(folder: Path, text: str, name: str = "t") -> tuple[BoundTable | None, list[Diagnostic]]:
    path = folder / "p.sdc"
    path.write_text(f"sdc 1\n{text}", encoding="utf-8")
    policy, found = read_policy(path)
    assert not has_errors(found), [d.headline for d in found]
    binding = Binding(policy, FileLocations(folder), DAY)
    return binding.table(name), binding.diagnostics


def table_of(folder: Path, text: str, name: str = "t") -> BoundTable:
    table, found = bound(folder, text, name)
    assert table is not None, [d.headline for d in found]
    return table


def by_codes(table: BoundTable) -> dict[tuple[str, ...], tuple[float, ...]]:
    assert table.lattice is not None
    assert table.judged is not None
    cells = range(table.lattice.size)
    judged = table.judged
    return {
        tuple(table.lattice.codes(c).values()): (
            table.value[c], judged.count[c], judged.absolute[c], *judged.largest[c], table.quantities["weight"][c]
        )
        for c in cells
    }  # fmt: skip


DATA = 'data e {\n  csv "e.csv"\n  column unit = "id"\n  column weight = "w"\n}\n'
RECODE = "  recode size {\n    low = a, b, c\n  }\n"


@pytest.mark.parametrize("seed", range(3))
def test_microdata_are_tabulated_as_if_they_were_coded_so(tmp_path, seed):
    records(seed).write_csv(tmp_path / "e.csv")
    fine = DATA + DIMENSIONS + f"table t {{\n  from e\n  by nace to level 3, size\n{RECODE}  sum x\n}}\n"
    found = by_codes(table_of(tmp_path, fine))
    merged(records(seed)).write_csv(tmp_path / "e.csv")
    assert found == by_codes(table_of(tmp_path, DATA + COARSE + "table t {\n  from e\n  by nace, size\n  sum x\n}\n"))


def test_a_contributor_to_two_merged_codes_is_one_contributor(tmp_path):
    pl.DataFrame(
        {"id": ["u", "u", "v"], "nace": ["111", "112", "113"], "size": ["a", "b", "c"], "w": [1, 1, 1], "x": [5, 6, 7]}
    ).write_csv(tmp_path / "e.csv")
    text = DATA + DIMENSIONS + f"table t {{\n  from e\n  by nace to level 3, size\n{RECODE}  sum x\n}}\n"
    assert by_codes(table_of(tmp_path, text))["11", "low"][:5] == (18, 2, 18, 11, 7)


def test_only_speaks_of_the_codes_of_the_data(tmp_path):
    frame = records()
    frame.write_csv(tmp_path / "e.csv")
    text = DATA + DIMENSIONS + "table t {\n  from e\n  by nace to level 2, size\n  sum x\n"
    table = table_of(tmp_path, text + "  only where nace under 11 and size = b\n}\n")
    inside = frame.filter(pl.col("nace").str.starts_with("11") & (pl.col("size") == "b"))
    assert by_codes(table)["Total", "all"][0] == (inside["x"] * inside["w"]).sum()


def listed(folder: Path, digits: int) -> str:
    """The dimensions, with all codes of nace in a file."""
    codes = [a + b + c for a in "123" for b in ("", *"123") for c in (("", *"123") if b else ("",))]
    lines = [f"{'@' * (len(code) - 1)}{code}\n" for code in codes if len(code) <= digits]
    (folder / "n.hrc").write_text("".join(lines), encoding="utf-8")
    nace = 'dimension nace {\n  hierarchy hrc "n.hrc"\n  total Total\n}\n'
    return nace + DIMENSIONS.partition("}\n")[2]


CELLS = 'data e {\n  csv "e.csv"\n}\n'


def cells_of(frame: pl.DataFrame, down_to: int, sizes: tuple[str, ...]) -> pl.DataFrame:
    """Ready-made cells of all levels, by hand: value, contributors, largest contribution."""
    rows = []
    prefixes = ["Total", *sorted({code[:k] for code in frame["nace"] for k in range(1, down_to + 1)})]
    for nace in prefixes:
        for size in ("all", *sizes):
            here = frame.filter(
                (pl.lit(nace == "Total") | pl.col("nace").str.starts_with(nace))
                & (pl.lit(size == "all") | (pl.col("size") == size))
            )
            each = here.group_by("id").agg(pl.col("x").sum())["x"].to_list()
            rows.append((nace, size, sum(each), len(each), max(each, default=0)))
    return pl.DataFrame(rows, schema=["nace", "size", "TOT", "N", "MAX"], orient="row")


def test_ready_made_cells_are_taken_as_the_file_has_them(tmp_path):
    frame = records()
    cells_of(frame, 3, ("a", "b", "c", "d")).write_csv(tmp_path / "e.csv")
    body = "  value TOT\n  count N\n  largest(1) MAX\n}\n"
    made = table_of(tmp_path, CELLS + listed(tmp_path, 3) + "table t {\n  from e\n  by nace to level 3, size\n" + body)
    cells_of(frame, 2, ("a", "b", "c", "d")).write_csv(tmp_path / "e.csv")
    text = CELLS + listed(tmp_path, 2) + "table t {\n  from e\n  by nace, size\n" + body
    plain = table_of(tmp_path, text)
    assert made.lattice is not None
    assert plain.lattice is not None
    assert made.lattice.shape == plain.lattice.shape
    for one, other in ((made.value, plain.value), (made.judged.count, plain.judged.count)):  # type: ignore[union-attr]
        assert np.array_equal(one, other)
    assert np.array_equal(made.judged.largest, plain.judged.largest)  # type: ignore[union-attr]


def test_merged_codes_of_ready_made_cells_are_summed(tmp_path):
    cells = pl.DataFrame({"size": ["a", "b", "c", "d", "all"], "TOT": [4, 5, 6, 7, 22], "N": [1, 2, 3, 4, 10]})
    cells.write_csv(tmp_path / "e.csv")
    text = CELLS + DIMENSIONS + f"table t {{\n  from e\n  by size\n{RECODE}  value TOT\n  count N\n}}\n"
    made = table_of(tmp_path, text)
    assert made.lattice is not None
    assert made.lattice.dimensions[0].codes == ("all", "low", "d")
    assert made.value.tolist() == [22, 15, 7]
    assert made.quantities["count"].tolist() == [10, 6, 4]


INLINE = """dimension size {{
  codes a, b, c, d
  total all
}}
table t {{
  by size
{recode}  values
    | size | value |
    | a    |     4 |
    | b    |     5 |
    | c    |     6 |
    | d    |     7 |
}}
"""


def test_tables_that_are_typed_in_lose_their_merged_cells(tmp_path):
    made = table_of(tmp_path, INLINE.format(recode=RECODE))
    assert made.value.tolist() == [22, 15, 7]


def test_tables_of_two_levels_share_the_cells_they_both_have(tmp_path):
    records().write_csv(tmp_path / "e.csv")
    text = DATA + DIMENSIONS
    text += "table fine {\n  from e\n  by nace to level 3\n  sum x\n}\n"
    text += "table coarse {\n  from e\n  by nace to level 2, size\n  sum x\n}\n"
    text += "sensitive by threshold(3)\nattacker ext {\n  bounds 0 .. inf\n}\n"
    text += "protect fine, coarse {\n  lpl 1\n  upl 1\n  against ext\n  cost value\n  method csp\n}\n"
    path = tmp_path / "p.sdc"
    path.write_text(f"sdc 1\n{text}", encoding="utf-8")
    policy, found = read_policy(path)
    assert not has_errors(found)
    made = bind(Inputs(policy, path, FileLocations(tmp_path), DAY))  # type: ignore[arg-type]
    (problem,) = made.problems.values()
    names = {problem.label(c) for c in range(len(problem.dataset["a"]))}
    # 1 + 3 + 9 codes of nace to level 3; 1 + 3 to level 2, each by 4 sizes more.
    assert len(names) == 13 + 4 * 4


@pytest.mark.parametrize(
    ("statement", "headline"),
    [
        ("suppress where nace = 111", "no table publishes code `111` of dimension `nace`"),
        ("suppress where size = a", "no table publishes code `a` of dimension `size`"),
        ("suppress where nace = 99", "dimension `nace` has no code `99`"),
        ("suppress at (nace: 111, size: low)", "there is no such cell"),
    ],
)
def test_codes_that_are_not_published_are_no_cells(tmp_path, statement, headline):
    records().write_csv(tmp_path / "e.csv")
    text = DATA + listed(tmp_path, 3)
    text += f"table t {{\n  from e\n  by nace to level 3, size\n{RECODE}  sum x\n}}\n{statement}\n"
    text += "sensitive by threshold(3)\nattacker ext {\n  bounds 0 .. inf\n}\n"
    text += "protect t {\n  lpl 1\n  upl 1\n  against ext\n  cost value\n  method csp\n}\n"
    path = tmp_path / "p.sdc"
    path.write_text(f"sdc 1\n{text}", encoding="utf-8")
    policy, found = read_policy(path)
    assert not has_errors(found), [d.headline for d in found]
    made = bind(Inputs(policy, path, FileLocations(tmp_path), DAY))  # type: ignore[arg-type]
    assert headline in [d.headline for d in made.found]


# ---- recodes of τ-ARGUS ----------------------------------------------------------------------------------


def grc(text: str, leaves: tuple[str, ...]):
    return read_grc(Source("r.grc", text), leaves, (*leaves, "Total"))


def test_a_recode_of_argus():
    leaves = tuple(str(n) for n in range(1, 13))
    groups, found = grc("1: 1-3,5\n2: 4, 6 - 9\n\n3:10-\n<MISSING> 98\n<CODELIST> x.cdl\n", leaves)
    assert not found
    assert groups == (("1", ("1", "2", "3", "5")), ("2", ("4", "6", "7", "8", "9")), ("3", ("10", "11", "12")))
    assert grc("young: -29\nold: 30-", ("10-19", "20-29", "30-39"))[0] == (
        ("young", ("10-19", "20-29")),
        ("old", ("30-39",)),
    )
    assert grc("x: 10-19", ("10-19", "20-29"))[0] == (("x", ("10-19",)),)
    assert [d.code for d in grc("nonsense", leaves)[1]] == ["SDC312"]
    assert [d.code for d in grc("", leaves)[1]] == ["SDC308"]


def test_new_codes_may_have_names_of_those_they_replace(tmp_path):
    pl.DataFrame(
        {"id": list("uvwxyz"), "age": list("123456"), "w": [1] * 6, "x": [1, 2, 4, 8, 16, 32]}
    ).write_csv(tmp_path / "e.csv")  # fmt: skip
    (tmp_path / "age.grc").write_text("1: 1-3\n2: 4, 5\n", encoding="utf-8")
    age = "dimension age {\n  codes 1, 2, 3, 4, 5, 6\n  total all\n}\n"
    text = DATA + age + 'table t {\n  from e\n  by age\n  recode age grc "age.grc"\n  sum x\n}\n'
    found = by_codes(table_of(tmp_path, text))
    assert {code: figures[0] for (code,), figures in found.items()} == {"all": 63, "1": 7, "2": 24, "6": 32}
    both = text + "table plain {\n  from e\n  by age\n  sum x\n}\n"
    table, wrong = bound(tmp_path, both)
    assert table is None
    assert "code `1` of dimension `age` is not the same in tables `t` and `plain`" in [d.headline for d in wrong]


# ---- the tree ----------------------------------------------------------------------------------------------

TREE = CodeParents({"T": None, "A": "T", "A1": "A", "A2": "A", "A21": "A2", "B": "T", "B1": "B", "C": "T"})


@pytest.mark.parametrize(
    ("level", "groups", "kept", "moves"),
    [
        (1, (), {"T": None}, {"A": "T", "A1": "T", "A2": "T", "A21": "T", "B": "T", "B1": "T", "C": "T"}),
        (2, (), {"T": None, "A": "T", "B": "T", "C": "T"}, {"A1": "A", "A2": "A", "A21": "A", "B1": "B"}),
        (3, (("X", ("A1", "A2")),), {"T": None, "A": "T", "X": "A", "B": "T", "B1": "B", "C": "T"},
         {"A1": "X", "A2": "X", "A21": "X"}),
        (2, (("X", ("A", "C")),), {"T": None, "X": "T", "B": "T"},
         {"A": "X", "A1": "X", "A2": "X", "A21": "X", "C": "X", "B1": "B"}),
        (None, (("B", ("B", "C")),), {"T": None, "A": "T", "A1": "A", "A2": "A", "A21": "A2", "B": "T"},
         {"B": "B", "B1": "B", "C": "B"}),
    ],
)  # fmt: skip
def test_what_is_kept_and_where_the_rest_goes(level, groups, kept, moves):
    made = coarser(TREE, level, groups)
    assert (dict(made.kept.parent), dict(made.moves)) == (kept, moves)


@pytest.mark.parametrize(
    ("level", "groups"),
    [(5, ()), (None, (("X", ("T",)),)), (None, (("X", ("A1", "B1")),)), (None, (("C", ("A", "B")),)),
     (None, (("X", ("A",)), ("X", ("B",)))), (None, (("X", ("A",)), ("Y", ("A", "B")))), (None, (("X", ("Q",)),))],
)  # fmt: skip
def test_what_does_not_fit(level, groups):
    with pytest.raises(NotCoarser):
        coarser(TREE, level, groups)


def test_a_second_tree_must_not_need_what_is_left_out(tmp_path):
    records().write_csv(tmp_path / "e.csv")
    trees = ["all = a + b + c + d", "all = odd + even as parity", "odd = a + c as parity", "even = b + d as parity"]
    said = "".join(f"  hierarchy {tree}\n" for tree in trees)
    text = DATA + DIMENSIONS.replace("  total all\n", "  total all\n" + said)
    table, found = bound(tmp_path, text + f"table t {{\n  from e\n  by size\n{RECODE}  sum x\n}}\n")
    assert table is None
    assert [d.code for d in found if d.code == "SDC152"]
