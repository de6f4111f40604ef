"""The package for R: built and installed by R, and its walk run with data frames. Skipped where R is not installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sdcdsl.version import __version__
from tests.conftest import ROOT
from tests.waiting import HANGS

PACKAGE = ROOT / "r"
SCRIPT = """#!{python}
from sdcdsl.cli import main
main()
"""


def r(*arguments: str, cwd: Path, library: Path, command: Path | None = None) -> str:
    environment = {**os.environ, "R_LIBS": str(library), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT)}
    environment["SDCDSL"] = str(command) if command is not None else ""
    done = subprocess.run(
        arguments, cwd=cwd, env=environment, capture_output=True, text=True, timeout=HANGS, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed: apt-get install r-base-core")
def test_data_frames_in_and_protected_tables_out(tmp_path: Path):
    has = ["Rscript", "-e", 'cat(requireNamespace("jsonlite", quietly = TRUE))']
    if "TRUE" not in subprocess.run(has, capture_output=True, text=True, timeout=HANGS, check=True).stdout:
        pytest.skip("R has no jsonlite: apt-get install r-cran-jsonlite")
    library, command = tmp_path / "library", tmp_path / "sdcdsl"
    library.mkdir()
    command.write_text(SCRIPT.format(python=sys.executable))
    command.chmod(0o755)
    r("R", "CMD", "INSTALL", "--library=" + str(library), str(PACKAGE), cwd=tmp_path, library=library)
    said = r("Rscript", str(PACKAGE / "tests" / "walk.R"), cwd=tmp_path, library=library, command=command)
    assert said.endswith("done\n")
    page = (ROOT / "docs" / "r.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```r\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    policy = re.search(r"^```sdc file=(\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert shown and policy is not None
    (tmp_path / policy[1]).write_text(policy[2], encoding="utf-8")
    (tmp_path / "page.R").write_text("\n".join(shown), encoding="utf-8")
    said = r("Rscript", "page.R", cwd=tmp_path, library=library, command=command)
    for line in re.findall(r"^#> (.*)$", "\n".join(shown), re.MULTILINE):
        assert line in said, (line, said)


def test_the_package_has_the_version_of_the_program():
    described = (PACKAGE / "DESCRIPTION").read_text(encoding="utf-8")
    assert f"\nVersion: {__version__}\n" in described
    exported = re.search(r"^export\((.*)\)$", (PACKAGE / "NAMESPACE").read_text(encoding="utf-8"), re.MULTILINE)
    assert exported is not None
    code = "".join(path.read_text(encoding="utf-8") for path in sorted((PACKAGE / "R").glob("*.R")))
    for name in exported[1].split(", "):
        assert f"\n{name} <- function(" in code, name
        assert (PACKAGE / "man" / f"{name}.Rd").is_file(), name
