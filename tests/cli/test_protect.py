"""`sdcdsl protect` as a person runs it: what is written, what is said, and with which exit code.

Most tests use a method of a third party that tries all patterns (`tests.pipeline.others`), so that they say nothing
about the methods of the program: those have `test_known_answers` and tests of their own.
"""

from __future__ import annotations

import json
import os

import polars as pl
import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from sdcdsl.methods.result import Result
from sdcdsl.pipeline import search
from sdcdsl.status import LIMIT
from tests.cli.investment import document
from tests.cli.protecting import APART, KEPT, codes, files, protect, run
from tests.conftest import ROOT
from tests.pipeline.others import others  # noqa: F401

pytestmark = pytest.mark.usefixtures("others")


def test_the_document_is_the_published_one(policy, tmp_path):
    found = protect(policy("method enumeration", 'release csv "out.csv"'))
    [block] = found["blocks"]
    assert {k: block[k] for k in ("name", "method", "status", "objective", "bound", "gap", "verdict")} == {
        "name": "investment",
        "method": "enumeration",
        "status": "optimal",
        "objective": 59,
        "bound": 59,
        "gap": 0,
        "verdict": "protected",
    }
    assert block["counts"] == {"cells": 16, "relations": 8, "sensitive": 1, "attackers": 1, "touched": 4}
    assert {"bind", "search", "audit"} <= block["seconds"].keys()
    assert all(seconds >= 0 for seconds in block["seconds"].values())
    assert block["outputs"] == [str(tmp_path / "out.csv")]
    assert found["exit"] == 0


def test_what_is_released_is_what_was_audited(policy, tmp_path):
    path = policy("method enumeration", 'release csv "out.csv"', 'release parquet "deep/out.parquet"')
    assert run(path, "--certificate", tmp_path / "out.cert").exit_code == 0
    assert files(tmp_path) == {"investment.sdc", "out.csv", "deep/out.parquet", "out.cert"} | KEPT
    audited = document(path, "--released", tmp_path / "out.csv")
    assert audited["verdict"] == "protected"
    [pair] = audited["pairs"]
    assert (pair["low"], pair["high"]) == (5, 30)
    table, other = pl.read_csv(tmp_path / "out.csv"), pl.read_parquet(tmp_path / "deep" / "out.parquet")
    hidden = table.filter(pl.col("status") == "hidden").select("activity", "region").rows()
    assert set(hidden) == {("II", "A"), ("II", "C"), ("III", "A"), ("III", "C")}
    assert other["value"].to_list() == table["value"].to_list()
    assert other["status"].to_list() == table["status"].to_list()
    verified = CliRunner().invoke(cli, ["verify", str(tmp_path / "out.cert")])
    assert (verified.exit_code, "the certificate holds" in verified.output) == (0, True)


def test_the_report_for_everybody_and_none_at_all(policy, tmp_path):
    path = policy("method enumeration", 'release csv "out.csv"', 'release html "page/table.html"')
    found = protect(path, "--public", "--no-lock")
    assert found["report"] == str(tmp_path / "investment.public.html") and found["lock"] is None
    assert files(tmp_path) == {"investment.sdc", "out.csv", "page/table.html", "investment.public.html"}
    assert "<html" in (tmp_path / "page" / "table.html").read_text(encoding="utf-8")[:200]
    assert [str(tmp_path / "page" / "table.html")] == found["blocks"][0]["outputs"][1:]


def test_what_is_confidential_is_for_its_owner_only(policy, tmp_path):
    path = policy("method enumeration", 'release csv "out.csv"')
    (tmp_path / "internal").mkdir()
    (tmp_path / "internal" / "investment.internal.html").touch(mode=0o644)  # the mode of what stood there does not stay
    before = os.umask(0o022)
    try:
        assert run(path, "--certificate", tmp_path / "out.cert").exit_code == 0
        assert run(path, "--public", "--no-lock").exit_code == 0
    finally:
        os.umask(before)
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in files(tmp_path) - {path.name}}
    public = ("out.csv", "investment.public.html", "internal/.gitignore")
    assert modes == {name: 0o644 if name in public else 0o600 for name in (*public, "out.cert", *KEPT)}


