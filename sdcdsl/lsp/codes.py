"""The codes of dimensions for completion: those that the policy spells out, and those of hierarchy files at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdcdsl.editing.opened import Opened
from sdcdsl.policy import document as d
from sdcdsl.policy.codes import known_codes

MOST = 2000  # codes that an editor is sent


def codes_at_hand(opened: Opened) -> Callable[[str], Iterable[str]]:
    def codes(dimension: str) -> Iterable[str]:
        block = opened.policy.dimensions[dimension]
        spelled_out = known_codes(block)
        found = _in_order(block, spelled_out) if spelled_out is not None else _of_files(block, opened)
        return list(found)[:MOST]

    return codes


def _in_order(block: d.Block, codes: frozenset[str]) -> Iterable[str]:
    """As they are written, the total first."""
    written = [c.text for s in block.all(d.Total) for c in (s.code,)]
    written += [c.text for s in block.all(d.Codes) for c in s.codes]
    return dict.fromkeys([*written, *sorted(codes)])


def _of_files(block: d.Block, opened: Opened) -> Iterable[str]:
    from sdcdsl.bind.dimensions import bind_dimension  # noqa: PLC0415
    from sdcdsl.bind.file_locations import FileLocations  # noqa: PLC0415

    bound, _ = bind_dimension(block, FileLocations(opened.path.parent), tuple)
    return () if bound is None else bound.codes
