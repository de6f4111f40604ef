"""Escape sequences, marks of direction and line ends in everything that others write: no command prints one of them."""

from __future__ import annotations

import ast
import csv
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import cli
from sdcdsl.diagnostics.foreign import all_visible, json_text, visible
from tests.conftest import ROOT

# Written out by hand: what steers a terminal, turns the direction of reading, or begins a line.
BAD = [*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), "\u061c", "\u200e", "\u200f", "\u2028", "\u2029"]
BAD += [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))]
OURS = "\n\t"
IN_POLICY = "\u202e\u2066\u200f"  # the characters below a blank are no text in a policy (SDC004)
IN_DATA = f"\x1b[2J\x1b[31m{IN_POLICY}\x9b\x07"
LINE = "\nFORGED: PROTECTED\n"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

POLICY = f"""sdc 1
policy "Title{IN_POLICY}"
seed 20250101

data units {{
  csv "units{IN_POLICY}.csv"
  column unit = "who{IN_POLICY}"
}}

dimension region {{
  hierarchy columns "regions{IN_POLICY}.csv"
  total "All{IN_POLICY}"
}}

dimension size {{
  codes "small{IN_POLICY}", large
  total all
}}

table t {{
  from units
  by region, size
  sum "turnover{IN_POLICY}"
  unit "EUR{IN_POLICY}"
}}

sensitive by threshold(3)
suppress t at (region: "All{IN_POLICY}", size: large)
require lpl >= 1 because "rule{IN_POLICY}"

attacker external {{
  bounds 0 .. inf
}}

protect t {{
  lpl 2
  upl 2
  against external
  METHOD
  release csv "out{IN_POLICY}.csv"
}}
"""


