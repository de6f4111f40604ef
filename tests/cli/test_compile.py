"""`sdcdsl compile` as a person runs it: models that solvers outside read, solutions that come back."""

from __future__ import annotations

import json
from pathlib import Path

import highspy
import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import cli
from tests.cli.investment import POLICY

KNOWN = Path(__file__).resolve().parents[2] / "specs" / "known"
CSP, IP = KNOWN / "three-by-three-10-12-csp.sdc", KNOWN / "three-by-three-10-8-30-ip.sdc"


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["compile", *map(str, arguments)], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def solved_by_highs(model: Path, solution: Path) -> float:
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    assert h.readModel(str(model)) == highspy.HighsStatus.kOk
    h.run()
    h.writeSolution(str(solution), 0)
    return h.getInfo().objective_function_value


def solved_by_scip(model: Path, solution: Path) -> float:
    scip = pytest.importorskip("pyscipopt").Model()
    scip.hideOutput()
    scip.readProblem(str(model))
    scip.optimize()
    scip.writeBestSol(str(solution))
    return scip.getObjVal()


@pytest.mark.parametrize(
    ("solver", "policy", "ending", "objective", "words"),
    [
        (solved_by_highs, CSP, "mps", 85, "4 cells hidden"),
        (solved_by_scip, CSP, "lp", 85, "4 cells hidden"),
        (solved_by_highs, IP, "lp", 1775, "cells not published as they are"),
        (solved_by_scip, IP, "mps", 1775, "cells not published as they are"),
    ],
)
def test_there_and_back(solver, policy: Path, ending: str, objective: float, words: str, tmp_path: Path):
    model, solution = tmp_path / f"m.{ending}", tmp_path / "m.sol"
    written = run(policy, "-o", model)
    assert (written.exit_code, written.stderr) == (0, "")
    assert written.stdout.startswith(f"{model}: ")
    assert solver(model, solution) == pytest.approx(objective)  # costs are written as they are
    back = run(policy, "--solution", solution)
    assert back.exit_code == 0
    assert f"objective {objective}, " in back.stdout
    assert words in back.stdout
    assert back.stdout.endswith("verdict: protected\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([model.name, "m.sol"])


def test_an_lp_file_says_what_its_numbers_mean(tmp_path: Path):
    run(CSP, "-o", tmp_path / "m.lp")
    text = (tmp_path / "m.lp").read_text(encoding="utf-8")
    assert text.startswith("\\ csp for investment\n\\ cell 0: ")
    assert "\n\\ cell 11: activity = II, region = C\n" in text
    assert "\n\\ pair 0: external about activity = II, region = C\n" in text


def test_netcdf_is_read_by_linopy(tmp_path: Path):
    import linopy  # noqa: PLC0415

    path = tmp_path / "m.nc"
    assert run(CSP, "-o", path).exit_code == 0
    assert path.stat().st_mode & 0o077 == 0  # it holds the data
    model = linopy.read_netcdf(path)
    model.solve("highs", io_api="direct", output_flag=False)
    assert model.objective.value == pytest.approx(85)


def test_a_solution_that_protects_too_little(tmp_path: Path):
    """Only II·C and a corner: the columns give II·C away."""
    solution = tmp_path / "own.sol"
    solution.write_text("# by hand\nx(11) 1\n", encoding="utf-8")
    result = run(CSP, "--solution", solution)
    assert result.exit_code == 6
    assert "verdict: exposed\n  activity = II, region = C" in result.stdout
    document = json.loads(run(CSP, "--solution", solution, "--json").stdout)
    (block,) = document["blocks"]
    assert (document["exit"], block["verdict"], block["objective"], block["touched"]) == (6, "exposed", 22, 1)


def test_cplex_writes_xml(tmp_path: Path):
    solution = tmp_path / "own.sol"
    cells = "".join(f'  <variable name="x({i})" index="{i}" value="1"/>\n' for i in (10, 11, 14, 15))
    solution.write_text(f'<?xml version="1.0"?>\n<CPLEXSolution>\n{cells}</CPLEXSolution>\n', encoding="utf-8")
    result = run(CSP, "--solution", solution)
    assert (result.exit_code, "objective 85" in result.stdout) == (0, True)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("", "SDC505", "it is empty"),
        ("x(0)\n", "SDC505", "a name and a value are expected"),
        ("x(0) many\n", "SDC505", "'many' is not a number"),
        ("x(0) nan\n", "SDC505", "x(0) is nan"),
        ("x(0) 1\nx(0) 1\n", "SDC505", "stands there twice"),
        ("Model status\nOptimal\n\n# Columns 3\nx(0) 1\n", "SDC505", "it ends after 1 of 3 columns"),
        ("Model status\nOptimal\n\n# Columns\n", "SDC505", "the number of columns is missing"),
        ("x(99) 1\ny 2\n", "SDC506", "it has no variable x(99)"),
        ("x(0) 0.5\n", "SDC506", "x(0) = 0.5 is not a whole number"),
        ("x(0) 3\n", "SDC506", "x(0) = 3 is outside its bounds"),
    ],
)
def test_bad_solutions(text: str, code: str, says: str, tmp_path: Path):
    solution = tmp_path / "bad.sol"
    solution.write_text(text, encoding="utf-8")
    result = run(CSP, "--solution", solution)
    assert result.exit_code == 3
    assert result.stdout.startswith(f"error[{code}]: ")
    assert says in result.stdout
    assert "verdict" not in result.stdout


