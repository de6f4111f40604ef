"""What is wrong with a release, a policy or the usage is said, and with which exit code."""

from __future__ import annotations

import pytest

from tests.cli.investment import CELL, CHANGES, FOUR, POLICY, document, run


@pytest.mark.parametrize(
    ("changes", "leave_out", "codes", "named"),
    [
        ({"II·C": "30..40"}, (), ["SDC403", "SDC407"], CELL),
        # Column C leaves 44 - 10 for II·C and III·C together, which the figures allow: readers cannot tell.
        ({**dict.fromkeys(FOUR, "x"), "III·C": "13..20"}, (), ["SDC403"], "activity = III, region = C"),
        ({**dict.fromkeys(FOUR, "x"), "III·C": "60..70"}, (), ["SDC403", "SDC407"], "activity = III, region = C"),
        ({"I·B": 51, "II·C": "x"}, (), ["SDC405"], "activity = I, region = Total"),
        ({"II·C": "x"}, ("I·A", "III·B"), ["SDC309"], "activity = III, region = B"),
        ({"II·C": "40..10"}, (), ["SDC404"], CELL),
        ({"II·C": "about 20"}, (), ["SDC306"], CELL),
    ],
)
def test_releases_that_are_wrong(world, changes, leave_out, codes, named):
    policy, released = world.policy("lpl 1", "upl 1"), world.released(changes, leave_out)
    found = document(policy, "--released", released)
    assert (found["exit"], found["verdict"], found["pairs"]) == (3, None, [])
    assert [d["code"] for d in found["diagnostics"]] == codes
    result = run(policy, "--released", released)
    assert result.exit_code == 3
    assert named in result.stdout or codes == ["SDC306"]
    as_table = run(policy, "--released", released, "--output", "csv")
    assert (as_table.exit_code, as_table.stdout) == (3, "")
    assert codes[0] in as_table.stderr


def test_what_is_left_out_names_the_option(world):
    released = world.released({"II·C": "x"}, ("I·A",))
    result = run(world.policy("lpl 1", "upl 1"), "--released", released)
    assert "--absent hidden, or --absent zero" in result.stdout


def test_a_name_that_the_policy_does_not_have(world):
    result = run(world.policy("lpl 1"), "--released", world.hidden(*FOUR), "--data", "investmnt=x.csv")
    assert result.exit_code == 2
    assert "no data, dimension or table `investmnt`: did you mean `investment`?" in result.stderr


def test_a_column_that_means_something_else(world):
    released = world.hidden(*FOUR)
    found = document(world.policy("lpl 1"), "--released", released, "--column", "value=region")
    assert [d["code"] for d in found["diagnostics"]] == ["SDC303"]
    assert "holds something else" in found["diagnostics"][0]["headline"]


def test_what_absent_cells_mean(world):
    policy, released = world.policy("lpl 17", "upl 8"), world.released({}, leave_out=FOUR)
    assert document(policy, "--released", released, "--absent", "hidden")["verdict"] == "protected"
    found = document(policy, "--released", released, "--absent", "zero")
    assert [d["code"] for d in found["diagnostics"]] == ["SDC309"]


def test_codes_that_the_data_does_not_have(world):
    world.write("I\nII\nIII\n", "activity.hrc")
    text = POLICY.replace("LEVELS", "lpl 1").replace("codes I, II, III", 'hierarchy hrc "activity.hrc"')
    path = world.write(text.replace(CHANGES["sensitive"], 'sensitive where activity = "IV"'), "codes.sdc")
    found = document(path)
    assert found["exit"] == 3
    assert "SDC116" in {d["code"] for d in found["diagnostics"]}


def test_a_wrong_policy_is_reported_as_by_check(world):
    policy = world.policy("lpl 10")
    policy.write_text(policy.read_text().replace("method csp", "method cps"))
    assert run(policy).exit_code == 1
    assert "SDC106" in run(policy).stdout
    found = document(policy)
    assert [d["code"] for d in found["diagnostics"]] == ["SDC106"]
    assert run(world.folder / "nowhere.sdc").exit_code == 1


def test_a_policy_that_protects_nothing(world):
    policy = world.policy("lpl 1", protect="")
    found = document(policy)
    assert (found["exit"], [d["code"] for d in found["diagnostics"]]) == (3, ["SDC408"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--released", "FILE", "--base", 5, "--deviation", 2), "a base, a largest deviation"),
        (("--released", "FILE", "--alpha", 0.1), "alpha and beta"),
        (("--released", "FILE", "--base", 0), "above zero"),
        (("--released", "FILE", "--alpha", "a lot", "--beta", 1), "neither a number nor a percentage"),
        (("--base", 5), "--base"),
        (("--absent", "hidden"), "--absent"),
        (("--released", "FILE", "--released", "FILE"), "two released files for table `investment`"),
        (("--released", "invest=FILE"), "did you mean `investment`?"),
        (("--released", "FILE", "--column", "value"), "NAME=COLUMN"),
        (("--released", "FILE", "--column", "activty=x"), "did you mean `activity`?"),
        (("--block", "invest"), "did you mean `investment`?"),
        (("--jobs", 0), "--jobs"),
        (("--data", "investmnt=x"), "did you mean `investment`?"),
    ],
)
def test_wrong_usage(world, options, said):
    released = str(world.hidden(*FOUR))
    result = run(world.policy("lpl 1"), *(str(option).replace("FILE", released) for option in options))
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in " ".join(result.stderr.split())
