"""`sdcdsl protect` on tables that others use: what it releases is read back and attacked again."""

from __future__ import annotations

import polars as pl
import pytest

from tests.cli.investment import document
from tests.cli.protecting import files, protect, run

# Cells, relations and sensitive cells as the collection describes them (known-answers of the papers' tables).
TARGUS = {"cells": 162, "relations": 63, "sensitive": 13}


@pytest.mark.parametrize("method", ["csp", "ip"])
def test_a_jj_file_and_back(shared_data, tmp_path, method):
    path = shared_data / "csplib" / "targus.jj"
    found = protect(path, "--method", method, "--gap", "1%", "--out", tmp_path)
    [block] = found["blocks"]
    assert (found["exit"], block["method"], block["verdict"]) == (0, method, "protected")
    assert block["counts"].items() >= TARGUS.items()
    assert 0 < block["bound"] <= block["objective"] * (1 + 1e-9)
    assert files(tmp_path) == {
        "targus.csv",
        "internal/targus.internal.html",
        "internal/targus.jj.lock",
        "internal/.gitignore",
    }
    table = pl.read_csv(tmp_path / "targus.csv")
    assert table.height == TARGUS["cells"]
    assert (table["status"] != "published").sum() == block["counts"]["touched"] >= TARGUS["sensitive"]
    assert document(path, "--released", tmp_path / "targus.csv", "--verdict-only")["verdict"] == "protected"


def test_a_second_is_enough_or_nothing_is_written(shared_data, tmp_path):
    path = shared_data / "csplib" / "hier13x7x7d.jj"
    found = protect(path, "--time-limit", "1s", "--out", tmp_path)
    if found["exit"] == 5:
        assert files(tmp_path) == set()
        return
    assert found["exit"] == 0
    assert found["blocks"][0]["status"] in ("feasible", "optimal")
    released = tmp_path / "hier13x7x7d.csv"
    assert document(path, "--released", released, "--verdict-only")["verdict"] == "protected"


def test_cheaper_to_hide_again_what_was_hidden(shared_data, tmp_path):
    """The same table again, with its own release as the last period's: nothing changes."""
    name = "targus.jj"
    text = (shared_data / "csplib" / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    policy = tmp_path / "again.sdc"

    def write(*more: str) -> None:
        options = "".join(f"    {option}\n" for option in ("gap 1%", *more))
        policy.write_text(
            f'sdc 1\n\ntable t {{\n  jj "{name}"\n}}\n\nprotect t {{\n  method csp {{\n{options}  }}\n'
            '  release csv "out.csv"\n}\n',
            encoding="utf-8",
        )

    write()
    assert protect(policy)["exit"] == 0
    (tmp_path / "out.csv").rename(tmp_path / "last.csv")
    write('previous "last.csv"', "previous_discount 50%")
    second = protect(policy)["blocks"][0]
    assert second["changes"] == {"previous": ["last.csv"], "newly_touched": [], "published_again": []}


@pytest.mark.parametrize(
    ("method", "said"),
    [("rounding", "needs the option `base`"), ("ecta", "needs a seed"), ("nothing", "no method `nothing`")],
)
def test_methods_that_need_a_policy_say_so_of_a_jj_file(shared_data, tmp_path, method, said):
    result = run(shared_data / "csplib" / "targus.jj", "--method", method, "--out", tmp_path)
    assert result.exit_code == 1 and files(tmp_path) == set()
    assert said in result.output and "protect cells" not in result.stderr  # nobody wrote such a line
    assert ("sdcdsl new targus.sdc --from jj" in result.output) == (method != "nothing")
