"""Where the files of a policy lie: beside the policy, unless the person who runs it says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, Span, diagnostic, did_you_mean


@dataclass(frozen=True)
class Places:
    """`instead` maps names of data, dimensions and tables to files given on the command line (`--data NAME=PATH`)."""

    folder: Path
    instead: Mapping[str, Path] = field(default_factory=dict)
    allow_outside: bool = False

    def find(self, name: str, path: str, span: Span | None) -> tuple[Path | None, list[Diagnostic]]:
        """The file to read for `name`, which the policy calls `path`."""
        if name in self.instead:
            return self.instead[name], []
        target = self.folder / path
        if not self.allow_outside and not target.resolve().is_relative_to(self.folder.resolve()):
            outside = diagnostic(
                "SDC140",
                f'"{path}" leads out of the policy\'s folder',
                span,
                help=f"name the file when running: --data {name}=PATH",
            )
            return None, [outside]
        if not target.is_file():
            siblings = [p.name for p in target.parent.iterdir()] if target.parent.is_dir() else []
            near = did_you_mean(target.name, siblings)
            headline = f'there is no file "{path}"'
            help = f"name another file when running: --data {name}=PATH"
            return None, [diagnostic("SDC302", headline, span, near, help=help)]
        return target, []


@dataclass(frozen=True)
class Noted(Places):
    """Keeps in mind which data files were read, for certificates."""

    read: dict[str, Path] = field(default_factory=dict)

    def find(self, name: str, path: str, span: Span | None) -> tuple[Path | None, list[Diagnostic]]:
        found, problems = super().find(name, path, span)
        if found is not None:
            self.read[name] = found
        return found, problems
