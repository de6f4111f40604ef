"""`sdcdsl assess` as a person runs it, on the table of `investment.py` with II·C sensitive, 5 down or 8 up.

The release has II·C at 30, and the 8 taken from II·B, with I·B and I·C making up for it: whoever knows the sense and
the level subtracts 8 and has the truth.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import cli

UP = {"II·C": 30, "II·B": 11, "I·C": 2, "I·B": 58}
METHOD = "method cta {\n    sense up\n  }"


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["assess", *map(str, arguments)], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def document(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--output", "json")
    out = json.loads(result.stdout)
    assert out["exit"] == result.exit_code
    return out


@pytest.fixture
def policy(world) -> Path:
    return edited(world.policy("lpl 5", "upl 8"), ("method csp", f"{METHOD}\n  assess B1, B2, B3, C"))


def edited(path: Path, *changes: tuple[str, str], seed: int | None = 1) -> Path:
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    if seed is not None:
        text = text.replace('policy "Investment"\n', f'policy "Investment"\nseed {seed}\n')
    path.write_text(text, encoding="utf-8")
    return path


def test_a_released_table(world, policy):
    out = document(policy, "--released", world.released(UP))
    assert (out["verdict"], out["exit"]) == ("at risk", 0)  # a finding, not a failure
    (block,) = out["blocks"]
    shares = {e["experiment"]: e["classes"]["0"] for e in block["experiments"]}
    assert shares == {"B1": 0, "B2": 0, "B3": 100, "C": 100}
    assert block["largest_relative_deviation"] == 0.8  # I·C: 2 in place of 10
    assert block["seed"] == 1
    assert block["options"] == {"replications": 10, "delta": 0.2, "soft": 1000, "norm": ["L1"]}


def test_text_for_people(world, policy):
    result = run(policy, "--released", world.released(UP))
    assert result.stdout.startswith("investment: AT RISK\n")
    rows = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if line.startswith("   ")}
    assert rows["B3"][:3] == ["L1", "100.0", "0.0"]
    assert "100 % of the sensitive values are recomputed exactly" in " ".join(result.stdout.split())
    assert "that holds for controlled tabular adjustment as such" in " ".join(result.stdout.split())


def test_options_win_over_the_policy(world, policy):
    options = ("--experiments", "B2,B1", "--norm", "L2", "--norm", "L1", "--replications", 3, "--delta", "10%")
    (block,) = document(policy, "--released", world.released(UP), *options, "--seed", 9)["blocks"]
    tried = [(e["experiment"], e["norm"], e["replications"]) for e in block["experiments"]]
    assert tried == [("B2", "L2", 3), ("B1", "L2", 3), ("B2", "L1", 3), ("B1", "L1", 3)]
    assert (block["seed"], block["options"]["delta"]) == (9, 0.1)


def test_the_statement_says_what_is_run(world):
    statement = "assess B2 {\n    replications 2\n    delta 5%\n  }"
    method = METHOD.replace("sense up", "norm L2\n    sense up")
    path = edited(world.policy("lpl 5", "upl 8"), ("method csp", f"{method}\n  {statement}"))
    (block,) = document(path, "--released", world.released(UP))["blocks"]
    (only,) = block["experiments"]
    assert (only["experiment"], only["norm"], only["replications"]) == ("B2", "L2", 2)  # the norm of the method
    assert block["options"]["delta"] == 0.05
    assert block["verdict"] == "at risk"  # a guess of the level that is 5 % off is no protection
    (block,) = document(path, "--released", world.released(UP), "--experiments", "B1")["blocks"]
    assert "B3 and C were not run" in block["reasons"][1]


def test_the_same_seed_gives_the_same_document(world, policy):
    one, same, other = (document(policy, "--released", world.released(UP), "--seed", s) for s in (4, 4, 5))
    assert one == same
    assert one["blocks"][0]["experiments"][1] != other["blocks"][0]["experiments"][1]


def test_a_method_that_adjusts_nothing_may_have_been_used_elsewhere(world):
    path = edited(world.policy("lpl 5", "upl 8"))
    assert document(path, "--released", world.released(UP))["verdict"] == "at risk"
    out = document(path)
    assert (out["exit"], out["diagnostics"][0]["code"]) == (1, "SDC139")
    assert "`csp` adjusts nothing" in out["diagnostics"][0]["headline"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [({}, "every value in it is the true one"), ({"II·C": "x"}, "1 cell with a level has no value in it")],
)
def test_not_an_adjusted_table(world, policy, changes, why):
    out = document(policy, "--released", world.released(changes))
    assert (out["exit"], out["verdict"], out["diagnostics"][0]["code"]) == (3, None, "SDC139")
    assert why in out["diagnostics"][0]["headline"]


def test_a_release_with_a_cell_left_out(world, policy):
    out = document(policy, "--released", world.released(UP, leave_out=("I·A",)))
    assert (out["exit"], out["diagnostics"][0]["code"]) == (3, "SDC309")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--block", "investmnt"), "no protect block `investmnt`: did you mean `investment`?"),
        (("--experiments", "B4"), "there is no experiment B4"),
        (("--experiments", ","), "name at least one"),
        (("--plot", "risk.png"), "--plot draws SVG: risk.svg"),
        (("--plot", "nowhere/risk.svg"), "there is no folder nowhere"),
        (("--format", "csv"), "said of a released table, and none is given"),
        (("--delta", "much"), "neither a number nor a percentage"),
    ],
)
def test_wrong_usage(policy, arguments, said):
    result = run(policy, *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_random_numbers_need_a_seed(world):
    path = edited(world.policy("lpl 5", "upl 8"), seed=None)
    result = run(path, "--released", world.released(UP))
    assert result.exit_code == 2 and "--seed 2025" in result.stderr
    assert run(path, "--released", world.released(UP), "--seed", 1).exit_code == 0


def test_a_wrong_policy(world):
    path = edited(world.policy("lpl 5", "upl 8"), ("method csp", f"{METHOD}\n  assess B1"), seed=None)
    out = document(path, "--released", world.released(UP))
    assert (out["exit"], out["diagnostics"][0]["code"]) == (1, "SDC121")


def test_at_risk_may_be_a_failure(world, policy):
    released = world.released(UP)
    assert run(policy, "--released", released, "--fail-at-risk").exit_code == 6
    assert run(policy, "--released", released, "--fail-at-risk", "--experiments", "B1").exit_code == 0


def test_the_plot(world, policy, tmp_path):
    path = tmp_path / "risk.svg"
    out = document(policy, "--released", world.released(UP), "--plot", path)
    assert out["plot"] == str(path)
    assert ElementTree.parse(path).getroot().tag.endswith("svg")
    assert path.stat().st_mode & 0o077 == 0
    result = run(policy, "--released", world.released(UP), "--plot", path)
    assert f"drew {path}" in result.stdout


def test_the_policy_s_own_method_makes_the_table(policy):
    out = document(policy)
    (block,) = out["blocks"]
    assert block["table"] == "made by cta"
    assert out["verdict"] == "at risk"
    assert {e["experiment"]: e["classes"]["0"] for e in block["experiments"]}["B3"] == 100
    assert not list(policy.parent.glob("*.csv"))  # nothing is written


def test_no_file_of_the_policy_is_written_or_in_the_way(policy):
    (policy.parent / "taken.csv").mkdir()
    edited(policy, ("assess B1", 'release csv "taken.csv"\n  assess B1'), seed=None)
    assert document(policy, "--experiments", "B3")["verdict"] == "at risk"


def test_a_jj_file(shared_data):
    out = document(shared_data / "csplib" / "table8.jj", "--seed", 1, "--replications", 2)
    (block,) = out["blocks"]
    assert [e["cells"] for e in block["experiments"]] == [3, 3, 3, 3]