def test_events_for_programs(policy, tmp_path):
    """stdout has one document; what goes on is told on stderr, an object a line."""
    result = run(policy("method enumeration", 'release csv "out.csv"'), "--json")
    events = [json.loads(line) for line in result.stderr.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[:2] == ["bound", "searching"] and kinds[-1] == "ended" and "auditing" in kinds
    assert events[0] == {"event": "bound", "block": "investment", "cells": 16, "sensitive": 1, "pairs": 1} | {
        "seconds": events[0]["seconds"]
    }
    assert run(policy("method enumeration")).stderr == ""  # quiet where nobody watches
    assert run(policy("method enumeration"), "--json", "--progress", "none").stderr == ""


def test_options_of_the_format(policy, tmp_path):
    path = policy("method enumeration", 'release csv "out.csv" {\n    delimiter ";"\n    decimal ","\n  }')
    text = path.read_text()
    for figure in ("20", "80", "45", "190"):  # of I·A, and of the sums it belongs to
        text = text.replace(f" {figure} |", f" {figure}.5 |")
    path.write_text(text)
    assert run(path).exit_code == 0
    assert "I;A;20,5;;;published\n" in (tmp_path / "out.csv").read_text()
    assert document(path, "--released", tmp_path / "out.csv")["verdict"] == "protected"


def test_text_for_people(policy, tmp_path):
    said = run(policy("method enumeration", 'release csv "out.csv"'), "--out", tmp_path / "new" / "folder").stdout
    assert said.startswith("investment: PROTECTED\n")
    assert "59, proven to be the least" in said
    assert "1 pair of attacker and sensitive cell, all protected" in said
    assert str(tmp_path / "new" / "folder" / "out.csv") in said
    assert files(tmp_path) == {"investment.sdc", "new/folder/out.csv"} | {f"new/folder/{name}" for name in APART}
    assert (
        f"{'report':<12}{tmp_path / 'new' / 'folder' / 'internal' / 'investment.internal.html'}, confidential" in said
    )


def test_without_a_release_the_result_is_shown(policy, tmp_path):
    said = run(policy("method enumeration")).stdout
    assert "nothing: no `release` names a file" in said
    assert "  activity = II, region = A: hidden\n" in said
    assert files(tmp_path) == {"investment.sdc"}


def test_the_first_method_that_finds_something_is_taken(policy):
    found = protect(policy("method enumeration {\n    cap_hidden 1\n  } else endless {\n    time_limit 0.1 s\n  }"))
    [block] = found["blocks"]
    assert (block["method"], block["status"], block["verdict"]) == ("endless", "feasible", "protected")
    assert block["tried"] == [{"method": "enumeration", "status": "infeasible"}]
    assert (block["objective"], block["bound"], block["counts"]["touched"]) == (760, 59, 16)
    assert block["gap"] == pytest.approx(1 - 59 / 760)


# ---- nothing is written ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "exit", "status", "code"),
    [
        ("method careless", 6, "optimal", "SDC513"),
        ("method lying", 6, "optimal", "SDC513"),
        ("method enumeration {\n    time_limit 0 s\n  }", 5, "limit", "SDC511"),
        ("method enumeration {\n    cap_hidden 1\n  }", 4, "infeasible", "SDC510"),
    ],
)
def test_nothing_is_written_unless_protected(policy, tmp_path, said, exit, status, code):
    (tmp_path / "out.csv").write_text("last year's", encoding="utf-8")
    found = protect(policy(said, 'release csv "out.csv"'))
    [block] = found["blocks"]
    assert (found["exit"], block["status"], block["outputs"]) == (exit, status, [])
    assert code in codes(found)
    assert block["verdict"] in ("exposed", None)
    assert files(tmp_path) == {"investment.sdc", "out.csv"}
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "last year's"


def test_more_time_is_advised_only_where_time_was_short(policy, monkeypatch):
    short = run(policy("method enumeration {\n    time_limit 0 s\n  }"))
    assert "more time: time_limit 1 h" in short.stderr
    monkeypatch.setattr(search, "run", lambda *_: Result(LIMIT))
    gave_up = run(policy("method enumeration"))
    assert gave_up.exit_code == 5 and "ended before its time was up" in gave_up.stderr
    assert "more time does not help" in gave_up.stderr


def test_the_next_method_runs_where_the_first_finds_nothing(policy, tmp_path):
    found = protect(policy("method enumeration {\n    cap_hidden 1\n  } else cta", 'release csv "out.csv"'))
    [block] = found["blocks"]
    assert (found["exit"], block["method"], block["verdict"]) == (0, "cta", "protected")
    assert block["tried"] == [{"method": "enumeration", "status": "infeasible"}]
    assert files(tmp_path) == {"investment.sdc", "out.csv"} | KEPT


def test_all_blocks_or_none(policy, tmp_path):
    path = policy("method enumeration", 'release csv "one.csv"')
    text = path.read_text()
    other = text[text.index("table investment") : text.index("attacker external")] + text[text.index("protect inv") :]
    other = other.replace("investment", "other").replace("one.csv", "two.csv").replace("enumeration", "careless")
    path.write_text(f"{text}\n{other}")
    found = protect(path, "--jobs", "1")
    assert [(b["name"], b["verdict"], b["outputs"]) for b in found["blocks"]] == [
        ("investment", "protected", []),
        ("other", "exposed", []),
    ]
    assert (found["exit"], files(tmp_path)) == (6, {"investment.sdc"})
    assert protect(path, "--block", "investment")["exit"] == 0
    assert files(tmp_path) == {"investment.sdc", "one.csv"} | KEPT


