"""Policies put together in Python: they print as files, mean what the files mean, and let nothing else in."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

import sdcdsl
from sdcdsl import Attacker, Data, Dimension, File, Method, Policy, Protect, Sensitive, Table
from sdcdsl.diagnostics import Source, has_errors
from sdcdsl.policy.digest import digest
from sdcdsl.policy.read import read_text
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse

WRITTEN = '''sdc 1
policy "Turnover by activity and ""region"""
seed 7

dimension nace {
  hierarchy hrc "nace.hrc" {
    lead "@"
  }
  total Total
}

dimension region {
  hierarchy Total = North + South
  hierarchy South = S1 + S2
  hierarchy Total = coast + "in land" as sea
}

data enterprises {
  csv "enterprises.csv" {
    delimiter ";"
    decimal ","
  }
  column unit = "enterprise id"
}

table turnover {
  from enterprises
  by nace, region
  sum turnover
  unit "thousand EUR"
  only where year = 2025
}

sensitive by threshold(3)
sensitive turnover by p_percent(10%) because "the law"
sensitive turnover at (nace: 01, region: S1), (nace: 02, region: "in land")

attacker external {
  bounds 0 .. inf
}

attacker respondents {
  bounds 50% of value .. 1.5 * value
  each unit
}

protect turnover as main {
  lpl needed
  upl 10% of value
  against external, respondents
  cost value
  method suppression {
    gap 0.5%
    time_limit 10 min
  } else cta
  release csv "out.csv" {
    delimiter ";"
    spreadsheet_safe no
  }
  release html "out.html"
}
'''


def built() -> Policy:
    return Policy(
        'Turnover by activity and "region"',
        Dimension("nace", hierarchy=File("hrc", "nace.hrc", lead="@"), total="Total"),
        Dimension(
            "region",
            hierarchy={"Total": ["North", "South"], "South": ["S1", "S2"]},
            trees={"sea": {"Total": ["coast", "in land"]}},
        ),
        Data(
            "enterprises",
            File("csv", "enterprises.csv", delimiter=";", decimal=","),
            columns={"unit": "enterprise id"},
        ),
        Table(
            "turnover",
            data="enterprises",
            by=["nace", "region"],
            sum="turnover",
            unit="thousand EUR",
            only="year = 2025",
        ),
        Sensitive("threshold(3)"),
        Sensitive("p_percent(10%)", table="turnover", because="the law"),
        Sensitive(table="turnover", at=[{"nace": "01", "region": "S1"}, {"nace": "02", "region": "in land"}]),
        Attacker("external", bounds=(0, float("inf"))),
        Attacker("respondents", bounds=("50% of value", "1.5 * value"), each="unit"),
        Protect(
            "turnover",
            name="main",
            lpl="needed",
            upl="10% of value",
            against=["external", "respondents"],
            cost="value",
            method=[Method("suppression", gap="0.5%", time_limit="10 min"), "cta"],
            release=[File("csv", "out.csv", delimiter=";", spreadsheet_safe=False), File("html", "out.html")],
        ),
        seed=7,
    )


def test_it_prints_as_the_file_in_canonical_form():
    def canonical(text: str) -> str:
        parsed, found = parse(Source("x.sdc", text))
        assert not has_errors(found), found
        return format_text(parsed)

    assert str(built()) == canonical(WRITTEN) == canonical(str(built()))


def test_it_means_what_the_file_means():
    mine, found = read_text(Source("a.sdc", str(built())), Path("a.sdc"))
    theirs, _ = read_text(Source("b.sdc", WRITTEN), Path("b.sdc"))
    assert not has_errors(found), found
    assert digest(mine) == digest(theirs)


def test_what_is_missing_is_refused_as_in_a_file():
    with pytest.raises(sdcdsl.Refused, match="there is no method `supression`") as error:
        sdcdsl.load(Policy("x", Protect("t", method="supression")))
    assert "SDC102" in [d.code for d in error.value.diagnostics]  # no table t


@pytest.mark.parametrize(
    "broken",
    [
        lambda: Dimension("a b", codes=["x"]),
        lambda: Dimension("a", codes=["x\nseed 3"]),
        lambda: Sensitive("threshold(3)\nseed 3"),
        lambda: Sensitive("threshold(3); seed 3"),
        lambda: Sensitive(where="value > 3 # and nothing else"),
        lambda: Attacker("a", bounds=("0 }", "inf")),
        lambda: Protect("t", lpl=""),
        lambda: Protect("t", release=File("csv", "a\nb")),
        lambda: Protect("t", release=File("csv", "a.csv", **{"x y": 1})),
        lambda: Data("d", columns={"unit } seed": "x"}),
        lambda: Table("t", data="x", by=["a, b"]),
    ],
)
def test_no_value_becomes_a_statement(broken):
    with pytest.raises(ValueError, match=r"is no name|cannot stand in a policy|is no expression"):
        str(Policy("x", broken()))


def test_quotation_marks_stay_inside():
    [sensitive] = parse_items(str(Policy("x", Sensitive(at=[{"a": 'q" ; seed 3'}]), seed=2)))
    assert sensitive == 'sensitive at (a: "q"" ; seed 3")'
    [sensitive] = parse_items(str(Policy("x", Sensitive(where='a = "} ; #"'))))
    assert sensitive == 'sensitive where a = "} ; #"'


def parse_items(text: str) -> list[str]:
    _, found = parse(Source("x", text))
    assert not has_errors(found)
    return [line for line in text.splitlines() if line and not line.startswith(("sdc", "policy", "seed 2"))]


def test_amounts_are_numbers_or_expressions():
    text = str(Policy("x", Protect("t", lpl=Decimal("0.10"), upl=1e-7, spl=5, cost=1e22)))
    assert "  lpl 0.10\n  upl 0.0000001\n  spl 5\n  cost 10000000000000000000000\n" in text
    with pytest.raises(TypeError):
        str(Policy("x", Protect("t", lpl=True)))


def test_from_a_frame_to_a_release(tmp_path: Path):
    policy = Policy(
        "Turnover by region",
        Dimension("region", codes=["N", "S", "E"], total="Total"),
        Dimension("size", codes=["1", "2", "3"], total="Total"),
        Data("units", columns={"unit": "id"}),
        Table("turnover", data="units", by=["region", "size"], sum="turnover"),
        Sensitive("threshold(2)"),
        Attacker("external", bounds=(0, "inf")),
        Protect("turnover", lpl=1, upl=1, against="external", cost="value", release=File("csv", "out.csv")),
    )
    cells = [(r, s) for r in "NSE" for s in "123" for _ in range(1 if (r, s) == ("S", "2") else 3)]
    frame = pl.DataFrame(
        {
            "id": list(range(len(cells))),
            "region": [r for r, _ in cells],
            "size": [s for _, s in cells],
            "turnover": [10.0 + i for i in range(len(cells))],
        }
    )
    run = policy.load(data={"units": frame}).protect()
    hidden = run["turnover"].table().filter(pl.col("status") == "hidden")
    assert ("S", "2") in hidden.select("region", "size").rows()
    assert run["turnover"].verdict
    assert run.release(tmp_path)[0].is_file()


def test_the_names_of_the_package_are_its_interface():
    assert dir(sdcdsl) == sorted(sdcdsl.__all__)
    assert all(getattr(sdcdsl, name) is not None for name in dir(sdcdsl))
