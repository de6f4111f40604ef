"""The lock of a release: what it says, what breaks it, and what a replay tells."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sdcdsl.cli import cli
from sdcdsl.report.lock import seal
from sdcdsl.report.toml import dumps
from tests.cli.protecting import run as protect
from tests.pipeline.others import others  # noqa: F401


def verify(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["verify", *map(str, arguments)], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def states(lock: Path, *more: str) -> dict[tuple[str, str], str]:
    result = verify(lock, "--json", *more)
    found = json.loads(result.stdout)
    assert found["exit"] == result.exit_code and found["ok"] == (result.exit_code == 0)
    return {(c["what"], c["name"]): c["state"] for c in found["checks"] if c["what"] != "version"}


@pytest.fixture
def locked(policy, tmp_path) -> Path:
    """The table by hand, levels 5 and 8: the cheapest pattern costs 59 (paper 003)."""
    path = policy("method csp", 'release csv "out.csv"')
    assert protect(path, "--today", "2026-01-01", "--no-report", "--certificate", tmp_path / "c.cert").exit_code == 0
    return tmp_path / "investment.sdc.lock"


def rewritten(lock: Path, change: Any) -> None:
    """A forger who knows how locks are sealed."""
    content = tomllib.loads(lock.read_text(encoding="utf-8"))
    change(content)
    content["seal"] = seal(content)
    lock.write_text(dumps(content), encoding="utf-8")


def test_what_it_says(locked):
    content = tomllib.loads(locked.read_text(encoding="utf-8"))
    [block] = content["blocks"]
    facts = ("name", "method", "status", "objective", "bound", "gap", "sensitive", "pairs", "touched", "verdict")
    said = ["investment", "csp", "optimal", 59, 59, 0, 1, 1, 4, "protected"]
    assert [block[name] for name in facts] == said
    assert block["timed"] is False
    assert content["run"] == {
        "policy": "investment.sdc",
        "day": "2026-01-01",
        "allow_outside": False,
        "options": {},
        "data": {},
    }
    for entry in (*content["inputs"], *content["outputs"]):
        assert entry["sha256"] == hashlib.sha256((locked.parent / entry["path"]).read_bytes()).hexdigest()
    assert [entry["path"] for entry in content["outputs"]] == ["out.csv", "c.cert"]
    assert {"sdcdsl", "python", "highspy", "numpy"} <= set(content["versions"])


def test_the_same_run_gives_the_same_lock(locked, policy, tmp_path):
    before = locked.read_bytes()
    path = policy("method csp", 'release csv "out.csv"')
    protect(path, "--today", "2026-01-01", "--no-report", "--certificate", tmp_path / "c.cert")
    assert locked.read_bytes() == before


def test_it_holds_and_its_replay_too(locked):
    found = states(locked, "--replay")
    assert set(found.values()) == {"holds"}
    assert {("lock", "seal"), ("proofs", "c.cert"), ("replay", "investment"), ("policy", "meaning")} <= set(found)
    said = verify(locked, "--replay")
    assert said.exit_code == 0 and "Investment: the lock holds\n" in said.stdout


def test_a_changed_line_breaks_the_seal(locked):
    text = locked.read_text(encoding="utf-8")
    locked.write_text(text.replace("objective = 59.0", "objective = 58.0"), encoding="utf-8")
    assert states(locked)["lock", "seal"] == "broken"
    assert verify(locked).exit_code == 3


@pytest.mark.parametrize(("name", "what"), [("out.csv", "release investment"), ("investment.sdc", "policy")])
def test_a_changed_file(locked, name, what):
    with (locked.parent / name).open("a", encoding="utf-8") as file:
        file.write("# \n")
    assert states(locked)[what, name] == "broken"
    assert verify(locked).exit_code == 3


def test_a_file_that_is_not_here_is_no_failure(locked):
    (locked.parent / "c.cert").unlink()
    assert states(locked)["certificate", "c.cert"] == "absent"
    found = verify(locked)
    assert found.exit_code == 0 and "holds, as far as can be seen: 1 file not here" in found.stdout


def test_a_certificate_that_does_not_hold_any_more(locked):
    cert = locked.parent / "c.cert"
    text = cert.read_text(encoding="utf-8")
    cert.write_text(text.replace('"investment"', '"Investment"', 1), encoding="utf-8")
    forged = hashlib.sha256(cert.read_bytes()).hexdigest()
    rewritten(locked, lambda content: content["outputs"][1].update(sha256=forged))
    found = states(locked)
    assert (found["lock", "seal"], found["certificate", "c.cert"], found["proofs", "c.cert"]) == (
        *("holds", "holds", "broken"),
    )


def test_another_pattern_is_found_by_the_replay(locked):
    rewritten(locked, lambda content: content["blocks"][0].update(pattern="0" * 64))
    assert verify(locked).exit_code == 0
    result = verify(locked, "--replay")
    assert result.exit_code == 7 and "another pattern; this should not happen" in result.stdout


def test_a_search_that_a_clock_ended_says_so(policy, tmp_path, others):  # noqa: F811
    """Whatever was found by then: the same search may find something else on a machine with more to do."""
    path = policy("method endless {\n    time_limit 0.2 s\n  }", 'release csv "out.csv"')
    assert protect(path, "--no-report").exit_code == 0
    lock = tmp_path / "investment.sdc.lock"
    assert tomllib.loads(lock.read_text(encoding="utf-8"))["blocks"][0]["timed"] is True
    rewritten(lock, lambda content: content["blocks"][0].update(pattern="0" * 64))
    result = verify(lock, "--replay")
    assert result.exit_code == 7 and "another pattern; the search depended on time" in result.stdout


def test_a_replay_that_has_too_little_time_breaks_no_lock(policy, tmp_path, others):  # noqa: F811
    """On a machine with more to do, say. The files are the ones that were released all the same."""
    path = policy("method enumeration", 'release csv "out.csv"')
    assert protect(path, "--no-report", "--time-limit", "60").exit_code == 0
    lock = tmp_path / "investment.sdc.lock"
    rewritten(lock, lambda content: content["run"]["options"].update(time_limit=1e-9))
    result = verify(lock, "--replay")
    assert result.exit_code == 7, result.output
    assert "nothing was found this time; the search depended on time" in result.stdout


def test_a_policy_that_means_something_else(locked):
    path = locked.parent / "investment.sdc"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("lpl 5", "lpl 6"), encoding="utf-8")
    assert states(locked)["policy", "meaning"] == states(locked, "--replay")["policy", "meaning"] == "broken"
    path.write_text(text + "# a remark\n", encoding="utf-8")
    found = states(locked)
    assert (found["policy", "investment.sdc"], found["policy", "meaning"]) == ("broken", "holds")
    reworded = verify(locked)
    assert reworded.exit_code == 3
    assert reworded.stdout.startswith("Investment: the policy was reworded, and requires the same\n")
    (locked.parent / "out.csv").write_text("another table\n", encoding="utf-8")
    assert verify(locked).stdout.startswith("Investment: THE LOCK DOES NOT HOLD\n")


def test_a_file_of_another_kind(locked):
    found = verify(locked.parent / "out.csv")
    assert found.exit_code == 3 and "out.csv is neither a lock nor a certificate" in found.output
    assert "JSON" not in found.output


def test_who_gives_the_policy_is_told_of_its_lock(locked):
    found = verify(locked.parent / "investment.sdc")
    assert found.exit_code == 2 and "investment.sdc.lock" in found.stderr


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.pop("blocks"),
        lambda c: c.update(lock=2),
        lambda c: c["inputs"].append({"path": "x"}),
        lambda c: c["run"].pop("policy"),
    ],
)
def test_locks_that_cannot_be_read(locked, change):
    rewritten(locked, change)
    result = verify(locked)
    assert result.exit_code == 3 and "SDC409" in result.stdout


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("options", {"time_limit": "soon"}),
        ("options", {"time_limit": -1}),
        ("options", {"backend": "guess"}),
        ("options", {"shell": "ls"}),
        ("options", 3),
        ("day", "someday"),
        ("block", "other"),
    ],
)
def test_runs_that_nobody_could_have_asked_for(locked, key, value):
    rewritten(locked, lambda content: content["run"].update({key: value}))
    result = verify(locked, "--replay")
    assert result.exit_code == 3 and "SDC409" in result.stdout


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"lock = 1", b"lock = [" + b"[" * 5000, b"[a]\n[a]\n"])
def test_files_that_are_no_locks(tmp_path, content):
    path = tmp_path / "x.lock"
    path.write_bytes(content)
    assert verify(path).exit_code == 3
    assert verify(tmp_path / "missing.lock").exit_code == 3


def test_nothing_in_a_lock_steers_the_terminal(locked):
    rewritten(locked, lambda content: content["policy"].update(title="\x1b[2J"))
    assert "\x1b" not in verify(locked).stdout


def test_options_and_other_data_are_replayed(policy, tmp_path):
    path = policy("method csp", 'release csv "out.csv"')
    out = tmp_path / "out"
    assert protect(path, "--out", out, "--gap", "20%", "--no-report").exit_code == 0
    lock = out / "internal" / "investment.sdc.lock"
    content = tomllib.loads(lock.read_text(encoding="utf-8"))
    assert content["run"]["options"] == {"gap": 0.2} and content["run"]["policy"] == "../../investment.sdc"
    assert verify(lock, "--replay").exit_code == 0


def test_no_lock_where_nothing_is_released_or_wanted(policy, tmp_path):
    protect(policy("method csp"))
    assert not list(tmp_path.glob("*.lock")) and not list(tmp_path.glob("*.html"))
    protect(policy("method csp", 'release csv "out.csv"'), "--no-lock", "--no-report")
    assert {p.name for p in tmp_path.iterdir()} == {"investment.sdc", "out.csv"}
