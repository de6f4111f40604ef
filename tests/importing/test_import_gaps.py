"""Batch files whose companions are missing, lie elsewhere, or are malformed; names that are none here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sdcdsl
from tests.importing.worlds import HRC, MICRO, imported, micro_world, planned, run


def test_folders_of_another_machine_stay_behind(tmp_path: Path):
    text = MICRO.replace('"x.asc"', r'"C:\Argus\Data\X.ASC"').replace('"x.rda"', r'"..\meta\x.rda"')
    micro_world(tmp_path, text.replace('"out.csv"', r'"results\out.csv"'))
    text, talk = imported(tmp_path)
    assert 'argus "x.asc" {\n    metadata "x.rda"' in text
    assert 'release cross_table "results/out.csv"' in text
    assert talk.count("only the file name of") == 2 and "x.arb:2" in talk and "x.arb:3" in talk
    assert planned(tmp_path)


def test_the_policy_may_lie_above_its_data(tmp_path: Path):
    below = tmp_path / "old" / "world"
    below.mkdir(parents=True)
    micro_world(below, MICRO)
    result = run("import", below / "x.arb", "-o", tmp_path / "made.sdc")
    assert result.exit_code == 0
    assert 'argus "old/world/x.asc"' in (tmp_path / "made.sdc").read_text()
    assert 'hierarchy hrc "old/world/region.hrc"' in (tmp_path / "made.sdc").read_text()
    assert planned(tmp_path)
    aside = tmp_path / "elsewhere" / "made.sdc"
    assert "will not lie where its data does" in run("import", below / "x.arb", "-o", aside).stderr


def test_without_metadata_the_gaps_are_marked(tmp_path: Path):
    micro_world(tmp_path, MICRO)
    (tmp_path / "x.rda").unlink()
    text, talk = imported(tmp_path)
    assert text.count("# TODO: its codes or its hierarchy") == 2
    assert "there is no x.rda" in talk and "the codes of `Region` are not known" in talk


def test_without_data_codes_are_left_to_the_data(tmp_path: Path):
    micro_world(tmp_path, MICRO.replace('"Region"', '"Size"'))
    data = (tmp_path / "x.asc").read_bytes()
    (tmp_path / "x.asc").unlink()
    text, talk = imported(tmp_path)
    assert "dimension Size {\n  hierarchy prefix 1\n" in text and "cannot be read" in talk
    (tmp_path / "x.asc").write_bytes(data)
    assert planned(tmp_path)[0]["tables"][0]["dimensions"] == {"Nace": 8, "Size": 4}


def test_a_method_that_nobody_knows_is_replaced(tmp_path: Path):
    micro_world(tmp_path, re.sub(r"(<SUPPRESS>\s+)\w+", r"\1MDO", MICRO))
    text, talk = imported(tmp_path)
    assert "method csp" in text
    assert "no method `MDO` is known: cell suppression is put in its place" in talk
    assert "did you mean `MOD`?" in talk


def test_one_warning_for_each_thing_with_its_line(tmp_path: Path):
    extra = '<SOLVER> CPLEX\n<GOINTERACTIVE>\n<RECODE> 1,"Region","r.grc"\n<SUPPRESS> GH(2,75,0)\n'
    micro_world(tmp_path, MICRO.replace('"-2"', '"-3"').replace("||", '|"Wage"|') + extra)
    text, talk = imported(tmp_path)
    for line, says in (
        (4, "the distance cost has no counterpart"),
        (4, "the shadow variable `Wage`"),
        (9, "`<SOLVER>` has no meaning in a policy"),
        (10, "`<GOINTERACTIVE>` has no meaning"),
        (11, "`<RECODE>` of `Region`: there is no r.grc"),
        (12, "there is no table 2, only 1 table so far"),
    ):
        found = [part for part in talk.split("warning[") if says in part]
        assert len(found) == 1 and f"x.arb:{line}\n" in found[0], (says, talk)
    assert talk.count("warning[SDC328]") == 6
    remarks = text.partition("# Not carried over:\n")[2].partition("\n\n")[0].splitlines()
    assert len(remarks) == 6 and remarks[-1] == "# x.arb, line 12: there is no table 2, only 1 table so far"


@pytest.mark.parametrize(
    ("commands", "code"),
    [
        (MICRO.replace("<SAFETYRULE>", "<SAFTYRULE>"), "SDC316"),
        (MICRO.replace("P(15,1)", "P(x)"), "SDC316"),
        (MICRO.replace('"Nace""Region"', '"Nace""Regoin"'), "SDC316"),
        (MICRO.replace('"Nace""Region"', '"Nace""NACE"'), "SDC316"),
        (MICRO.replace('"Nace""Region"', '"Nace""Wage"'), "SDC316"),
        (MICRO.replace('|"Turnover"', '|"Region"'), "SDC316"),
        (MICRO.replace("<SPECIFYTABLE>", "//"), "SDC316"),
        ('<SPECIFYTABLE> "a"|"b"\n', "SDC316"),
        ("", "SDC308"),
        ('<OPENMICRODATA> "x\x07.asc"\n<SPECIFYTABLE> "a"|"b"\n', "SDC004"),
    ],
)
def test_malformed_batch_files_give_no_policy(tmp_path: Path, commands: str, code: str):
    micro_world(tmp_path, commands)
    result = run("import", tmp_path / "x.arb")
    assert result.exit_code == 3
    assert f"error[{code}]" in result.stderr and result.stdout == ""


def test_malformed_companions_give_no_policy(tmp_path: Path):
    micro_world(tmp_path, MICRO.replace("<SUPPRESS>", '<APRIORI> "x.hst",1,";"\n<SUPPRESS>'))
    (tmp_path / "x.hst").write_text("111;what\n", encoding="utf-8")
    assert "error[SDC315]" in run("import", tmp_path / "x.arb").stderr
    (tmp_path / "x.rda").write_text("Nace 1\n", encoding="utf-8")
    result = run("import", tmp_path / "x.arb")
    assert result.exit_code == 3 and "error[SDC314]" in result.stderr


def test_names_that_are_no_names_here(tmp_path: Path):
    micro_world(tmp_path, MICRO.replace('"Nace""Region"', '"value""Size class"').replace('"Turnover"', "\"2 'of' x\""))
    rda = 'value 1 3\n<RECODEABLE>\n"Size class" 8 1\n<RECODEABLE>\nSize_class 5 2\n<RECODEABLE>\n'
    rda += "\"2 'of' x\" 10 6\n<NUMERIC>\n"
    (tmp_path / "x.rda").write_text(rda, encoding="utf-8")
    text, _ = imported(tmp_path)
    assert 'column value_ = "value"' in text and 'column Size_class_2 = "Size class"' in text
    assert "table table_2_of_x {" in text and "sum \"2 'of' x\"" in text
    assert planned(tmp_path)[0]["tables"][0]["dimensions"] == {"value_": 6, "Size_class_2": 4}


def test_a_hierarchy_file_beside_the_metadata(tmp_path: Path):
    micro_world(tmp_path, MICRO.replace('"x.rda"', '"meta/x.rda"'))
    (tmp_path / "meta").mkdir()
    (tmp_path / "x.rda").rename(tmp_path / "meta" / "x.rda")
    (tmp_path / "region.hrc").unlink()
    (tmp_path / "meta" / "region.hrc").write_text(HRC, encoding="utf-8")
    text, _ = imported(tmp_path)
    assert 'metadata "meta/x.rda"' in text and 'hierarchy hrc "meta/region.hrc"' in text
    assert planned(tmp_path)


def test_the_folder_itself_needs_no_name(tmp_path: Path):
    micro_world(tmp_path, MICRO.replace('"x.asc"', r'".\x.asc"'))
    text, talk = imported(tmp_path)
    assert 'argus "x.asc" {' in text and "SDC328" not in talk


def test_weights_of_one_table_do_not_slip_into_another_unsaid(tmp_path: Path):
    second = '<SPECIFYTABLE>  "Nace""Size"|"Turnover"||"-2"\n<SAFETYRULE>    FREQ(3,10)\n<READMICRODATA>\n'
    micro_world(tmp_path, MICRO.replace("FREQ(4,30)", "WGT(1)").replace("<READMICRODATA>\n", second))
    rda = (tmp_path / "x.rda").read_text(encoding="utf-8")
    (tmp_path / "x.rda").write_text(rda.replace("Wage 17 6\n", "Wage 17 6\n  <WEIGHT>\n"), encoding="utf-8")
    text, talk = imported(tmp_path)
    weighted, plain = text.partition("data x_unweighted")[::2]
    assert weighted.count('column weight = "Wage"') == 1 and "column weight" not in plain.partition("}\n\n")[0]
    assert "from x_unweighted" in text and "measure Turnover_unweighted" in text and "weighted in the batch" not in talk
    assert planned(tmp_path)
    values = []
    for line in (tmp_path / "x.asc").read_text(encoding="utf-8").splitlines():
        values.append((float(line.split()[3]), float(line.split()[4])))
    bound = sdcdsl.load(tmp_path / "made.sdc").problems
    totals = sorted(float(p.cells(t.name)["value"].max()) for p in bound.values() for t in p.bound.tables)
    assert totals == pytest.approx(sorted([sum(v for v, _ in values), sum(v * w for v, w in values)]))
