"""`sdcdsl verify`: a certificate is checked from the file alone, without a solver; a lock against what it names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sdcdsl.cli import exits
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.diagnostics.foreign import visible
from sdcdsl.ordinary_files import open_ordinary

if TYPE_CHECKING:
    from sdcdsl.diagnostics import Diagnostic
    from sdcdsl.proof.checking import Verification


@click.command()
@click.argument("file", type=click.Path())
@click.option("--replay", is_flag=True, help="Of a lock: protect once more, and compare patterns and released files.")
@click.option("--strict", is_flag=True, help="Of a lock: fail if a file that it names is not there.")
@click.option(
    "--trust",
    type=click.Path(dir_okay=False),
    metavar="KEYS",
    help="Of a lock: fail unless one of these public keys of OpenSSH has signed it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def verify(file: str, replay: bool, strict: bool, trust: str | None, as_json: bool) -> None:
    """Check the lock of a release, or the certificate of an audit.

    Of a lock (NAME.sdc.lock) the seal, the digests of all files it names and a certificate among them are checked;
    --replay also runs the policy again and compares the released files, byte by byte, with what this run releases; it
    changes nothing. Of a certificate every table and every bound is computed again, exactly, from the file alone.

    \b
      sdcdsl verify turnover.sdc.lock
      sdcdsl verify release/internal/turnover.sdc.lock --replay
      sdcdsl verify turnover.sdc.lock --strict --trust keys.pub
      sdcdsl verify turnover.cert

    Exit code 0: it holds, and every pair of attacker and cell is protected; 6: the certificate holds, and pairs are
    exposed or not proven; 7: the replay gave another pattern; 3: it does not hold, or cannot be read.
    """
    _settle(file, as_json)
    start = _start(file)
    if file.endswith(".lock") or b"\nlock = " in b"\n" + start:
        from sdcdsl.cli.verify_lock import verify_lock  # noqa: PLC0415

        sys.exit(verify_lock(file, replay, strict, trust, as_json))
    for name, given in (("--replay", replay), ("--strict", strict), ("--trust", trust)):
        if given:
            raise click.UsageError(f"{name} is for locks")
    if file.endswith(".sdc"):
        raise click.UsageError(f"{file} is a policy; the lock of its release is called {file}.lock")
    from sdcdsl.proof.checking import verify as check  # noqa: PLC0415

    found = check(file)
    code = _exit_code(found)
    if as_json:
        echo_json(_document(file, found, code))
    elif found.ok:
        echo(_text(found), nl=False)
    else:
        from sdcdsl.cli.reading import say  # noqa: PLC0415

        say([_problem(file, found)], "text")
    sys.exit(code)


def _settle(file: str, as_document: bool) -> None:
    """A release that was interrupted is whole before anything is said about it."""
    from sdcdsl.report.journal import settle_around  # noqa: PLC0415

    found = settle_around([Path(file)])
    if not found:
        return
    from sdcdsl.diagnostics import has_errors  # noqa: PLC0415
    from sdcdsl.diagnostics.render import render  # noqa: PLC0415
    from sdcdsl.diagnostics.render.json import as_json  # noqa: PLC0415

    echo(render(found, "text"), nl=False, err=True)
    if has_errors(found):
        if as_document:
            document = {"ok": False, "diagnostics": [as_json(d) for d in found], "exit": exits.WRONG_DATA}
            echo_json(document)
        sys.exit(exits.WRONG_DATA)


def _start(file: str) -> bytes:
    """Enough of it to see what it is; nothing where it cannot be read, which is said later."""
    try:
        with open_ordinary(file) as opened:
            return opened.read(1000)
    except OSError:
        return b""


def _may_be_certificate(start: bytes) -> bool:
    return not start or start.startswith((b"\x1f\x8b", b"{"))


def _exit_code(found: Verification) -> int:
    if not found.ok:
        return exits.WRONG_DATA
    return exits.DONE if found.protected == found.pairs else exits.EXPOSED


def _problem(file: str, found: Verification) -> Diagnostic:
    from sdcdsl.diagnostics import FilePlace, diagnostic  # noqa: PLC0415

    if not found.readable and not _may_be_certificate(_start(file)):
        return diagnostic("SDC401", f"{file} is neither a lock nor a certificate", FilePlace(file))
    code, what = ("SDC402", "does not hold") if found.readable else ("SDC401", "cannot be read")
    return diagnostic(code, f"{file} {what}", FilePlace(file), notes=[visible(reason) for reason in found.reasons])


def _document(file: str, found: Verification, code: int) -> dict[str, Any]:
    from sdcdsl.diagnostics.render.json import as_json  # noqa: PLC0415

    return {
        "ok": found.ok,
        "name": found.header.get("name"),
        "inputs": found.header.get("inputs", []),
        "pairs": found.pairs,
        **({"unlisted": found.unlisted} if found.unlisted else {}),
        "protected": found.protected,
        "exposed": found.exposed,
        "not_proven": found.not_proven,
        "exact": found.exact,
        "largest_tolerance": found.largest_tolerance,
        "diagnostics": [] if found.ok else [as_json(_problem(file, found))],
        "exit": code,
    }


def _stand_for(found: Verification) -> str:
    return f", and {found.unlisted} that they stand for" if found.unlisted else ""


def _text(found: Verification) -> str:
    arithmetic = "exact" if found.exact else f"within {found.largest_tolerance:.2g} of the levels"
    out = [
        f"{visible(str(found.header.get('name')))}: the certificate holds",
        f"  pairs       {found.pairs} of attacker and sensitive cell{_stand_for(found)}",
        f"  protected   {found.protected}",
        f"  exposed     {found.exposed}",
        f"  not proven  {found.not_proven}",
        f"  arithmetic  {arithmetic}",
    ]
    inputs = found.header.get("inputs")
    for one in inputs if isinstance(inputs, list) else []:
        if isinstance(one, dict):
            what, name, digest = (visible(str(one.get(key, ""))) for key in ("what", "name", "sha256"))
            out.append(f"  input       {what} {name} sha256 {digest}")
    return "\n".join(out) + "\n"
