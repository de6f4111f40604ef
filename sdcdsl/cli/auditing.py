"""What `audit` does behind its options: bind, read the release, attack, write the certificate."""

from __future__ import annotations

import datetime
import hashlib
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from sdcdsl.audit import Audit, audit
from sdcdsl.audit.certify import write_certificate
from sdcdsl.audit.emptiness import empty_regions
from sdcdsl.bind.places import Places
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.cli.audit_text import Result
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, did_you_mean, has_errors
from sdcdsl.pattern import Pattern
from sdcdsl.policy.resolve import Policy
from sdcdsl.released import Layout, Published, pattern_of_jj, read_release


@dataclass(frozen=True)
class Request:
    policy: Policy
    folder: Path
    block: str | None
    instead: dict[str, Path]
    day: datetime.date
    allow_outside: bool
    released: dict[str, Path]
    reading: dict[str, Any]
    exact: bool
    integer: bool
    certificate: Path | None
    jobs: int
    source: Path


def statements(
    base: float | None,
    deviation: float | None,
    alpha: float | None,
    beta: float | None,
    hidden: tuple[str, ...],
    absent: str,
    format: str | None,
    column: tuple[str, ...],
) -> dict[str, Any]:
    """Options as `read_release` wants them; what contradicts itself is wrong usage."""
    columns = {}
    for given in column:
        name, equals, found = given.partition("=")
        if not equals or not found:
            raise click.UsageError(f"--column takes NAME=COLUMN, not {given}")
        columns[name] = found
    try:
        published = Published(base, deviation, alpha, beta, hidden)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return {"statements": published, "format": format, "absent": absent, "layout": Layout(columns=columns)}


def files_of(released: tuple[str, ...], policy: Policy, block: str | None) -> dict[str, Path]:
    """`TABLE=FILE`, or just FILE where there is only one table."""
    blocks = [policy.protects[block]] if block is not None else list(policy.protects.values())
    tables = list(dict.fromkeys(name for b in blocks for name in b.tables))
    out: dict[str, Path] = {}
    for given in released:
        name, equals, file = given.partition("=")
        if equals and name in tables:
            out[name] = Path(file)
        elif len(tables) == 1:
            out[tables[0]] = Path(given)
        else:
            near = did_you_mean(name, tables) if equals else f"the policy has several tables: {', '.join(tables)}"
            raise click.UsageError(f"--released takes TABLE=FILE, not {given}. {near}".strip())
    return out


def audit_all(request: Request) -> tuple[Result | None, list[Diagnostic]]:
    """Every protect block, or the one that was asked for."""
    policy = request.policy
    binding = Binding(policy, Places(request.folder, request.instead, request.allow_outside), request.day)
    audits: dict[str, Audit] = {}
    found: list[Diagnostic] = []
    names = [request.block] if request.block is not None else list(policy.protects)
    for name in names:
        problem, problems = bind_protect(binding, policy.protects[name])
        found = list(dict.fromkeys(found + binding.diagnostics + problems))
        if problem is None:
            continue
        pattern, problems = _pattern(problem, request)
        found += problems
        if pattern is None or has_errors(found):
            continue
        audits[name] = _audited(problem, pattern, request)
    if has_errors(found) or not audits:
        if not found:
            found = [diagnostic("SDC408", "the policy protects nothing", FilePlace(str(request.source)))]
        return None, found
    found += _certified(audits, request)
    if has_errors(found):
        return None, found
    return Result(audits, bool(request.released)), found


def _pattern(problem: TableProblem, request: Request) -> tuple[Pattern | None, list[Diagnostic]]:
    if not request.released:
        return pattern_of_jj(problem), []
    mine = {t.name: request.released[t.name] for t in problem.tables if t.name in request.released}
    pattern, found = read_release(problem, mine, **request.reading)
    if pattern is None and found and all(f.code in ("SDC403", "SDC405") for f in found):
        wrong, _ = read_release(problem, mine, **request.reading, even_if_wrong=True)
        if wrong is not None:
            found += empty_regions(problem, wrong)
    return pattern, found


def _audited(problem: TableProblem, pattern: Pattern, request: Request) -> Audit:
    options: dict[str, Any] = {"exact": request.exact, "integer": request.integer}
    with _progress(problem.name) as progress:
        if request.jobs == 1:
            return audit(problem, pattern, progress=progress, **options)
        with ThreadPoolExecutor(request.jobs) as executor:
            return audit(problem, pattern, progress=progress, executor=executor, **options)


def _certified(audits: dict[str, Audit], request: Request) -> list[Diagnostic]:
    if request.certificate is None:
        return []
    place = FilePlace(str(request.certificate))
    if len(audits) > 1:
        headline = "a certificate is about one protect block, and the policy has several"
        return [diagnostic("SDC408", headline, place, help=f"--block {next(iter(audits))}")]
    [made] = audits.values()
    if made.distance is not None:
        headline = "there is nothing to certify: no attacker was simulated"
        return [diagnostic("SDC408", headline, place, notes=["nothing is published about how values were changed"])]
    inputs = [_input("policy", request.source)]
    inputs += [_input(f"released {table}", path) for table, path in request.released.items()]
    try:
        write_certificate(made, request.certificate, inputs)
    except OSError as error:
        return [diagnostic("SDC408", f"{request.certificate} cannot be written: {error.strerror}", place)]
    return []


def _input(what: str, path: Path) -> dict[str, str]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    return {"what": what, "name": path.name, "sha256": digest}


@contextmanager
def _progress(name: str) -> Iterator[Any]:
    """A line on the terminal while an audit takes its time."""
    if not sys.stderr.isatty():
        yield None
        return
    begun = last = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.5:
            last = now
            click.echo(f"\rauditing {name}: {done} of {total} pairs, {now - begun:.0f} s ", nl=False, err=True)

    yield show
    if last > begun:
        click.echo("\r" + " " * 70 + "\r", nl=False, err=True)
