"""Released tables of every kind, through the command."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import polars as pl
import pytest

from sdcdsl.cli.audit import RELEASED
from sdcdsl.released.statements import Format
from tests.cli.investment import COLUMNS, FOUR, ROWS, TRUTH, document, run


def argus() -> str:
    letters = {"II·C": "U", **dict.fromkeys(("II·A", "III·A", "III·C"), "M")}
    return "".join(f"{','.join(c.split('·'))},{v},{letters.get(c, 'S')}\n" for c, v in TRUTH.items())


def sdctable() -> str:
    letters = {"II·C": "u", **dict.fromkeys(("II·A", "III·A", "III·C"), "x")}
    rows = "".join(f"{','.join(c.split('·'))},{v},{letters.get(c, 's')}\n" for c, v in TRUTH.items())
    return f"activity,region,investment,sdcStatus\n{rows}"


def semicolons() -> str:
    rows = "".join(f"{v if c not in FOUR else '...'};{';'.join(reversed(c.split('·')))}\n" for c, v in TRUTH.items())
    return f"Investment;REGION;Activity\n{rows}"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (argus, ()),
        (argus, ("--format", "argus")),
        (sdctable, ()),
        (semicolons, ()),
        (lambda: semicolons().replace("...", "geheim"), ("--hidden", "geheim")),
        (lambda: semicolons().replace("Activity", "branch"), ("--column", "activity=branch")),
    ],
)
def test_files_of_other_programs(world, text, options):
    [pair] = document(world.policy("lpl 17", "upl 8"), "--released", world.write(text()), *options)["pairs"]
    assert (pair["low"], pair["high"], pair["verdict"]) == (5, 30, "protected")


def parquet(path: Path) -> Path:
    shown = pl.DataFrame([(*c.split("·"), None if c in FOUR else float(v)) for c, v in TRUTH.items()], orient="row")
    status = [("hidden" if c in FOUR else "published") for c in TRUTH]
    shown.rename(dict(zip(shown.columns, ("activity", "region", "value"), strict=True))).with_columns(
        status=pl.Series(status)
    ).write_parquet(path)
    return path


def test_every_format_can_be_named(world):
    assert get_args(Format) == RELEASED
    path = parquet(world.folder / "released.parquet")
    for options in ((), ("--format", "parquet")):
        [pair] = document(world.policy("lpl 17", "upl 8"), "--released", path, *options)["pairs"]
        assert (pair["low"], pair["high"], pair["verdict"]) == (5, 30, "protected")
    text = world.write(semicolons())
    wrong = document(world.policy("lpl 17", "upl 8"), "--released", text, "--format", "parquet")
    assert wrong["exit"] == 3


def jj(statuses: dict[str, str]) -> str:
    """The same table as a JJ file: cells by number, levels 17 and 8 for II·C."""
    cells = list(TRUTH)
    lines = ["0", str(len(cells))]
    for i, (cell, value) in enumerate(TRUTH.items()):
        levels = "17 8 0" if cell == "II·C" else "0 0 0"
        lines.append(f"{i} {value} 1 {statuses.get(cell, 's')} 0 1000 {levels}")
    sums = [[f"{row}·{c}" for c in COLUMNS] for row in ROWS] + [[f"{r}·{column}" for r in ROWS] for column in COLUMNS]
    lines.append(str(len(sums)))
    for *parts, total in sums:
        terms = " ".join([f"{cells.index(total)} (-1)", *(f"{cells.index(part)} (1)" for part in parts)])
        lines.append(f"0.0 4 : {terms}")
    return "\n".join(lines) + "\n"


def test_jj_files(world):
    pattern = jj({"II·C": "u", "II·A": "m", "III·A": "m", "III·C": "m"})
    alone = world.write(jj({"II·C": "u"}), "alone.jj")
    for arguments in ((world.write(pattern, "pattern.jj"),), (alone, "--released", world.write(pattern, "out.jj"))):
        [pair] = document(*arguments)["pairs"]
        assert (pair["cell"], pair["low"], pair["high"], pair["verdict"]) == ("cell 6", 5, 30, "protected")
    [pair] = document(alone)["pairs"]
    assert (pair["low"], pair["high"], pair["verdict"]) == (22, 22, "exposed")
    result = run(world.folder / "nowhere.jj")
    assert (result.exit_code, "SDC302" in result.stdout) == (3, True)
    assert run(world.write("0\n2\nx\n", "torn.jj")).exit_code == 3


def test_published_intervals(world):
    released = world.released({**dict.fromkeys(FOUR, "x"), "II·C": "10..40"})
    [pair] = document(world.policy("lpl 1"), "--released", released)["pairs"]
    assert (pair["low"], pair["high"]) == (10, 30)


ROUNDED = {cell: 5 * round(value / 5) for cell, value in TRUTH.items()}


@pytest.mark.parametrize(
    ("figures", "options", "low", "high"),
    [
        (ROUNDED, ("--base", 5), 15, 25),
        (ROUNDED, ("--deviation", 3), 17, 23),
        ({}, ("--alpha", 0.1, "--beta", "10%"), 22 / 1.1, 22 / 0.9),
    ],
)
def test_changed_figures_with_a_promise(world, figures, options, low, high):
    """II·C is shown as 20, or as 22. The other cells leave enough room for both ends of its own interval."""
    found = document(world.policy("lpl 1", "upl 1"), "--released", world.released(figures), *options)
    [pair] = found["pairs"]
    assert (pair["low"], pair["high"]) == (pytest.approx(low), pytest.approx(high))
    assert pair["released"] == figures.get("II·C", 22)
    assert found["blocks"][0]["published"]


@pytest.mark.parametrize(
    ("moved", "verdict", "headline"), [(12, "protected", "FAR ENOUGH"), (2, "exposed", "TOO NEAR")]
)
def test_adjusted_without_a_word_about_it(world, moved, verdict, headline):
    changes = {"II·C": 22 + moved, "II·B": 19 - moved, "III·C": 12 - moved, "III·B": 32 + moved}
    policy, released = world.policy("lpl 10", "upl 12"), world.released(changes)
    found = document(policy, "--released", released)
    [block] = found["blocks"]
    assert (found["verdict"], block["method"], block["exact_intervals"]) == (verdict, "distance", False)
    assert "not claimed" in block["not_claimed"]
    assert (found["pairs"][0]["low"], found["pairs"][0]["released"]) == (None, 22 + moved)
    result = run(policy, "--released", released)
    assert f"investment: {headline}" in result.stdout
    assert "no attacker was simulated" in " ".join(result.stdout.split())
    certificate = world.folder / "no.cert"
    result = run(policy, "--released", released, "--certificate", certificate)
    assert result.exit_code == 3
    assert "SDC408" in result.stderr
    assert headline in result.stdout
    assert not certificate.exists()


LINKED = """\
sdc 1
policy "Two tables with one margin"

