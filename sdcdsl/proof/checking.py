"""Checking a certificate from the file alone: `verify`.

Nothing of the audit that wrote the certificate is used. The file is read once, line by line; in memory are the problem
and for each pair how far accepted claims drive it and accepted bounds let it go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.proof.bound import Bound, reaches
from sdcdsl.proof.exact import TOLERANCE, excess, sums
from sdcdsl.proof.families import ServedMembers
from sdcdsl.proof.problem_reader import ProblemReader, denominator
from sdcdsl.proof.reading import (
    CertificateLines,
    MalformedCertificate,
    ascending,
    count,
    fields,
    index,
    integers,
    listed,
    number,
    numbers,
)
from sdcdsl.proof.system import ProofProblem
from sdcdsl.proof.witness import Claim, ReachedLevels, Witness, Witnesses

MOST_REASONS = 20
AT_ONCE = 1000  # bounds that are computed at a time
NUMBERS = 2**14  # of witnesses and claims that are checked at a time
ENTRIES = 2**18  # of the relations that these witnesses meet, and of relations that bounds name
# Records stand in this order; those with the same number in any order.
KINDS = ("cells", "relations", "view", "attackers", "known", "pairs", "class", "families", "left out")
ORDER = {
    **{kind: 1 + at for at, kind in enumerate(KINDS)},
    **dict.fromkeys(("witness", "claim", "bound"), 10),
    "verdicts": 11,
    "end": 12,
}


@dataclass(frozen=True)
class Verification:
    ok: bool  # everything in the certificate holds; also when it says that pairs are exposed
    reasons: list[str]
    pairs: int = 0
    unlisted: int = 0  # pairs of members of families, who are served by the claims for the pair that stands for them
    protected: int = 0
    exposed: int = 0
    not_proven: int = 0
    exact: bool = False  # no tolerance was used
    largest_tolerance: float = 0.0  # as a share of the level
    header: dict[str, Any] = field(default_factory=dict[str, Any])
    readable: bool = True  # False: not a certificate, or not a whole one


def verify(path: Path | str) -> Verification:
    check = _Check()
    try:
        for kind, body in (lines := CertificateLines(path)):
            check.take(kind, body, lines)
    except MalformedCertificate as error:
        return Verification(False, [str(error)], header=check.header, readable=False)
    if check.stage < ORDER["end"]:
        where = "the file is empty" if not check.header else f"the file ends after line {lines.number}"
        return Verification(False, [f"{where}: the last record is missing"], header=check.header, readable=False)
    return check.result()


def stated_problem(path: Path | str) -> tuple[str, ProofProblem | None]:
    """The name of a certificate and the problem it states, without a look at its proofs; None if it cannot be read."""
    check, name = _Check(), ""
    try:
        for kind, body in (lines := CertificateLines(path)):
            if kind == "header":
                name = str(body.get("name"))
            if ORDER.get(kind, 0) >= ORDER["witness"]:
                return name, check.stated.problem()
            check.take(kind, body, lines)
    except MalformedCertificate:
        pass
    return name, None


class _Check:
    def __init__(self) -> None:
        self.stage = 0
        self.header: dict[str, Any] = {}
        self.reasons: list[str] = []
        self.more = 0
        self.tolerance = 0.0
        self.counts = {"witnesses": 0, "claims": 0, "bounds": 0}
        self.witnesses: list[Witness] = []
        self.claims: list[Claim] = []
        self.claimed_in: list[int] = []  # the lines of these claims
        self.numbers = self.entries = 0  # of witnesses and claims that wait
        self.pending: list[Bound] = []
        self.multipliers = 0  # of bounds that wait
        self.verdicts: list[np.ndarray] = []
        self.judged = 0
        self.problem: ProofProblem

    def take(self, kind: str, body: Any, lines: CertificateLines) -> None:
        if kind == "header":
            self.stated = ProblemReader(body, lines.allowance)
            self.header = body
            return
        stage = ORDER.get(kind)
        if stage is None:
            raise MalformedCertificate("a record of a kind that does not exist")
        if stage < self.stage or self.stage == ORDER["end"]:
            raise MalformedCertificate(f"a record `{kind}` where none belongs")
        if stage >= ORDER["witness"] > self.stage:
            self._begin()
        self.stage = stage
        if stage < ORDER["witness"]:
            self.stated.take(kind, body)
        else:
            {
                "witness": self._witness,
                "claim": self._claim,
                "bound": self._bound,
                "verdicts": self._verdicts,
                "end": self._end,
            }[kind](body, lines)

    def _fail(self, reason: str) -> None:
        if len(self.reasons) < MOST_REASONS:
            self.reasons.append(reason)
        else:
            self.more += 1

    def _begin(self) -> None:
        """The problem is complete. The true table must satisfy the relations as sums of doubles can."""
        self.problem = self.stated.problem()
        self.served = ServedMembers(self.problem) if self.problem.families is not None else None
        system, pairs = self.problem.system, len(self.problem.pairs)
        self.up, self.down = np.zeros(pairs), np.zeros(pairs)  # how far claims drive the cell, at least
        self.most_up, self.most_down = np.full(pairs, np.inf), np.full(pairs, np.inf)  # how far it can go
        self.degree = np.bincount(system.cell_of, minlength=system.cells)
        value, _ = sums(system.coefficient, system.a[system.cell_of], system.equation_of, system.equations)
        size, _ = sums(
            np.abs(system.coefficient), np.abs(system.a)[system.cell_of], system.equation_of, system.equations
        )
        with np.errstate(over="ignore", invalid="ignore"):
            right = np.abs(value - system.b) <= TOLERANCE * (size + np.abs(system.b))
        for equation in np.flatnonzero(~right)[: MOST_REASONS + 1].tolist():
            self._fail(f"the true values do not satisfy relation {equation}")

    def _witness(self, body: Any, lines: CertificateLines) -> None:
        cells, move = fields(body, "cells", "move")
        at = ascending(cells, self.problem.system.cells, "cells of a witness")
        if self.witnesses and not (self.claims and self.claims[-1].witness == len(self.witnesses) - 1):
            self.witnesses.pop()  # nothing is claimed by it
        self._check_claims(len(at), int(self.degree[at].sum()))
        self.witnesses.append(Witness(at, numbers(move, len(at), "move of a witness")))
        self.counts["witnesses"] += 1

    def _claim(self, body: Any, lines: CertificateLines) -> None:
        step, up, down = fields(body, "step", "up", "down")
        pairs = len(self.problem.pairs)
        up, down = ascending(up, pairs, "pairs of a claim"), ascending(down, pairs, "pairs of a claim")
        if not self.witnesses or not len(up) + len(down):
            raise MalformedCertificate("a claim without a witness or without a pair")
        last = self.witnesses[-1]
        if self._check_claims(len(up) + len(down)):
            self.witnesses.append(last)
        self.claims.append(Claim(len(self.witnesses) - 1, number(step, "step"), up, down))
        self.claimed_in.append(lines.number)
        self.counts["claims"] += 1

    def _check_claims(self, more: int = NUMBERS, entries: int = 0) -> bool:
        """Those that wait, all at once, if `more` numbers or entries would be too many."""
        self.numbers += more
        self.entries += entries
        if (self.numbers < NUMBERS and self.entries < ENTRIES) or not self.claims:
            return False
        made = Witnesses(self.problem, self.witnesses)
        reached = made.claims(self.claims)
        for claim, reasons in sorted(reached.reasons.items()):
            for reason in reasons:
                self._fail(f"line {self.claimed_in[claim]}: {reason}")
        holds = np.ones(len(self.claims), dtype=bool)
        holds[list(reached.reasons)] = False
        if self.served is not None:
            self._serve(made, reached, holds)
        for far, rely in ((self.up, reached.up), (self.down, ~reached.up)):
            mine = rely & holds[reached.claim]
            np.maximum.at(far, reached.pair[mine], reached.far[mine])
        self.tolerance = max(self.tolerance, float(reached.tolerance[holds].max(initial=0.0)))
        self.witnesses, self.claims, self.claimed_in = [], [], []
        self.numbers, self.entries = more, entries
        return True

    def _serve(self, made: Witnesses, reached: ReachedLevels, holds: np.ndarray) -> None:
        """Members of families whose boxes hold the tables that are claimed for the pair that stands for them."""
        assert self.served is not None
        ends = np.searchsorted(reached.claim, np.arange(len(self.claims) + 1))
        for at in np.flatnonzero(holds).tolist():
            claim, mine = self.claims[at], slice(ends[at], ends[at + 1])
            pair, up, far = reached.pair[mine], reached.up[mine], reached.far[mine]
            self.served.take(made.moves, claim.witness, claim.step, pair, up, far)

    def _bound(self, body: Any, lines: CertificateLines) -> None:
        names = ["pair", "side", "equations", "gamma", "denominator"]
        if isinstance(body, dict) and "also" in body:
            names.append("also")
        pair, side, equations, gamma, below, *more = fields(body, *names)
        pair = index(pair, len(self.problem.pairs), "pair of a bound")
        also = ascending(more[0], len(self.problem.pairs), "pairs of a bound") if more else np.zeros(0, dtype=np.int64)
        self._same_view(pair, also)
        if side not in ("up", "down"):
            raise MalformedCertificate("side of a bound: up or down")
        relations = ascending(equations, self.problem.system.equations, "relations of a bound")
        multipliers = numbers(gamma, len(relations), "multipliers")
        bound = Bound(pair, side == "up", relations, multipliers, denominator(below), also)
        self.pending.append(bound)
        self.multipliers += len(relations) + len(also)
        self.counts["bounds"] += 1
        if len(self.pending) == AT_ONCE or self.multipliers > ENTRIES:
            self._bounds()

    def _bounds(self) -> None:
        """Those that wait, all at once."""
        for bound, amount in zip(self.pending, reaches(self.problem, self.pending), strict=True):
            most = self.most_up if bound.up else self.most_down
            most[bound.pairs] = np.minimum(most[bound.pairs], amount)
        self.pending, self.multipliers = [], 0

    def _same_view(self, pair: int, also: np.ndarray) -> None:
        """One bound serves several pairs only if they are about one cell and one view."""
        pairs, view_of = self.problem.pairs, self.problem.regions.view_of
        cells, views = pairs.cell[also], view_of[pairs.attacker[also]]
        if (cells != pairs.cell[pair]).any() or (views != view_of[pairs.attacker[pair]]).any():
            raise MalformedCertificate("a bound for pairs of several cells or views")

    def _verdicts(self, body: Any, lines: CertificateLines) -> None:
        runs = listed(body)
        if runs is None or len(runs) % 2 or not all(x in ("p", "e", "n") for x in runs[::2]):
            raise MalformedCertificate("verdicts are letters p, e, n and counts in turn")
        counts = integers(runs[1::2], None, len(self.problem.pairs) + 1, "counts of verdicts")
        self.judged += int(counts.sum())
        if self.judged > len(self.problem.pairs):
            raise MalformedCertificate("more verdicts than pairs")
        self.verdicts.append(np.repeat(np.array(runs[::2], dtype="U1"), counts))

    def _end(self, body: Any, lines: CertificateLines) -> None:
        *stated, given = fields(body, *self.counts, "sha256")
        for (name, found), said in zip(self.counts.items(), stated, strict=True):
            if count(said, name) != found:
                self._fail(f"the last record counts {said:,} {name}, the file has {found:,}")
        if given != lines.digest:
            self._fail("the digest is not that of the file: it was changed after it was written")
        if self.judged != len(self.problem.pairs):
            raise MalformedCertificate(f"{self.judged:,} verdicts for {len(self.problem.pairs):,} pairs")

    def result(self) -> Verification:
        self._check_claims()
        self._bounds()
        verdict = np.concatenate([np.empty(0, dtype="U1"), *self.verdicts])
        protected, exposed = verdict == "p", verdict == "e"
        self._check_protected(np.flatnonzero(protected))
        self._check_served(protected)
        self._check_exposed(np.flatnonzero(exposed))
        if self.more:
            self.reasons.append(f"and {self.more:,} more")
        ok = not self.reasons
        return Verification(
            ok,
            self.reasons,
            len(verdict),
            0 if self.served is None else self.served.unlisted,
            int(protected.sum()),
            int(exposed.sum()),
            int((verdict == "n").sum()),
            ok and self.tolerance == 0,
            self.tolerance,
            self.header,
        )

    def _check_protected(self, chosen: np.ndarray) -> None:
        """Of each pair the claims must reach what it requires: up, down, and both together."""
        pairs, up, down = self.problem.pairs, self.up[chosen], self.down[chosen]
        nothing = np.zeros(len(chosen))
        for level, one, other, way in (
            (pairs.upl[chosen], up, nothing, "up"),
            (pairs.lpl[chosen], down, nothing, "down"),
            (pairs.spl[chosen], up, down, "up and down together"),
        ):
            short = excess(level, -1.0, one, other)  # level - one - other
            with np.errstate(invalid="ignore"):
                share = np.where(short > 0, short / level, 0.0)
            for i in np.flatnonzero(share > TOLERANCE).tolist():
                far = f"{one[i] + other[i]:.12g} {way}, and {level[i]:.12g} is required"
                self._fail(f"{self._named(chosen[i])} is called protected; its claims drive it {far}")
            self.tolerance = max(self.tolerance, float(share.max(initial=0.0)))

    def _check_served(self, protected: np.ndarray) -> None:
        """Who stands for a family is called protected only with all of its members."""
        if self.served is None:
            return
        family, attacker = self.served.unserved()
        pair_of = np.full(len(self.served.families), -1)
        listed = np.flatnonzero(self.served.of_pair >= 0)
        pair_of[self.served.of_pair[listed]] = listed
        called = protected[pair_of]
        for at in np.flatnonzero(called[family]).tolist():
            who = self.stated.labels[int(attacker[at])]
            left = f"no claim serves the member {who}, who has no pair of its own"
            self._fail(f"{self._named(int(pair_of[family[at]]))} is called protected; {left}")

    def _check_exposed(self, chosen: np.ndarray) -> None:
        pairs, up, down = self.problem.pairs, self.most_up[chosen], self.most_down[chosen]
        lpl, upl, spl = (x[chosen] * (1 - TOLERANCE) for x in (pairs.lpl, pairs.upl, pairs.spl))
        shown = (up < upl) | (down < lpl) | (np.nextafter(up + down, np.inf) < spl)
        for i in np.flatnonzero(~shown).tolist():
            far = f"{up[i]:.12g} up and {down[i]:.12g} down"
            self._fail(f"{self._named(chosen[i])} is called exposed; its bounds allow {far}")

    def _named(self, pair: int) -> str:
        cell, attacker = self.problem.pairs.cell[pair], int(self.problem.pairs.attacker[pair])
        return f"pair {pair} (cell {cell}, attacker {self.stated.labels[attacker]})"
