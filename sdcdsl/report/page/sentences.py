"""What the page says in sentences: verdicts, and for readers outside which rules, attackers and methods there were.

What goes to readers outside is made from kinds alone. Parameters of rules, names of attackers and texts of statements
stay inside: who knows the p of a rule learns from every hidden cell, and attackers may be called after firms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdcdsl.outcome import End, Outcome
from sdcdsl.policy import document as d
from sdcdsl.policy.meaning import attackers_of
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.rules import find_rule


@dataclass(frozen=True)
class PageVerdict:
    kind: str  # good, mild or bad
    word: str
    why: str


def verdict_of(outcome: Outcome) -> PageVerdict:
    made = outcome.audit
    if outcome.end is End.DONE and made is not None:
        if not len(made.verdicts):
            return PageVerdict(
                "mild", "Nothing to check", "No cell is sensitive to any attacker, so nothing was attacked."
            )
        if made.distance is not None:
            why = "Every sensitive figure is as far from the truth as required. No attacker was simulated."
            return PageVerdict("mild", "Far enough from the truth", why)
        why = "Every attacker stays uncertain enough about every sensitive cell. This is proved, pair by pair."
        return PageVerdict("good", "Protected", why)
    if outcome.end is End.INFEASIBLE:
        return PageVerdict("bad", "No release possible", "No release of this kind can satisfy the policy.")
    if outcome.end is End.LIMIT:
        return PageVerdict("bad", "Nothing found", "A limit was reached before a valid release was found.")
    if outcome.end is End.STOPPED:
        return PageVerdict("bad", "Nothing found", "The search was ended before a valid release was found.")
    word = {"exposed": "Exposed", "not proven": "Not proven"}.get(outcome.verdict or "", "Wrong")
    return PageVerdict("bad", word, "The audit did not find this release protected. It must not be published.")


def public_verdict(outcome: Outcome) -> PageVerdict:
    if outcome.end is not End.DONE or outcome.pattern is None:
        return PageVerdict("bad", "Not released", "There is no release of this table.")
    if not outcome.pattern.claims:
        why = "The figures were adjusted so that nobody’s data can be read off them. Sums still add up."
        return PageVerdict("good", "Adjusted for confidentiality", why)
    why = "Confidential figures are protected, and the protection was checked against simulated attackers."
    return PageVerdict("good", "Protected", why)


def method_words(name: str) -> str:
    method = METHODS.get(name)
    return method.about if method is not None else name


def rules_in_words(policy: Policy, outcome: Outcome) -> list[str]:
    """Why cells can be confidential, without a figure and without a name."""
    found = dict.fromkeys(_rules(policy, {table.name for table in outcome.problem.tables}))
    if any(table.given is not None or table.status is not None for table in outcome.problem.tables):
        found["the data itself says which cells are confidential"] = None
    return list(found)


def _rules(policy: Policy, tables: set[str]) -> Iterator[str]:
    for fact in policy.facts_of(d.Sensitive):
        if fact.cells.table is not None and fact.cells.table not in tables:
            continue  # it speaks of the table of another block
        rule = find_rule(fact.rule.name) if fact.rule is not None else None
        yield rule.about if rule is not None else "the office names cells that are confidential"


def attackers_in_words(policy: Policy, outcome: Outcome) -> list[str]:
    protect = policy.protects.get(outcome.name)
    if protect is None:
        return []
    blocks = [policy.attackers[name] for name in attackers_of(policy, protect) if name in policy.attackers]
    return list(dict.fromkeys(_attacker(block) for block in blocks)) or [_OUTSIDER]


_OUTSIDER = "a reader who knows the published table, how it adds up, and bounds of its cells"


def _attacker(block: d.Block) -> str:
    if not block.all(d.Each):
        return _OUTSIDER
    who = "members of one group of contributors together" if block.all(d.Coalition) else "each contributor"
    knows = {k.what for k in block.all(d.Knows)}
    return f"{who}, who know their own contributions" if "own contribution" in knows else who
