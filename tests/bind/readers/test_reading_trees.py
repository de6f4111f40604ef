import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.readers.correspondence import read_correspondence
from sdcdsl.bind.readers.hrc import hrc_text, read_hrc
from sdcdsl.bind.readers.inline_tree import Entry, Equation, tree_from_equations, tree_from_outline
from sdcdsl.bind.readers.parents import read_parents
from sdcdsl.bind.readers.prefix import tree_from_prefixes
from sdcdsl.diagnostics import FilePlace, Source

HERE = FilePlace("here")


def parents_of(tree: CodeTree) -> dict[str, str | None]:
    return {c: tree.codes[p] if p >= 0 else None for c, p in zip(tree.codes, tree.parent.tolist(), strict=True)}


def grown(result) -> CodeTree:
    tree, problems = result
    assert problems == []
    assert tree is not None
    return tree


def only(result):
    tree, problems = result
    assert tree is None
    (problem,) = problems
    return problem


def hrc(text, total="T", **options):
    return read_hrc(Source("x.hrc", text), total=total, **options)


def parents(text, **options):
    return read_parents(Source("p.csv", text), **options)


def correspondence(text, **options):
    return read_correspondence(Source("c.csv", text), **options)


# ---- .hrc ----------------------------------------------------------------------------------


def test_hrc_depth_and_order():
    tree = grown(hrc("Nr\n@1\n@2\n@@2a\nOs\n@3\n"))
    assert tree.codes == ("T", "Nr", "1", "2", "2a", "Os", "3")
    assert tree.parent.tolist() == [-1, 0, 1, 1, 3, 0, 5]
    assert tree.level.tolist() == [1, 2, 3, 3, 4, 2, 3]
    assert tree.sign.tolist() == [1] * 7


def test_hrc_layout_is_not_part_of_a_code():
    assert grown(hrc("A  \r\n@ a\r\n\r\n@b")).codes == ("T", "A", "a", "b")


def test_hrc_other_leaders():
    assert parents_of(grown(hrc("A\n--a\n----x", leader="--"))) == {"T": None, "A": "T", "a": "A", "x": "a"}


def test_hrc_may_begin_with_its_total():
    assert parents_of(grown(hrc("T\n@A\n@B"))) == {"T": None, "A": "T", "B": "T"}


def test_a_group_of_one_with_its_own_name_is_one_node():
    assert grown(hrc("A\n@A\nB")).codes == ("T", "A", "B")


@pytest.mark.parametrize(
    ("text", "code", "line", "label"),
    [
        ("A\n@@b\n", "SDC312", 2, "`b` at level 3, at most 2 fits"),
        ("@a\n", "SDC312", 1, "`a` at level 2, at most 1 fits"),
        ("A\n@a\nB\n@a\n", "SDC311", 4, "`a` below `B`, but already below `A`"),
        ("A\n@a\n@a\n", "SDC312", 3, "`a` stands below `A` already"),
        ("A\n@A\n@b\n", "SDC310", 2, "`A` = `A` + `b`"),
        ("A\n@T\n", "SDC310", 2, "below `A`"),
        ("A\n@\n", "SDC312", 2, "no code after the leader"),
    ],
)
def test_hrc_mistakes(text, code, line, label):
    problem = only(hrc(text))
    assert (problem.code, problem.marks[0].label) == (code, label)
    assert problem.marks[0].place == FilePlace("x.hrc", line=line)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_empty_hrc(text):
    assert only(hrc(text)).code == "SDC308"


def test_a_leader_must_be_something():
    assert only(hrc("A", leader="")).code == "SDC312"


def test_hrc_cannot_say_everything():
    def unwritable(*codes, sign=1):
        n = len(codes)
        tree = CodeTree(("T", *codes), np.array([-1] + [0] * n), np.array([1] + [sign] * n))
        text, problems = hrc_text(tree)
        return text is None and {p.code for p in problems} == {"SDC312"}

    assert unwritable("@a")
    assert unwritable(" a")
    assert unwritable("a\nb")
    assert unwritable("a", sign=-1)
    assert not unwritable("a@", "é", "a b")


