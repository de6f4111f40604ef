import pytest

from sdcdsl.bind.readers.arb import (
    APrioriFile,
    Open,
    OtherCommand,
    ReadCommand,
    SafetyRule,
    SafetyRuleCall,
    SpecifyTable,
    Suppress,
    WriteTable,
    read_arb,
)
from sdcdsl.bind.readers.argus_data import read_argus_data
from sdcdsl.bind.readers.hst import APriori, read_hst
from sdcdsl.bind.readers.rda import read_rda
from sdcdsl.diagnostics import Source
from tests.bind.policies import bind_file

FIXED = """Nace 1 6 "999999"
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 3 1 1 1 0 0
Size 8 2 98 99
  <RECODABLE>
  <TOTCODE> "All"
  <CODELIST> "size.cdl"
Region 11 2
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERCODELIST> "region two.hrc"
  <HIERLEADSTRING> "#"
Turnover 13 6
  <NUMERIC>
  <DECIMALS> 1
Wgt 19 3
  <WEIGHT>
Group 23 1
  <HOLDING>
Ask 24 1
  <REQUEST> "1" "2"
"""

TABLE = """   <SEPARATOR> ";"
   <SAFE> "safe"
   <UNSAFE> "no"
Size "99"
  <RECODEABLE>
Region
  <RECODEABLE>
Value
  <NUMERIC>
Freq
  <FREQUENCY>
Shade
  <NUMERIC> <SHADOW>
Price
  <NUMERIC> <COSTVAR>
Top1
  <MAXSCORE>
Top2
  <MAXSCORE>
Mark
  <STATUS>
Down
  <NUMERIC> <LOWERPL>
Up
  <NUMERIC> <UPPERPL>
"""


def metadata(text, **options):
    found, problems = read_rda(Source("m.rda", text), **options)
    assert problems == []
    assert found is not None
    return found


# ---- metadata ------------------------------------------------------------------------------


def test_fixed_metadata():
    m = metadata(FIXED)
    assert (m.separator, m.is_table) == (None, False)
    nace, size, region, turnover, weight, group, ask = m.variables
    assert (nace.start, nace.width, nace.missing, nace.prefix_lengths) == (1, 6, ("999999",), (3, 4, 5, 6))
    assert (size.missing, size.total, size.codelist, size.roles) == (("98", "99"), "All", "size.cdl", {"code"})
    assert (region.hierarchy_file, region.leader, region.total) == ("region two.hrc", "#", "Total")
    assert (turnover.decimals, turnover.is_number, weight.is_number, group.is_number) == (1, True, True, False)
    assert (ask.request, ask.line) == (("1", "2"), 21)
    assert m.variable("TURNOVER") is turnover
    assert m.variable("nothing") is None
    assert m.with_role("holding") == (group,)


def test_table_metadata():
    m = metadata(TABLE)
    assert (m.separator, m.is_table, m.safe, m.unsafe, m.protect) == (";", True, "safe", "no", "P")
    assert [sorted(v.roles) for v in m.variables] == [
        ["code"], ["code"], ["number"], ["count"], ["shadow"], ["cost"], ["largest"], ["largest"], ["status"],
        ["lpl"], ["upl"],
    ]  # fmt: skip
    assert m.variables[0].missing == ("99",)


def test_free_microdata_have_widths_tables_do_not():
    text = '<SEPARATOR> ","\nSex 1 9\n <RECODEABLE>\nIncome 8\n <NUMERIC>\n'
    micro = metadata(text)
    assert [(v.start, v.width, v.missing) for v in micro.variables] == [(None, 1, ("9",)), (None, 8, ())]
    table = metadata(text, is_table=True)
    assert [(v.width, v.missing) for v in table.variables] == [(None, ("1", "9")), (None, ("8",))]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("<RECODEABLE>\n", 1, "before the first variable"),
        ("A 1 2\n  <RECODABEL>\n", 2, "no keyword"),
        ("A one 2\n", 1, "first column and width"),
        ("A 0 2\n", 1, "first column and width"),
        ('<SEPARATOR> ","\nA\n', 2, "needs its width"),
        ('<SEPARATOR> ", "\nA 1 1\n', 1, "single character"),
        ("A 1 2\na 3 2\n", 2, "twice"),
        ("A 1 3\nB 3 1\n", 2, "overlap"),
        ("A 1 5\n  <HIERLEVELS> 2 2\n", 1, "add up to 4"),
        ("A 1 5\n  <DECIMALS> many\n", 2, "whole numbers"),
        ("A 1 5\n  <TOTCODE>\n", 2, "needs a value"),
        ("A 1 5\n  <NUMERIC> <SHADE>\n", 2, "after `<NUMERIC>`"),
        ("<SPSS>\nA 1 5\n", 1, "SPSS"),
    ],
)
def test_metadata_mistakes(text, line, says):
    found, problems = read_rda(Source("m.rda", text))
    assert found is None
    assert problems[0].code == "SDC314"
    assert str(problems[0].place) == f"m.rda:{line}"
    assert says in problems[0].headline


