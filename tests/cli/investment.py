"""`sdcdsl audit` as a person runs it, on a table whose intervals can be worked out by hand: what its tests share.

           A    B    C  Total
    I     20   50   10     80
    II     8   19   22     49      II·C is sensitive
    III   17   32   12     61
    Total 45  101   44    190

With II·A, II·C, III·A and III·C hidden all else is known, and only one thing can move: t more in II·C and III·A, t less
in II·A and III·C. Nothing is negative, so t is at most 8 (II·A) and at least -17 (III·A): II·C lies in [5, 30].
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from sdcdsl.cli import cli

POLICIES = Path(__file__).resolve().parent.parent / "data_policies"

ROWS, COLUMNS = ("I", "II", "III", "Total"), ("A", "B", "C", "Total")
FIGURES = (20, 50, 10, 80, 8, 19, 22, 49, 17, 32, 12, 61, 45, 101, 44, 190)
TRUTH = {f"{row}·{column}": value for (row, column), value in zip(product(ROWS, COLUMNS), FIGURES, strict=True)}
FOUR = ("II·A", "II·C", "III·A", "III·C")
CELL = "activity = II, region = C"

POLICY = """\
sdc 1
policy "Investment"

dimension activity {
  codes I, II, III
  total Total
}

dimension region {
  codes A, B, C
  total Total
}

table investment {
  by activity, region
  values
    | activity \\ region |  A |   B |  C | Total |
    | I                 | 20 |  50 | 10 |    80 |
    | II                |  8 |  19 | 22 |    49 |
    | III               | 17 |  32 | 12 |    61 |
    | Total             | 45 | 101 | 44 |   190 |
}

sensitive investment at (activity: II, region: C)

attacker external {
  bounds 0 .. inf
}

attacker informed {
  bounds 80% of value .. 120% of value
}

protect investment {
  LEVELS
  against external
  method csp
}
"""


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["audit", *map(str, arguments)], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def document(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--output", "json")
    out = json.loads(result.stdout)
    assert out["exit"] == result.exit_code
    return out


class World:
    """A folder with the policy and the released tables of one test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def policy(self, *levels: str, **changes: str) -> Path:
        text = POLICY.replace("LEVELS", "\n  ".join(levels))
        for old, new in changes.items():
            assert CHANGES[old] in text
            text = text.replace(CHANGES[old], new)
        path = self.folder / "investment.sdc"
        path.write_text(text, encoding="utf-8")
        return path

    def released(self, changes: dict[str, object], leave_out: tuple[str, ...] = ()) -> Path:
        shown = {**TRUTH, **changes}
        lines = [f"{','.join(cell.split('·'))},{figure}" for cell, figure in shown.items() if cell not in leave_out]
        return self.write("\n".join(["activity,region,value", *lines]) + "\n")

    def hidden(self, *cells: str) -> Path:
        return self.released(dict.fromkeys(cells, "x"))

    def write(self, text: str, name: str = "released.csv") -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


CHANGES = {
    "against": "against external",
    "sensitive": "sensitive investment at (activity: II, region: C)",
    "protect": POLICY[POLICY.index("protect investment") :].replace("LEVELS", "lpl 1"),
    "figures": "22 |    49 |",
}
