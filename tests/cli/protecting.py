"""What the tests of `sdcdsl protect` share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from sdcdsl.cli import cli
from tests.cli.investment import POLICY


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["protect", *map(str, arguments)], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def protect(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--json")
    out = json.loads(result.stdout)
    assert out["exit"] == result.exit_code
    return out


def codes(found: dict[str, Any]) -> list[str]:
    return [d["code"] for d in found["diagnostics"]]


def files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and "site" not in p.parts}


INTERNAL = {"internal/investment.internal.html", "internal/.gitignore"}
KEPT = {"investment.sdc.lock"} | INTERNAL  # what stays in the office, without --out
APART = {"internal/investment.sdc.lock"} | INTERNAL  # with it


class Policies:
    """The table by hand, with cost = value: levels 5 and 8 cost 59, levels 10 and 12 cost 85 (paper 003, Figure 1)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *said: str, levels: tuple[str, ...] = ("lpl 5", "upl 8"), fact: str = "") -> Path:
        text = POLICY.replace("LEVELS", "\n  ".join(levels))
        text = text.replace("method csp", "\n  ".join(("cost value", *said)))
        path = self.folder / "investment.sdc"
        path.write_text(text.replace("sensitive investment", f"{fact}\nsensitive investment"), encoding="utf-8")
        return path