# ---- random trees through every format ----------------------------------------------------

code_text = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters='@,;|"'), min_size=1, max_size=6)


@st.composite
def trees(draw):
    codes = draw(st.lists(code_text, min_size=2, max_size=14, unique=True))
    above = {codes[i]: codes[draw(st.integers(0, i - 1))] for i in range(1, len(codes))}
    return codes[0], above


def outline(root, above):
    def below(code, depth):
        for child in (c for c, p in above.items() if p == code):
            yield Entry(depth, child, HERE)
            yield from below(child, depth + 1)

    return list(below(root, 0))


@settings(max_examples=120, deadline=None)
@given(trees())
def test_every_format_gives_the_same_tree(tree):
    root, above = tree
    expected = {root: None, **above}
    by_outline = grown(tree_from_outline(outline(root, above), place=HERE, total=root))
    assert parents_of(by_outline) == expected
    text, problems = hrc_text(by_outline)
    assert problems == []
    assert text is not None
    again = grown(hrc(text, total=root))
    assert (again.codes, again.parent.tolist()) == (by_outline.codes, by_outline.parent.tolist())
    rows = "".join(f"{p},{c}\n" for c, p in above.items())
    assert parents_of(grown(parents("parent,child\n" + rows))) == expected
    sums = [Equation(p, [(1, c) for c, q in above.items() if q == p], HERE) for p in dict.fromkeys(above.values())]
    assert parents_of(grown(tree_from_equations(sums, place=HERE))) == expected


@settings(max_examples=120, deadline=None)
@given(trees())
def test_trees_come_in_preorder(tree):
    _, above = tree
    grown_tree = grown(parents("parent,child\n" + "".join(f"{p},{c}\n" for c, p in above.items())))
    subtree: dict[int, set[int]] = {i: {i} for i in range(len(grown_tree.codes))}
    for i in reversed(range(1, len(grown_tree.codes))):
        assert grown_tree.parent[i] < i
        subtree[int(grown_tree.parent[i])] |= subtree[i]
    # preorder: every subtree is one stretch of positions
    assert all(max(nodes) - min(nodes) + 1 == len(nodes) for nodes in subtree.values())


@settings(max_examples=100, deadline=None)
@given(trees(), st.data())
def test_closing_a_branch_into_a_circle_is_found(tree, data):
    root, above = tree
    start = data.draw(st.sampled_from(sorted(above)))
    ancestors = [start]
    while ancestors[-1] in above:
        ancestors.append(above[ancestors[-1]])
    # the root now belongs to one of its own descendants
    rows = [*above.items(), (root, start)]
    result, problems = parents("parent,child\n" + "".join(f"{p},{c}\n" for c, p in rows))
    assert result is None
    assert {p.code for p in problems} == {"SDC310"}
    assert all(clip in problems[0].headline for clip in ancestors[:2])


# ---- parent/child --------------------------------------------------------------------------


def test_parents_columns_by_name_header_or_place():
    expected = {"T": None, "A": "T"}
    assert parents_of(grown(parents("code;parent\nA;T\n"))) == expected
    assert parents_of(grown(parents("x,y\nT,A\n"))) == expected
    assert parents_of(grown(parents("label,low,up\nhm,A,T\n", parent="up", child="low"))) == expected


def test_parents_without_a_root_in_the_file():
    assert parents_of(grown(parents("parent,child\nA,a\nB,b\n", total="T"))) == {
        "T": None, "A": "T", "a": "A", "B": "T", "b": "B",
    }  # fmt: skip
    assert grown(parents("parent,child\n,A\n,B\nA,a\n", total="T")).codes == ("T", "A", "a", "B")


