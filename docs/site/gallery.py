"""Reports and maps of the examples, made by the program itself, for the site's gallery."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Exhibit:
    """A command in the folder of an example, and what of its output is shown: file in the output -> name and title."""

    example: str
    command: tuple[str, ...]
    shown: dict[str, tuple[str, str]]


EXHIBITS = (
    Exhibit(
        "enterprises",
        ("protect", "enterprises.sdc", "--today", "2026-01-01", "--out", "OUT"),
        {
            "internal/enterprises.internal.html": (
                "enterprises.internal.html",
                "Turnover of 5 000 enterprises: internal",
            ),
        },
    ),
    Exhibit(
        "hospital",
        ("protect", "hospital.sdc", "--block", "rounded", "--today", "2026-01-01", "--out", "OUT"),
        {
            "internal/hospital.internal.html": (
                "hospital.internal.html",
                "Hospital counts, rounded: internal",
            )
        },
    ),
    Exhibit(
        "linked",
        ("protect", "linked.sdc", "--today", "2026-01-01", "--public", "--out", "OUT"),
        {"linked.public.html": ("linked.public.html", "Two linked tables: for the public")},
    ),
    Exhibit(
        "tiny",
        ("compare", "tiny.sdc", "--out", "OUT"),
        {"compare.svg": ("compare.svg", "A small table under several methods and levels: the risk–utility map")},
    ),
)


def make_gallery(folder: Path) -> None:
    """Runs each command on a copy of its example. A command that fails ends the build."""
    folder.mkdir(parents=True, exist_ok=True)
    for exhibit in EXHIBITS:
        with tempfile.TemporaryDirectory() as scratch:
            here = Path(scratch) / exhibit.example
            shutil.copytree(ROOT / "examples" / exhibit.example, here)
            out = Path(scratch) / "out"
            words = [str(out) if word == "OUT" else word for word in exhibit.command]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
            made = subprocess.run(
                [sys.executable, "-m", "sdcdsl", *words],
                cwd=here, env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if made.returncode:
                raise SystemExit(f"gallery: sdcdsl {' '.join(exhibit.command)}\n{made.stdout}{made.stderr}")
            for file, (name, _) in exhibit.shown.items():
                shutil.copy(out / file, folder / name)
