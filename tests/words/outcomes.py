"""What becomes of a policy, without what may differ from run to run: what a word must change to have an effect."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from sdcdsl.cli import cli

# Of a block: what was found and what is claimed of it.
_SAID = ("status", "objective", "bound", "verdict", "counts", "method")


def protected(folder: Path, text: str, files: dict[str, str]) -> dict[str, Any]:
    """What `protect` says and writes."""
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "p.sdc").write_text(text, encoding="utf-8")
    made = _run("protect", folder, "--json")
    released = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("released*"))}
    blocks = [{name: block[name] for name in _SAID if name in block} for block in made["blocks"]]
    return {"exit": made["exit"], "codes": sorted(d["code"] for d in made["diagnostics"]), "blocks": blocks, **released}


def assessed(folder: Path, text: str, files: dict[str, str]) -> dict[str, Any]:
    """How near the attackers of `assess` come: figures alone, without the names and settings of the experiments."""
    protected(folder, text, files)
    (block,) = _run("assess", folder, "--output", "json")["blocks"]
    figures = [[e[name] for name in ("classes", "mean_error", "within_level")] for e in block["experiments"]]
    return {"exit": 0, "found": figures}


def _run(command: str, folder: Path, *more: str) -> dict[str, Any]:
    result = CliRunner().invoke(cli, [command, str(folder / "p.sdc"), *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return json.loads(result.stdout)