@pytest.mark.parametrize(
    ("text", "total", "code", "says"),
    [
        ("parent,child\nA,B\nB,C\nC,A\n", None, "SDC310", "→"),
        ("parent,child\nA,B\nB,C\nC,A\n", "T", "SDC310", "→"),
        ("parent,child\nT,A\nT,B\nA,x\nB,x\n", None, "SDC311", "two parents"),
        ("parent,child\nA,a\nB,b\n", None, "SDC312", "2 codes without a parent"),
        ("parent,child\nT,a\nB,b\n", "T", "SDC312", "outside the total `T`"),
        ("parent,child\nT,a\nT,a\n", None, "SDC312", "twice"),
        ("parent,child\nT,a\nT,\n", None, "SDC312", "rows without a code"),
        ("parent\nT\n", None, "SDC303", "one column"),
        ("parent,child\n", None, "SDC308", "no rows"),
        ("", None, "SDC308", "empty"),
    ],
)
def test_parents_mistakes(text, total, code, says):
    problem = only(parents(text, total=total))
    assert problem.code == code
    assert says in problem.headline


def test_two_parents_names_both_and_the_line():
    problem = only(parents("parent,child\nT,A\nT,B\nA,x\nB,x\n"))
    assert problem.marks[0].place == FilePlace("p.csv", line=5)
    assert problem.marks[0].label == "`x` below `B`, but already below `A`"


def test_missing_columns_come_with_a_suggestion():
    tree, problems = parents("parent,child\nT,A\n", parent="parnt", child="child")
    assert tree is None
    assert [(p.code, p.marks[0].label) for p in problems] == [("SDC303", "did you mean `parent`?")]


# ---- correspondence tables -----------------------------------------------------------------


def test_correspondence_levels():
    tree = grown(correspondence("L1,L2,L3\nAZ,A,01\nAZ,A,02\nBE,B,06\n", total="T"))
    assert tree.codes == ("T", "AZ", "A", "01", "02", "BE", "B", "06")
    assert tree.level.tolist() == [1, 2, 3, 4, 4, 2, 3, 4]
    again = grown(correspondence("L1,L2,L3\nAZ,A,01\nAZ,A,02\nBE,B,06\nAZ,A,01\n", total="T"))
    assert again.codes == tree.codes  # a row said twice says nothing new


def test_correspondence_choice_of_columns():
    assert grown(correspondence("L1,L2,L3\nAZ,A,01\nAZ,A,02\n", total="T", columns=["L1", "L3"])).codes == (
        "T", "AZ", "01", "02",
    )  # fmt: skip


def test_correspondence_same_code_at_two_levels_is_one_node():
    assert parents_of(grown(correspondence("a,b,c\nAZ,X,X\nAZ,A,01\n", total="T"))) == {
        "T": None, "AZ": "T", "X": "AZ", "A": "AZ", "01": "A",
    }  # fmt: skip


def test_correspondence_total_in_the_first_column():
    assert grown(correspondence("a,b\nT,x\nT,y\n")).codes == ("T", "x", "y")
    assert grown(correspondence("a,b\nT,x\nT,y\n", total="T")).codes == ("T", "x", "y")


def test_correspondence_ragged_rows_end_early():
    assert parents_of(grown(correspondence("a;b\nA;\nB;x\n", total="T"))) == {"T": None, "A": "T", "B": "T", "x": "B"}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a,b\nA,1\nB,1\n", "SDC311", 3),
        ("a,b\nA,B\nB,C\n", "SDC311", 3),
        ("a,b\nX,X\nX,Y\n", "SDC310", 2),
        ("a,b\n,x\n", "SDC312", 2),
        ("a,b,c\nA,,x\n", "SDC312", 2),
        ("a,b\nA,x,y\n", "SDC302", 2),
    ],
)
def test_correspondence_mistakes(text, code, line):
    problem = only(correspondence(text, total="T"))
    assert problem.code == code
    assert isinstance(problem.place, FilePlace)
    assert problem.place.line == line


def test_correspondence_needs_a_total_when_there_are_many_tops():
    assert only(correspondence("a,b\nA,1\nB,2\n")).code == "SDC312"


