"""The picture in the README: three commands on examples/tiny in a terminal, as the program answers them now.

Colours come from the program (`--colour`), the drawing from rich; no font is fetched from anywhere.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from pathlib import Path

from click.testing import CliRunner
from rich.console import Console
from rich.text import Text

from sdcdsl.cli import cli

TINY = Path(__file__).resolve().parent.parent.parent / "examples" / "tiny"
WIDTH = 86  # characters

# That of rich without its fonts, which it takes from another host.
_FORMAT = """<svg xmlns="http://www.w3.org/2000/svg" class="rich-terminal" viewBox="0 0 {width} {height}" role="img"
  aria-label="sdcdsl checks, protects and audits a small table">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def picture() -> str:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for file in ("tiny.sdc", "weak.csv"):
                shutil.copy(TINY / file, folder)
            slip = Path("tiny.sdc").read_text(encoding="utf-8").replace("cost value", "cost vlaue")
            Path("slip.sdc").write_text(slip, encoding="utf-8")
            for line in ("check slip.sdc", "audit tiny.sdc --released weak.csv", "protect tiny.sdc --no-report"):
                console.print(f"[bold green]$[/] [bold]sdcdsl {line}[/]", highlight=False)
                colours = ["--colour"] if line.startswith("check") else []
                said = CliRunner().invoke(cli, [*line.split(), *colours], color=True)
                console.print(Text.from_ansi(said.output.rstrip("\n")), highlight=False, soft_wrap=False)
                console.print()
        finally:
            os.chdir(before)
    drawn = console.export_svg(title="sdcdsl", code_format=_FORMAT, unique_id="terminal")
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"
