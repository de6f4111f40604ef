"""The notebook of examples/: its cells run one after the other, from an empty interpreter in a folder of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.conftest import ROOT
from tests.waiting import HANGS

RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        shell.run_cell("".join(cell["source"])).raise_error()
released = shell.user_ns["released"]
assert type(released).__module__.startswith("polars"), type(released)
released.write_parquet("released.parquet")
"""


@pytest.mark.long
def test_from_pandas_to_polars(tmp_path: Path):
    for name in ("notebook", "turnover"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / name)
    folder = tmp_path / "notebook"
    done = subprocess.run(
        [sys.executable, "-c", RUN, "turnover.ipynb"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "turnover: done" in done.stderr or "turnover" in done.stdout
    frame, written = pl.read_parquet(folder / "released.parquet"), pl.read_csv(folder / "release" / "turnover.csv")
    assert frame["value"].to_list() == written["value"].to_list()
    assert 0 < (frame["status"] == "hidden").sum() < len(frame)
    cells = json.loads((folder / "turnover.ipynb").read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells)  # no confidential figure stays in the example
