"""The commands as a person runs them: exit codes, what goes to stdout, what is written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import COMMANDS, cli
from sdcdsl.cli.new import LIBRARY, STARTERS
from tests.policy.reading import TINY

LPL = TINY[: TINY.index("lpl 10")].count("\n") + 1
METHOD = TINY[: TINY.index("method")].count("\n") + 1


def run(*arguments: str, input: str | bytes | None = None) -> Result:
    result = CliRunner().invoke(cli, list(arguments), input=input)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.sdc"
    path.write_text(TINY, encoding="utf-8")
    return path


def test_check_is_silent_on_success(tiny: Path):
    result = run("check", str(tiny))
    assert (result.exit_code, result.output) == (0, "")


def test_check_reports_on_stdout_and_exits_1(tiny: Path):
    tiny.write_text(TINY.replace("method csp", "method cps"), encoding="utf-8")
    result = run("check", str(tiny))
    assert result.exit_code == 1
    assert "error[SDC106]: there is no method `cps`" in result.stdout
    assert "did you mean `csp`?" in result.stdout
    assert "1 mistake found" in result.stderr


@pytest.mark.parametrize("output", ["concise", "json", "github", "sarif"])
def test_check_for_tools(tiny: Path, output: str):
    tiny.write_text(TINY.replace("method csp", "method cps"), encoding="utf-8")
    result = run("check", str(tiny), "--output", output)
    assert result.exit_code == 1
    if output == "concise":
        assert result.stdout == f"{tiny}:{METHOD}:10: error[SDC106] there is no method `cps` (did you mean `csp`?)\n"
    elif output == "json":
        (only,) = json.loads(result.stdout)["diagnostics"]
        assert (only["code"], only["marks"][0]["line"], only["marks"][0]["column"]) == ("SDC106", METHOD, 10)
        assert only["marks"][0]["end_column"] == 13
    elif output == "github":
        assert result.stdout.startswith(
            f"::error file={tiny},line={METHOD},col=10,endLine={METHOD},endColumn=13,title=SDC106::"
        )
    else:
        (one_run,) = json.loads(result.stdout)["runs"]
        (only,) = one_run["results"]
        assert only["ruleId"] == one_run["tool"]["driver"]["rules"][only["ruleIndex"]]["id"] == "SDC106"
        region = only["locations"][0]["physicalLocation"]["region"]
        assert region == {"startLine": METHOD, "startColumn": 10, "endLine": METHOD, "endColumn": 13}


def test_machine_formats_print_even_when_all_is_well(tiny: Path):
    assert json.loads(run("check", str(tiny), "--output", "json").stdout) == {
        "schema": "sdcdsl-check/1",
        "diagnostics": [],
        "exit": 0,
    }


def test_check_reads_folders_and_standard_input(tiny: Path, tmp_path: Path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "bad.sdc").write_text("sdc 1\nseeed 1\n", encoding="utf-8")
    assert run("check", str(tmp_path)).exit_code == 1
    assert run("check", "-", input=TINY).exit_code == 0
    result = run("check", "-", input="sdc 1\nseeed 1\n")
    assert "standard input:2:1" in result.stdout
    assert run("check", "-", input=b"\xff\xfe").exit_code == 1


def test_usage_mistakes_exit_2(tmp_path: Path):
    assert run("chek").exit_code == 2
    assert "did you mean `check`?" in run("chek").output
    assert run("check").exit_code == 2
    assert run("check", str(tmp_path)).exit_code == 2
    assert run("check", "x.sdc", "--output", "xml").exit_code == 2


def test_every_command_explains_itself():
    assert set(run("--help").output.split()) >= set(COMMANDS)
    assert "130 stopped by Ctrl-C" in run("--help").output
    for command in COMMANDS:
        result = run(command, "--help")
        assert result.exit_code == 0
        assert len(result.output.splitlines()) > 5


def test_fmt_writes_the_canonical_form_and_says_so(tiny: Path):
    tiny.write_text(TINY.replace("  lpl 10", "lpl   10"), encoding="utf-8")
    check = run("fmt", "--check", str(tiny))
    assert check.exit_code == 7
    assert "lpl   10" in tiny.read_text(encoding="utf-8")
    diff = run("fmt", "--diff", str(tiny))
    assert diff.exit_code == 7
    assert "-lpl   10\n+  lpl 10\n" in diff.stdout
    assert run("fmt", str(tiny)).exit_code == 0
    assert run("fmt", "--check", str(tiny)).exit_code == 0
    assert "\n  lpl 10\n" in tiny.read_text(encoding="utf-8")


def test_fmt_makes_plain_line_ends_and_keeps_mode_and_links(tiny: Path, tmp_path: Path):
    tiny.write_bytes(b"\xef\xbb\xbf" + TINY.replace("\n", "\r\n").encode())
    tiny.chmod(0o640)
    link = tmp_path / "link.sdc"
    link.symlink_to(tiny)
    assert run("fmt", str(link)).exit_code == 0
    assert link.is_symlink()
    assert b"\r" not in tiny.read_bytes()
    assert not tiny.read_bytes().startswith(b"\xef\xbb\xbf")
    assert tiny.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.sdc", "tiny.sdc"]


def test_fmt_leaves_broken_files_alone(tiny: Path):
    broken = TINY.replace("lpl 10", "lpl")
    tiny.write_text(broken, encoding="utf-8")
    assert run("fmt", str(tiny)).exit_code == 1
    assert tiny.read_text(encoding="utf-8") == broken


def test_fmt_filters_standard_input():
    assert run("fmt", "-", input="sdc   1\nseed  3").stdout == "sdc 1\nseed 3\n"


def test_lint_advises_and_fails_only_when_strict(tiny: Path):
    result = run("lint", str(tiny), "--today", "2026-01-01")
    assert result.exit_code == 0
    assert "warning[SDC204]" in result.stdout
    assert run("lint", "--strict", str(tiny)).exit_code == 1


def test_diff_exits_7_when_something_changed(tiny: Path, tmp_path: Path):
    other = tmp_path / "other.sdc"
    other.write_text(TINY.replace("lpl 10", "lpl 8"), encoding="utf-8")
    assert run("diff", str(tiny), str(tiny)).exit_code == 0
    result = run("diff", str(tiny), str(other))
    assert result.exit_code == 7
    assert "looser     ~ lpl 10" in result.stdout
    document = json.loads(run("diff", str(tiny), str(other), "--json").stdout)
    assert document["verdict"] == "looser"
    assert document["edits"][0] | {"why": ""} == {
        "kind": "changed",
        "verdict": "looser",
        "in": "protect investment",
        "old": "lpl 10",
        "new": "lpl 8",
        "old_at": f"{tiny}:{LPL}:3",
        "new_at": f"{other}:{LPL}:3",
        "why": "",
    }
    other.write_text("sdc 1\nnonsense\n", encoding="utf-8")
    assert run("diff", str(tiny), str(other)).exit_code == 1


def test_show_prints_the_stages(tiny: Path):
    tree = run("show", str(tiny), "--stage", "tree").stdout
    assert tree.startswith("start  [1:1]\n  edition  [1:1]\n")
    policy = json.loads(run("show", str(tiny)).stdout)
    (protect,) = policy["blocks"]["protect"]
    assert protect["statements"][0] == {
        "is": "Level",
        "level": "lpl",
        "amount": {"is": "Number", "text": "10", "from": f"{tiny}:{LPL}:7"},
        "from": f"{tiny}:{LPL}:3",
    }


def test_explain_and_methods():
    assert run("explain", "SDC116").stdout.startswith("# SDC116")
    assert run("explain", "sdc116").exit_code == 0
    assert "cap_hidden" in run("explain", "csp").stdout
    assert "rule dominance" in run("explain", "nk").stdout
    assert run("explain", "SDC9999").exit_code == 2
    listed = run("explain").stdout
    assert "SDC001" in listed
    assert "SDC215" in listed
    document = json.loads(run("methods", "--json").stdout)
    assert set(document["methods"]) == {"csp", "ip", "cta", "ecta", "rounding", "perturb", "combined", "cellkey"}
    assert document["methods"]["rounding"]["options"]["base"]["required"] is True
    assert all(name in run("methods").stdout for name in document["methods"])


@pytest.mark.parametrize("starter", [*STARTERS, *LIBRARY])
def test_starters_are_good_policies_in_canonical_form(tmp_path: Path, starter: str):
    path = tmp_path / "deep" / "new.sdc"
    assert run("new", str(path), "--from", starter).exit_code == 0
    assert run("check", str(path)).output == ""
    assert run("fmt", "--check", str(path)).exit_code == 0
    assert run("lint", "--strict", str(path)).exit_code == 0


def test_new_overwrites_nothing_unasked(tiny: Path):
    assert run("new", str(tiny)).exit_code == 2
    assert tiny.read_text(encoding="utf-8") == TINY
    assert run("new", "--force", str(tiny)).exit_code == 0
    assert tiny.read_text(encoding="utf-8") != TINY


def test_nothing_heavy_is_imported(tiny: Path):
    code = (
        "import sys; from sdcdsl.cli import cli\n"
        f"try: cli(['check', {str(tiny)!r}])\n"
        "except SystemExit as e: assert e.code == 0\n"
        "heavy = {'lark', 'rich', 'numpy', 'scipy', 'xarray', 'polars', 'linopy', 'highspy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_closed_pipe_is_no_crash(tiny: Path):
    command = f"{sys.executable} -m sdcdsl show --stage tree {tiny} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "start  [1:1]\n"
    assert "Traceback" not in done.stderr


def test_what_is_printed_of_a_file_has_an_end(tmp_path: Path):
    path = tmp_path / "many.sdc"
    path.write_text("sdc 1\n" + ";seed 1" * 5000 + "\n", encoding="utf-8")
    result = run("check", str(path))
    assert result.exit_code == 1
    assert result.stdout.count("error[") == 101
    assert "4899 more problems in" in result.stdout
    assert "4999 mistakes found; `sdcdsl explain SDC143` tells more" in result.stderr
    shown = json.loads(run("check", str(path), "--output", "json").stdout)["diagnostics"]
    assert len(shown) == 101
    assert shown[-1]["code"] == "SDC008"


def test_lint_counts_what_it_does_not_print(tmp_path: Path):
    path = tmp_path / "unused.sdc"
    blocks = "".join(f"attacker a{i} {{\n  bounds 0 .. inf\n}}\n" for i in range(400))
    path.write_text(TINY + blocks, encoding="utf-8")
    result = run("lint", str(path), "--output", "concise")
    assert len(result.stdout.splitlines()) == 101


def test_every_file_of_the_library_can_be_started_from():
    folder = Path(__file__).resolve().parents[2] / "specs" / "library"
    assert {f"library/{p.stem}" for p in folder.glob("*.sdc")} == set(LIBRARY)


def test_what_a_solver_prints_goes_nowhere():
    """From code that Python does not see, to the process's own standard output: it may quote data."""
    keep = "from sdcdsl.cli.streams import keep_for_results; keep_for_results()"
    program = f"import os; {keep}; os.write(1, b'93.261'); print('done')"
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (made.stdout, made.stderr) == ("done\n", "")