def test_offices_tables(shared):
    activity = grown(read_correspondence(shared / "tables/rtauargus/activity_corr_table.csv", total="Total"))
    rows = [line.split(",") for line in (shared / "tables/rtauargus/activity_corr_table.csv").read_text().split()[1:]]
    assert set(activity.codes) == {"Total", *(code for row in rows for code in row)}
    assert all(parents_of(activity)[fine] in (coarse, parents_of(activity)[coarse]) for _, coarse, fine in rows)
    regions = grown(read_hrc(shared / "bench/mid/REG.hrc", total="Total"))
    assert parents_of(regions)["R0402"] == "R04"


# ---- prefixes ------------------------------------------------------------------------------


def test_prefixes():
    tree = grown(tree_from_prefixes(["4712", "46", "4711", "5"], [1, 2, 4], total="T", place=HERE))
    assert parents_of(tree) == {
        "T": None, "4": "T", "46": "4", "47": "4", "4711": "47", "4712": "47", "5": "T",
    }  # fmt: skip


def test_prefixes_keep_leading_zeros_and_go_to_the_full_code():
    assert parents_of(grown(tree_from_prefixes(["0101"], [2], total="T", place=HERE))) == {
        "T": None, "01": "T", "0101": "01",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("codes", "lengths", "code"),
    [(["47", "4711"], [2, 4], "SDC312"), (["47"], [2, 1], "SDC312"), (["47"], [0], "SDC312"), (["47"], [], "SDC312"),
     ([], [1], "SDC308"), (["Tx", "Ty"], [1], "SDC310")],
)  # fmt: skip
def test_prefix_mistakes(codes, lengths, code):
    assert only(tree_from_prefixes(codes, lengths, total="T", place=HERE)).code == code


# ---- written in the policy -----------------------------------------------------------------


def test_equations_with_signs():
    tree = grown(
        tree_from_equations(
            [Equation("T", [(1, "A"), (-1, "B")], HERE), Equation("A", [(1, "x"), (1, "y")], HERE)], place=HERE
        )
    )
    assert tree.codes == ("T", "A", "x", "y", "B")
    assert tree.sign.tolist() == [1, 1, 1, 1, -1]


@pytest.mark.parametrize(
    ("equations", "code"),
    [
        ([("T", ["A"]), ("A", ["T"])], "SDC310"),
        ([("T", ["T", "A"])], "SDC310"),
        ([("T", ["A", "B"]), ("A", ["x"]), ("B", ["x"])], "SDC311"),
        ([("T", ["A"]), ("T", ["B"])], "SDC312"),
        ([("T", ["A", "A"])], "SDC312"),
        ([("S", ["A"]), ("T", ["B"])], "SDC312"),
        ([], "SDC308"),
    ],
)
def test_equation_mistakes(equations, code):
    written = [Equation(total, [(1, c) for c in terms], HERE) for total, terms in equations]
    assert only(tree_from_equations(written, place=HERE)).code == code


def test_outline_with_a_single_top():
    tree = grown(tree_from_outline([Entry(0, "T", HERE), Entry(1, "A", HERE), Entry(1, "B", HERE)], place=HERE))
    assert tree.codes == ("T", "A", "B")


def test_writing_hrc(tmp_path):
    tree = grown(hrc("A\n@Å\nB\n"))
    text, problems = hrc_text(tree)
    assert (text, problems) == ("A\n@Å\nB\n", [])
    (tmp_path / "x.hrc").write_text(text, encoding="latin-1")
    assert grown(read_hrc(tmp_path / "x.hrc", total="T", encoding="latin-1")).codes == tree.codes


def test_a_deep_tree_needs_no_recursion():
    depth = 20_000
    tree = grown(parents("parent,child\n" + "".join(f"{i},{i + 1}\n" for i in range(depth))))
    assert len(tree.codes) == depth + 1
    assert tree.level[-1] == depth + 1
