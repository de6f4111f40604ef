"""Batch files about ready-made tables, and a-priori files beside a batch file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importing.worlds import MICRO, TABLE, TABLE_RDA, imported, marked, micro_world, planned, table_world


def test_table_data_plans_with_the_counts_of_a_slow_computation(tmp_path: Path):
    rows = table_world(tmp_path, TABLE)
    text, _ = imported(tmp_path, "t.arb")
    assert "codes 11, 12, 21, 22\n  hierarchy prefix 1" in text
    assert "  value Value\n  count N\n  largest(1) Top1\n  largest(2) Top2\n  weight Price\n}" in text
    assert 'release argus "out.tab"' in text and "cost weight" in text
    (block,) = planned(tmp_path)
    assert block["tables"][0]["cells"] == 4 * 7
    assert marked(block, "threshold") == sum(0 < r.n < 3 for r in rows.values())
    estimated = sum(r.value - sum(r.top) < 0.2 * r.top[0] for r in rows.values())
    assert marked(block, "p_percent") == estimated > 0


def test_without_rules_the_statuses_of_the_file_count(tmp_path: Path):
    rows = table_world(tmp_path, TABLE.replace("P(20,1)|FREQ(3,10)", "MAN(25)"))
    text, talk = imported(tmp_path, "t.arb")
    assert 'status St {\n    sensitive "secret"\n    safe "ok"\n    fixed "open"\n  }' in text
    assert "lpl 25% of value" in text and "SDC328" not in talk
    (block,) = planned(tmp_path)
    assert block["counts"]["sensitive"] == sum(r.status == "secret" for r in rows.values()) > 0
    assert block["counts"]["fixed"] == 1


def test_levels_that_stand_in_the_table(tmp_path: Path):
    rda = TABLE_RDA.replace("Price\n  <NUMERIC> <COST>", "Price\n  <LOWERPL>")
    table_world(tmp_path, TABLE.replace("P(20,1)|FREQ(3,10)", "").replace('"Price"', ""), rda=rda)
    text, talk = imported(tmp_path, "t.arb")
    assert 'column lower_level = "Price"' in text and "lpl lower_level\n" in text
    assert "no MAN says" not in talk or "upl 20% of value" in text
    assert planned(tmp_path)


def test_a_table_without_words_of_its_own(tmp_path: Path):
    """Metadata of a bare table looks like microdata without widths; `plan` must read it as `import` did."""
    table_world(tmp_path, TABLE.replace("P(20,1)|FREQ(3,10)", "").replace('||"Price"', ""), rda=TABLE_RDA)
    bare = "Size\n  <RECODEABLE>\n  <TOTCODE> T\nRegion\n  <RECODEABLE>\n  <HIERLEVELS> 1 1\nValue\n  <NUMERIC>\n"
    (tmp_path / "t.rda").write_text(bare + "".join(f"X{i}\n" for i in range(5)), encoding="utf-8")
    _, talk = imported(tmp_path, "t.arb")
    assert "no rule marks cells" in talk
    assert planned(tmp_path)[0]["tables"][0]["cells"] == 28


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("P(10,3)", "P looks at the 4 largest contributions, and the table has 2 (<MAXSCORE>)"),
        ("NK(3,75)", "NK looks at the 3 largest contributions"),
        ("REQ(10,10,20)", "REQ needs to know who contributes"),
    ],
)
def test_a_rule_the_table_cannot_feed_is_left_behind(tmp_path: Path, rule: str, says: str):
    table_world(tmp_path, TABLE.replace("P(20,1)", rule))
    text, talk = imported(tmp_path, "t.arb")
    assert says in talk and "t.arb:4" in talk
    assert text.count("sensitive") == 1
    assert planned(tmp_path)


# ---- a-priori files --------------------------------------------------------------------------------------------


def test_a_priori_files_are_referred_to_and_what_they_say_beside(tmp_path: Path):
    hst = "111;N1;u\n111;N1;pl;3;4\n112;N2;c;120\n121;O1;s\n211;O2;ab;0;90000\n212;N1;pl;1;2\nTotal;Nr;m\n"
    micro_world(tmp_path, MICRO.replace("<SUPPRESS>", '<APRIORI> "x.hst",1,";"\n<SUPPRESS>'))
    (tmp_path / "x.hst").write_text(hst, encoding="utf-8")
    text, _ = imported(tmp_path)
    assert 'sensitive Turnover from hst "x.hst"' in text
    assert 'cost 120 where Nace = "112" and Region = "N2"' in text
    assert 'waive Turnover at (Nace: 121, Region: O1) because "safe in line 4 of x.hst"' in text
    assert 'bounds 0 .. 90000 where Nace = "211" and Region = "O2"' in text
    assert 'lpl 1 where Nace = "212" and Region = "N1"' in text and "lpl 3 where" not in text
    assert "lpl if needed > 0 then needed otherwise 20% of value" in text
    (block,) = planned(tmp_path)
    assert block["counts"]["hidden"] == 1