def test_empty_metadata():
    assert [p.code for p in read_rda(Source("m.rda", "\n\n"))[1]] == ["SDC308"]


# ---- data ----------------------------------------------------------------------------------


def test_fixed_data():
    #        Nace--.Si.ReTurnovWgt.GA
    lines = "471100 05  7   1.5  2 G1\n471200 99 12    20  1 H\n\n"
    records, problems = read_argus_data(Source("d.asc", lines), metadata(FIXED))
    assert problems == []
    assert records is not None
    assert records.frame.collect().rows(named=True) == [
        {"row of the file": 1, "Nace": "471100", "Size": "05", "Region": "7", "Group": "G", "Ask": "1",
         "Turnover": 1.5, "Wgt": 2.0},
        {"row of the file": 2, "Nace": "471200", "Size": "99", "Region": "12", "Group": "H", "Ask": None,
         "Turnover": 20.0, "Wgt": 1.0},
    ]  # fmt: skip


def test_fixed_lines_must_reach_the_end_of_their_numbers():
    records, problems = read_argus_data(
        Source("d.asc", "471100 05  7   1.5  2 G1\n471200 99 12    20\n"), metadata(FIXED)
    )
    assert records is None
    assert [(p.code, str(p.place)) for p in problems] == [("SDC302", "d.asc:2")]
    assert "column 21" in problems[0].headline


TAB = '"Total";"All";168,84;42;1,0;1,0;17,00;9,5;safe;0,01;0,02\n" 2";"Nr";5,00;1;1,0;1,0;5,00;0,00;no;0,75;0,5\n'


def test_free_table_with_decimal_comma():
    records, problems = read_argus_data(Source("d.tab", TAB), metadata(TABLE))
    assert problems == []
    assert records is not None
    frame = records.frame.collect()
    assert frame.select("Size", "Region", "Value", "Freq", "Mark", "Up").rows() == [
        ("Total", "All", 168.84, 42.0, "safe", 0.02),
        ("2", "Nr", 5.0, 1.0, "no", 0.5),
    ]


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        (TAB.replace("5,00;1;", "five;1;"), "SDC306", "d.tab:2 (column Value)"),
        (TAB.replace("5,00;1;", "5.000,00;1;"), "SDC306", "d.tab:2 (column Value)"),
        (TAB.replace(";0,75;0,5", ";0,75"), "SDC302", "d.tab:2"),
        ("", "SDC308", "d.tab"),
    ],
)
def test_data_mistakes(text, code, place):
    records, problems = read_argus_data(Source("d.tab", text), metadata(TABLE))
    assert records is None
    assert [(p.code, str(p.place)) for p in problems] == [(code, place)]


# ---- a priori ------------------------------------------------------------------------------


def test_apriori_lines():
    text = 'Nr;5;u\nNr;6;P\n"Os";"a;b";s\n\nNr;7;ml\nNr;8;c;1,5\nNr;9;w;2\nNr;10;pl;10;15.5\nNr;11;ab;-1;2\n'
    found, problems = read_hst(Source("a.hst", text))
    assert problems == []
    assert found == (
        APriori(1, ("Nr", "5"), status="unsafe"),
        APriori(2, ("Nr", "6"), status="protect"),
        APriori(3, ("Os", "a;b"), status="safe"),
        APriori(5, ("Nr", "7"), status="hidden"),
        APriori(6, ("Nr", "8"), cost=1.5),
        APriori(7, ("Nr", "9"), cost=2.0),
        APriori(8, ("Nr", "10"), levels=(10.0, 15.5)),
        APriori(9, ("Nr", "11"), bounds=(-1.0, 2.0)),
    )


