"""The command line. stdout is the result, stderr is talk."""

from __future__ import annotations

import importlib
import os
import sys

import click

from sdcdsl import __version__

# command -> where it lives; imported only when it runs or when its help is shown.
COMMANDS = {
    "check": "sdcdsl.cli.check:check",
    "fmt": "sdcdsl.cli.fmt:fmt",
    "lint": "sdcdsl.cli.check:lint",
    "plan": "sdcdsl.cli.plan:plan",
    "protect": "sdcdsl.cli.protect:protect",
    "compile": "sdcdsl.cli.compile:compile",
    "audit": "sdcdsl.cli.audit:audit",
    "verify": "sdcdsl.cli.verify:verify",
    "assess": "sdcdsl.cli.assess:assess",
    "diff": "sdcdsl.cli.diff:diff",
    "explain": "sdcdsl.cli.explain:explain",
    "show": "sdcdsl.cli.show:show",
    "methods": "sdcdsl.cli.methods:methods",
    "new": "sdcdsl.cli.new:new",
    "import": "sdcdsl.cli.import_:import_",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        where = COMMANDS.get(cmd_name)
        if where is None:
            return None
        module, _, name = where.partition(":")
        return getattr(importlib.import_module(module), name)

    def resolve_command(self, ctx: click.Context, args: list[str]):
        from sdcdsl.diagnostics.suggest import did_you_mean  # noqa: PLC0415

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            label = did_you_mean(args[0], COMMANDS)
            raise click.UsageError(f"no command '{args[0]}'. {label}".strip(), ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `sdcdsl new policy.sdc`, then `sdcdsl check policy.sdc`.",
)
@click.version_option(__version__, "-V", "--version", prog_name="sdcdsl")
def cli() -> None:
    """Protect statistical tables before publication, as a policy file says.

    \b
    Exit codes: 0 done · 1 the policy is wrong · 2 wrong usage · 3 the data does not fit the policy
    4 infeasible · 5 limit reached, nothing released · 6 the audit found exposure, nothing released
    7 changes found (fmt --check, diff) · 70 a bug in this program
    """


def main() -> None:
    from sdcdsl.cli.exits import BUG, STOPPED  # noqa: PLC0415

    # Matrices are small here: the threads of a BLAS library cost more than they save. Whoever knows better may say so.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _results_only()
    try:
        sys.exit(cli.main(prog_name="sdcdsl", standalone_mode=False) or 0)
    except click.exceptions.Abort:
        click.echo("stopped", err=True)
        sys.exit(STOPPED)
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(wrong.exit_code)
    except BrokenPipeError:
        # The reader went away (`sdcdsl … | head`): nothing is wrong.
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        if "SDCDSL_TRACEBACK" in os.environ:
            raise
        click.echo(
            f"a bug in sdcdsl {__version__}: {type(error).__name__}: {error}\n"
            "Please report it. SDCDSL_TRACEBACK=1 shows where it happened.",
            err=True,
        )
        sys.exit(BUG)


def _results_only() -> None:
    """Keeps standard output for results. Solvers print on it now and then, from code that Python does not see: what
    goes to the process's own standard output is sent to stderr, and Python's goes where the user wants it."""
    try:
        sys.stdout.flush()
        fd = sys.stdout.fileno()
        kept = os.dup(fd)
        os.dup2(sys.stderr.fileno(), fd)
    except (OSError, ValueError, AttributeError):  # closed, or not a file at all
        return
    old = sys.stdout
    sys.stdout = open(  # noqa: SIM115  for as long as the process lives
        kept, "w", encoding=old.encoding, errors=old.errors, buffering=1 if old.isatty() else -1
    )
