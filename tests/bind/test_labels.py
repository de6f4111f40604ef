"""Labels of codes: read from files, kept through recodes, shown in messages and in releases that ask for them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from sdcdsl.bind.readers.code_labels import read_cdl, read_csv_labels
from sdcdsl.cli import cli
from sdcdsl.diagnostics import Diagnostic, Source
from tests.bind.policies import bind_text, problem_of

DIMENSION = """
dimension region {
  codes N, S
  total T
  %s
}
"""
REST = """
dimension size {
  codes a, b
  total all
}
table t {
  by region, size
  values
    | region \\ size | a | b |
    | N | 20 | 30 |
    | S | 40 | 50 |
}
sensitive t at (region: N, size: a)
attacker external { bounds 0 .. inf }
protect t {
  lpl 5
  upl 5
  against external
  method csp
  release csv "t.csv" { %s }
}
"""
EN_DE = "code,en,de\nN,North,Norden\nS,South,Süden\nT,Country,Land\nX,Elsewhere,Anderswo\n"


def policy(labels: str, option: str = "") -> str:
    return 'sdc 1\npolicy "p"' + DIMENSION % labels + REST % option


def text(content: str) -> Source:
    return Source("labels.txt", content)


def codes(found: list[Diagnostic]) -> list[str]:
    return [d.code for d in found]


def test_a_column_for_each_language() -> None:
    labels, found = read_csv_labels(text(EN_DE))
    assert not found and labels is not None
    assert labels["en"]["N"] == "North" and labels["de"] == {"N": "Norden", "S": "Süden", "T": "Land", "X": "Anderswo"}


def test_one_language_of_several() -> None:
    labels, found = read_csv_labels(text(EN_DE), "de")
    assert labels == {"de": {"N": "Norden", "S": "Süden", "T": "Land", "X": "Anderswo"}} and not found
    labels, found = read_csv_labels(text("code,en-GB\nN,North\n"), "en_gb")
    assert labels == {"en_gb": {"N": "North"}}
    assert codes(read_csv_labels(text(EN_DE), "fr")[1]) == ["SDC344"]


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("code;label\nN;North\n", {}),
        ("NUTS;x;NAME\nN;1;North\n", {}),
        ("rank;what;NUTS\n1;North;N\n", {"code": "NUTS", "label": "what"}),
        ("KEY,TEXT_IN_FULL\nN,North\n", {}),
    ],
)
def test_columns_by_name_and_by_place(content: str, options: dict[str, str]) -> None:
    labels, found = read_csv_labels(text(content), "en", **options)
    assert labels == {"en": {"N": "North"}}, found


def test_a_code_list_of_argus() -> None:
    labels, found = read_cdl(text('1,Groningen\n2,"Fries, land"\n\n3;Drenthe\n'), "nl")
    assert labels == {"nl": {"1": "Groningen", "2": "Fries, land", "3": "Drenthe"}} and not found
    assert codes(read_cdl(text("1 Groningen\n"))[1]) == ["SDC344"]
    assert codes(read_cdl(text("\n"))[1]) == ["SDC308"]


def test_a_code_has_one_label() -> None:
    _, found = read_csv_labels(text("code,label\nN,North\nN,Nord\n"))
    assert codes(found) == ["SDC344"]
    labels, found = read_csv_labels(text("code,label\nN,North\nN, North \nS,\n"))
    assert labels == {"": {"N": "North"}} and not found


def test_messages_have_labels_beside_codes(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(EN_DE, encoding="utf-8")
    assert problem_of(policy('labels csv "l.csv"'), tmp_path).label(4) == "region = N (North), size = a"
    assert problem_of(policy('labels de csv "l.csv"'), tmp_path).label(4) == "region = N (Norden), size = a"


def test_the_last_label_counts_and_the_first_language_is_shown(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(EN_DE, encoding="utf-8")
    (tmp_path / "m.cdl").write_text("N,Far north\n", encoding="utf-8")
    [table] = problem_of(policy('labels csv "l.csv"; labels en cdl "m.cdl"'), tmp_path).tables
    assert table.lattice is not None
    region = table.lattice.dimensions[0]
    assert list(region.labels) == ["en", "de"]
    assert region.named("N") == "N (Far north)" and region.named("S") == "S (South)"


def test_a_file_for_other_codes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("code,en\nEE,Estonia\n", encoding="utf-8")
    _, found = bind_text(policy('labels csv "l.csv"'), tmp_path)
    assert codes(found) == ["SDC344"]


def test_a_language_that_only_the_file_could_give(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(EN_DE, encoding="utf-8")
    _, found = bind_text(policy('labels csv "l.csv"', "labels fr"), tmp_path)
    assert codes(found) == ["SDC153"] and found[0].notes == ("there are labels in: `de` and `en`",)


def test_merged_codes_have_labels(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("code,en\nN,North\na,Ay\nboth,Both of them\n", encoding="utf-8")
    said = policy('labels csv "l.csv"').replace("by region, size", "by region, size\n  recode size { both = a, b }")
    said = said.replace("total all\n", 'total all\n  labels csv "l.csv"\n').replace("size: a", "size: both")
    assert problem_of(said, tmp_path).label(4).endswith("size = all")
    assert problem_of(said, tmp_path).label(5).endswith("size = both (Both of them)")


def released(folder: Path, option: str) -> pl.DataFrame:
    (folder / "l.csv").write_text(EN_DE, encoding="utf-8")
    (folder / "p.sdc").write_text(policy('labels csv "l.csv"', option), encoding="utf-8")
    run = CliRunner().invoke(cli, ["protect", str(folder / "p.sdc"), "--no-report"])
    assert run.exit_code == 0, run.output
    audit = ["audit", str(folder / "p.sdc"), "--released", str(folder / "t.csv"), "--output", "json"]
    said = CliRunner().invoke(cli, audit)
    assert said.exit_code == 0, said.output
    assert json.loads(said.stdout)
    return pl.read_csv(folder / "t.csv")


def test_releases_have_labels_where_wanted(tmp_path: Path) -> None:
    plain, one = released(tmp_path, ""), released(tmp_path, "labels")
    assert plain.columns[:3] == ["region", "size", "value"]
    assert one.columns[:4] == ["region", "region_label", "size", "value"]
    assert set(one["region_label"]) == {"Country", "North", "South"}
    assert one.drop("region_label").equals(plain)
    both = released(tmp_path, "labels de, en")
    assert both.columns[:4] == ["region", "region_label_de", "region_label_en", "size"]
    assert both.filter(pl.col("region") == "S")["region_label_de"].unique().to_list() == ["Süden"]


def test_a_label_is_no_formula(tmp_path: Path) -> None:
    released(tmp_path, "labels")
    (tmp_path / "l.csv").write_text("code,en\nN,=cmd()\n", encoding="utf-8")
    run = CliRunner().invoke(cli, ["protect", str(tmp_path / "p.sdc"), "--no-report"])
    assert run.exit_code == 0, run.output
    assert set(pl.read_csv(tmp_path / "t.csv")["region_label"]) == {None, "'=cmd()"}