@pytest.mark.parametrize("separator", [",", "\t", "|"])
def test_apriori_separators_are_found(separator):
    text = "a;b;u\nc;d;pl;1;2\n".replace(";", separator)
    found, _ = read_hst(Source("a.hst", text))
    assert found is not None
    assert [entry.codes for entry in found] == [("a", "b"), ("c", "d")]


def test_codes_may_look_like_commands_when_dimensions_are_known():
    found, _ = read_hst(Source("a.hst", "u;c;pl;1;2\n"), dimensions=2)
    assert found == (APriori(1, ("u", "c"), levels=(1.0, 2.0)),)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("a;b;q", "`q` is no status"),
        ("a;u", "found `a;u`"),
        ("a;b;pl;1", "`pl` takes 2 numbers"),
        ("a;b;pl;x;1", "`pl` takes 2 numbers"),
        ("a;b;pl;-1;1", "below zero"),
        ("a;b;c;-1", "below zero"),
        ("a;b;c;nan", "`c` takes 1 numbers"),
        ("a;b;ab;5;1", "upside down"),
        ("a;b;u;7", "after a status"),
    ],
)
def test_apriori_mistakes(line, says):
    found, problems = read_hst(Source("a.hst", f"x;y;s\n{line}\n"))
    assert found is None
    (problem,) = problems
    assert (problem.code, str(problem.place)) == ("SDC315", "a.hst:2")
    assert says in problem.marks[0].label


# ---- batch files ---------------------------------------------------------------------------

BATCH = r"""// made by hand
\\ an old kind of comment
<LOGBOOK> "log.txt"
<OPENMICRODATA>    "my data.asc"
<openmetadata>     meta.rda
<SPECIFYTABLE>     "Size""Region"|"Var2"||
<SAFETYRULE>       NK(2,75)|NK(0,0)|P(10,1)|FREQ(3,20)|ZERO(10)|REQ(10,5,2,3)|WGT(1)|MIS(0)|MAN(20)
<SPECIFYTABLE>     "Region" "Nace"|<freq>|"Shade"|-3,0.5
<SPECIFYTABLE>     "A|B"|"V"|"S"|"Cost"|0.3
<SAFETYRULE>
<READMICRODATA>
<READTABLE> 1T
<APRIORI> "x,y.hst", 1, ",", 0, 1
<RECODE> 1, Size, "GK.grc"
<SUPPRESS> MOD(0, 5,1,1,1)
<WRITETABLE> (1,5,AS+SE-,"out,1.tab")
<WRITETABLE> (2, 6, , "out.jj")
<GOINTERACTIVE>
"""


