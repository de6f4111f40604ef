"""Any batch file of valid commands gives a policy that passes `check` and is in canonical form."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdcdsl.diagnostics import Source, has_errors
from sdcdsl.diagnostics.render import render
from sdcdsl.importing import ImportOptions, policy_from
from sdcdsl.policy.read import read_text
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse
from tests.importing.worlds import micro_world, table_world

CODES = {"x": ["Nace", "Region", "Size"], "t": ["Size", "Region"]}
NUMBERS = {"x": ["Turnover", "Wage"], "t": ["Value", "Price", "Top1"]}
FIGURE = st.one_of(st.integers(0, 120).map(str), st.sampled_from(["2.5", "-1", "0.001", "1000000", "12."]))


def _call(name: str, least: int, most: int) -> st.SearchStrategy[str]:
    return st.lists(FIGURE, min_size=least, max_size=most).map(lambda f: f"{name}({','.join(f)})")


RULES = st.lists(
    st.one_of(
        _call("P", 1, 3),
        _call("NK", 2, 2),
        _call("FREQ", 2, 2),
        _call("ZERO", 1, 1),
        _call("REQ", 3, 4),
        _call("WGT", 1, 1),
        _call("MIS", 1, 1),
        _call("MAN", 1, 1),
    ),
    max_size=6,
).map(lambda rules: f"<SAFETYRULE> {'|'.join(rules)}")
TABLE_NUMBER = st.integers(0, 3)
METHODS = st.sampled_from(["GH", "MOD", "OPT", "NET", "RND", "CTA", "CKM"])
SUPPRESS = st.builds(
    lambda method, table, f: f"<SUPPRESS> {method}({','.join([str(table), *f])})",
    METHODS,
    TABLE_NUMBER,
    st.lists(FIGURE, max_size=5),
)
FILES = st.sampled_from(["a.csv", "A.CSV", r"C:\x\b.tab", "..\\c.jj", "sub/d e.csv", "/", "C:", 'é"f', "."])
WRITE = st.builds(
    lambda table, form, options, file: f'<WRITETABLE> ({table},{form},{options},"{file.replace(chr(34), "")}")',
    TABLE_NUMBER,
    st.integers(1, 6),
    st.sampled_from(["", "AS+", "AS+SE+", "TR- HI+"]),
    FILES,
)
APRIORI = st.builds(
    lambda file, table: f'<APRIORI> "{file}",{table},";",0,1',
    st.sampled_from(["one.hst", "gone.hst", r"D:\one.hst"]),
    TABLE_NUMBER,
)
OTHER = st.sampled_from(
    ["<GOINTERACTIVE>", '<LOGBOOK> "l.txt"', "<SOLVER> FREE", "<COVER>", "// note", "", "<READTABLE> 2"]
)
ANYTHING = st.one_of(RULES, SUPPRESS, WRITE, OTHER)


@st.composite
def _table(draw: st.DrawFn, data: str) -> str:
    by = draw(st.lists(st.sampled_from(CODES[data]), min_size=1, max_size=3, unique=True))
    response = draw(st.sampled_from([*(f'"{n}"' for n in NUMBERS[data]), "<freq>"]))
    shadow = draw(st.sampled_from(["", *NUMBERS[data]]))
    cost = draw(st.sampled_from(["", "-1", "-2", "-3", *NUMBERS[data]]))
    power = draw(st.sampled_from(["", ",0", ",0.5", ",1", ",-1", ",2"]))
    names = "".join(f'"{draw(st.sampled_from([n, n.upper(), n.lower()]))}"' for n in by)
    return f'<SPECIFYTABLE> {names}|{response}|"{shadow}"|"{cost}"{power}'


@st.composite
def batches(draw: st.DrawFn) -> str:
    """Data, tables of it, and everything else in any order between them."""
    lines: list[str] = []
    for data in draw(st.lists(st.sampled_from(["x", "t", "no"]), min_size=1, max_size=3)):
        ending, what = ("tab", "TABLE") if data == "t" else ("asc", "MICRO")
        lines.append(f'<OPEN{what}DATA> "{data}.{ending}"')
        lines += [f'<OPENMETADATA> "{data}.rda"'] if draw(st.booleans()) else []
        for _ in range(draw(st.integers(1, 2))):
            lines.append(draw(_table("x" if data == "no" else data)))
            lines += draw(st.lists(ANYTHING, max_size=4))
        lines += ["<CLEAR>"] if draw(st.booleans()) else []
    return "\n".join(lines) + "\n"


def _imported(commands: str) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table_world(folder, "")
        micro_world(folder, commands)
        (folder / "one.hst").write_text("111;u\n211;c;5\n2;s\nN1;ab;-1;9.5\n111;pl;1;2\n", encoding="utf-8")
        text, found = policy_from(folder / "x.arb", ImportOptions())
    assert not has_errors(found), render(found)
    assert text is not None
    assert {d.code for d in found} <= {"SDC328"}
    assert all(d.marks for d in found)
    return text


def _passes(text: str) -> None:
    _, wrong = read_text(Source("made.sdc", text), Path("made.sdc"))
    assert not wrong, f"{render(wrong)}\n{text}"
    assert format_text(parse(Source("made.sdc", text))[0]) == text


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(batches())
def test_any_batch_file_gives_a_policy_that_passes(commands: str):
    _passes(_imported(commands))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(CODES["x"]), st.lists(st.one_of(APRIORI, SUPPRESS), max_size=4))
def test_a_priori_files_anywhere(dimension: str, lines: list[str]):
    start = f'<OPENMICRODATA> "x.asc"\n<SPECIFYTABLE> "{dimension}"|"Turnover"\n<SAFETYRULE> FREQ(3,10)\n'
    _passes(_imported(start + "\n".join(lines)))
