"""Packs this package as a wheel: what the build backends of the registry do, for a machine without a network."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path


def build_wheel(wheel_directory: str, config_settings=None, metadata_directory=None) -> str:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    info = f"{name}-{version}.dist-info"
    groups = project["entry-points"].items()
    points = "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()) for group, entries in groups)
    files = {path.as_posix(): path.read_text(encoding="utf-8") for path in sorted(Path(name).glob("*.py"))}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: packing\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = points
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    wheel = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel
