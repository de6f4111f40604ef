"""What is told of a search while it runs."""

from __future__ import annotations

from time import monotonic

from sdcdsl.cli.protect_display import Block
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import Progress


def test_a_line_tells_the_size_first_and_then_how_far_the_search_is() -> None:
    block = Block("turnover", monotonic(), "2 020 cells, 112 pairs", "csp", Deadline(60))
    assert block.line().startswith("turnover: csp, 2 020 cells, 112 pairs, 60 s left, 0 s")
    block.standing = Progress("relaxation", 100.0, 75.0, "31 cuts")
    assert block.line().startswith("turnover: csp, relaxation, objective 100, bound 75, gap 25 %, 31 cuts, 60 s left")
    block.deadline = None  # the audit
    block.doing, block.standing = "audit, 3 of 112 pairs", None
    assert block.line() == "turnover: audit, 3 of 112 pairs, 0 s"
