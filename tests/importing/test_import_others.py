"""JJ files, a-priori files, and the command itself: what it writes, refuses and says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importing.worlds import micro_world, run

JJ = """\
0
4
0 10 10 s 0 100 0 0 0
1 3 3 u 0 100 1 2 0
2 3 3 s 0 100 0 0 0
3 4 4 s 0 100 0 0 0
1
0 4 : 0 ( -1 ) 1 ( 1 ) 2 ( 1 ) 3 ( 1 )
"""
HST = """\
Nr;5;u
Nr;6;p
Os;5;s
Os;6;m
Ws;5;c;120
Ws;6;pl;10;15
Ws;7;ab;-80;140.5
"""
USER = """\
sdc 1
policy "Uses it"
use "{}"

dimension region {{
  codes Nr, Os, Ws
  total Total
}}

dimension size {{
  codes 5, 6, 7
  total all
}}

table turnover {{
  by region, size
  values
    | region \\ size | 5 | 6 | 7 |
    | Nr            | 9 | 8 | 7 |
    | Os            | 6 | 5 | 4 |
    | Ws            | 3 | 2 | 1 |
}}

attacker external {{
  bounds 0 .. inf
}}

protect turnover {{
  lpl 1
  against external
  cost 1
  method csp
}}
"""


def test_a_jj_file_plans(tmp_path: Path):
    (tmp_path / "my table.jj").write_text(JJ, encoding="utf-8")
    target = tmp_path / "made.sdc"
    assert run("import", tmp_path / "my table.jj", "-o", target).exit_code == 0
    assert (
        target.read_text(encoding="utf-8")
        == """\
sdc 1
policy "Imported from my table.jj"

# 4 cells, 1 of them sensitive, 1 relation.
# Values, bounds, levels, weights and statuses come from the file.
table my_table {
  jj "my table.jj"
}

protect my_table {
  method csp {
    time_limit 10 min
  }
  release jj "my table-protected.jj"
}
"""
    )
    assert run("check", target).output == ""
    planned = run("plan", target)
    assert planned.exit_code == 0 and "sensitive   1 cell" in planned.stdout


def test_a_malformed_jj_file(tmp_path: Path):
    (tmp_path / "x.jj").write_text(JJ.replace("0 4 :", "0 5 :"), encoding="utf-8")
    result = run("import", tmp_path / "x.jj")
    assert result.exit_code == 3 and "error[SDC313]" in result.stderr and result.stdout == ""


def test_an_a_priori_file_becomes_facts_to_use(tmp_path: Path):
    (tmp_path / "known.hst").write_text(HST, encoding="utf-8")
    target = tmp_path / "known.sdc"
    result = run("import", tmp_path / "known.hst", "--dimensions", "region,size", "--table", "turnover", "-o", target)
    assert result.exit_code == 0
    text = target.read_text(encoding="utf-8")
    assert (
        text
        == """\
sdc 1
policy "A-priori information from known.hst"

sensitive turnover at (region: Nr, size: 5)
publish turnover at (region: Nr, size: 6)
waive turnover at (region: Os, size: 5) because "safe in line 3 of known.hst"
suppress turnover at (region: Os, size: 6)

# TODO: these belong into the protect block of the table:
# cost 120 where region = "Ws" and size = "5"
# lpl 10 where region = "Ws" and size = "6"
# upl 15 where region = "Ws" and size = "6"

