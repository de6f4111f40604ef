"""A package of a third party (`office`), installed by pip, with one of each kind: the real command knows its words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE, ROOT = Path(__file__).parent, Path(__file__).resolve().parents[2]
FIRMS = (
    *("North steel 90", "North steel 10", "North glass 40", "North glass 38", "South steel 30", "South steel 34"),
    *("South glass 27", "South glass 29", "East steel 51", "East steel 47", "East glass 33", "East glass 36"),
)
POLICY = """sdc 1
policy "Turnover of firms"

data firms {
  json_lines "firms.jsonl"
  column unit = "firm"
}

dimension region {
  codes North, South, East
  total all
}

dimension kind {
  codes steel, glass
  total both
}

table turnover {
  from firms
  by region, kind
  sum turnover
}

sensitive by lonely(80%)

attacker outsider {
  bounds 0 .. inf
}

protect turnover {
  lpl needed
  upl needed
  against outsider
  cost tariff(value)
  method METHOD
  release markdown "turnover.md" {
    title "Turnover"
  }
  release csv "turnover.csv"
}
"""
HIDE, DOWN, WEAK = "hide {\n    backend relay\n  }", "round_down {\n    base 50\n  }", "round_down {\n    base 5\n  }"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pip makes of the package, without a network."""
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(HERE / "office", folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(folder / "site")]
    subprocess.run([*pip, *offline, str(source)], check=True)
    return folder / "site"


@pytest.fixture
def policy(tmp_path: Path):
    def written(method: str) -> Path:
        rows = [line.split() for line in FIRMS]
        records = [{"firm": f"f{n}", "region": r, "kind": k, "turnover": int(t)} for n, (r, k, t) in enumerate(rows)]
        (tmp_path / "firms.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
        (tmp_path / "office.sdc").write_text(POLICY.replace("METHOD", method), encoding="utf-8")
        return tmp_path

    return written


def run(site: Path, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    paths = {"PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    command = [sys.executable, "-m", "sdcdsl", *arguments]
    return subprocess.run(
        command,
        cwd=folder or site,
        env={**os.environ, **paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_check_knows_all_words_and_loads_no_library(site: Path, policy):
    folder = policy(HIDE)
    assert run(site, "check", "office.sdc", folder=folder).returncode == 0
    code = "import sys; from sdcdsl.cli import cli\ntry: cli(['check', 'office.sdc'])\nexcept SystemExit: pass\n"
    code += "assert 'office_sdc.lonely' in sys.modules and not {'numpy', 'polars', 'linopy'} & set(sys.modules)"
    paths = {"PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env={**os.environ, **paths}, check=True)


def test_options_and_arguments_of_a_plug_in_are_checked(site: Path, policy):
    folder = policy("round_down")
    text = (folder / "office.sdc").read_text(encoding="utf-8")
    (folder / "office.sdc").write_text(text.replace("lonely(80%)", "lonely(120%)"), encoding="utf-8")
    done = run(site, "check", "office.sdc", folder=folder)
    assert done.returncode == 1
    assert "method `round_down` needs the option `base`" in done.stdout
    assert "`k` of `lonely` is at most 100%" in done.stdout


def test_methods_and_explain_tell_of_them(site: Path):
    listed = run(site, "methods").stdout
    for name in ("hide", "round_down", "lonely(k)", "json_lines", "markdown", "relay", "tariff"):
        assert f"  {name} " in listed, name
    document = json.loads(run(site, "methods", "--json").stdout)
    assert document["unusable"] == {}
    assert document["methods"]["round_down"]["options"]["base"]["required"]
    assert "x1 > k · X" in run(site, "explain", "alone").stdout
    assert "Rounding down. It publishes" in run(site, "explain", "round_down").stdout
    assert "round_down" in run(site, "explain", "round_dow").stdout


def test_a_plan_names_what_they_read_and_write(site: Path, policy):
    plan = run(site, "plan", "office.sdc", folder=policy(HIDE)).stdout
    assert "turnover: 12 (region 4 × kind 3)" in plan
    assert "sensitive by lonely(80%)" in plan
    assert "turnover.md, turnover.csv" in plan


def test_rounding_down_is_released_where_the_audit_finds_it_protected(site: Path, policy):
    folder = policy(DOWN)
    done = run(site, "protect", "office.sdc", folder=folder)
    assert (done.returncode, "turnover: PROTECTED" in done.stdout) == (0, True), done.stdout
    table = (folder / "turnover.md").read_text(encoding="utf-8").splitlines()
    assert table[:3] == ["# Turnover", "", "| region | kind | value | low | high | status |"]
    assert "| North | steel | 100.0 | 50.0 | 150.0 | changed |" in table  # 90 + 10
    assert "| South | glass | 50.0 | 0.0 | 100.0 | changed |" in table  # 27 + 29


@pytest.mark.long
def test_and_is_not_where_it_is_exposed(site: Path, policy):
    folder = policy(WEAK)
    done = run(site, "protect", "office.sdc", folder=folder)
    assert (done.returncode, "turnover: EXPOSED" in done.stdout) == (6, True)
    assert not (folder / "turnover.md").exists() and not (folder / "turnover.csv").exists()


@pytest.mark.long
def test_a_model_is_solved_by_a_backend_of_a_plug_in(site: Path, policy):
    folder = policy(HIDE)
    done = run(site, "protect", "office.sdc", folder=folder)
    assert (done.returncode, "optimal" in done.stdout) == (0, True), done.stdout
    # Four cells of a rectangle, each at the tariff: North with both kinds, and the cheaper of the other regions.
    least = sum(1 + v**0.5 for v in (100, 78, 64, 56))
    assert f"cost        {least:.9g}"[:20] in done.stdout
    assert run(site, "audit", "office.sdc", "--released", "turnover.csv", folder=folder).returncode == 0


@pytest.mark.long
def test_compile_writes_the_model_of_a_method_that_has_one(site: Path, policy):
    folder = policy(HIDE)
    assert run(site, "compile", "office.sdc", "-o", "model.lp", folder=folder).returncode == 0
    assert "\nbinary\n" in (folder / "model.lp").read_text(encoding="utf-8")
    policy(DOWN)
    without = run(site, "compile", "office.sdc", "-o", "model.lp", folder=folder)
    assert (without.returncode, "`round_down`" in without.stdout) == (1, True), without.stdout


@pytest.mark.long
def test_the_other_commands(site: Path, policy):
    folder = policy(HIDE)
    compared = run(site, "compare", "office.sdc", folder=folder)
    assert compared.returncode == 0 and "hide      × 1     protected" in compared.stdout
    cell = run(site, "explain", "office.sdc", "--cell", "region: North, kind: steel", folder=folder).stdout
    assert "the largest contributor holds 90 of 100" in cell
    assert run(site, "protect", "office.sdc", "--backend", "relay", folder=folder).returncode == 0
    assert run(site, "verify", "office.sdc.lock", folder=folder).returncode == 0
    wrong = run(site, "protect", "office.sdc", "--backend", "relais", folder=folder)
    assert (wrong.returncode, "'relay'" in wrong.stdout) == (2, True), wrong.stdout


def test_a_bad_file_of_a_format_of_a_plug_in_is_a_diagnostic(site: Path, policy):
    folder = policy(HIDE)
    (folder / "firms.jsonl").write_text("[1, 2\n", encoding="utf-8")
    done = run(site, "plan", "office.sdc", folder=folder)
    assert done.returncode == 3 and "no file with one JSON object a line" in done.stdout
