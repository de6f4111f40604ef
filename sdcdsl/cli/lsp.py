"""`sdcdsl lsp`: the language server, for editors."""

from __future__ import annotations

import sys

import click

from sdcdsl.cli import exits
from sdcdsl.cli.printing import echo


@click.command()
def lsp() -> None:
    """Serve an editor: diagnostics while typing, hover, definitions, completion, rename, formatting.

    Speaks the Language Server Protocol on standard input and output. Editors start it themselves; docs/editors.md says
    how for Neovim, VS Code, Emacs and others. It reads policies and hierarchy files, never data, and writes nothing.

    It needs the extra `lsp`: pip install 'sdcdsl[lsp]'.
    """
    try:
        from sdcdsl.lsp.server import make_server  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        echo("the language server needs pygls: pip install 'sdcdsl[lsp]'", err=True)
        sys.exit(exits.USAGE)
    make_server().start_io()
