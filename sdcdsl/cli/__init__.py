"""The command line. stdout is the result, stderr is talk."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from sdcdsl.version import __version__

PROGRAM = "program"  # the context's object when the process is ours alone, and may be divided

# command -> where it lives, imported only when it runs or when its help is shown; and what the list of commands says.
COMMANDS = {
    "check": ("sdcdsl.cli.check:check", "Report every mistake in policies, without data."),
    "fmt": ("sdcdsl.cli.fmt:fmt", "Lay policies out in the one canonical form."),
    "lint": ("sdcdsl.cli.check:lint", "Advice on what is right but perhaps not meant."),
    "plan": ("sdcdsl.cli.plan:plan", "Read the data, and count what protecting it would mean."),
    "protect": ("sdcdsl.cli.protect:protect", "Protect the tables of a policy: search, audit, release."),
    "compile": ("sdcdsl.cli.compile:compile", "Write the model for a solver outside; read its solution back."),
    "audit": ("sdcdsl.cli.audit:audit", "Attack a released table, whoever made it."),
    "verify": ("sdcdsl.cli.verify:verify", "Check the lock of a release, or a certificate."),
    "assess": ("sdcdsl.cli.assess:assess", "Try to undo an adjusted table."),
    "compare": ("sdcdsl.cli.compare:compare", "Several methods and levels side by side."),
    "test": ("sdcdsl.cli.test:test", "Hold policies to what their authors expect of them."),
    "diff": ("sdcdsl.cli.diff:diff", "What a change of a policy means; with data, cell by cell."),
    "explain": ("sdcdsl.cli.explain:explain", "A diagnostic, a method, a rule; why a cell is as it is."),
    "show": ("sdcdsl.cli.show:show", "What the program understood."),
    "methods": ("sdcdsl.cli.methods:methods", "All methods, rules and experiments, with their options."),
    "new": ("sdcdsl.cli.new:new", "Write a commented policy to start from."),
    "lsp": ("sdcdsl.cli.lsp:lsp", "Serve an editor: the language server."),
    "import": ("sdcdsl.cli.import_:import_", "Turn files of τ-ARGUS into a policy."),
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        return getattr(importlib.import_module(module), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, said) for name, (_, said) in COMMANDS.items()])

    def make_context(self, *args: Any, **given: Any) -> click.Context:
        with _usage_made_visible():
            return super().make_context(*args, **given)

    def invoke(self, ctx: click.Context) -> Any:
        with _usage_made_visible():
            return super().invoke(ctx)

    def resolve_command(self, ctx: click.Context, args: list[str]):
        from sdcdsl.diagnostics.suggest import did_you_mean  # noqa: PLC0415

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            label = did_you_mean(args[0], COMMANDS)
            raise click.UsageError(f"no command '{args[0]}'{label and ': '}{label}", ctx)
        return super().resolve_command(ctx, args)


@contextmanager
def _usage_made_visible() -> Iterator[None]:
    """What click says about wrong usage quotes the command line, which may hold names of files that others chose."""
    try:
        yield
    except click.ClickException as wrong:
        from sdcdsl.diagnostics.foreign import visible  # noqa: PLC0415

        wrong.message = visible(wrong.message, lines=True)  # pyright: ignore[reportAttributeAccessIssue]
        raise


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `sdcdsl new policy.sdc`, then `sdcdsl check policy.sdc`.",
)
@click.version_option(__version__, "-V", "--version", prog_name="sdcdsl")
@click.option("--show-values", is_flag=True, help="Quote values of cells and contributors in messages, too.")
def cli(show_values: bool) -> None:
    """Protect statistical tables before publication, as a policy file says.

    \b
    Exit codes: 0 done · 1 the policy is wrong · 2 wrong usage · 3 the data does not fit the policy
    4 infeasible · 5 limit reached, nothing released · 6 the audit found exposure, nothing released
    7 changes found (fmt --check, diff) · 8 a test of a policy failed · 70 a bug in this program
    130 stopped by Ctrl-C
    """
    if show_values:
        from sdcdsl.diagnostics import confidential  # noqa: PLC0415

        confidential.show_values(True)


def main() -> None:
    from sdcdsl.cli import streams  # noqa: PLC0415

    try:
        _main()
    except SystemExit as end:
        sys.exit(streams.final(end.code if isinstance(end.code, int) else 1 if end.code else 0))
    finally:
        _leave()


def _leave() -> None:
    """At once if a thread was abandoned (`executing.timeouts`): it may run in a library that exit would unload."""
    timeouts = sys.modules.get("sdcdsl.executing.timeouts")
    if timeouts is None or not timeouts.has_abandoned_thread():
        return
    ended = sys.exc_info()[1]
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(ended.code if isinstance(ended, SystemExit) and isinstance(ended.code, int) else 1)


def _main() -> None:
    from sdcdsl.cli import streams  # noqa: PLC0415
    from sdcdsl.cli.exits import BUG, LIMIT, STOPPED, WRONG_POLICY  # noqa: PLC0415
    from sdcdsl.cli.printing import echo  # noqa: PLC0415
    from sdcdsl.registry import PluginFailed, Unusable  # noqa: PLC0415

    # Matrices are small here: the threads of a BLAS library cost more than they save. Whoever knows better may say so.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    streams.keep_for_results()
    try:
        sys.exit(cli.main(prog_name="sdcdsl", standalone_mode=False, obj=PROGRAM) or 0)
    except click.exceptions.Abort:
        code = streams.decided()
        echo("stopped" if code is None else "stopped; all files are written", err=True)
        sys.exit(STOPPED if code is None else code)
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(wrong.exit_code)
    except PluginFailed as failed:
        from sdcdsl.diagnostics import diagnostic  # noqa: PLC0415
        from sdcdsl.diagnostics.render import render  # noqa: PLC0415

        echo(render([diagnostic("SDC148", str(failed))], "text"), nl=False, err=True)
        code = streams.decided()
        sys.exit(WRONG_POLICY if code is None else code)
    except MemoryError:
        pass  # told below, when everything that the error holds on to is free again
    except Exception as error:
        if "SDCDSL_TRACEBACK" in os.environ:
            raise
        code = streams.decided()
        # What an error says may quote data; not so where a record of the registry cannot be loaded.
        said = f": {error}" if isinstance(error, Unusable) else ""
        echo(
            f"a bug in sdcdsl {__version__}: {type(error).__name__}{said}"
            f"{'' if code is None else ', after all files were written'}\n"
            "Please report it. SDCDSL_TRACEBACK=1 shows where it happened, and may quote data.",
            err=True,
        )
        sys.exit(BUG if code is None else code)
    from sdcdsl.cli.limits import out_of_memory  # noqa: PLC0415
    from sdcdsl.diagnostics.render import render  # noqa: PLC0415

    echo(render([out_of_memory()], "text"), nl=False, err=True)
    code = streams.decided()
    sys.exit(LIMIT if code is None else code)
