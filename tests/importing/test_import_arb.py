"""Batch files about microdata: policies that pass `check`, stay as `fmt` wants them, and plan with the right counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importing.worlds import MICRO, contributions, imported, marked, micro_world, planned


def test_microdata_says_what_the_batch_file_said(tmp_path: Path):
    micro_world(tmp_path, MICRO)
    text, talk = imported(tmp_path)
    assert "SDC328" not in talk
    assert (
        text
        == """\
sdc 1
policy "Imported from x.arb"

# x.arb, lines 2, 3
data x {
  argus "x.asc" {
    metadata "x.rda"
  }
}

# x.rda, line 1: Nace
dimension Nace {
  hierarchy prefix 1
  total Total
}

# x.rda, line 5: Region
dimension Region {
  hierarchy hrc "region.hrc" {
    lead "."
  }
  total Land
}

# x.arb, line 4
table Turnover {
  from x
  by Nace, Region
  sum Turnover
}

# x.arb, line 5
sensitive by p_percent(15%)
sensitive by dominance(n: 2, k: 80%)
sensitive by threshold(4, level: 30%)

# τ-ARGUS does not say who attacks: here somebody who knows only that no value is below zero.
attacker external {
  bounds 0 .. inf
}

# x.arb, lines 7, 8
protect Turnover {
  lpl needed
  upl needed
  against external
  cost 1
  method csp {
    time_limit 7 min
  }
  release cross_table "out.csv"
}
"""
    )


def test_microdata_plans_with_the_counts_of_a_slow_computation(tmp_path: Path):
    cells = contributions(micro_world(tmp_path, MICRO))
    imported(tmp_path)
    (block,) = planned(tmp_path)
    # 5 codes + 2 groups + total by 4 + 2 + 1 regions
    assert block["tables"][0]["dimensions"] == {"Nace": 8, "Region": 7}
    top = {cell: sorted(parts, reverse=True) for cell, parts in cells.items()}
    dominated = {c for c, p in top.items() if sum(p[:2]) > 0.8 * sum(p)}
    estimated = {c for c, p in top.items() if sum(p[2:]) < 0.15 * p[0]}
    few = {c for c, p in top.items() if len(p) < 4}
    assert (marked(block, "dominance"), marked(block, "p_percent"), marked(block, "threshold")) == (
        len(dominated),
        len(estimated),
        len(few),
    )
    assert block["counts"]["sensitive"] == len(dominated | estimated | few) > 5
    assert block["writes"] == ["out.csv"]


def test_codes_without_a_hierarchy_come_from_the_data(tmp_path: Path):
    cells = contributions(micro_world(tmp_path, MICRO.replace('"Nace""Region"', '"nace""REGION""size"')), size=True)
    text, _ = imported(tmp_path)
    assert 'dimension Size {\n  codes 2, 4, 9\n  total "all sizes"\n}' in text
    (block,) = planned(tmp_path)
    assert block["tables"][0]["cells"] == 8 * 7 * 4
    assert marked(block, "threshold") == sum(len(parts) < 4 for parts in cells.values())


def test_linked_tables_share_a_block_and_their_rules(tmp_path: Path):
    micro_world(
        tmp_path,
        """\
<OPENMICRODATA> "x.asc"
<OPENMETADATA> "x.rda"
<SPECIFYTABLE> "Nace""Region"|"Turnover"
<SAFETYRULE> FREQ(3,20)
<SPECIFYTABLE> "Nace""Size"|"Turnover"
<SAFETYRULE> FREQ(3,20)
<READMICRODATA>
<SUPPRESS> MOD(0,5,1,0,0)
<WRITETABLE> (1,1,AS+,"a.csv")
<WRITETABLE> (2,6,,"b.jj")
""",
    )
    text, talk = imported(tmp_path)
    assert "protect Turnover_by_Nace_Region, Turnover_by_Nace_Size {" in text
    assert text.count("sensitive by threshold(3, level: 20%)") == 1
    assert 'release cross_table "a.csv"\n  release jj "b.jj"' in text
    assert "SDC328" not in talk
    (block,) = planned(tmp_path)
    # The two tables share the margin over regions and over sizes: one column of 8 nace cells.
    assert block["counts"]["cells"] == 8 * 7 + 8 * 4 - 8


def test_tables_with_their_own_rules_and_methods(tmp_path: Path):
    micro_world(
        tmp_path,
        """\
