"""Values that nobody else has, planted in data with every kind of mistake: no message, lock or public page has them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from sdcdsl.diagnostics import FilePlace, confidential, diagnostic
from sdcdsl.diagnostics.confidential import secret, secret_figure
from sdcdsl.diagnostics.render import FORMATS, render
from tests.conftest import ROOT

PLANTED = ("918273645", "726354819", "635481927")
COMMON = """sdc 1
policy "Planted"
dimension region {{ codes A, B, C; total Total }}
dimension size {{ codes small, large; total Total }}
{data}
sensitive by threshold(3)
attacker external {{ bounds {bounds} }}
protect t {{
  lpl {level}
  upl {level}
  against external
  method {method}
  release csv "released.csv"
}}
"""
MICRO = """data units {
  csv "units.csv"
  column unit = "id"
}
table t { from units; by region, size; sum turnover }"""
CELLS = """data cells { csv "units.csv" }
table t { from cells; by region, size; value turnover; count n }"""
UNITS = [
    *("0,A,small,918273645", "1,A,large,726354819", "2,B,small,635481927"),
    *(f"{10 * k + i},{r},{s},{100_000_000 + 1_000_003 * (3 * k + i)}"
      for k, (r, s) in enumerate([("B", "large"), ("C", "small"), ("C", "large"), ("A", "large")], 1)
      for i in range(3)),
]  # fmt: skip


def leaked(text: str) -> list[str]:
    """Planted numbers, however their thousands are kept apart."""
    plain = re.sub(r"(?<=\d)[ \u202f\u00a0,.'](?=\d{3}(?!\d))", "", text)
    return [number for number in PLANTED if number in plain or number[:6] in plain]


def made(
    folder: Path, units: list[str], *, data: str = MICRO, header: str = "id,region,size,turnover", **said: str
) -> Path:
    wanted = {"bounds": "0 .. inf", "level": "10% of value", "method": "csp", **said}
    (folder / "p.sdc").write_text(COMMON.format(data=data, **wanted))
    (folder / "units.csv").write_text("\n".join([header, *units]) + "\n")
    return folder / "p.sdc"


def said(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.exit_code, result.output


MISTAKES = {
    "text among numbers": {"units": [*UNITS, "9,A,small,918273645 EUR"]},
    "a decimal comma": {"units": [*UNITS, '9,A,small,"918273645,25"']},
    "not finite": {"units": [*UNITS, "9,A,small,918273645e999"]},
    "a number as a code": {"units": [*UNITS, "9,A,,726354819"]},
    "bounds that exclude values": {"units": UNITS, "bounds": "0 .. 5"},
    "negative values": {"units": [*UNITS, "9,C,small,-918273645"]},
    "levels beyond the bounds": {"units": UNITS, "bounds": "90% of value .. 110% of value", "level": "50% of value"},
    "nothing satisfies it": {"units": UNITS, "bounds": "90% of value .. 110% of value", "level": "9% of value"},
    "rows of another width": {"units": [*UNITS, "9,A,small,918273645,635481927"]},
    "cells that do not add up": {
        "units": ["A,small,918273645,1", "A,large,5,9", "A,Total,726354819,9"],
        "data": CELLS,
        "header": "region,size,turnover,n",
    },
    "cells twice": {
        "units": ["A,small,918273645,1", "A,small,726354819,1"],
        "data": CELLS,
        "header": "region,size,turnover,n",
    },
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("command", ["plan", "protect", "audit"])
def test_messages_about_mistakes(tmp_path: Path, mistake: str, command: str):
    path = made(tmp_path, **MISTAKES[mistake])
    more = ["--json"] if command != "audit" else ["--output", "json"]
    for arguments in ([command, path], [command, path, *more]):
        code, text = said(*arguments)
        if code == 6 and command == "audit":  # its result is what attackers find out: for the office, and asked for
            text = json.dumps(json.loads(text)["diagnostics"]) if len(arguments) > 2 else ""
        assert code in (1, 3, 4, 6) or "SDC" not in text, text
        assert leaked(text) == [], text


def test_that_they_can_be_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = made(tmp_path, **MISTAKES["text among numbers"])
    assert leaked(said("plan", path)[1]) == []
    monkeypatch.setenv("SDCDSL_SHOW_VALUES", "1")
    assert leaked(said("plan", path)[1]) == ["918273645"]
    monkeypatch.delenv("SDCDSL_SHOW_VALUES")
    start = [sys.executable, "-m", "sdcdsl", "--show-values", "plan", str(path)]
    got = subprocess.run(
        start, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert leaked(got.stdout + got.stderr) == ["918273645"]


def test_releases_that_exclude_the_truth(tmp_path: Path):
    path = made(tmp_path, UNITS)
    rows = [f"{r},{s},,1,2,interval" for r in ("A", "B", "C", "Total") for s in ("small", "large", "Total")]
    (tmp_path / "r.csv").write_text("\n".join(["region,size,value,low,high,status", *rows]) + "\n")
    code, text = said("audit", path, "--released", tmp_path / "r.csv")
    assert code == 3, text
    assert "excludes the true value" in text
    assert leaked(text) == []


def test_what_is_written_for_others(tmp_path: Path):
    """Cells with one contributor are hidden."""
    path = made(tmp_path, UNITS)
    code, text = said("protect", path, "--public", "--certificate", tmp_path / "p.cert")
    assert code == 0, text
    for name in ("p.sdc.lock", "p.public.html", "released.csv"):
        assert leaked((tmp_path / name).read_text()) == [], name
    certificate = (tmp_path / "p.cert").read_text()
    assert leaked(certificate) == ["918273645", "635481927"]  # it proves something about them
    first = json.loads(certificate.split("\n", 1)[0])
    assert "true values" in first["notice"] and "confidential" in first["notice"]
    assert (tmp_path / "p.cert").stat().st_mode & 0o077 == 0
    code, text = said("verify", tmp_path / "p.cert")
    assert code == 0, text
    assert leaked(text) == []


# ---- the mechanism ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", FORMATS)
def test_every_form_leaves_secrets_out(output: str, monkeypatch: pytest.MonkeyPatch):
    found = diagnostic(
        "SDC301",
        f"headline {secret('1111')}",
        FilePlace("f"),
        f"label {secret('2222')}",
        notes=[f"note {secret('3333')}"],
        help=f"help {secret('4444')}",
    )
    found = found.note(f"more {secret('5555')}").mark(FilePlace("g"), f"there {secret('6666')}")
    numbers = [str(n) * 4 for n in range(1, 7)]
    text = render([found], output)
    assert not [n for n in numbers if n in text]
    assert "\ufdd0" not in text and "\ufdd1" not in text
    monkeypatch.setattr(confidential, "_shown", True)
    shown = render([found], output)
    assert "1111" in shown
    assert "\ufdd0" not in shown and "\ufdd1" not in shown


def test_words_among_figures():
    assert secret_figure("n.a.") == "n.a."
    assert secret_figure("12 EUR") != "12 EUR"
    assert diagnostic("SDC301", f"a {secret('1')} b").headline == "a 1 b"  # programs see all of it
