"""What is described of a search while it runs."""

from __future__ import annotations

from time import monotonic

from sdcdsl.cli.protect_display import BlockDisplay, described, figures
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import Progress
from tests.waiting import Looks


def test_a_line_tells_the_size_first_and_then_how_far_the_search_is() -> None:
    block = BlockDisplay("turnover", monotonic(), "2 020 cells, 112 pairs", "csp", Deadline(60))
    assert block.line().startswith("turnover: csp, 2 020 cells, 112 pairs, 60 s left, 0 s")
    block.progress = Progress("relaxation", 100.0, 75.0, "31 cuts")
    assert block.line().startswith("turnover: csp, relaxation, objective 100, bound 75, gap 25 %, 31 cuts, 60 s left")
    block.deadline = None  # the audit
    block.doing, block.progress = "audit, 3 of 112 pairs", None
    assert block.line() == "turnover: audit, 3 of 112 pairs, 0 s"
    block.settled = 0.25
    assert block.line().endswith(" [###---------]")


def test_a_bar_shows_how_much_of_the_time_has_passed() -> None:
    block = BlockDisplay("turnover", monotonic(), doing="csp", deadline=Looks(10e-3))
    assert block.line().endswith("]") and "#" in block.line()


def test_lines_and_events_have_the_same_figures_under_the_same_names() -> None:
    progress = Progress("search", 100.0, 75.0)
    assert figures(progress) == {"objective": 100.0, "bound": 75.0, "gap": 0.25}
    assert [word.split(" ")[0] for word in described(progress)[1:]] == list(figures(progress))
    assert figures(Progress("search", 0.0, -1.0))["gap"] is None  # JSON knows no infinity
