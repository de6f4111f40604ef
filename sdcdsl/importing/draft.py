"""A policy in the making: its items with the comments above them, the names it uses up, and what stays behind."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sdcdsl.bind.readers.wording import clip
from sdcdsl.diagnostics import Diagnostic, FilePlace, Place, diagnostic, in_reading_order
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.files import decode
from sdcdsl.policy.parameters import as_it_is
from sdcdsl.policy.write import write_document
from sdcdsl.syntax.automaton import RESERVED
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.quantities import QUANTITIES, ROLES

# Words that would be legal names and yet mean something else where the name is used.
_TAKEN = frozenset(
    {*RESERVED, *QUANTITIES, *FUNCTIONS, *ROLES, "cell", "given", "up", "down", "fixed", "lower_level", "upper_level"}
)


@dataclass
class Draft:
    source: str  # the file that is imported, as the person named it
    parts: list[str] = field(default_factory=list)
    found: list[Diagnostic] = field(default_factory=list)

    @property
    def file(self) -> str:
        """The source as the policy speaks of it: no folders of anybody's machine."""
        return Path(self.source).name

    def add(self, item: d.Item, *comments: str) -> None:
        self.remark(*comments)
        self.parts.append(write_document(d.Document(1, (as_it_is(item),))).partition("\n")[2])

    def remark(self, *comments: str) -> None:
        self.parts += [f"# {' '.join(comment.split())}\n" for comment in comments]

    def gap(self) -> None:
        self.parts.append("\n")

    def left_behind(
        self,
        headline: str,
        line: int | None = None,
        *,
        help: str | None = None,
        notes: Iterable[str] = (),
        file: str = "",
    ) -> None:
        place = FilePlace(file or self.source, line=line)
        self.found.append(diagnostic("SDC328", headline, place, notes=notes, help=help))

    def list_what_stayed(self) -> None:
        """The warnings as comments below the title: what is on the screen today is gone tomorrow."""
        said = [(d.place, d.headline) for d in in_reading_order(self.found) if d.code == "SDC328"]
        title, self.parts = self.parts[:1], self.parts[1:]
        below, self.parts = self.parts, title
        if said:
            self.gap()
            self.remark("Not carried over:")
            self.remark(*(f"{_short(place)}: {headline}" for place, headline in said))
        self.parts += below

    def text(self) -> tuple[str | None, list[Diagnostic]]:
        """The canonical form; None where names of the source hold characters that no policy can."""
        source, wrong = decode(f"sdc 1\n{''.join(self.parts)}".encode("utf-8", "surrogatepass"), self.source)
        if source is None:
            return None, wrong
        parsed, wrong = parse(source)
        assert not wrong, (wrong, source.text)
        return format_text(parsed), []


def _short(place: Place | None) -> str:
    if not isinstance(place, FilePlace):
        return str(place)
    return Path(place.name).name + (f", line {place.line}" if place.line else "")


class BlockNames:
    """Names for blocks, made of what the source calls things; each is given out once."""

    def __init__(self) -> None:
        self.given: set[str] = set()

    def take(self, preferred: str, otherwise: str) -> str:
        name = plain_name(preferred, otherwise)
        number = 2
        base = name
        while name in self.given:
            name = f"{base}_{number}"
            number += 1
        self.given.add(name)
        return name


def plain_name(preferred: str, otherwise: str) -> str:
    name = re.sub(r"\W+", "_", preferred).strip("_")
    if not name:
        return otherwise
    if not re.match(r"[^\W\d]", name):
        name = f"{otherwise}_{name}"
    return f"{name}_" if name in _TAKEN else name


@dataclass(frozen=True)
class Files:
    """Where the source lies, and how the policy will call what lies beside it."""

    folder: Path
    prefix: str = ""

    @classmethod
    def beside(cls, source: Path, policy_folder: Path | None, draft: Draft) -> Files:
        folder = source.parent
        if policy_folder is None or policy_folder.resolve() == folder.resolve():
            return cls(folder)
        if folder.resolve().is_relative_to(policy_folder.resolve()):
            return cls(folder, folder.resolve().relative_to(policy_folder.resolve()).as_posix() + "/")
        draft.left_behind(
            "the policy will not lie where its data does",
            help="a policy finds files in its own folder: move it there, or name them when running: --data NAME=PATH",
        )
        return cls(folder)

    def refer(
        self, given: str, line: int, draft: Draft, *, near: Path | None = None, file: str = ""
    ) -> tuple[Path, str]:
        """The file to read now and its name in the policy. Folders of another machine are left behind."""
        parts = [part for part in given.replace("\\", "/").split("/") if part not in ("", ".")]
        outside = given.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", given) is not None or ".." in parts
        if outside:
            name = re.sub(r"^[A-Za-z]:", "", parts[-1]) if parts else ""
            parts = [name if name not in ("", "..") else "TODO"]
            draft.left_behind(
                f"only the file name of `{clip(given)}` is carried over",
                line,
                help=f"put {clip(parts[0])} beside the policy; a policy names no folder outside its own",
                file=file,
            )
        parts = parts or ["TODO"]
        for folder in (self.folder, *([near] if near is not None else [])):
            found = _as_spelled(folder, parts)
            if found is not None:
                inside = found.resolve().is_relative_to(self.folder.resolve())
                name = (
                    found.relative_to(self.folder).as_posix()
                    if inside and found.is_relative_to(self.folder)
                    else "/".join(parts)
                )
                return found, self.prefix + name
        return self.folder / "/".join(parts), self.prefix + "/".join(parts)


def _as_spelled(folder: Path, parts: list[str]) -> Path | None:
    """The file as it is spelled on the disk: the old world did not tell upper from lower case."""
    at = folder
    for part in parts:
        inside = at / part
        if not inside.exists():
            siblings = sorted(at.iterdir()) if at.is_dir() else []
            alike = next((p for p in siblings if p.name.casefold() == part.casefold()), None)
            if alike is None:
                return None
            inside = alike
        at = inside
    return at if at.is_file() else None


# ---- expressions ---------------------------------------------------------------------------------------------


def figure(value: float) -> str:
    """A number that is not negative, in digits only."""
    return f"{value:.15f}".rstrip("0").rstrip(".")


def number(value: float) -> x.Expression:
    plain = x.Number(figure(abs(value)))
    return x.Negative(plain) if value < 0 else plain


def percent(value: float) -> x.Percent:
    return x.Percent(figure(value))


def cell_is(dimensions: Iterable[str], codes: Iterable[str]) -> x.Expression:
    """The condition that selects one cell."""
    parts = tuple(x.Compare("=", x.Name(n), x.Text(c)) for n, c in zip(dimensions, codes, strict=True))
    return parts[0] if len(parts) == 1 else x.Every(parts)


def cell_at(dimensions: Iterable[str], codes: Iterable[str]) -> d.Address:
    return d.Address(tuple((n, x.Code(c)) for n, c in zip(dimensions, codes, strict=True)))
