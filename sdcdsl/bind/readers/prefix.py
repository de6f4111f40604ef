"""Hierarchies that the codes themselves carry: `4711` belongs to `47`, which belongs to `4`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.readers.tree_building import Branch, grow
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.diagnostics import Diagnostic, Place, diagnostic


def tree_from_prefixes(
    leaves: Iterable[str], lengths: Sequence[int], *, total: str, place: Place, name: str = ""
) -> tuple[CodeTree | None, list[Diagnostic]]:
    """A node for each prefix of each length; the code itself is the leaf, whatever its length."""
    if not lengths or any(b <= a for a, b in zip([0, *lengths], lengths, strict=False)):
        shown = ", ".join(map(str, lengths)) or "none"
        headline = f"prefix lengths must be whole numbers that grow, from 1 up; got {shown}"
        return None, [diagnostic("SDC312", headline, place)]
    codes = sorted(set(leaves))
    inner = {code[:length] for code in codes for length in lengths if length < len(code)}
    both = [code for code in codes if code in inner]
    if both:
        return None, [
            offenders(
                "SDC312",
                "codes that are a group and a leaf at once",
                ((place, f"`{clip(code)}` stands in the data and begins longer codes") for code in both),
                len(both),
                help="give records without detail a code of their own, such as the group's followed by zeros",
            )
        ]
    return grow(_prefixed(codes, lengths, total, place), total=total, name=name, place=place, once=False)


def _prefixed(codes: Iterable[str], lengths: Sequence[int], total: str, place: Place) -> Iterator[Branch]:
    for code in codes:
        parent = total
        for node in [*(code[:length] for length in lengths if length < len(code)), code]:
            yield Branch(parent, node, place)
            parent = node
