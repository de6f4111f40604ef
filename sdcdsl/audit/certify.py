"""An audit written down so that others can check it without a solver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdcdsl.audit.audit import Audit, audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.proof.certificate import Certificate


def write_certificate(made: Audit, path: Path, inputs: Sequence[dict[str, str]] = ()) -> None:
    """Not for audits of distance, which prove nothing about attackers."""
    proofs = made.proofs
    with Certificate(path, made.problem.name, inputs) as out:
        problem = proofs.problem
        out.problem(problem.system, problem.regions, made.problem.attackers, problem.pairs, problem.families)
        for witness in proofs.witnesses:
            out.witness(witness)
        for claim in proofs.claims:
            out.claim(claim)
        for bound in proofs.bounds:
            out.bound(bound)
        out.verdicts(made.verdicts)


def certify(problem: TableProblem, pattern: Pattern, path: Path, **options) -> Audit:
    """Audit and write the certificate."""
    made = audit(problem, pattern, **options)
    write_certificate(made, path)
    return made
