"""What `assess --replay` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sdcdsl.cli.audit_text import plural
from sdcdsl.cli.ends import EXITS
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.pipeline.method_replay import BlockReplay, CellReplay, MethodReplays

WIDTH, SHOWN = 110, 20
NARROWED, NOT_NARROWED = "narrowed", "not narrowed"


@dataclass(frozen=True, eq=False)
class ReplayReport:
    made: MethodReplays

    @property
    def exit(self) -> int:
        return EXITS[self.made.end]

    def document(self) -> dict[str, Any]:
        return {
            "verdict": _verdict(self.made.blocks) if self.made.blocks else None,
            "blocks": [_block(made) for made in self.made.blocks],
            "plot": None,
            "diagnostics": [as_json(d) for d in for_reading(self.made.found)],
            "exit": self.exit,
        }

    def text(self) -> str:
        return "\n".join("\n".join(_lines(made)) + "\n" for made in self.made.blocks)


def _verdict(blocks: tuple[BlockReplay, ...]) -> str:
    return NARROWED if any(cell.share < 1 for made in blocks for cell in made.cells) else NOT_NARROWED


def _block(made: BlockReplay) -> dict[str, Any]:
    share, least, most = made.share
    return {
        "block": made.problem.name,
        "attacker": made.attacker,
        "method": made.method,
        "knows": ["relations", "policy", "method", "seed"],
        "every_table": made.every,
        "tables_tried": made.tried,
        "tables_same": made.same,
        "tables_not_released": made.nothing,
        "share": {"estimate": share, "low": least, "high": most},
        "depends_on_time": made.timed,
        "cut_by_time": made.cut,
        "cells": [
            {
                "cell": made.problem.label(one.cell),
                "value": one.value,
                "feasible": _ends(one.feasible),
                "tried": _ends(one.tried),
                "remaining": _ends(one.remaining),
                "share": one.share,
            }
            for one in made.cells
        ],
    }


def _ends(ends: tuple[float, float]) -> list[float | None]:
    return [None if abs(end) == float("inf") else end for end in ends]


def _lines(made: BlockReplay) -> Iterator[str]:
    narrowed = sorted((one for one in made.cells if one.share < 1), key=lambda one: one.share)
    verdict = (NARROWED if narrowed else NOT_NARROWED).upper()
    yield f"{made.problem.name}: {verdict} by somebody who replays {made.method}"
    yield f"  attacker    {made.attacker}, who also has the policy, its seed and this program"
    share, least, most = made.share
    if made.every and not made.cut:
        same = f"{made.same:,} are released like this ({share:.0%})"
        yield f"  tables      all {made.tried:,} that fit the release; {same}"
    else:
        same = f"{made.same:,} are released like this: {share:.0%} of the others (95 %: {least:.0%} to {most:.0%})"
        yield f"  tables      a sample of {made.tried:,} that fit the release; {same}"
    if made.nothing:
        yield f"              for {made.nothing:,} of them nothing would have been released"
    if made.cut:
        yield "              the time was over before all were tried"
    if made.timed:
        warning = "searches ended by the clock: on another machine the same table may be released in another way"
        yield from textwrap.wrap(warning, WIDTH, initial_indent=" " * 14, subsequent_indent=" " * 14)
    yield f"  cells       {plural(len(made.cells), 'sensitive cell')}; {len(narrowed):,} narrowed"
    yield ""
    word = "" if made.every and not made.cut else "at least "
    for one in narrowed[:SHOWN]:
        yield from _cell(made, one, word)
    if len(narrowed) > SHOWN:
        yield f"    and {len(narrowed) - SHOWN:,} more (--json has all)"


def _cell(made: BlockReplay, one: CellReplay, word: str) -> Iterator[str]:
    yield f"    {made.problem.label(one.cell)}: {one.value:g}"
    yield f"      feasible {_range(one.feasible)}; in the tables tried {_range(one.tried)}"
    yield f"      after the replay {word}{_range(one.remaining)}: {one.share:.0%} of what was possible in these tables"


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g} .. {ends[1]:g}"