# TODO: these belong into the attacker who knows it, below its other bounds:
# bounds -80 .. 140.5 where region = "Ws" and size = "7"
"""
    )
    assert result.stderr.count("warning[SDC328]") == 3
    for line in (5, 6, 7):
        assert f"known.hst:{line}\n" in result.stderr
    (tmp_path / "main.sdc").write_text(USER.format("known.sdc"), encoding="utf-8")
    assert run("check", tmp_path / "main.sdc").output == ""
    planned = run("plan", tmp_path / "main.sdc")
    assert planned.exit_code == 0, planned.output
    assert "sensitive   1 cell" in planned.stdout and "1 already hidden" in planned.stdout


def test_without_a_table_the_facts_name_none_and_pass(tmp_path: Path):
    (tmp_path / "known.hst").write_text(HST, encoding="utf-8")
    target = tmp_path / "known.sdc"
    run("import", tmp_path / "known.hst", "--dimensions", " region , size ", "-o", target)
    assert "sensitive at (region: Nr, size: 5)" in target.read_text(encoding="utf-8")
    assert run("check", target).output == ""
    assert run("fmt", "--check", target).exit_code == 0


@pytest.mark.parametrize(
    ("lines", "here"),
    [
        # What τ-ARGUS does with a line depends on what the cell is by then.
        ("u p", "sensitive at"),  # a sensitive cell cannot be protected from suppression
        ("u m", "sensitive at"),
        ("p u", "publish at"),  # nor one that is become sensitive
        ("s u", "sensitive at"),
        ("u s", "waive at"),
        ("s p", "waive at|publish at"),  # safe whatever the rules say, and then published
        ("p s", "waive at"),
        ("m p", "suppress at"),
    ],
)
def test_a_status_counts_where_it_can_follow_the_one_before(tmp_path: Path, lines: str, here: str):
    (tmp_path / "k.hst").write_text("".join(f"A;{word}\n" for word in lines.split()), encoding="utf-8")
    result = run("import", tmp_path / "k.hst", "--dimensions", "d")
    facts = [line.partition(" (d: A)")[0] for line in result.stdout.splitlines() if "(d: A)" in line]
    assert facts == here.split("|")
    assert ("several statuses" in result.stderr) == ("|" not in here)


def test_codes_are_quoted_where_they_must_be(tmp_path: Path):
    (tmp_path / "k.hst").write_text('"of";u\n"a b";p\n"""x";p\n01;u\n', encoding="utf-8")
    target = tmp_path / "k.sdc"
    assert run("import", tmp_path / "k.hst", "--dimensions", "d", "-o", target).exit_code == 0
    assert 'sensitive at (d: "of")\npublish at (d: "a b")\n' in target.read_text(encoding="utf-8")
    assert run("check", target).output == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["x.sav"], "only .arb, .jj, .hst, .xml can be imported"),
        (["x.hst"], "--dimensions region,size"),
        (["x.hst", "--dimensions", "a,a"], "twice"),
        (["x.hst", "--dimensions", "a,1b"], "cannot be the name"),
        (["x.hst", "--dimensions", "of"], "cannot be the name"),
        (["x.arb", "--dimensions", "a"], "are for .hst files"),
        (["x.jj", "--table", "a"], "are for .hst files"),
        (["x.arb", "-o", "x.arb", "--force"], "overwrite its source"),
        ([], "Missing argument"),
    ],
)
def test_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.arb").write_text("old", encoding="utf-8")
    result = run("import", *arguments)
    assert result.exit_code == 2 and says in result.stderr
    assert (tmp_path / "x.arb").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("name", ["x.arb", "x.jj", "x.hst"])
def test_a_source_that_is_not_there(tmp_path: Path, name: str):
    more = ["--dimensions", "a"] if name == "x.hst" else []
    result = run("import", tmp_path / name, *more)
    assert result.exit_code == 3 and "error[SDC302]" in result.stderr


def test_nothing_is_overwritten_unasked(tmp_path: Path):
    (tmp_path / "x.jj").write_text(JJ, encoding="utf-8")
    target = tmp_path / "made.sdc"
    target.write_text("mine", encoding="utf-8")
    result = run("import", tmp_path / "x.jj", "-o", target)
    assert result.exit_code == 2 and "--force overwrites it" in result.stderr and target.read_text() == "mine"
    assert run("import", tmp_path / "x.jj", "-o", target, "--force").exit_code == 0
    assert target.read_text().startswith("sdc 1\n")
    (tmp_path / "x.jj").write_text("broken", encoding="utf-8")
    before = target.read_text()
    assert run("import", tmp_path / "x.jj", "-o", target, "--force").exit_code == 3
    assert target.read_text() == before


def test_printing_and_writing_say_the_same(tmp_path: Path):
    micro_world(tmp_path, '<OPENMICRODATA> "x.asc"\n<SPECIFYTABLE> "Size"|"Wage"\n<SAFETYRULE> FREQ(3,20)\n')
    printed = run("import", tmp_path / "x.arb")
    run("import", tmp_path / "x.arb", "-o", tmp_path / "made.sdc")
    assert printed.stdout == (tmp_path / "made.sdc").read_text(encoding="utf-8")
    assert str(tmp_path) not in printed.stdout


def test_an_old_encoding(tmp_path: Path):
    (tmp_path / "k.hst").write_bytes("Ærø;u\n".encode("cp1252"))
    result = run("import", tmp_path / "k.hst", "--dimensions", "d")
    assert result.exit_code == 3 and "error[SDC317]" in result.stderr
    result = run("import", tmp_path / "k.hst", "--dimensions", "d", "--encoding", "cp1252")
    assert result.exit_code == 0 and "sensitive at (d: Ærø)" in result.stdout