<OPENMICRODATA> "x.asc"
<OPENMETADATA> "x.rda"
<SPECIFYTABLE> "Nace""Region"|"Turnover"|""|"-1",0.5
<SAFETYRULE> FREQ(3,20)
<SPECIFYTABLE> "Nace""Size"|<freq>
<SAFETYRULE> FREQ(5,20)
<READMICRODATA>
<SUPPRESS> RND(2,5,1,3)
<SUPPRESS> CTA(1)
""",
    )
    text, _ = imported(tmp_path)
    assert "sensitive Turnover by threshold(3, level: 20%)" in text
    assert "sensitive frequencies by threshold(5, level: 20%)" in text
    assert "by Nace, Size\n  count\n" in text
    assert "cost count ^ 0.5\n  method cta {" in text
    assert "method rounding {\n    base 5\n    steps 1\n    time_limit 3 min\n  }" in text
    assert [b["name"] for b in planned(tmp_path)] == ["Turnover", "frequencies"]


def test_after_clear_tables_count_from_one_again(tmp_path: Path):
    second = MICRO.replace("Turnover", "Wage").replace("out.csv", "wage.csv").replace("OPT(1,7)", "OPT(1,3)")
    micro_world(tmp_path, MICRO + "<CLEAR>\n" + second)
    text, _ = imported(tmp_path)
    assert "protect Turnover {" in text and "protect Wage {" in text
    assert text.index("time_limit 7 min") < text.index("time_limit 3 min")
    assert [b["writes"] for b in planned(tmp_path)] == [["out.csv"], ["wage.csv"]]


def test_holdings_weights_and_requests(tmp_path: Path):
    micro_world(tmp_path, MICRO.replace("FREQ(4,30)", "WGT(1)|REQ(10,10,25)"))
    (tmp_path / "x.rda").write_text(
        (tmp_path / "x.rda").read_text() + 'Wt 24 2\n  <WEIGHT>\nGrp 27 2\n  <HOLDING>\nAsk 30 1\n  <REQUEST> "1"\n',
        encoding="utf-8",
    )
    lines = (tmp_path / "x.asc").read_text().splitlines()
    lines = [f"{line} {1 + i % 3:2d} {i // 2:2d} {int(i == 0)}" for i, line in enumerate(lines)]
    (tmp_path / "x.asc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text, talk = imported(tmp_path)
    for column in ('group = "Grp"', 'weight = "Wt"', 'unit = "Grp"', 'request = "Ask"'):
        assert f"column {column}" in text
    assert "sensitive by request(share: 10%, level: 25%)" in text
    assert "count holdings here" in talk
    (block,) = planned(tmp_path)
    assert marked(block, "request") >= 1


def test_values_below_zero_get_an_attacker_who_allows_them(tmp_path: Path):
    micro_world(tmp_path, MICRO.replace('"-2"', '""'))
    lines = (tmp_path / "x.asc").read_text().splitlines()
    lines[0] = lines[0][:9] + "  -700" + lines[0][15:]
    (tmp_path / "x.asc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text, _ = imported(tmp_path)
    assert "bounds -inf .. inf" in text and "cost abs(value)" in text
    assert planned(tmp_path)


def test_a_cell_of_a_missing_code_is_safe_if_the_batch_file_says_so(tmp_path: Path):
    micro_world(tmp_path, MICRO.replace("FREQ(4,30)", "FREQ(4,30)|MIS(1)"))
    rda = (tmp_path / "x.rda").read_text().replace("Size 8 1", 'Size 8 1 "9" "8"')
    (tmp_path / "x.rda").write_text(rda, encoding="utf-8")
    (tmp_path / "x.arb").write_text((tmp_path / "x.arb").read_text().replace('"Region"', '"Size"'), encoding="utf-8")
    text, _ = imported(tmp_path)
    assert 'waive Turnover where Nace in (999) or Size in (9) because "MIS(1) in line 5 of x.arb' in text
    (block,) = planned(tmp_path)
    assert block["counts"]["sensitive"] < marked(block, "threshold") + marked(block, "p_percent")


@pytest.mark.parametrize(
    ("rule", "here"),
    [
        ("P(10)", "p_percent(10%)"),
        ("P(10,3)", "p_percent(10%, n: 3)"),
        ("P(10,80,1)", "pq(p: 10%, q: 80%)"),
        ("P(10,80,2)", "p_percent(12.5%, n: 2)"),
        ("NK(1,75)", "dominance(n: 1, k: 75%)"),
        ("FREQ(3,15)", "threshold(3, level: 15%)"),
        ("ZERO(2.5)", "zero(2.5)"),
        ("P(0,0)|NK(0,0)|FREQ(5,10)", "threshold(5, level: 10%)"),
        ("NK(2,75)|NK(2,75)", "dominance(n: 2, k: 75%)"),
    ],
)
def test_rules(tmp_path: Path, rule: str, here: str):
    micro_world(tmp_path, MICRO.replace("P(15,1)|NK(2,80)|FREQ(4,30)", rule))
    text, talk = imported(tmp_path)
    assert [line for line in text.splitlines() if line.startswith("sensitive")] == [f"sensitive by {here}"]
    assert "SDC328" not in talk
    assert planned(tmp_path)


@pytest.mark.parametrize(
    ("rule", "here", "says"),
    [
        ("FREQ(3,0)", "threshold(3, level: 20%)", "FREQ gives no level"),
        ("ZERO(0)|FREQ(3,9)", "zero(1)", "ZERO gives no level"),
        ("NK(1,100)|FREQ(3,9)", "threshold(3, level: 9%)", "NK(1,100) marks no cell"),
        ("REQ(5,9,10)|FREQ(3,9)", "threshold(3, level: 9%)", "REQ needs to know who contributes"),
        ("WGT(1)|FREQ(3,9)", "threshold(3, level: 9%)", "no variable is <WEIGHT>"),
    ],
)
def test_rules_that_need_a_decision(tmp_path: Path, rule: str, here: str, says: str):
    micro_world(tmp_path, MICRO.replace("P(15,1)|NK(2,80)|FREQ(4,30)", rule))
    text, talk = imported(tmp_path)
    assert f"sensitive by {here}\n" in text and says in talk
    assert planned(tmp_path)


@pytest.mark.parametrize(
    ("cost", "here"),
    [
        ('""', "value"),
        ('"Turnover"', "value"),
        ('"-1"', "count"),
        ('"-2"', "1"),
        ('"",0.5', "value ^ 0.5"),
        ('"",0', "log(value + 1)"),
        ('"-1",1', "count"),
    ],
)
def test_costs(tmp_path: Path, cost: str, here: str):
    micro_world(tmp_path, MICRO.replace('"-2"', cost))
    text, talk = imported(tmp_path)
    assert f"  cost {here}\n" in text and "SDC328" not in talk
    assert planned(tmp_path)