dimension region {
  codes A, B
  total T
}

dimension size {
  codes S, L
  total T
}

dimension form {
  codes X, Y
  total T
}

table by_size {
  by region, size
  values
    | region \\ size |  S |  L |
    | A             | 30 | 70 |
    | B             | 20 | 40 |
  measure turnover
}

table by_form {
  by region, form
  values
    | region \\ form |  X |  Y |
    | A             | 55 | 45 |
    | B             | 25 | 35 |
  measure turnover
}

sensitive by_size at (region: A, size: S)

attacker external {
  bounds 0 .. inf
}

protect by_size, by_form as turnover {
  lpl 30
  upl 20
  against external
  method csp
}
"""
BY_SIZE = "region,size,value\nA,S,x\nA,L,x\nA,T,100\nB,S,x\nB,L,x\nB,T,60\nT,S,50\nT,L,110\nT,T,160\n"
BY_FORM = "region,form,value\nA,X,55\nA,Y,45\nA,T,100\nB,X,25\nB,Y,35\nB,T,60\nT,X,80\nT,Y,80\nT,T,160\n"


def test_linked_tables(world):
    """A·S and B·L up, A·L and B·S down: by 20 at most (B·S), and by 30 the other way (A·S)."""
    policy, size = world.write(LINKED, "linked.sdc"), world.write(BY_SIZE, "size.csv")
    form = world.write(BY_FORM, "form.csv")
    both = ("--released", f"by_size={size}", "--released", f"by_form={form}")
    [pair] = document(policy, *both)["pairs"]
    assert (pair["low"], pair["high"], pair["verdict"]) == (0, 50, "protected")
    world.write(BY_FORM.replace("A,T,100", "A,T,x"), "form.csv")
    found = document(policy, *both)
    assert [d["code"] for d in found["diagnostics"]] == ["SDC406"]
    found = document(policy, "--released", f"by_size={size}")
    assert [d["code"] for d in found["diagnostics"]] == ["SDC309"]
    result = run(policy, "--released", size)
    assert result.exit_code == 2
    assert "by_size, by_form" in result.stderr
