"""The playground: the language part of the program in the browser, by Pyodide. Nothing is fetched from elsewhere when
it runs: the page, the interpreter and the program's wheel stand in one folder.

Pyodide comes from npm; without npm the playground is left out, and that is said.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "docs" / "playground"
PYODIDE = "314.0.7"
NEEDED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


def make_playground(folder: Path) -> bool:
    """Whether it could be made."""
    npm = shutil.which("npm")
    if npm is None:
        print("no npm: the playground is left out")
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for file in SOURCE.iterdir():
        shutil.copy(file, folder)
    shutil.copy(ROOT / "examples" / "tiny" / "tiny.sdc", folder / "first.sdc")
    with tempfile.TemporaryDirectory() as scratch:
        _run([npm, "pack", "--silent", f"pyodide@{PYODIDE}"], Path(scratch))
        with tarfile.open(next(Path(scratch).glob("*.tgz"))) as packed:
            for name in NEEDED:
                made = packed.extractfile(f"package/{name}")
                assert made is not None, name
                (folder / "pyodide").mkdir(exist_ok=True)
                (folder / "pyodide" / name).write_bytes(made.read())
    _run([sys.executable, "-m", "pip", "wheel", "-qq", "--no-deps", "-w", str(folder), str(ROOT)], ROOT)
    (wheel,) = folder.glob("*.whl")
    (folder / "files.json").write_text(json.dumps({"wheel": wheel.name}) + "\n", encoding="utf-8")
    return True


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"playground: {' '.join(command[:4])}\n{done.stdout}{done.stderr}")