def test_files_that_are_no_solutions(tmp_path: Path):
    noise = tmp_path / "noise.sol"
    noise.write_bytes(bytes(range(128, 256)))
    for path, says in ((tmp_path / "none.sol", "there is no such file"), (noise, "it is not a text file")):
        result = run(CSP, "--solution", path)
        assert (result.exit_code, says in result.stdout) == (3, True)


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        ("Model status\nInfeasible\n\n# Primal solution values\nNone\n", 4),
        ("Model status\nTime limit reached\n\n# Primal solution values\nNone\n", 5),
        ("solution status: infeasible\nno solution available\n", 4),
        ("solution status: time limit reached\nno solution available\n", 5),
    ],
)
def test_files_without_a_solution(text: str, exit_code: int, tmp_path: Path):
    solution = tmp_path / "none.sol"
    solution.write_text(text, encoding="utf-8")
    result = run(CSP, "--solution", solution)
    assert result.exit_code == exit_code
    assert result.stdout.startswith("error[SDC507]: ")


def test_levels_nothing_can_give_are_infeasible_outside_too(tmp_path: Path):
    policy = tmp_path / "tight.sdc"
    text = POLICY.replace("LEVELS", "lpl 20\n  upl 20").replace("  method csp", "  method csp {\n    cap_hidden 3\n  }")
    policy.write_text(text, encoding="utf-8")
    assert run(policy, "-o", tmp_path / "m.lp").exit_code == 0
    solved_by_highs(tmp_path / "m.lp", tmp_path / "m.sol")
    assert run(policy, "--solution", tmp_path / "m.sol").exit_code == 4


def test_usage(tmp_path: Path):
    assert run(CSP).exit_code == 2
    assert run(CSP, "-o", tmp_path / "m.txt").exit_code == 2
    wrong = run(CSP, "-o", tmp_path / "m.lp", "--block", "investments")
    assert (wrong.exit_code, "did you mean `investment`" in wrong.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "cost"), [("three-by-three-10-12-cta", 590), ("figure-3-L1", 8 / 15)])
def test_an_adjusted_table_by_another_solver(name: str, cost: float, tmp_path: Path):
    """Of Figure 3 of paper 004: (4, 0, 4) with weights 1/12, 1/8 and 1/20."""
    policy = KNOWN / f"{name}.sdc"
    run(policy, "-o", tmp_path / "m.lp")
    solved_by_highs(tmp_path / "m.lp", tmp_path / "m.sol")
    [block] = json.loads(run(policy, "--solution", tmp_path / "m.sol", "--json").stdout)["blocks"]
    assert (block["verdict"], block["objective"]) == ("protected", pytest.approx(cost))


def test_where_nothing_can_be_written(tmp_path: Path):
    result = run(CSP, "-o", tmp_path / "nowhere" / "m.lp")
    assert (result.exit_code, "error[SDC504]" in result.stdout) == (3, True)
    (tmp_path / "m.lp").mkdir()
    assert run(CSP, "-o", tmp_path / "m.lp").exit_code == 2  # a folder


def test_ecta_has_a_model(tmp_path: Path):
    policy = tmp_path / "ecta.sdc"
    text = POLICY.replace("LEVELS", "lpl 5").replace("method csp", "method ecta")
    policy.write_text(text.replace("\npolicy ", "\nseed 1\npolicy ", 1), encoding="utf-8")
    result = run(policy, "-o", tmp_path / "m.lp")
    assert result.exit_code == 0 and "ecta for" in result.stdout


def test_a_method_that_the_block_does_not_name(tmp_path: Path):
    result = run(CSP, "--method", "ip", "-o", tmp_path / "m.lp")
    assert (result.exit_code, "does not name the method `ip`" in result.stdout) == (1, True)


def test_a_wrong_policy(tmp_path: Path):
    policy = tmp_path / "wrong.sdc"
    policy.write_text(POLICY.replace("LEVELS", "lpl 10").replace("method csp", "method cps"), encoding="utf-8")
    result = run(policy, "-o", tmp_path / "m.lp")
    assert (result.exit_code, "error[SDC106]" in result.stdout) == (1, True)


def test_a_model_too_large_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sdcdsl.methods.witness_tables.MOST_VARIABLES", 31)
    result = run(CSP, "-o", tmp_path / "m.lp")
    assert (result.exit_code, "would have 32 variables" in result.stdout) == (3, True)
    assert not (tmp_path / "m.lp").exists()


def test_a_jj_file(tmp_path: Path, shared_data: Path):
    model = tmp_path / "targus.mps"
    result = run(shared_data / "csplib" / "targus.jj", "--method", "ip", "-o", model)
    assert result.exit_code == 0
    assert "ip for cells" in result.stdout
    assert model.stat().st_size > 100_000
