"""`sdcdsl protect`: from a policy and its data to released files, through a method and the audit."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sdcdsl.cli import exits
from sdcdsl.cli.data_options import DataOptions, given_options
from sdcdsl.cli.limits import Duration, committed, committing, limited
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.reading import known_block, read_any, refuse, tell
from sdcdsl.cli.search_options import progress_option, search_options
from sdcdsl.cli.workers import workers, workers_options
from sdcdsl.diagnostics import has_errors, or_near
from sdcdsl.policy.document import Release
from sdcdsl.policy.read import is_jj
from sdcdsl.vocabulary.formats import REVIEWS

if TYPE_CHECKING:
    from sdcdsl.report.signature import Signer

NOTHING: dict[str, Any] = {"blocks": []}


@click.command()
@click.argument("file", type=click.Path())
@click.option("--block", metavar="NAME", help="Protect this block only.")
@click.option("--method", metavar="NAME", help="For a JJ file: the method; csp if not given.")
@search_options("method", "How many cores to use")
@click.option("--out", type=click.Path(file_okay=False), metavar="FOLDER", help="Write there, not beside the policy.")
@click.option(
    "--certificate",
    type=click.Path(dir_okay=False),
    metavar="PATH",
    help="Write the proofs of the audit to this file, for `sdcdsl verify`. It contains the true values.",
)
@click.option("--public", is_flag=True, help="The report is one without confidential numbers: NAME.public.html.")
@click.option(
    "--no-report", is_flag=True, help="Write no report. Otherwise it is internal/NAME.internal.html: confidential."
)
@click.option(
    "--review",
    "reviews",
    multiple=True,
    metavar="FORMAT",
    help="Write a file for reviewers of each table, confidential, to internal/: excel, sdmx, hst, sacro.",
)
@click.option("--no-lock", is_flag=True, help="Write no lock. Otherwise it is NAME.sdc.lock, for `sdcdsl verify`.")
@click.option(
    "--sign",
    type=click.Path(dir_okay=False),
    metavar="KEY",
    help="Sign the lock with this private Ed25519 key of OpenSSH, for `sdcdsl verify --trust`.",
)
@workers_options("How many processes to work in")
@click.option("--resume", is_flag=True, help="Go on from where a search was that was killed.")
@click.option("--checkpoint-every", type=Duration(), help="How often a long search keeps what it knows: 60s.")
@progress_option
@click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
@given_options
@limited(NOTHING)
def protect(
    file: str,
    block: str | None,
    method: str | None,
    out: str | None,
    certificate: str | None,
    public: bool,
    no_report: bool,
    reviews: tuple[str, ...],
    no_lock: bool,
    sign: str | None,
    jobs: int | None,
    cluster: str | None,
    resume: bool,
    checkpoint_every: float | None,
    progress: str,
    as_document: bool,
    given: DataOptions,
    **limits: Any,
) -> None:
    """Protect the tables of a policy: search, audit, release. FILE is a policy, or a JJ file.

    Files are written only when every block was found protected by the audit; then all of them are, with a report to
    read and a lock to check them by. Ctrl-C ends the search and goes on with the best release found so far; once more,
    and nothing is written.

    \b
      sdcdsl protect turnover.sdc
      sdcdsl protect turnover.sdc --time-limit 60s --out release/
      sdcdsl protect hier13.jj --method csp --out release/

    Exit code 0: done; 1: the policy is wrong; 3: the data is; 4: no release can satisfy the policy; 5: a limit was
    reached before anything valid was found; 6: the audit did not find the release protected; 130: stopped by Ctrl-C,
    twice or before anything valid was found.
    With any other code than 0 nothing was written.
    """
    path = Path(file)
    if method is not None and not is_jj(path):
        raise click.UsageError("--method is for JJ files; a policy says itself which method it wants")
    if unknown := [name for name in reviews if name not in REVIEWS]:
        raise click.UsageError(or_near(f"there is no review {unknown[0]}", unknown[0], REVIEWS))
    target = f"{path.stem}.csv" if out is not None else None
    policy, found = read_any(path, given.allow_outside, method or "csp", target, settings=given.settings)
    if has_errors(found):
        code = exits.WRONG_DATA if any(d.code == "SDC302" for d in found) else exits.WRONG_POLICY
        refuse(NOTHING, found, as_document, given.colour, code)
    known_block(policy, block)
    from sdcdsl.cli.protect_display import display  # noqa: PLC0415
    from sdcdsl.cli.protect_output import ProtectReport  # noqa: PLC0415
    from sdcdsl.cli.protect_watching import Watching  # noqa: PLC0415
    from sdcdsl.methods.checkpoint import EVERY  # noqa: PLC0415
    from sdcdsl.outcome import End  # noqa: PLC0415
    from sdcdsl.pipeline.checkpoints import forget  # noqa: PLC0415
    from sdcdsl.pipeline.protect import prepare  # noqa: PLC0415
    from sdcdsl.pipeline.release import Written, lock_place, page_place, release  # noqa: PLC0415
    from sdcdsl.pipeline.request import ProtectRequest  # noqa: PLC0415
    from sdcdsl.report.release import INTERNAL  # noqa: PLC0415

    folder = Path(out) if out is not None else path.parent
    own = Path("stdin.sdc") if file == "-" else path
    released = any(policy.protects[name].all(Release) for name in ([block] if block else policy.protects))
    signer = _signer(sign, released and not no_lock, as_document, given.colour)
    request = ProtectRequest(
        **given.inputs(policy, path, block),
        folder=folder,
        instead={name: value for name, value in limits.items() if value is not None},
        certificate=Path(certificate) if certificate else None,
        report=page_place(folder, own, public) if released and not no_report else None,
        public=public,
        apart=out is not None,
        lock=lock_place(folder, own, out is not None) if released and not no_lock else None,
        reviews=tuple(dict.fromkeys(reviews)) if released else (),
        checkpoints=folder / INTERNAL,
        every=EVERY if checkpoint_every is None else checkpoint_every,
        resume=resume,
    )
    watching = Watching(display(progress, as_document))
    with workers(jobs, cluster) as team, watching:
        prepared = watching.run(lambda: prepare(request, watching, team))
        committing()
        written, problems = release(prepared, request, signer) if prepared.end is End.DONE else (Written(), [])
        if written.anything:
            committed(exits.DONE)
    if prepared.end is End.INFEASIBLE or (prepared.end is End.DONE and not has_errors(problems)):
        forget(request)
    report = ProtectReport(request, prepared, written, problems)
    if not prepared.outcomes:
        refuse(NOTHING, report.found, as_document, given.colour, report.exit)
    if as_document:
        echo_json(report.document())
    else:
        if report.found:
            tell(report.found, given.colour)
        echo(report.text(), nl=False)
    sys.exit(report.exit)


def _signer(key: str | None, locked: bool, as_document: bool, colour: bool | None) -> Signer | None:
    """The key is read before anything is searched: hours later nobody is there to type a passphrase."""
    if key is None:
        return None
    if not locked:
        raise click.UsageError("--sign signs the lock, and none is written")
    from sdcdsl.cli.keys import unusable  # noqa: PLC0415
    from sdcdsl.report.signature import NoKey, read_signer  # noqa: PLC0415

    try:
        return read_signer(Path(key), _passphrase)
    except NoKey as error:
        return refuse(NOTHING, [unusable(key, error)], as_document, colour, exits.WRONG_DATA)


def _passphrase() -> str:
    if (given := os.environ.get("SDCDSL_SIGN_PASSPHRASE")) is not None:
        return given
    if not sys.stdin.isatty():
        from sdcdsl.report.signature import NoKey  # noqa: PLC0415

        raise NoKey("it has a passphrase, and there is no terminal to ask for it; SDCDSL_SIGN_PASSPHRASE may say it")
    return click.prompt("Passphrase of the key", hide_input=True, err=True)
