"""From a path to a checked policy: the stages of this package, named once and in order."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, FilePlace, Mark, Source, diagnostic, in_reading_order
from sdcdsl.policy.checks import check
from sdcdsl.policy.files import File, load, load_source
from sdcdsl.policy.parameters import as_it_is
from sdcdsl.policy.resolve import Policy, resolve
from sdcdsl.policy.write import quoted


@contextmanager
def not_collecting() -> Generator[None, None, None]:
    """Reading makes millions of records and hardly a circle: looking for circles again and again is a fifth of the
    time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def read_policy(
    path: Path, name: str | None = None, allow_outside: bool = False, settings: Mapping[str, str] | None = None
) -> tuple[Policy, list[Diagnostic]]:
    """`settings`: values of parameters for this run."""
    return _checked(path, lambda: load(path, name, allow_outside), settings)


def read_text(
    source: Source,
    path: Path,
    allow_outside: bool = False,
    others: Mapping[Path, str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> tuple[Policy, list[Diagnostic]]:
    """A text that is at hand; `others`: texts of files it uses that are at hand, too, by their real paths."""
    return _checked(path, lambda: load_source(source, path, allow_outside, others), settings)


def _checked(
    path: Path, loaded: Callable[[], tuple[list[File], list[Diagnostic]]], settings: Mapping[str, str] | None
) -> tuple[Policy, list[Diagnostic]]:
    """The parser refuses what is nested too deeply for the stages that follow; should one of them still run out of
    stack, the reader learns that, and nothing else is guessed. Every other exception is a bug and looks like one."""
    try:
        files, found = loaded()
        policy, unresolved = resolve(files, settings)
        return policy, in_reading_order([*found, *unresolved, *check(policy)])
    except RecursionError:
        headline = f"{path} is nested more deeply than this program can follow"
        return Policy(), [diagnostic("SDC007", headline, FilePlace(str(path)))]


def is_jj(path: Path) -> bool:
    return path.suffix.lower() == ".jj"


def read_any(
    path: Path,
    allow_outside: bool = False,
    method: str = "csp",
    release: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> tuple[Policy, list[Diagnostic]]:
    """A policy, or the one that a JJ file stands for."""
    if is_jj(path):
        return read_jj(path, allow_outside, method, release, settings)
    return read_policy(path, str(path), allow_outside, settings)


def read_jj(
    path: Path, allow_outside: bool, method: str, release: str | None, settings: Mapping[str, str] | None = None
) -> tuple[Policy, list[Diagnostic]]:
    """The policy that a JJ file stands for: its cells protected by `method`, written to `release`."""
    if not path.is_file():
        return Policy(), [diagnostic("SDC302", f"there is no file {path}", FilePlace(str(path)))]
    name = quoted(as_it_is(path.name))
    lines = [f"method {method}", *([f"release csv {quoted(as_it_is(release))}"] if release is not None else [])]
    statements = "".join(f"  {line}\n" for line in lines)
    text = f"sdc 1\npolicy {name}\n\ntable cells {{\n  jj {name}\n}}\n\nprotect cells {{\n{statements}}}\n"
    policy, found = read_text(Source(str(path), text), path, allow_outside, settings=settings)
    return policy, [_of_the_file(one, path) for one in found]


def _of_the_file(found: Diagnostic, path: Path) -> Diagnostic:
    """Nobody wrote the policy that stands for a JJ file: no line of it is shown, and who wants more writes one."""
    help = f"a policy can say it: sdcdsl new {path.stem}.sdc --from jj" if found.help is not None else None
    return replace(found, marks=(Mark(FilePlace(str(path))),), help=help, fix=None)
