"""τ-ARGUS hierarchy files: a code a line, its depth told by a leader repeated; the total is not in the file.

Nr
@1
@2
Os
@3
"""

from __future__ import annotations

from pathlib import Path

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.readers.inline_tree import Entry, tree_from_outline
from sdcdsl.bind.readers.text_files import lines, open_text
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic


def read_hrc(
    source: Path | Source, *, total: str, leader: str = "@", encoding: str | None = None, name: str = ""
) -> tuple[CodeTree | None, list[Diagnostic]]:
    """The tree below `total`. Blanks around a code are layout, not part of it."""
    opened, problems = open_text(source, encoding)
    if opened is None:
        return None, problems
    place = FilePlace(opened.name)
    if not leader.strip():
        return None, [diagnostic("SDC312", "the leader of a hierarchy file must be a character", place)]
    entries = []
    nameless = []
    for number, line in enumerate(lines(opened.text), 1):
        depth, code = _depth(line.strip(), leader)
        if code:
            entries.append(Entry(depth, code, FilePlace(opened.name, line=number)))
        elif depth:
            nameless.append((FilePlace(opened.name, line=number), "no code after the leader"))
    if nameless:
        return None, [offenders("SDC312", "lines without a code", nameless, len(nameless))]
    if not entries:
        return None, [diagnostic("SDC308", f"{opened.name} holds no codes", place)]
    return tree_from_outline(entries, place=place, total=total, name=name)


def _depth(line: str, leader: str) -> tuple[int, str]:
    depth = at = 0
    while line.startswith(leader, at):
        depth += 1
        at += len(leader)
    return depth, line[at:].strip()


def hrc_text(tree: CodeTree, leader: str = "@") -> tuple[str | None, list[Diagnostic]]:
    """The tree as a `.hrc` file, without its total; not every tree can be one."""
    place = FilePlace(tree.name or "hierarchy")
    unwritable = [
        (place, f"`{clip(code)}`")
        for code in tree.codes[1:]
        if not code or code != code.strip() or code.startswith(leader) or "\n" in code or "\r" in code
    ]
    problems = []
    if unwritable:
        problems.append(offenders("SDC312", "codes a .hrc file cannot hold", unwritable, len(unwritable)))
    if (tree.sign < 0).any():
        problems.append(diagnostic("SDC312", "a .hrc file cannot hold a difference, only sums", place))
    if problems:
        return None, problems
    rows = zip(tree.codes[1:], tree.level[1:].tolist(), strict=True)
    return "".join(f"{leader * (level - 2)}{code}\n" for code, level in rows), []