def world(folder: Path, method: str = "method csp") -> Path:
    """Codes of regions come from files, those of sizes from the policy; the folder has a bad name, too."""
    folder = folder / f"folder{IN_DATA}"
    folder.mkdir()
    codes = [f"A{IN_DATA}", f"B{LINE}", "C", "D"]
    with open(folder / f"regions{IN_POLICY}.csv", "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([["region"], *([code] for code in codes)])
    rows, unit = [[f"who{IN_POLICY}", "region", "size", f"turnover{IN_POLICY}"]], 0
    for i, code in enumerate(codes):
        for size in (f"small{IN_POLICY}", "large"):
            for _ in range(1 if i < 2 and size != "large" else 4):
                unit += 1
                rows.append([f"u{unit}{IN_DATA}", code, size, str(10 * (i + 1) + unit)])
    with open(folder / f"units{IN_POLICY}.csv", "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows(rows)
    path = folder / f"p{IN_POLICY}.sdc"
    path.write_text(POLICY.replace("METHOD", method), encoding="utf-8")
    return path


def run(*arguments: object, exits: tuple[int, ...] = (0,)) -> Result:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="sdcdsl", color=True)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert result.exit_code in exits, result.output
    clean(result.stdout)
    clean(result.stderr)
    return result


def clean(text: str, colours: bool = False) -> None:
    text = COLOUR.sub("", text) if colours else text
    found = [f"U+{ord(c):04X}" for c in BAD if c in text and c not in OURS]
    assert not found, (found, text.encode("unicode-escape")[:3000])
    assert "\nFORGED" not in text and not text.startswith("FORGED"), text


def test_commands_about_the_policy(tmp_path):
    path = world(tmp_path)
    run("check", path)
    run("lint", path, exits=(0, 1))
    run("show", path)
    run("show", path, "--stage", "tree")
    run("fmt", "--diff", path, exits=(0, 7))
    other = path.with_name(f"other{IN_POLICY}.sdc")
    other.write_text(path.read_text(encoding="utf-8").replace("lpl 2", "lpl 1").replace("rule", "law"), "utf-8")
    run("diff", path, other, exits=(7,))
    run("diff", path, other, "--json", exits=(7,))
    run("diff", path, other, "--cells", exits=(7,))
    other.write_text(path.read_text(encoding="utf-8").replace("sum ", "sm ").replace("by region", "by rgion"), "utf-8")
    for output in ("text", "concise", "json", "github", "sarif"):
        assert "SDC" in run("check", other, "--output", output, exits=(1,)).stdout
    run("check", path.with_name(f"absent{IN_DATA}.sdc"), exits=(1,))
    run(f"chec{IN_DATA}", exits=(2,))
    run("check", path, f"--out{IN_DATA}", exits=(2,))
    run("explain", f"SDC{IN_DATA}", exits=(0, 1, 2))


def test_commands_about_the_data(tmp_path):
    path = world(tmp_path)
    run("plan", path)
    run("plan", path, "--json")
    for progress in ("lines", "events"):
        run("protect", path, "--progress", progress)
    run("protect", path, "--json")
    for what in ((), ("--json",)):
        run("verify", path.with_name(f"p{IN_POLICY}.sdc.lock"), *what)
    released = path.with_name(f"out{IN_POLICY}.csv")
    certificate = path.with_name(f"c{IN_POLICY}.json")
    for output in ("text", "csv", "json"):
        run("audit", path, "--released", released, "--output", output, "--certificate", certificate)
        certificate = path.with_name(f"c{output}.json")
    for what in ((), ("--json",)):
        run("verify", path.with_name(f"c{IN_POLICY}.json"), *what)
    cell = f"region: A{IN_DATA}, size: small{IN_POLICY}"
    run("explain", path, "--cell", cell, exits=(0, 2))
    run("explain", path, "--cell", "region: C, size: large")
    run("explain", path, "--cell", "region: C, size: large", "--json")
    run("compile", path, "-o", path.with_name(f"m{IN_POLICY}.lp"))


def test_a_release_that_gives_cells_and_sums_away(tmp_path):
    """Everything published but the sensitive cells, which the totals of their rows and columns then tell."""
    path = world(tmp_path)
    run("protect", path)
    released = path.with_name(f"out{IN_POLICY}.csv")
    text = released.read_text(encoding="utf-8")
    assert "hidden" in text
    for output in ("text", "csv", "json"):
        run("audit", path, "--released", released, "--output", output)
    with open(released, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    with open(path.with_name(f"units{IN_POLICY}.csv"), newline="", encoding="utf-8") as file:
        units = list(csv.reader(file))[1:]
    kept = [f"A{IN_DATA}", f"B{LINE}"]
    for row in rows:
        if row[-1] == "hidden" and not (row[0] in kept and row[1] != "large"):
            total = sum(float(x) for _, r, s, x in units if row[0] in (r, f"All{IN_POLICY}") and row[1] in (s, "all"))
            row[2:] = [f"{total:g}", "", "", "published"]
    weak = path.with_name("weak.csv")
    with open(weak, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    for output in ("text", "csv", "json"):
        assert "exposed" in run("audit", path, "--released", weak, "--output", output, exits=(6,)).stdout
    rows[0][0] = f"Z{IN_DATA}{LINE}"
    with open(weak, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    for output in ("text", "csv", "json"):
        run("audit", path, "--released", weak, "--output", output, exits=(3,))


@pytest.mark.long
def test_comparing_and_assessing(tmp_path):
    path = world(tmp_path, "method cta\n  assess B1")
    run("compare", path, "--methods", "csp,cta", "--out", path.with_name(f"map{IN_POLICY}"))
    run("compare", path, "--methods", "csp", "--out", path.with_name(f"map2{IN_POLICY}"), "--json")
    run("assess", path, "--replications", "2", exits=(0, 6))
    run("assess", path, "--replications", "2", "--output", "json", exits=(0, 6))


def test_files_of_others_that_are_wrong(tmp_path, monkeypatch):
    path = world(tmp_path)
    units = path.with_name(f"units{IN_POLICY}.csv")
    good = units.read_text(encoding="utf-8")
    for bad in (
        good.replace("u1" + IN_DATA, "u1").replace(",C,", f",X{IN_DATA}{'-' * 5},", 1),
        good.replace("who", "whom"),
        good + f'u99,C,large,"{IN_DATA}"\n',
        good.replace("size", f"size{IN_DATA}", 1),
    ):
        other = path.with_name(f"other{IN_DATA}.csv")
        other.write_text(bad, encoding="utf-8")
        for what in ((), ("--json",)):
            run("plan", path, "--data", f"units={other}", *what, exits=(3,))
            with monkeypatch.context() as shown:  # `--show-values` would be for the whole process
                shown.setenv("SDCDSL_SHOW_VALUES", "1")
                run("plan", path, "--data", f"units={other}", *what, exits=(3,))


def test_certificates_and_locks_that_were_forged(tmp_path):
    path = world(tmp_path)
    certificate = path.with_name("c.json")
    run("protect", path)
    run("audit", path, "--released", path.with_name(f"out{IN_POLICY}.csv"), "--certificate", certificate)
    text = certificate.read_text(encoding="utf-8")
    for old, new in (('"name":"', f'"name":"{IN_DATA}{LINE}'), ('"what":"', f'"what":"{IN_DATA}')):
        forged = re.sub(f'{old[:-2]}: ?"', lambda found, new=new: found[0] + json.dumps(new)[1:-1], text)
        certificate.write_text(forged, encoding="utf-8")
        for what in ((), ("--json",)):
            run("verify", certificate, *what, exits=(0, 3, 6))
    lock = path.with_name(f"p{IN_POLICY}.sdc.lock")
    escaped = "".join(f"\\u{ord(c):04X}" for c in IN_DATA + LINE)
    forged = re.sub(r'= "', lambda found: found[0] + escaped, lock.read_text(encoding="utf-8"))
    lock.write_text(forged, encoding="utf-8")
    for what in ((), ("--json",)):
        run("verify", lock, *what, exits=(0, 3, 6))


def test_import(tmp_path):
    folder = tmp_path / f"argus{IN_DATA}"
    folder.mkdir()
    (folder / "t.jj").write_text(
        "0\n3\n0 9 1 s 0 20 0 0 0\n1 4 1 u 0 9 1 1 0\n2 5 1 s 0 9 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n"
    )
    run("import", folder / "t.jj")
    (folder / "x.arb").write_text(f'<OPENMICRODATA> "x{IN_DATA}.asc"\n<NOSUCH{IN_DATA}> "y"\n', encoding="utf-8")
    run("import", folder / "x.arb", exits=(3,))
    (folder / "a.hst").write_text(f"A{IN_DATA};small;u\nB;large{IN_POLICY};z;9{IN_DATA}\n", encoding="utf-8")
    run("import", folder / "a.hst", "--dimensions", "region,size", exits=(0, 3))
    run("import", folder / f"a{IN_DATA}.hsx", exits=(2,))


def test_colours_are_ours_alone(tmp_path):
    path = world(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("by region", "by rgion"), encoding="utf-8")
    result = CliRunner().invoke(cli, ["check", str(path), "--colour"], color=True)
    assert COLOUR.search(result.stdout) and "\x1b[31m\u202e" not in result.stdout
    clean(result.stdout, colours=True)
    assert "\\u{1b}[31m" in result.stdout  # of the folder's name


# ---- the one place ---------------------------------------------------------------------------------------


def test_nothing_else_prints():
    """Only `cli/printing.py` writes to the terminal, `cli/streams.py` says where that cannot be done, and
    `notebook/progress.py` shows a line to those who call from Python."""
    printing = {ROOT / "sdcdsl" / name for name in ("cli/printing.py", "cli/streams.py", "notebook/progress.py")}
    for path in sorted((ROOT / "sdcdsl").rglob("*.py")):
        if path in printing or "syntax/grammar.py" in str(path):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"), (
                    path
                )
                if "cli" in path.parts and called == "json.dumps":
                    raise AssertionError(f"{path}: json_text makes a document that may be printed")


@pytest.mark.parametrize("character", [c for c in BAD if c not in OURS])
def test_every_such_character_is_made_visible(character):
    shown = f"\\u{{{ord(character):x}}}"
    assert visible(f"a{character}b") == visible(f"a{character}b", lines=True) == all_visible(f"a{character}b")
    assert visible(f"a{character}b") == f"a{shown}b"
    text = json_text({"a": f"x{character}y"})
    assert character not in text and json.loads(text) == {"a": f"x{character}y"}


def test_what_people_write_stays():
    for text in ("Île-de-France", "דרום", "می‌خواهم", "北京", "a\u00a0b", "🇳🇱", "cafe\u0301"):
        assert visible(text) == text
        assert json.loads(json_text(text)) == text
    assert visible("a\nb\tc", lines=True) == "a\nb\tc"
    assert visible("a\nb\tc") == "a\\u{a}b\\u{9}c"
    assert json.loads(json_text("\U000e0041 \udc80")) == "\U000e0041 \udc80"  # beyond the first plane; half a pair
