"""What a sensitivity rule is, for `sensitive by …`: one record in one file of `sdcdsl/bind/rules` each."""

from __future__ import annotations

from typing import Any

from sdcdsl.record import Record, record
from sdcdsl.registry import Registry
from sdcdsl.vocabulary.option import no_options


@record
class RuleArguments(Record):
    """A rule with its arguments, each a field `option(…)` (a share is a fraction: 10 % is 0.1), and what it makes of
    cells (`sdcdsl.bind.rules.cells.RuleCells`, arrays with an entry for each cell)."""

    @property
    def largest_needed(self) -> int:
        """How many of the largest contributions it looks at."""
        return 0

    def faults(self) -> list[str]:
        """What is wrong with the arguments together, in words."""
        return []

    def judge(self, cells: Any) -> Any:
        """Which cells are sensitive and how much protection they need: what `cells.judged(…)` returns."""
        raise NotImplementedError

    def said(self, cells: Any, cell: int) -> str | None:
        """The formula with the figures of one cell, whether it is sensitive or not."""
        return None


@record
class Formula(Record):
    """In the letters of the language reference: X = Σ |contribution|, x1 ≥ x2 ≥ … the largest of them."""

    sensitive: str
    level: str


@record
class Rule(Record):
    name: str
    about: str
    arguments: type[RuleArguments]
    needs: tuple[str, ...] = ()  # beside the largest contributions: "count", "units", "status" or "groups"
    aliases: tuple[str, ...] = ()
    formula: Formula | None = None

    @property
    def reads_status(self) -> bool:
        """The data says itself which cells are sensitive, and there is nothing to judge."""
        return "status" in self.needs

    @property
    def judges_sums(self) -> bool:
        """Whether it has a meaning for a sum of hidden cells: who asked for protection is known of cells only."""
        return not {"status", "units", "groups"} & set(self.needs)

    @property
    def judges_groups(self) -> bool:
        """It judges what the group of a cell has outside the cell, and not the cell."""
        return "groups" in self.needs

    def incomplete(self) -> str | None:
        if not (isinstance(self.arguments, type) and issubclass(self.arguments, RuleArguments)):
            return "its arguments are no class that inherits from RuleArguments"
        if self.arguments.judge is RuleArguments.judge and not self.reads_status:
            return "it is described and has no implementation: give the class of its arguments a method `judge(cells)`"
        unknown = [need for need in self.needs if need not in ("count", "units", "status", "groups")]
        if unknown:
            return f'it needs `{unknown[0]}`; known are "count", "units", "status" and "groups"'
        return no_options(self.arguments)


RULES = Registry("rules", Rule)


def find_rule(name: str) -> Rule | None:
    """By one of its names."""
    return RULES.find(name)


def rule_names() -> list[str]:
    """All names that rules have."""
    return [*RULES, *(alias for rule in RULES.values() for alias in rule.aliases)]
