"""Expressions over cells against a slow, literal evaluation, one cell at a time in plain Python."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.evaluate import Clause, Evaluator, View, last_match, select
from sdcdsl.bind.lattice import lattice
from sdcdsl.policy import expressions as x
from tests.bind.small_worlds import dimension, flat, tree

NACE = dimension(
    "nace",
    tree("T", [("T", "A", 1), ("T", "B", 1), ("A", "a1", 1), ("A", "a2", 1), ("B", "b1", 1)]),
    tree("T", [("T", "new", 1), ("T", "old", 1), ("new", "a1", 1), ("new", "b1", 1), ("old", "a2", 1)], "age"),
)
SIZE = flat("size", ["s", "l"], "all")
# Level and ancestors of every code, typed in by hand, in the first tree and in the tree `age`.
FIRST = {"T": [], "A": ["T"], "B": ["T"], "a1": ["A", "T"], "a2": ["A", "T"], "b1": ["B", "T"]}
AGE = {"T": [], "new": ["T"], "old": ["T"], "a1": ["new", "T"], "a2": ["old", "T"], "b1": ["new", "T"]}
SIZES = {"all": [], "s": ["all"], "l": ["all"]}
TREES = {"nace": FIRST, "nace.age": AGE, "size": SIZES}


def views(numbers: list[float]) -> list[View]:
    """A table by nace and size, one by nace alone that shares its totals, and one without dimensions."""
    both, problems = lattice([NACE, SIZE])
    one, more = lattice([NACE])
    assert both is not None and one is not None and not problems + more
    totals = np.array([both.cell(one.codes(c)) for c in range(one.size)])
    extra = np.array([both.size, both.size + 1])
    values = np.array((numbers * (2 + both.size))[: both.size + 2])

    def quantities(cells: np.ndarray) -> dict[str, np.ndarray]:
        return {"value": values[cells], "count": np.abs(values[cells]) // 3}

    largest = np.stack([np.abs(values) / 2, np.abs(values) / 4], axis=1)
    return [
        View(np.arange(both.size), quantities(np.arange(both.size)), largest[: both.size], both, table="wide"),
        View(totals, quantities(totals), largest[totals], one, table="narrow"),
        View(extra, quantities(extra), None, None, table="bare"),
    ]


# ---- the slow way ------------------------------------------------------------------------------------------


def codes_of(view: View, cell: int) -> dict[str, str]:
    return view.lattice.codes(cell) if view.lattice is not None else {}


def has(view: View, e) -> bool:
    dims = {d.name for d in view.lattice.dimensions} if view.lattice is not None else set()
    asked = set()
    for part in x.walk(e):
        if isinstance(part, (x.Member, x.Under, x.AtLevel)):
            asked.add(part.dimension.split(".")[0])
        elif isinstance(part, x.Call) and part.name == "level":
            dimension = part.arguments[0].value
            assert isinstance(dimension, x.Name)
            asked.add(dimension.name.split(".")[0])
        elif isinstance(part, x.Compare):
            asked |= {s.name for s in (part.left, part.right) if isinstance(s, x.Name) and s.name in ("nace", "size")}
    return asked <= dims


def amount(e, view: View, cell: int) -> float:
    match e:
        case x.Number(text):
            return float(text)
        case x.Percent(text):
            return float(text) / 100
        case x.Name(name):
            return float(view.quantities[name][cell])
        case x.Negative(value):
            return -amount(value, view, cell)
        case x.Cond(condition, then, otherwise):
            return amount(then if truth(condition, view, cell) else otherwise, view, cell)
        case x.Call("largest", (x.Argument(_, x.Number(k)),)):
            return float(view.largest[cell, int(k) - 1]) if view.largest is not None else math.nan
        case x.Call("level", (x.Argument(_, x.Name(name)),)):
            above = TREES[name].get(codes_of(view, cell)[name.split(".")[0]])
            return 0.0 if above is None else 1.0 + len(above)
        case x.Call(name, arguments):
            return function(name, [amount(a.value, view, cell) for a in arguments])
        case x.Binary(operator, left, right):
            return binary(operator, amount(left, view, cell), amount(right, view, cell))
    raise AssertionError(e)


def binary(operator: str, a: float, b: float) -> float:
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "of":  # a share of the size
            return a * abs(b)
        case "^":
            return math.nan if math.isnan(a) else a**b
    return a / b if b else math.nan


def function(name: str, v: list[float]) -> float:
    if any(math.isnan(n) for n in v):
        return math.nan
    match name:
        case "min" | "max":
            return {"min": min, "max": max}[name](v)
        case "sqrt":
            return math.sqrt(v[0]) if v[0] >= 0 else math.nan
        case "log":
            return math.log(v[0]) if v[0] > 0 and math.isfinite(v[0]) else math.nan
        case "abs":
            return abs(v[0])
    if not math.isfinite(v[0]):
        return math.nan
    return float({"round": round, "floor": math.floor, "ceil": math.ceil}[name](v[0]))


def truth(e, view: View, cell: int) -> bool:
    codes = codes_of(view, cell)
    match e:
        case x.Compare(operator, x.Name(("nace" | "size") as name), other) | x.Compare(
            operator, other, x.Name(("nace" | "size") as name)
        ):
            assert isinstance(other, x.Text)
            return (codes[name] == other.value) == (operator == "=")
        case x.Compare(operator, left, right):
            a, b = amount(left, view, cell), amount(right, view, cell)
            return {"=": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]
        case x.Member(name, listed, negated):
            return (codes[name] in [c.text for c in listed]) != negated
        case x.Under(name, code, negated):
            return (code.text in TREES[name].get(codes[name.split(".")[0]], [])) != negated
        case x.AtLevel(name, level, negated):
            above = TREES[name].get(codes[name.split(".")[0]])
            return (above is not None and 1 + len(above) == level) != negated
        case x.Not(value):
            return not truth(value, view, cell)
        case x.Every(parts):
            return all(truth(p, view, cell) for p in parts)
        case x.Some(parts):
            return any(truth(p, view, cell) for p in parts)
    raise AssertionError(e)


# ---- random expressions ------------------------------------------------------------------------------------

numbers = st.sampled_from(["0", "1", "2", "0.5", "7"]).map(x.Number)
names = st.sampled_from(["value", "count"]).map(x.Name)
codes = st.sampled_from(["T", "A", "B", "a1", "b1", "new", "nowhere"])
sizes = st.sampled_from(["all", "s", "l"])


def call(name: str, count: int, inner) -> st.SearchStrategy:
    return st.lists(inner.map(lambda e: x.Argument(None, e)), min_size=count, max_size=count).map(
        lambda a: x.Call(name, tuple(a))
    )


def compound(inner) -> st.SearchStrategy:
    return st.one_of(
        inner.map(x.Negative),
        st.builds(x.Binary, st.sampled_from(["+", "-", "*", "/"]), inner, inner),
        st.builds(x.Binary, st.just("^"), inner, st.sampled_from(["1", "2"]).map(x.Number)),
        st.builds(x.Binary, st.just("of"), st.sampled_from(["20", "150"]).map(x.Percent), inner),
        *(call(name, 1, inner) for name in ("abs", "sqrt", "log", "round", "floor", "ceil")),
        *(call(name, 2, inner) for name in ("min", "max")),
        st.builds(x.Cond, conditions(simple), inner, inner),
    )


def conditions(operands) -> st.SearchStrategy:
    operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    equal = st.sampled_from(["=", "!="])
    leaves = st.one_of(
        st.builds(x.Compare, operators, operands, operands),
        st.builds(x.Compare, equal, st.just(x.Name("nace")), codes.map(x.Text)),
        st.builds(x.Compare, equal, sizes.map(x.Text), st.just(x.Name("size"))),
        st.builds(x.Member, st.just("nace"), st.lists(codes.map(x.Code), max_size=3).map(tuple), st.booleans()),
        st.builds(x.Under, st.sampled_from(["nace", "nace.age"]), codes.map(x.Code), st.booleans()),
        st.builds(x.Under, st.just("size"), sizes.map(x.Code), st.booleans()),
        st.builds(x.AtLevel, st.sampled_from(["nace", "nace.age", "size"]), st.integers(1, 4), st.booleans()),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(x.Not),
            st.lists(inner, min_size=2, max_size=3).map(lambda p: x.Every(tuple(p))),
            st.lists(inner, min_size=2, max_size=3).map(lambda p: x.Some(tuple(p))),
        ),
        max_leaves=4,
    )


simple = st.one_of(numbers, names, st.builds(x.Binary, st.sampled_from(["+", "-", "*"]), names, numbers))
levels = st.sampled_from(["nace", "nace.age", "size"]).map(lambda n: x.Call("level", (x.Argument(None, x.Name(n)),)))
largest = st.sampled_from(["1", "2"]).map(lambda k: x.Call("largest", (x.Argument(None, x.Number(k)),)))
amounts = st.recursive(st.one_of(numbers, names, levels, largest), compound, max_leaves=5)
figures = st.lists(st.integers(-9, 40).map(float), min_size=1, max_size=20)


def same(a: float, b: float) -> bool:
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.isfinite(a) == math.isfinite(b)  # no value is no value
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


@given(figures, amounts)
@settings(max_examples=300, deadline=None)
def test_amounts_cell_by_cell(values, e):
    for view in views(values):
        if not view.has(e):
            assert not has(view, e)
            continue
        assert has(view, e)
        local = np.arange(len(view.cells))
        found = Evaluator(view, local)(e)
        assert all(same(float(f), amount(e, view, int(c))) for f, c in zip(found, local, strict=True))


@given(figures, conditions(simple))
@settings(max_examples=300, deadline=None)
def test_conditions_cell_by_cell(values, e):
    shown = views(values)
    n = 1 + max(int(v.cells.max()) for v in shown)
    expected = {int(v.cells[c]) for v in shown if has(v, e) for c in range(len(v.cells)) if truth(e, v, c)}
    assert set(np.flatnonzero(select(shown, e, n, str)[0]).tolist()) == expected


statements = st.lists(st.tuples(amounts, st.none() | conditions(simple)), max_size=4)


@given(figures, statements, st.sets(st.integers(0, 25)))
@settings(max_examples=300, deadline=None)
def test_the_last_match_wins_in_every_cell(values, said, chosen):
    shown = views(values)
    n = 1 + max(int(v.cells.max()) for v in shown)
    wanted = np.isin(np.arange(n), list(chosen))
    clauses = [Clause(e, where, None) for e, where in said]
    found, by, problems = last_match(shown, clauses, wanted, str)
    broken: dict[int, int] = {}
    for cell in range(n):
        last, result = -1, math.nan
        for index, (e, where) in enumerate(said):
            for view in reversed(shown):  # the first table that has the cell speaks for it
                for local in np.flatnonzero(view.cells == cell):
                    fits = has(view, e) and has(view, where) and (where is None or truth(where, view, int(local)))
                    if fits and wanted[cell]:
                        last, result = index, amount(e, view, int(local))
        assert by[cell] == last
        if last >= 0:
            assert same(float(found[cell]), result)
            if not math.isfinite(result):
                broken[last] = broken.get(last, 0) + 1
    assert len(problems) == len(broken)
    assert {p.code for p in problems} <= {"SDC321"}
    counted = sorted(int(p.headline.split(" in ")[1].split()[0]) for p in problems)
    assert counted == sorted(broken.values())


def test_a_condition_on_a_missing_dimension_selects_nothing_whatever_stands_around_it():
    wide, narrow, bare = views([5.0])
    is_small = x.Compare("=", x.Name("size"), x.Text("s"))
    for e in (x.Not(is_small), x.Compare("!=", x.Name("size"), x.Number("47")), x.Some((is_small, x.Not(is_small)))):
        chosen, _ = select([narrow, bare], e, 30, str)
        assert not chosen.any()
        assert select([wide], e, 30, str)[0].any()


def test_quantities_beside_each_other_are_no_dimensions():
    """`upl >= lpl` and `contribution > value` are about every table."""
    for view in views([5.0]):
        assert view.has(x.Compare(">=", x.Name("upl"), x.Name("lpl")))
        assert view.has(x.Compare(">", x.Name("contribution"), x.Name("value")))


def test_a_division_by_zero_is_not_hidden_by_what_stands_around_it():
    (wide, *_) = views([0.0])
    by_zero = x.Binary("/", x.Number("1"), x.Name("value"))
    for e in (by_zero, x.Call("min", (x.Argument(None, x.Number("5")), x.Argument(None, by_zero)))):
        assert np.isnan(Evaluator(wide, np.arange(3))(e)).all()
    guarded = x.Cond(x.Compare("=", x.Name("value"), x.Number("0")), x.Number("1"), by_zero)
    assert (Evaluator(wide, np.arange(3))(guarded) == 1).all()


def test_a_condition_without_a_value_is_said_and_not_taken_for_false():
    cells = np.arange(3)
    view = View(cells, {"value": np.array([0.0, 6.0, 8.0]), "count": np.array([0.0, 2.0, 0.0])}, numbers=cells)
    ratio = x.Compare(">", x.Binary("/", x.Name("value"), x.Name("count")), x.Number("2"))
    several = x.Compare(">", x.Name("count"), x.Number("0"))
    small = x.Compare("<", x.Name("value"), x.Number("1"))
    true, unknown = Evaluator(view, cells).holds(ratio)
    assert (true.tolist(), unknown.tolist()) == ([False, True, False], [True, False, True])
    # A false part decides `and`, a true part `or`; `not` decides nothing.
    assert Evaluator(view, cells).holds(x.Every((several, ratio)))[1].tolist() == [False, False, False]
    assert Evaluator(view, cells).holds(x.Some((small, ratio)))[1].tolist() == [False, False, True]
    assert Evaluator(view, cells).holds(x.Not(ratio))[1].tolist() == [True, False, True]
    chosen, found = select([view], ratio, 3, str)
    assert chosen.tolist() == [False, True, False]
    assert [d.code for d in found] == ["SDC321"]
    assert found[0].notes == ("0; 2",)
