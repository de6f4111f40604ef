"""Results of other programs: τ-ARGUS and its wrappers, sdcTable, JJ files."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.bind.readers.jj import read_jj
from sdcdsl.diagnostics import Source
from sdcdsl.pattern import adjusted, hidden, rounded
from sdcdsl.released import Layout, PublishedStatements, pattern_of_jj, read_release, write_release_csv
from tests.bind.policies import cell
from tests.released.problems import JJ, VALUES, cells_csv, numbered, pattern_of, refused, same, small, words_of

HIDDEN = {("II", "C"): "U", ("II", "A"): "M", ("I", "C"): "M", ("I", "A"): "M"}


def expected(problem):
    mask = np.zeros(problem.n, dtype=bool)
    mask[[cell(problem, activity=a, region=r) for a, r in HIDDEN]] = True
    return hidden(problem.dataset["a"].values, mask)


def lines(form, delimiter: str = ";", letters: dict[str, str] | None = None) -> str:
    """A line a cell, as τ-ARGUS orders them; `form` gives the fields behind the codes."""
    return "".join(
        delimiter.join([a, r, *form(v, (letters or {}).get(HIDDEN.get((a, r), "S"), HIDDEN.get((a, r), "S")))]) + "\n"
        for (a, r), v in VALUES.items()
    )


# ---- τ-ARGUS ---------------------------------------------------------------------------------------------


def test_code_value_with_crosses(tmp_path):
    problem = small()
    text = lines(lambda v, s: [str(v) if s == "S" else "x"], ",")
    assert same(pattern_of(problem, tmp_path, text), expected(problem))


@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("crossed", [True, False])
def test_code_value_with_statuses(tmp_path, delimiter, crossed):
    problem = small()

    def form(v, s):
        return ["x" if crossed and s != "S" else str(v), "E" if v == 0 else s]

    assert same(pattern_of(problem, tmp_path, lines(form, delimiter)), expected(problem))


def test_quoted_and_padded_codes_and_blank_totals(tmp_path):
    problem = small()
    text = lines(lambda v, s: [f"{v:>9}", s]).replace("Total", "")
    text = "".join(
        f'"{a:<5}";"{r:<3}";{rest}\n' for a, r, rest in (line.split(";", 2) for line in text.splitlines()) if rest
    )
    assert same(pattern_of(problem, tmp_path, text), expected(problem))


def test_intermediate_format(tmp_path):
    """Response, count, cost, largest contributions, status, then protection levels, which are no intervals."""
    problem = small()

    def form(v, s):
        return [f"{v:.2f}", "7", f"{v:.2f}", "5.00", "3.00", "E" if v == 0 else s, f"{0.8 * v:.2f}", f"{1.2 * v:.2f}"]

    assert same(pattern_of(problem, tmp_path, lines(form)), expected(problem))


def test_sbs_format_leaves_empty_cells_out(tmp_path):
    problem = small()
    text = lines(lambda v, s: [str(v), "9", s, "40"], ",", {"S": "V", "U": "A", "M": "D"})
    text = text.replace("III,C,0,9,V,40\n", "")
    assert refused(problem, tmp_path, text).code == "SDC309"
    assert same(pattern_of(problem, tmp_path, text, absent="zero"), expected(problem))


def test_pivot_format_with_its_numbers_and_a_header_too_long(tmp_path):
    problem = small()
    number = {"U": "3", "M": "11"}
    rows = {c: f"{v},{v / 2},{number.get(HIDDEN.get(c, ''), '14' if v == 0 else '1')}" for c, v in VALUES.items()}
    text = cells_csv("activity,region,turnover,Cost,Status,", rows)
    assert same(pattern_of(problem, tmp_path, text), expected(problem))


def test_rtauargus(tmp_path):
    problem = small()
    letter = {"U": "B", "M": "D"}
    rows = {c: f'{v},12,"{letter.get(HIDDEN.get(c, ""), "V")}",NA' for c, v in VALUES.items()}
    text = cells_csv('"activity","region","VAL","N_OBS","Status","Dom"', rows)
    assert same(pattern_of(problem, tmp_path, text), expected(problem))


def test_a_rounded_table_keeps_its_letters(tmp_path):
    """Unsafe cells of a rounded table are printed, rounded: the letters say why it was done."""
    problem = small()
    text = lines(lambda v, s: [str(10 * round(v / 10)), s])
    v = np.array([10.0 * round(x / 10) for x in problem.dataset["a"].values])
    assert same(pattern_of(problem, tmp_path, text, PublishedStatements(base=10)), rounded(v, np.full(problem.n, 10.0)))


def test_an_adjusted_table_keeps_its_letters(tmp_path):
    problem = small()
    a = problem.dataset["a"].values
    pattern = pattern_of(problem, tmp_path, lines(lambda v, s: [str(2 * v), s]))
    assert same(pattern, adjusted(2 * a, a != 0))


def test_argus_by_name(tmp_path):
    said = refused(small(), tmp_path, cells_csv("activity,region,value"), format="argus")
    assert said.code == "SDC302"
    assert "does not begin with codes" in said.headline


def test_decimal_commas_are_found(tmp_path):
    problem = small()
    assert same(pattern_of(problem, tmp_path, lines(lambda v, s: [f"{v},00", s])), expected(problem))
    layout = Layout(decimal=".", delimiter=";")
    said = refused(problem, tmp_path, lines(lambda v, s: [f"{v},00", s]), layout=layout)
    assert said.code == "SDC306"


# ---- sdcTable --------------------------------------------------------------------------------------------

SDC = {"U": "u", "M": "x", "": "s"}


def test_final_data(tmp_path):
    problem = small()
    rows = {c: f"{n},{v},{'z' if v == 0 else SDC[HIDDEN.get(c, '')]}" for n, (c, v) in enumerate(VALUES.items())}
    text = cells_csv("activity,region,Freq,val,sdcStatus", rows)
    assert same(pattern_of(problem, tmp_path, text), expected(problem))
    assert same(pattern_of(problem, tmp_path, text, format="sdctable"), expected(problem))


def test_a_frequency_table(tmp_path):
    problem = small()
    rows = {c: f"0{i},{v},{SDC[HIDDEN.get(c, '')]}" for i, (c, v) in enumerate(VALUES.items())}
    assert same(
        pattern_of(problem, tmp_path, cells_csv("activity,region,strID,freq,sdcStatus", rows)), expected(problem)
    )


def test_numbers_without_digits_as_r_writes_them(tmp_path):
    """100 000 is 1e+05 in a file that R wrote; another figure is not near enough to be it."""
    problem = small()
    rows = {c: f"{v},s" for c, v in VALUES.items()} | {("I", "B"): "5e+01,s", ("I", "A"): "2e+01,s"}
    assert pattern_of(problem, tmp_path, cells_csv("activity,region,val,sdcStatus", rows)).claims


# ---- JJ --------------------------------------------------------------------------------------------------


def test_the_file_of_the_problem_itself(tmp_path):
    problem = numbered(tmp_path)
    pattern = pattern_of_jj(problem)
    assert pattern.status.tolist() == [".", "x", "x", "."]
    assert same(pattern_of(problem, tmp_path, JJ), pattern)


def test_another_file_over_the_same_cells(tmp_path):
    problem = numbered(tmp_path)
    more_hidden = JJ.replace("3 30 3 z 30 30", "3 30 3 m 30 30")
    assert pattern_of(problem, tmp_path, more_hidden).status.tolist() == [".", "x", "x", "x"]
    moved = JJ.replace("1 10 1 u", "1 13 1 u").replace("2 20 2 u", "2 17 2 u")
    assert same(
        pattern_of(problem, tmp_path, moved),
        adjusted(np.array([60.0, 13, 17, 30]), np.array([False, True, True, False])),
    )


def test_cells_of_another_file(tmp_path):
    problem = numbered(tmp_path)
    other = JJ.replace("\n3 30", "\n9 30").replace(" 3 (1)", " 9 (1)")
    said = refused(problem, tmp_path, other)
    assert said.code == "SDC304"
    assert "cell 9" in words_of(said)


def test_a_jj_file_for_a_table_with_codes(tmp_path):
    said = refused(small(), tmp_path, JJ, format="jj")
    assert said.code == "SDC302"
    assert "whose cells have codes" in said.headline


def test_numbered_cells_in_csv(tmp_path):
    problem = numbered(tmp_path)
    pattern, path = pattern_of_jj(problem), tmp_path / "out.csv"
    write_release_csv(problem, pattern, "t", path)
    assert path.read_text().splitlines()[:3] == ["cell,value,low,high,status", "0,60,,,published", "1,,,,hidden"]
    again, found = read_release(problem, {"t": path})
    assert found == []
    assert again is not None and same(again, pattern)
    assert refused(problem, tmp_path, path.read_text().replace("\n3,", "\n7,")).code == "SDC304"
    assert refused(problem, tmp_path, path.read_text().replace("\n3,", "\n2,")).code == "SDC305"


def test_the_fixture_is_a_jj_file():
    assert read_jj(Source("t", JJ))[1] == []
