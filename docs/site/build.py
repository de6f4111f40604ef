"""Builds the documentation site: `make docs`, or `python docs/site/build.py [FOLDER]` (build/site if none is named).

    FOLDER/index.html            goes on to the newest version
    FOLDER/versions.js           the versions that stand beside each other
    FOLDER/VERSION/index.html    goes on to the landing page; …/gallery/ has the reports, …/playground/ the playground

Every warning is an error. Versions that are there already stay: build each from its own checkout into one folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from gallery import make_gallery  # noqa: E402
from playground import make_playground  # noqa: E402

LANDING = "docs/README.html"


def main() -> int:
    said = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    said.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    said.add_argument("--quick", action="store_true", help="the pages alone: no gallery, no playground")
    options = said.parse_args()
    folder: Path = options.folder.resolve()
    version = re.findall(r'__version__ = "(.*)"', (ROOT / "sdcdsl" / "version.py").read_text("utf-8"))[0]
    site = folder / version
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    if not options.quick:
        make_gallery(site / "gallery")
        make_playground(site / "playground")
    with tempfile.TemporaryDirectory() as kept:
        command = [
            sys.executable,
            "-m",
            "sphinx",
            "-W",
            "--keep-going",
            "-q",
            "-b",
            "html",
            "-c",
            str(HERE),
            "-d",
            kept,
        ]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        ended = subprocess.run([*command, str(ROOT), str(site)], env=environment, check=False)
    if ended.returncode:
        return ended.returncode
    (site / "index.html").write_text(_onwards(LANDING), encoding="utf-8")
    _name_versions(folder)
    print(f"the site: {folder / 'index.html'}")
    return 0


def _name_versions(folder: Path) -> None:
    """Newest first, as numbers compare."""
    there = [path.parent.name for path in folder.glob("*/index.html")]
    there.sort(key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    (folder / "versions.js").write_text(f"window.sdcdslVersions = {json.dumps(there)};\n", encoding="utf-8")
    (folder / "index.html").write_text(_onwards(f"{there[0]}/{LANDING}"), encoding="utf-8")


def _onwards(where: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>sdcdsl</title>'
        f'<meta http-equiv="refresh" content="0; url={where}"><a href="{where}">sdcdsl</a></html>\n'
    )


if __name__ == "__main__":
    sys.exit(main())
