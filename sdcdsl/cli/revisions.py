"""Policies as they stood in a revision of a repository: `HEAD~1:policies/turnover.sdc`, as git writes it."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import click


def is_revision(name: str) -> bool:
    """Not a file that is there; a file may have a colon in its name."""
    revision, colon, path = name.partition(":")
    return bool(colon and revision and path) and len(revision) > 1 and not Path(name).exists()


@contextmanager
def of_revision(name: str) -> Iterator[Path]:
    """The policy in a folder of its own, with all policies of that revision around it, which it may use."""
    revision, _, path = name.partition(":")
    inside = str(PurePosixPath(_git("rev-parse", "--show-prefix").decode().strip()) / path)
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    names = [n for n in _git("ls-tree", "-r", "-z", "--full-tree", "--name-only", commit).decode().split("\0") if n]
    if inside not in names:
        raise click.UsageError(f"there is no {inside} in {revision}")
    with tempfile.TemporaryDirectory(prefix="sdcdsl-") as folder:
        for one in names:
            if one.endswith(".sdc") or one == inside:
                target = Path(folder, one)
                if not target.resolve().is_relative_to(Path(folder).resolve()):
                    raise click.UsageError(f"{revision} has a file whose path leads out of it")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(_git("cat-file", "blob", f"{commit}:{one}"))
        yield Path(folder, inside)


def _git(*words: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], capture_output=True, check=False)
    except FileNotFoundError:
        raise click.UsageError("revisions need git, which is not installed") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().split("\n")[-1].removeprefix("fatal: ")
        raise click.UsageError(f"git says: {said or f'{words[-1]} is not known here'}")
    return done.stdout
