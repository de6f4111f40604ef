"""`sdcdsl test`: do policies do what their authors expect of them?"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sdcdsl.cli import exits
from sdcdsl.cli.data_options import DataOptions, given_options
from sdcdsl.cli.limits import limited
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.reading import read, refuse, tell
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render.json import as_json as as_json_of
from sdcdsl.policy.resolve import Policy

if TYPE_CHECKING:
    from sdcdsl.pipeline.expectations import Expectation, Tested

NOTHING: dict[str, Any] = {"policies": []}


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("-k", "chosen", metavar="TEXT", help="Only tests whose names contain this.")
@click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
@given_options
@limited(NOTHING)
def test(files: tuple[str, ...], chosen: str | None, as_document: bool, given: DataOptions) -> None:
    """Hold policies to their expectations: those of turnover.sdc stand beside it in turnover.test.toml.

    FILE is a policy, or a folder: then all policies below it that have expectations. Tests that expect something of a
    release protect and audit, the others only bind. Nothing is written.

    \b
      [[test]]
      name = "one firm makes it"
      sensitive = ["activity: II, region: C"]
      published = ["activity: Total, region: Total"]
      hidden_at_most = 4

    Exit code 0: all passed; 8: a test failed; 1: a policy or its expectations are wrong; 2: there are none.
    """
    if given.instead:
        raise click.UsageError('a test names its own data: data = { NAME = "file" }')
    from sdcdsl.pipeline.expectations import tested  # noqa: PLC0415

    read_all: list[tuple[Path, list[Expectation]]] = []
    for policy in _policies(files):
        read_all.append((policy, _expected(policy, chosen, as_document, given)))
    if not any(expectations for _, expectations in read_all):
        raise click.UsageError(f"no test has {chosen!r} in its name")
    results: list[tuple[Path, list[Tested]]] = []
    for path, expectations in read_all:
        results.append((path, []))
        if expectations and not as_document:
            echo(str(path))
        for one in expectations:

            def reading(settings: Mapping[str, str], path: Path = path) -> tuple[Policy, list[Diagnostic]]:
                return read(path, given.allow_outside, {**given.settings, **settings})

            made = tested(one, reading, path, given.allow_outside, given.day)
            results[-1][1].append(made)
            if not as_document:
                _show(made, given.colour)
    _end(results, as_document)


def _policies(files: tuple[str, ...]) -> list[Path]:
    from sdcdsl.pipeline.expectations import SUFFIX, beside  # noqa: PLC0415

    out: list[Path] = []
    for name in files:
        path = Path(name)
        if path.is_dir():
            found = sorted(one for one in path.rglob("*.sdc") if one.is_file() and beside(one).is_file())
            if not found:
                raise click.UsageError(f"no policy in {name} has expectations: a file NAME{SUFFIX} beside NAME.sdc")
            out += found
        else:
            out.append(path)
    return out


def _expected(path: Path, chosen: str | None, as_document: bool, given: DataOptions) -> list[Expectation]:
    """What is expected of a policy. Ends the command where the policy or the file of expectations is wrong."""
    from sdcdsl.pipeline.expectations import beside, read_expectations  # noqa: PLC0415

    _, found = read(path, given.allow_outside, given.settings)
    expectations: list[Expectation] = []
    if not has_errors(found):
        if not beside(path).is_file():
            raise click.UsageError(f"{path} has no expectations: they stand in {beside(path).name} beside it")
        expectations, found = read_expectations(beside(path))
    if has_errors(found):
        refuse(NOTHING, found, as_document, given.colour, exits.WRONG_POLICY)
    return [one for one in expectations if chosen is None or chosen in one.name]


def _show(made: Tested, colour: bool | None) -> None:
    echo(f"  {'passed' if made.passed else 'FAILED'}  {made.expectation.name}")
    for said in made.unmet:
        echo(f"          {said}")
    if made.found:
        tell(made.found, colour)


def _end(results: list[tuple[Path, list[Tested]]], as_document: bool) -> None:
    every = [made for _, tests in results for made in tests]
    failed = sum(not made.passed for made in every)
    code = exits.UNEXPECTED if failed else exits.DONE
    if as_document:
        found = [as_json_of(d) for made in every for d in for_reading(list(made.found))]
        policies = [{"policy": str(path), "tests": [_as_json(made) for made in tests]} for path, tests in results]
        echo_json({"policies": policies, "diagnostics": found, "exit": code})
    else:
        many = f"{len(every)} test" if len(every) == 1 else f"{len(every)} tests"
        echo(f"{failed} of {many} failed" if failed else f"{many} passed")
    sys.exit(code)


def _as_json(made: Tested) -> dict[str, Any]:
    return {"name": made.expectation.name, "passed": made.passed, "unmet": list(made.unmet)}