def test_batch_commands():
    commands, problems = read_arb(Source("b.arb", BATCH))
    assert problems == []
    assert commands == (
        OtherCommand(3, "<LOGBOOK>", ("log.txt",)),
        Open(4, "microdata", "my data.asc"),
        Open(5, "metadata", "meta.rda"),
        SpecifyTable(6, ("Size", "Region"), "Var2"),
        SafetyRule(
            7,
            (
                SafetyRuleCall("NK", (2, 75)),
                SafetyRuleCall("NK", (0, 0)),
                SafetyRuleCall("P", (10, 1)),
                SafetyRuleCall("FREQ", (3, 20)),
                SafetyRuleCall("ZERO", (10,)),
                SafetyRuleCall("REQ", (10, 5, 2, 3)),
                SafetyRuleCall("WGT", (1,)),
                SafetyRuleCall("MIS", (0,)),
                SafetyRuleCall("MAN", (20,)),
            ),
        ),
        SpecifyTable(8, ("Region", "Nace"), None, "Shade", "-3", 0.5),
        SpecifyTable(9, ("A|B",), "V", "S", "Cost", 0.3),
        SafetyRule(10, ()),
        ReadCommand(11, "microdata"),
        ReadCommand(12, "table", "1T"),
        APrioriFile(13, "x,y.hst", 1, ",", ignore_errors=False, expand_trivial=True),
        OtherCommand(14, "<RECODE>", ("1", "Size", "GK.grc")),
        Suppress(15, "MOD", 0, (5, 1, 1, 1)),
        WriteTable(16, 1, "intermediate", (("AS", True), ("SE", False)), "out,1.tab"),
        WriteTable(17, 2, "jj", (), "out.jj"),
        OtherCommand(18, "<GOINTERACTIVE>", ()),
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("<SUPRESS> MOD(1)", "did you mean `<SUPPRESS>`?"),
        ("SUPPRESS MOD(1)", ""),
        ("<SUPPRESS> MOD", "is not a method"),
        ("<SUPPRESS> MOD(x)", "is not a method"),
        ("<SUPPRESS> MOD(1.5)", "is not a method"),
        ("<SAFETYRULE> NK(2)", "NK takes 2 numbers"),
        ("<SAFETYRULE> NK(2,75", "is not a rule"),
        ("<SAFETYRULE> FRQ(3,10)", "did you mean `FREQ`?"),
        ("<SPECIFYTABLE> |V", "side by side"),
        ('<SPECIFYTABLE> "A"|"V"||"C",much', "`much` is not a number"),
        ("<OPENMICRODATA>", "file name"),
        ('<APRIORI> "x.hst",one,";"', "expected"),
        ('<WRITETABLE> (1,9,,"x")', "expected"),
        ('<WRITETABLE> (1,5,AS*,"x")', "AS*"),
    ],
)
def test_batch_mistakes_do_not_stop_the_rest(line, says):
    commands, problems = read_arb(Source("b.arb", f"<CLEAR>\n{line}\n<READMICRODATA>\n"))
    assert commands == (OtherCommand(1, "<CLEAR>", ()), ReadCommand(3, "microdata"))
    (problem,) = problems
    assert (problem.code, str(problem.place)) == ("SDC316", "b.arb:2")
    assert says in problem.marks[0].label


def test_an_empty_batch():
    commands, problems = read_arb(Source("b.arb", "// nothing\n"))
    assert commands is None
    assert [p.code for p in problems] == ["SDC308"]


# ---- records that belong to no holding -----------------------------------------------------

HOLDINGS = """Region 1 1 "9"
  <RECODEABLE>
Turnover 3 3
  <NUMERIC>
Group 7 2 "99" " -"
  <HOLDING>
"""
MEMBERS = "A  10 99\nA  20 99\nA  30  -\nA  40   \nB  10 G1\nB  20 G1\nB  30 G2\n9  50 99\n"
POLICY = """sdc 1
policy "Holdings"

data firms {
  argus "firms.asc" { metadata "firms.rda" }
  column %s = "Group"
}

dimension Region {
  codes A, B, "9"
  total Total
}

table t {
  from firms
  by Region
  sum Turnover
}

sensitive by threshold(3)

attacker external {
  bounds 0 .. inf
}

protect t {
  lpl 1
  upl 1
  against external
  method csp
}
"""


def test_missing_codes_of_holdings_are_missing_and_those_of_dimensions_are_codes():
    records, problems = read_argus_data(Source("x.asc", MEMBERS), metadata(HOLDINGS))
    assert problems == [] and records is not None
    frame = records.frame.collect()
    assert frame["Group"].to_list() == [None, None, None, None, "G1", "G1", "G2", None]
    assert frame["Region"].to_list() == [*"AAAABBB9"]


@pytest.mark.parametrize("role", ["group", "unit"])
@pytest.mark.parametrize("keyword", ["<HOLDING>", "<RECODEABLE>"])
def test_records_without_a_holding_are_holdings_of_their_own(tmp_path, role, keyword):
    """The policy says who contributes, whatever the metadata calls the variable."""
    (tmp_path / "firms.rda").write_text(HOLDINGS.replace("<HOLDING>", keyword))
    (tmp_path / "firms.asc").write_text(MEMBERS)
    (tmp_path / "p.sdc").write_text(POLICY % role)
    [problem] = bind_file(tmp_path / "p.sdc", {}).values()
    counts = problem.tables[0].quantities["count"]
    lattice = problem.tables[0].lattice
    assert lattice is not None
    codes = lattice.dimensions[0].codes
    assert dict(zip(codes, counts.tolist(), strict=True)) == {"A": 4, "B": 2, "9": 1, "Total": 7}
