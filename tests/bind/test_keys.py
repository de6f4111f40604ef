"""Senses from contributors: the same cell goes the same way in every table it stands in."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.sense_keys import with_keys
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import Source, has_errors
from sdcdsl.policy.read import read_text

POLICY = """sdc 1
seed SEED
policy "turnover"

data firms {
  csv "firms.csv"
  UNIT
}

dimension nace {
  codes A, B, C
  total all
}

dimension region {
  codes N, S
  total all
}

table by_both {
  from firms
  by nace, region
  sum turnover
}

table by_nace {
  from firms
  by nace
  sum turnover
}

sensitive by threshold(n: 100)

attacker external {
  bounds 0 .. inf
}

protect by_both {
  lpl 10% of value
  upl 10% of value
  against external
  method cta {
    sense keyed
  }
}

protect by_nace {
  lpl 10% of value
  upl 10% of value
  against external
  method cta {
    sense keyed
  }
}
"""


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    draw = np.random.default_rng(5)
    rows = 200
    pl.DataFrame(
        {
            "nace": draw.choice(["A", "B", "C"], rows),
            "region": draw.choice(["N", "S"], rows),
            "turnover": draw.integers(1, 1000, rows),
            "firm": [f"firm {k}" for k in draw.integers(0, 60, rows)],  # with records in several cells
        }
    ).write_csv(tmp_path / "firms.csv")
    return tmp_path


UNIT = 'column unit = "firm"'


def senses(folder: Path, block: str, seed: int = 1, unit: str = UNIT) -> tuple[TableProblem, dict, list]:
    text = POLICY.replace("SEED", str(seed)).replace("UNIT", unit)
    policy, found = read_text(Source("turnover.sdc", text), folder / "turnover.sdc")
    assert not has_errors(found), found
    binding = Binding(policy, FileLocations(folder), datetime.date(2026, 1, 1))
    problem, found = bind_protect(binding, policy.protects[block])
    assert problem is not None, found
    words, found = with_keys(problem, np.full(problem.n, "keyed", dtype=object), None)
    return problem, {problem.label(i): words[i] for i in range(problem.n)}, found


def test_a_cell_goes_the_same_way_in_both_tables(firms: Path):
    _, wide, _ = senses(firms, "by_both")
    _, narrow, _ = senses(firms, "by_nace")
    assert {f"{code}, region = all": word for code, word in narrow.items()}.items() <= wide.items()
    assert set(wide.values()) == {"up", "down"}


def test_another_seed_gives_other_senses(firms: Path):
    draws = {tuple(senses(firms, "by_both", seed)[1].values()) for seed in range(5)}
    assert len(draws) > 1


def test_without_units_there_are_no_keys(firms: Path):
    problem, words, found = senses(firms, "by_both", unit="")
    assert [one.code for one in found] == ["SDC333"]
    assert set(words.values()) == {"free"}
    assert problem.tables[0].keys is None
