"""SDMX: what pysdmx writes is read as what it was; parents and languages, which it leaves out, by hand; hostile XML."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.readers import xml_events
from sdcdsl.bind.readers.sdmx_hierarchy import read_sdmx_hierarchy, read_sdmx_labels
from sdcdsl.bind.readers.sdmx_structures import read_structures
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.importing import ImportOptions, policy_from
from sdcdsl.policy.read import read_policy
from tests.bind.policies import adds_up, bind_text, cell, problem_of, sensitive_labels
from tests.bind.readers import sdmx_messages as messages

POLICY = """sdc 1
policy "x"
data cells { sdmx "data" }
dimension AREA { codes N, S; total Total }
dimension SIZE { codes 1, 2; total _T }
table t {
  from cells
  by AREA, SIZE
  value OBS_VALUE
  status CONF_STATUS { sensitive "C"; safe "F" }
  only where TIME_PERIOD = "2025"
}
sensitive by status
attacker external { bounds 0 .. inf }
protect t { lpl 1; upl 1; against external; method suppression }
"""
NO_OPTIONS = {"codelist": None, "hierarchy": None}


def headlines(found: list[Diagnostic], folder: Path) -> list[str]:
    return [f"{d.code} {d.headline.replace(str(folder), '…')}" for d in found]


def said(raw: str | bytes, folder: Path) -> list[str]:
    (folder / "data").write_bytes(raw.encode() if isinstance(raw, str) else raw)
    return headlines(bind_text(POLICY, folder)[1], folder)


@pytest.mark.parametrize(("format", "across"), messages.DATA)
def test_data_in_every_form_are_the_same_cells(format: str, across: bool, tmp_path: Path):
    (tmp_path / "data").write_bytes(messages.data(format, across))
    problem = problem_of(POLICY, tmp_path)
    assert adds_up(problem)
    values = problem.dataset["a"].values
    for area, size, value, _ in messages.ROWS:
        assert values[cell(problem, AREA=area, SIZE=size)] == float(value)
    assert values[cell(problem, AREA="Total", SIZE="_T")] == 75.5
    assert sensitive_labels(problem) == {"AREA = S, SIZE = 1"}


@pytest.mark.parametrize("format", messages.STRUCTURES)
def test_a_data_structure_becomes_a_policy(format: str, tmp_path: Path):
    (tmp_path / "dsd.xml").write_bytes(messages.structure(format))
    text, found = policy_from(tmp_path / "dsd.xml", ImportOptions())
    assert text is not None and [d.code for d in found] == ["SDC328"]  # time is no dimension of the table
    assert "`TIME_PERIOD`" in found[0].headline
    (tmp_path / "made.sdc").write_text(text)
    policy, found = read_policy(tmp_path / "made.sdc", "made.sdc")
    assert found == [] and list(policy.tables) == ["turnover"] and list(policy.blocks["dimension"]) == ["AREA", "SIZE"]
    (tmp_path / "turnover.csv").write_bytes(messages.data("DATA_SDMX_CSV_2_0_0", False))
    problem = problem_of(text, tmp_path)
    assert problem.dataset["a"].values[cell(problem, AREA="Total", SIZE="2")] == 60
    assert sensitive_labels(problem) == {"AREA = S (South), SIZE = 1 (1 to 9)"}


def tree(raw: str, folder: Path, total: str | None, **options: str) -> tuple[CodeTree | None, list[Diagnostic]]:
    (folder / "s.xml").write_text(raw, encoding="utf-8")
    return read_sdmx_hierarchy(folder / "s.xml", total, "", {**NO_OPTIONS, **options})


def parents(made: CodeTree | None) -> dict[str, str | None]:
    assert made is not None
    return {c: made.codes[p] if p >= 0 else None for c, p in zip(made.codes, made.parent, strict=True)}


EUROPE = "EU DE<EU FR<EU DE1<DE DE2<DE US"


@pytest.mark.parametrize("version", ["2_1", "3_0"])
def test_parents_in_a_code_list(version: str, tmp_path: Path):
    whole = messages.codelist(EUROPE, version=version)
    below = {"EU": None, "DE": "EU", "FR": "EU", "DE1": "DE", "DE2": "DE"}
    assert parents(tree(whole, tmp_path, "EU")[0]) == below
    assert parents(tree(whole, tmp_path, "DE")[0]) == {"DE": None, "DE1": "DE", "DE2": "DE"}
    assert parents(tree(whole, tmp_path, "World")[0]) == {**below, "EU": "World", "US": "World", "World": None}
    assert [d.code for d in tree(whole, tmp_path, None)[1]] == ["SDC312"]  # two codes without a parent


def test_a_total_beside_its_parts(tmp_path: Path):
    assert parents(tree(messages.codelist("_T A B"), tmp_path, "_T")[0]) == {"_T": None, "A": "_T", "B": "_T"}


def test_names_in_all_languages(tmp_path: Path):
    (tmp_path / "s.xml").write_text(messages.codelist("A"), encoding="utf-8")
    structures, _ = read_structures(tmp_path / "s.xml")
    assert structures is not None
    assert structures.codelists[0].codes[0].names == {"en": "A in English", "fr": "A en français"}
    both = {"en": {"A": "A in English"}, "fr": {"A": "A en français"}}
    for language, expected in ((None, both), ("fr", {"fr": both["fr"]})):
        assert read_sdmx_labels(tmp_path / "s.xml", language, {"codelist": None}) == (expected, [])
    labels, found = read_sdmx_labels(tmp_path / "s.xml", "nl", {"codelist": "CL_GEO"})
    assert labels is None and headlines(found, tmp_path) == ["SDC344 …/s.xml has no labels in `nl`"]


@pytest.mark.parametrize("raw", [messages.HIERARCHY_21, messages.HIERARCHY_30])
def test_hierarchies(raw: str, tmp_path: Path):
    expected = {"Total": None, "COAST": "Total", "N": "COAST", "S": "COAST", "INLAND": "Total"}
    assert parents(tree(raw, tmp_path, "Total")[0]) == expected
    assert parents(tree(raw, tmp_path, "Total", hierarchy="BY_COAST")[0]) == expected


@pytest.mark.parametrize(
    ("codes", "options", "expected"),
    [
        ("A B<X", {}, "SDC312 codes whose parent is not in the list"),
        ("A A", {}, "SDC312 codes listed twice"),
        ("A B<A B<A", {}, "SDC312 codes listed twice"),
        ("A B C<A C<B", {}, "SDC311 1 code with two parents"),
        ("A<B B<A", {}, "SDC310 the hierarchy goes in a circle: A → B → A"),
        ("", {}, "SDC308 no codes in the hierarchy"),
        ("A", {"codelist": "CL_GE"}, "SDC302 …/s.xml has no code list `CL_GE`"),
        ("A", {"codelist": "YY:CL_GEO(1.0)"}, "SDC302 …/s.xml has no code list `YY:CL_GEO(1.0)`"),
        ("A", {"hierarchy": "H"}, "SDC302 …/s.xml has no hierarchy `H`"),
        ("A", {"hierarchy": "H", "codelist": "C"}, "SDC302 a code list and a hierarchy: one of them is the tree"),
    ],
)
def test_what_is_wrong_with_a_list_is_said(codes: str, options: dict[str, str], expected: str, tmp_path: Path):
    made, found = tree(messages.codelist(codes), tmp_path, "Total", **options)
    assert made is None and headlines(found, tmp_path) == [expected]


def test_of_several_lists_one_must_be_chosen(tmp_path: Path):
    (tmp_path / "s.xml").write_bytes(messages.structure("STRUCTURE_SDMX_ML_3_0"))
    _, found = read_sdmx_hierarchy(tmp_path / "s.xml", "Total", "", NO_OPTIONS)
    said = headlines(found, tmp_path)
    assert said == ["SDC302 …/s.xml has several code lists or hierarchies, and nothing says which"]
    assert "XX:CL_AREA(1.0)" in str(found[0].notes)
    for named in ("CL_AREA", "XX:CL_AREA", "XX:CL_AREA(1.0)"):
        made, _ = read_sdmx_hierarchy(tmp_path / "s.xml", "Total", "", {"codelist": named, "hierarchy": None})
        assert parents(made) == {"Total": None, "N": "Total", "S": "Total"}


# ---- files that are something else, broken or hostile ------------------------------------------------------------

FLAT = messages.data("DATA_SDMX_ML_3_0", False).decode()
CSV = messages.data("DATA_SDMX_CSV_2_0_0", False).decode()
DELETES = "SDC302 …/data says which observations go, and not only which there are"
CANNOT = "SDC302 cannot read …/data: it "
TYPED = f"{CANNOT}has a document type, which files of SDMX have not, and which may hold entities"
EMPTIED = FLAT.replace("<mes:DataSet", "<!--<mes:DataSet").replace("</mes:DataSet>", "</mes:DataSet>-->")
STRUCTURE = messages.structure("STRUCTURE_SDMX_ML_2_1")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("area,v\nN,1\n", "SDC302 …/data is no SDMX-CSV: its first column is `area`, not DATAFLOW or STRUCTURE"),
        (CSV.replace(",I,", ",D,"), DELETES),
        (FLAT.replace('action="Information"', 'action="Delete"'), DELETES),
        (FLAT.replace("OBS_VALUE", "VALUE"), "SDC303 no column `OBS_VALUE` in …/data"),
        (FLAT[: len(FLAT) // 2], f"{CANNOT}is not a whole XML file"),
        (STRUCTURE, f"{CANNOT}is no data message of SDMX: its root is `Structure`"),
        (EMPTIED, "SDC308 …/data has no observations"),
        (FLAT.replace("UTF-8", "utf-7-x"), "SDC317 …/data is in an encoding that XML files are not read in"),
        (messages.BOMB, TYPED),
        (messages.OUTSIDE, TYPED),
        ("<?xml version='1.0'?>" + "<a>" * 1000, f"{CANNOT}is no data message of SDMX: its root is `a`"),
    ],
)
def test_what_is_wrong_with_data_is_said(raw: str | bytes, expected: str, tmp_path: Path):
    assert raw != FLAT
    assert said(raw, tmp_path)[:1] == [expected]


def test_missing_values_and_what_is_no_number(tmp_path: Path):
    assert said(CSV.replace(",5.5,", ",NaN,"), tmp_path)[0].startswith("SDC309")
    assert said(CSV.replace(",5.5,", ",abc,"), tmp_path)[0].startswith("SDC306")


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "s.xml"

    def refused(raw: str, largest: int = 1 << 30) -> str:
        path.write_text(raw)
        [one] = xml_events.read_xml(path, lambda *_: None, lambda *_: None, largest)
        return one.headline.removeprefix(f"cannot read {path}: ")

    assert refused("<a>" * 200) == "its elements are nested more than 100 deep"
    assert refused(f"<a>{'b' * 9_000_000}</a>") == "it has a text of more than 4,194,304 signs"
    assert refused(f"<a b='{'b' * 9_000_000}'/>") == "it has a tag of more than 4,194,304 bytes"
    assert refused(f"<a>{'<b/>' * 200}</a>", 100) == "it has more than 100 bytes"
    monkeypatch.setattr("sdcdsl.bind.readers.sdmx_structures.MOST_ELEMENTS", 10)
    path.write_text(messages.codelist("A B C D E F"), encoding="utf-8")
    assert "more than 10 elements" in read_structures(path)[1][0].headline


def test_another_kind_of_file_is_recognised(tmp_path: Path):
    (tmp_path / "data").write_text(FLAT)
    policy = POLICY.replace('sdmx "data"', 'csv "data"')
    assert headlines(bind_text(policy, tmp_path)[1], tmp_path)[0] == (
        "SDC302 …/data is an XML file, and the policy says `csv`"
    )


def test_many_elements_take_time_in_proportion(tmp_path: Path):
    """Text between elements is nobody's, and is not held: six million signs of it here."""
    path, seen = tmp_path / "s.xml", [0]

    def count(*_: object) -> None:
        seen[0] += 1

    path.write_text(f"<a>{('<b/>' + ' ' * 100) * 60_000}</a>")
    assert xml_events.read_xml(path, count, lambda *_: None, 1 << 30) == []
    assert seen[0] == 60_001
