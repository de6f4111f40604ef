"""`sdcdsl test`: every key passes where it holds and fails where it does not; what is wrong in the file is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from sdcdsl.cli.exits import DONE, UNEXPECTED, USAGE, WRONG_POLICY

POLICY = """sdc 1
policy "Expected"

param margin = 10

dimension a {
  codes I, II, III
  total Total
}

dimension b {
  codes A, B, C
  total Total
}

data cells {
  csv "cells.csv"
}

table t {
  from cells
  by a, b
  value v
}

sensitive t at (a: II, b: C)

attacker external {
  bounds 0 .. inf
}

protect t {
  lpl margin
  upl 12
  against external
  cost value
  method csp
}
"""
VALUES = {"I": (20, 50, 10), "II": (8, 19, 22), "III": (17, 32, 12)}
SENSITIVE, TOTAL = "a: II, b: C", "a: II, b: Total"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.sdc").write_text(POLICY.replace("  lpl margin\n", "  lpl 10\n").replace("param margin = 10\n\n", ""))
    (tmp_path / "cells.csv").write_text(_csv(VALUES))
    (tmp_path / "small.csv").write_text(_csv(dict.fromkeys(VALUES, (1, 1, 1))))
    return tmp_path


def _csv(rows: dict[str, tuple[int, int, int]]) -> str:
    lines = [f"{row},{column},{v}" for row, values in rows.items() for column, v in zip("ABC", values, strict=True)]
    return "\n".join(["a,b,v", *lines]) + "\n"


def run(folder: Path, toml: str, *more: str) -> tuple[int, str]:
    (folder / "p.test.toml").write_text(toml, encoding="utf-8")
    result = CliRunner().invoke(cli, ["test", str(folder / "p.sdc"), *more], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("holds", "fails"),
    [
        (f'sensitive = ["{SENSITIVE}"]', f'sensitive = ["{TOTAL}"]'),
        (f'not_sensitive = ["t({TOTAL})"]', f'not_sensitive = ["t({SENSITIVE})"]'),
        ("sensitive_at_least = 1", "sensitive_at_least = 2"),
        ("sensitive_at_most = 1", "sensitive_at_most = 0"),
        # The cheapest pattern is the square over B, worked out by hand: 19 + 22 + 32 + 12 = 85.
        (f'published = ["{TOTAL}", "a: II, b: A"]', 'published = ["a: II, b: B"]'),
        ('hidden = ["a: III, b: B"]', 'hidden = ["a: I, b: B"]'),
        ("hidden_at_most = 4", "hidden_at_most = 3"),
        ("cost_at_most = 85", "cost_at_most = 84"),
        ('ends = "released"', 'ends = "infeasible"'),
        # Where every cell is 1, nothing can be 10 below: the level and the data do not fit.
        ('ends = "wrong data"\ndata = { cells = "small.csv" }', 'ends = "released"\ndata = { cells = "small.csv" }'),
        ('ends = "wrong data"\ndata = { cells = "p.sdc" }', 'ends = "wrong data"'),
        ("diagnostics = []", 'diagnostics = ["SDC331"]'),
    ],
)
def test_every_key(folder: Path, holds: str, fails: str) -> None:
    assert run(folder, f'[[test]]\nname = "one"\n{holds}\n')[0] == DONE
    code, said = run(folder, f'[[test]]\nname = "one"\n{fails}\n[[test]]\nname = "two"\nsensitive_at_most = 1\n')
    assert code == UNEXPECTED
    assert "FAILED  one" in said and "passed  two" in said and "1 of 2 tests failed" in said
    assert not [path for path in folder.iterdir() if path.suffix == ".lock" or path.is_dir()]  # nothing is written


def test_parameters_of_a_test(folder: Path) -> None:
    (folder / "p.sdc").write_text(POLICY.replace("lpl margin", "lpl 10").replace('"cells.csv"', '"{file}.csv"')
                                  .replace("param margin = 10", 'param file = "cells"'))  # fmt: skip
    toml = '[[test]]\nname = "as it is"\nends = "released"\n'
    toml += '[[test]]\nname = "ones"\nset = { file = "small" }\nends = "wrong data"\n'
    assert run(folder, toml)[0] == DONE


def test_a_policy_that_cannot_be_satisfied(folder: Path) -> None:
    text = (folder / "p.sdc").read_text()
    (folder / "p.sdc").write_text(text.replace("method csp", "method csp {\n    cap_hidden 3\n  }"))
    assert run(folder, '[[test]]\nname = "x"\nends = "infeasible"\n')[0] == DONE
    assert run(folder, '[[test]]\nname = "x"\nends = "released"\n')[0] == UNEXPECTED


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[[test]\n", "cannot be read"),
        ("", "has no [[test]]"),
        ("[[test]]\nsensitive_at_most = 1\n", "has no name"),
        ('[[test]]\nname = "x"\npublishd = []\n', "did you mean `published`?"),
        ('[[test]]\nname = "x"\npublished = "a"\n', "takes a list of texts"),
        ('[[test]]\nname = "x"\nhidden_at_most = -1\n', "takes a whole number"),
        ('[[test]]\nname = "x"\ncost_at_most = "much"\n', "takes a number"),
        ('[[test]]\nname = "x"\ntoday = "soon"\n', "takes a day"),
        ('[[test]]\nname = "x"\ntime_limit = "long"\n', "takes a time"),
        ('[[test]]\nname = "x"\nends = "well"\n', "is one of"),
        ('[[test]]\nname = "x"\ndata = { cells = 1 }\n', "takes names and files"),
        ('[[other]]\nname = "x"\n[[test]]\nname = "y"\n', "`other` is not known here"),
    ],
)
def test_what_is_wrong_in_the_file(folder: Path, toml: str, said: str) -> None:
    code, output = run(folder, toml)
    assert code == WRONG_POLICY
    assert "SDC415" in output and said in output


def test_cells_and_names_that_are_not_there(folder: Path) -> None:
    code, said = run(folder, '[[test]]\nname = "x"\nsensitive = ["a: IV, b: C"]\n')
    assert code == UNEXPECTED and "has no code `IV`" in said
    assert run(folder, '[[test]]\nname = "x"\nblock = "u"\n')[0] == UNEXPECTED
    assert run(folder, '[[test]]\nname = "x"\ndata = { other = "small.csv" }\n')[0] == UNEXPECTED
    assert run(folder, '[[test]]\nname = "x"\n', "-k", "y")[0] == USAGE
    assert run(folder, '[[test]]\nname = "x"\n', "--data", "cells=small.csv")[0] == USAGE
    (folder / "p.test.toml").unlink()
    result = CliRunner().invoke(cli, ["test", str(folder)], prog_name="sdcdsl")
    assert result.exit_code == USAGE and "no policy in" in result.output


def test_a_folder_stands_for_its_policies_with_expectations(folder: Path) -> None:
    (folder / "other.sdc").write_text("sdc 1\n")
    (folder / "p.test.toml").write_text('[[test]]\nname = "x"\n')
    result = CliRunner().invoke(cli, ["test", str(folder)], prog_name="sdcdsl")
    assert result.exit_code == DONE and "1 test passed" in result.output