@pytest.mark.parametrize(
    ("said", "exit", "code"),
    [
        ('method enumeration\n  release csv "investment.sdc.lock"', 3, "SDC503"),
        ('method enumeration\n  release csv "investment.sdc"', 3, "SDC503"),
        ('method enumeration\n  release csv "investment.sdc/out.csv"', 3, "SDC503"),
        ('method enumeration {\n    previous "nowhere.csv"\n  }', 3, "SDC302"),
    ],
)
def test_what_cannot_be_done_is_said_beforehand(policy, tmp_path, said, exit, code):
    found = protect(policy(said))
    assert (found["exit"], codes(found), found["blocks"]) == (exit, [code], [])
    assert files(tmp_path) == {"investment.sdc"}
    shown = run(policy(said))
    assert shown.exit_code == exit
    assert f"error[{code}]" in shown.stdout


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("rounding {\n    base 5\n  }", ("--threads", "2")),
        ("ecta {\n    alpha 30%\n  }\n  seed", ("--gap", "5%")),
        ("perturb {\n    range -5 .. 5\n  } else ip", ("--threads", "2")),
    ],
)
def test_options_of_the_command_that_no_method_would_use(policy, tmp_path, method, options):
    path = policy(f"method {method.removesuffix('seed')}")
    if method.endswith("seed"):
        path.write_text(path.read_text().replace("sdc 1\n", "sdc 1\nseed 7\n", 1))
    found = protect(path, *options)
    assert (found["exit"], codes(found), found["blocks"]) == (1, ["SDC147"], [])
    assert files(tmp_path) == {"investment.sdc"}


def test_an_option_of_the_command_that_one_method_uses(policy):
    assert protect(policy("method csp"), "--threads", "1", "--gap", "1%")["exit"] == 0
    assert protect(policy("method csp else ip"), "--threads", "1")["exit"] == 0


def test_wrong_policies_data_and_usage(policy, tmp_path):
    assert codes(protect(policy("method cps"))) == ["SDC106"]
    assert run(policy("method cps")).exit_code == 1
    path = policy("method enumeration")
    path.write_text(path.read_text().replace("22 |    49", "23 |    49"))
    assert run(path).exit_code == 1
    assert run(policy("method enumeration"), "--block", "invest").exit_code == 2
    assert run(policy("method enumeration"), "--method", "csp").exit_code == 2
    assert "no time" in run(policy("method enumeration"), "--time-limit", "soon").output
    assert run(tmp_path / "nowhere.jj").exit_code == 3
    assert protect(policy("method enumeration"), "--time-limit", "0min")["exit"] == 5


def test_levels_that_no_release_gives_name_the_clashing_statements(policy, monkeypatch):
    """With the margins published the rest of its row (8 + 19) and of its column (10 + 12) limits how far II·C rises."""
    monkeypatch.setenv("SDCDSL_SHOW_VALUES", "1")
    fact = "publish where activity = Total or region = Total"
    path = policy("method csp", levels=("lpl 5", "upl 28"), fact=fact)
    found = protect(path)
    assert (found["exit"], codes(found)) == (4, ["SDC510"])
    [clash] = found["diagnostics"]
    lines = path.read_text().splitlines()
    assert [lines[mark["line"] - 1].strip() for mark in clash["marks"]] == ["upl 28", fact]
    assert "activity = II, region = C, against external" in clash["notes"][0]
    assert "rise by 28" in clash["notes"][0] and "at most 22" in clash["notes"][0]


# ---- last period -----------------------------------------------------------------------------------------


def test_what_changed_since_the_last_period(policy, tmp_path):
    old = [("I", "B", "x"), ("II", "B", "x"), ("II", "C", "5..30"), ("III", "A", "17"), ("Total", "C", "-")]
    rows = "".join(f"{a},{r},{v}\n" for a, r, v in old)
    (tmp_path / "last.csv").write_text(f"activity,region,value\n{rows}", encoding="utf-8")
    path = policy('method enumeration {\n    previous "last.csv"\n  }')
    [block] = protect(path)["blocks"]
    assert block["changes"]["previous"] == ["last.csv"]
    assert set(block["changes"]["newly_touched"]) == {
        "activity = II, region = A",
        "activity = III, region = A",
        "activity = III, region = C",
    }
    assert set(block["changes"]["published_again"]) == {"activity = I, region = B", "activity = II, region = B"}
    assert "3 newly not published, 2 published again, against last.csv" in run(path).stdout


def test_what_stays_open_to_each_attacker(tmp_path):
    """Of each attacker the cell that he comes nearest to; who knows more is named first."""
    page = (ROOT / "docs" / "methods" / "perturb.md").read_text(encoding="utf-8")
    text = page.split("```sdc file=perturbed.sdc\n")[1].split("```")[0]
    insider = "attacker insider {\n  bounds 50% of value .. 150% of value\n}\n\nprotect"
    text = text.replace("protect", insider, 1).replace("against external", "against external, insider")
    path = tmp_path / "two.sdc"
    path.write_text(text, encoding="utf-8")
    lines = run(path).stdout.splitlines()
    [first] = [i for i, line in enumerate(lines) if line.startswith("  left open ")]
    assert "insider: at least " in lines[first]
    assert "external: at least " in lines[first + 1]
    wide = [float(line.split("at least ")[1].split(" %")[0]) for line in lines[first : first + 2]]
    assert 100 * 13 / 22 <= wide[0] <= wide[1]  # lpl 5 and upl 8 of 22
    assert wide[0] <= 100  # half of the value below it and half above
