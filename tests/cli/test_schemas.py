"""What commands print with `--json`, on success and on failure, against the schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from sdcdsl.cli import COMMANDS, cli
from tests.conftest import ROOT

SCHEMAS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "schemas").glob("*.json")}
REGISTRY = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values())
SILENT = {"new", "lsp"}  # one writes a file, one serves an editor: no result to print
NO_FAILURE = {"methods"}


def printed(command: str, *arguments: object) -> dict[str, Any]:
    result = CliRunner().invoke(cli, [command, *map(str, arguments), "--json"], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    document = json.loads(result.stdout)
    Draft202012Validator(SCHEMAS[command], registry=REGISTRY).validate(document)
    assert document["exit"] == result.exit_code
    return document


@pytest.fixture
def folder(policy, tmp_path: Path) -> Path:
    """A policy that was protected and audited, and one that is wrong."""
    made = policy("method csp", 'release csv "out.csv"')
    (tmp_path / "good.sdc").write_bytes(made.read_bytes())
    (tmp_path / "wrong.sdc").write_text("sdc 1\n\nprotect nothing {\n  method cps\n}\n", encoding="utf-8")
    (tmp_path / "cells.jj").write_text("0\n1\n0 5 1 s 0 10 1 1 0\n", encoding="utf-8")
    return tmp_path


def test_every_schema_is_one_and_every_command_has_one():
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)
    assert SCHEMAS.keys() == set(COMMANDS) - SILENT | {"diagnostic"}


@pytest.mark.parametrize("command", ["check", "lint", "plan", "protect", "show", "audit"])
def test_a_policy(folder: Path, command: str):
    assert printed(command, folder / "good.sdc")["exit"] in (0, 6)


def test_results(folder: Path):
    good, other, out = folder / "good.sdc", folder / "other.sdc", folder / "out.csv"
    block = printed("protect", good, "--certificate", folder / "good.cert")["blocks"][0]
    assert block["verdict"] == "protected"
    assert printed("audit", good, "--released", out)["pairs"]
    assert printed("verify", folder / "good.sdc.lock")["checks"]
    assert printed("verify", folder / "good.cert")["pairs"] > 0
    assert printed("compare", good, "--methods", "csp", "--jobs", 1, "--progress", "none")["runs"]
    other.write_text(good.read_text(encoding="utf-8").replace("method csp", "method cta"), encoding="utf-8")
    assert printed("diff", good, other)["edits"]
    assert printed("diff", good, other, "--cells")["exit"] == 7
    assert printed("fmt", good, "--check")["written"] is False
    assert printed("compile", good, "-o", folder / "good.lp")["blocks"][0]["method"] == "csp"


def test_words():
    assert printed("methods")["methods"]["csp"]["options"]
    assert printed("explain")["codes"]
    assert printed("explain", "csp")["page"].startswith("#")


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - SILENT - NO_FAILURE))
def test_failures(folder: Path, command: str):
    wrong = folder / "wrong.sdc"
    more: dict[str, list[object]] = {
        "diff": [wrong, wrong],
        "explain": [wrong, "--cell", "a: b"],
        "import": [folder / "cells.jj"],
        "verify": [folder / "wrong.lock"],
        "compare": [wrong, "--progress", "none"],
        "compile": [wrong, "-o", folder / "wrong.lp"],
    }
    if command == "fmt":
        wrong.write_text("sdc 1\nprotect {{{\n", encoding="utf-8")
    document = printed(command, *more.get(command, [wrong]))
    assert document["exit"] != 0 and document["diagnostics"]
