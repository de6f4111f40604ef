"""Progress that is shown: below the cell of a notebook, on a line elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import sdcdsl
from tests.cli.protecting import Policies


def test_a_notebook_shows_one_display_that_changes(tmp_path: Path):
    path = Policies(tmp_path)("method csp", 'release csv "out.csv"')
    shell = InteractiveShell.instance()
    try:
        with capture_output() as captured:
            told = shell.run_cell(f"import sdcdsl\nrun = sdcdsl.load({str(path)!r}).protect(progress=True)")
        assert told.success
        pages = [one.data["text/html"] for one in captured.outputs if "text/html" in one.data]
        assert any("searching" in page for page in pages)
        assert "done" in pages[-1] and "investment" in pages[-1]
        assert captured.stderr == ""
        assert isinstance(shell.user_ns["run"], sdcdsl.Run)
    finally:
        InteractiveShell.clear_instance()


def test_elsewhere_it_is_one_line(tmp_path: Path):
    path = Policies(tmp_path)("method csp", 'release csv "out.csv"')
    code = f"import sdcdsl; sdcdsl.load({str(path)!r}).protect(progress=True)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    pictures = made.stderr.split("\x1b[K")
    assert pictures[-1] == "investment: done\n" and "searching" in pictures[1]
    assert made.stdout == ""
