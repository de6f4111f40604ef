"""What `protect` prints: one document, or a text for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.cli import exits
from sdcdsl.cli.audit_rows import tidy
from sdcdsl.cli.audit_text import count, plural, shown, stand_for
from sdcdsl.cli.ends import EXITS
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.outcome import End, Outcome, Prepared
from sdcdsl.pattern.pattern import CHANGED, HIDDEN, INTERVAL
from sdcdsl.pipeline.release import Written
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy import document as d
from sdcdsl.status import FEASIBLE, OPTIMAL
from sdcdsl.vocabulary.methods import Limits
from sdcdsl.vocabulary.option import options_of

ROUNDING = 1e-9  # of a cost: less than that is no gap
LIMIT = options_of(Limits)["time_limit"].default
SHOWN = 20  # cells that are listed where no file shows them
VALUED = ("rounding", "perturb", "combined")
LISTED_ATTACKERS = 5
_KINDS = {HIDDEN: "hidden", INTERVAL: "shown as intervals", CHANGED: "changed"}


@dataclass(frozen=True, eq=False)
class ProtectReport:
    request: ProtectRequest
    prepared: Prepared
    written: Written
    problems: Sequence[Diagnostic] = ()  # of writing

    @property
    def found(self) -> list[Diagnostic]:
        return [*self.prepared.diagnostics, *self.problems]

    @property
    def exit(self) -> int:
        return exits.WRONG_DATA if has_errors(self.problems) else EXITS[self.prepared.end]

    def document(self) -> dict[str, Any]:
        return {
            "blocks": [self._block(outcome) for outcome in self.prepared.outcomes],
            **{name: _path(getattr(self.written, name)) for name in ("report", "lock", "certificate")},
            "reviews": [str(path) for path in self.written.reviews],
            "diagnostics": [as_json(d) for d in for_reading(self.found)],
            "exit": self.exit,
        }

    def _block(self, outcome: Outcome) -> dict[str, Any]:
        result, counts, changes = outcome.result, outcome.problem.summary(), outcome.changes
        label = outcome.problem.label
        return {
            "name": outcome.name,
            "method": outcome.method,
            "status": result.status,
            "objective": _number(result.objective),
            "bound": _number(result.bound),
            "gap": _number(result.gap),
            "seconds": {phase: round(seconds, 3) for phase, seconds in outcome.seconds.items()},
            "counts": {
                **{name: counts[name] for name in ("cells", "relations", "sensitive", "attackers")},
                "touched": len(outcome.touched),
            },
            "verdict": outcome.verdict,
            "outputs": self.written.released.get(outcome.name, []),
            "tried": [{"method": a.method, "status": a.result.status} for a in outcome.attempts[:-1]],
            "notes": list(result.notes),
            "facts": _plain(result.facts),
            "measures": None if outcome.measures is None else _plain(outcome.measures.as_json()),
            "assessment": None if outcome.assessment is None else _plain(outcome.assessment.as_json()),
            "changes": None
            if changes is None
            else {
                "previous": list(changes.files),
                "newly_touched": [label(int(cell)) for cell in changes.newly],
                "published_again": [label(int(cell)) for cell in changes.again],
            },
        }

    # ---- for people --------------------------------------------------------------------------------

    def text(self) -> str:
        parts = ["\n".join(self._lines(outcome)) + "\n" for outcome in self.prepared.outcomes]
        left = len(self.request.blocks) - len(parts)
        if left:
            parts.append(f"{plural(left, 'more block')} not searched: nothing is released unless everything is safe\n")
        kept = "".join(f"{line}\n" for line in self._kept())
        return "\n".join([*parts, kept] if kept else parts)

    def _kept(self) -> Iterator[str]:
        written = self.written
        if written.certificate is not None:
            path = written.certificate
            yield f"{'certificate':<12}{path}, as confidential as the microdata; `sdcdsl verify` checks it"
        if written.report is not None:
            about = "without confidential numbers" if self.request.public else "confidential: it shows the true values"
            yield f"{'report':<12}{written.report}, {about}"
        for path in written.reviews:
            yield f"{'review':<12}{path}, confidential: it has the true values"
        if written.lock is not None:
            yield f"{'lock':<12}{written.lock}; `sdcdsl verify` checks it"

    def _lines(self, outcome: Outcome) -> Iterator[str]:
        result = outcome.result
        solved = result.status in (OPTIMAL, FEASIBLE)
        nothing = "STOPPED, NOTHING FOUND" if outcome.end is End.STOPPED else "NOTHING FOUND"
        verdict = (outcome.verdict or "wrong").upper() if solved else nothing
        if verdict == "PROTECTED" and outcome.audit is not None and outcome.audit.distance is not None:
            verdict = "FAR ENOUGH from the truth, not attacked"
        elif verdict == "PROTECTED" and outcome.audit is not None and not len(outcome.audit.verdicts):
            verdict = "NOTHING TO PROTECT"
        elif outcome.pattern is not None and outcome.pattern.random and outcome.verdict == "not excluded":
            verdict = "NOT EXCLUDED for certain by anybody; the notes say what is likely"
        yield f"{outcome.name}: {verdict}"
        for attempt in outcome.attempts[:-1]:
            yield f"  {'tried':<10}  {attempt.method}: {attempt.result.status}"
        yield f"  {'method':<10}  {outcome.method}: {result.status}"
        if self._unlimited(outcome):
            yield f"  {'limit':<10}  {LIMIT}, since no time limit is stated"
        if solved:
            yield f"  {'cost':<10}  {_cost(outcome)}"
            yield f"  {'cells':<10}  {_cells(outcome)}"
            yield f"  {'audit':<10}  {_audit(outcome)}"
            yield from _learned(outcome)
            yield from _deviations(outcome)
            yield from _risks(outcome)
            if outcome.changes is not None:
                newly, again = count(len(outcome.changes.newly)), count(len(outcome.changes.again))
                files = ", ".join(outcome.changes.files)
                yield f"  {'changes':<10}  {newly} newly not published, {again} published again, against {files}"
            yield from (f"  {'note':<10}  {note}" for note in result.notes)
        yield from self._wrote(outcome)

    def _unlimited(self, outcome: Outcome) -> bool:
        """Whether the time limit is the one that holds where nobody states one."""
        chain = self.request.policy.protects[outcome.name].last(d.MethodChain)
        stated = chain is not None and any(
            option.name == "time_limit" for e in chain.engines if e.name == outcome.method for option in e.options
        )
        return not stated and "time_limit" not in self.request.instead

    def _wrote(self, outcome: Outcome) -> Iterator[str]:
        files = self.written.released.get(outcome.name, [])
        if files:
            yield from (f"  {'wrote' if not i else '':<10}  {path}" for i, path in enumerate(files))
            return
        if outcome.end is not End.DONE or self.exit != exits.DONE:
            yield f"  {'wrote':<10}  nothing"
            return
        yield f"  {'wrote':<10}  nothing: no `release` names a file"
        yield from _listed(outcome)


def _learned(outcome: Outcome) -> Iterator[str]:
    """What is proved to stay open to each attacker, where values stand in place of asterisks: the narrowest first."""
    made = outcome.audit
    if made is None or made.distance is not None or outcome.method not in VALUED:
        return
    pairs = made.proofs.problem.pairs  # those that were asked about
    cell, by = pairs.cell, pairs.attacker
    a = np.abs(outcome.problem.dataset["a"].values[cell])
    own = np.isin(cell, outcome.problem.sensitive) & (a > 0)
    wide = 100 * (made.high - made.low)[own] / a[own]
    narrowest = {int(k): float(wide[by[own] == k].min()) for k in np.unique(by[own])}
    order = sorted(narrowest, key=lambda k: narrowest[k])
    for i, k in enumerate(order[:LISTED_ATTACKERS]):
        who = outcome.problem.attackers[k]
        how = f"at least {narrowest[k]:.3g} % of a sensitive value" if np.isfinite(narrowest[k]) else "everything"
        yield f"  {'' if i else 'left open':<10}  {who}: {how}"
    if len(order) > LISTED_ATTACKERS:
        yield f"  {'':<10}  … and as much or more to {count(len(order) - LISTED_ATTACKERS)} others"


def _deviations(outcome: Outcome) -> Iterator[str]:
    made = outcome.measures
    if made is None or made.all_cells is None or made.sensitive_cells is None:
        return
    every, own = made.all_cells.relative, made.sensitive_cells.relative
    how = f"{every.mean:.3g} % on average, {every.maximum:.3g} % at most"
    if made.sensitive_cells.cells:
        how += f"; sensitive values {own.mean:.3g} %"
    yield f"  {'deviation':<10}  {how}"


def _risks(outcome: Outcome) -> Iterator[str]:
    if outcome.assessment is None:
        return
    for i, trial in enumerate(outcome.assessment.trials):
        yield f"  {'' if i else 'risk':<10}  {trial.experiment}, {trial.norm}: {trial.verdict}; {trial.why}"


def _plain(value: Any) -> Any:
    """Numbers that JSON has: no infinities, no numpy."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, bool | str) or value is None:
        return value
    number = value.item() if hasattr(value, "item") else value
    return number if isinstance(number, int) else _number(number)


def _cost(outcome: Outcome) -> str:
    result = outcome.result
    if result.objective is None:
        return "not stated"
    objective = shown(result.objective, result.objective)
    if result.bound is None:
        return f"{objective}; how far that is from the least is not known"
    if result.gap is not None and result.gap <= ROUNDING:
        return f"{objective}, proven to be the least"
    return f"{objective}; the least is {shown(result.bound, result.objective)} or more, a gap of {_percent(result.gap)}"


def _cells(outcome: Outcome) -> str:
    counts, pattern = outcome.problem.summary(), outcome.pattern
    assert pattern is not None
    status = pattern.status[outcome.touched]
    kinds = [f"{count(int((status == kind).sum()))} {word}" for kind, word in _KINDS.items() if (status == kind).any()]
    return (
        f"{count(counts['cells'])}, {count(counts['sensitive'])} of them sensitive; {', '.join(kinds) or 'all shown'}"
    )


def _audit(outcome: Outcome) -> str:
    made = outcome.audit
    if made is None:
        return "not done: the release breaks a promise"
    if not len(made.verdicts):
        return "nothing to check: no cell is sensitive to any attacker"
    conditional = "conditional" in outcome.problem.dataset  # then others have levels, too
    what = "cell" if conditional else "sensitive cell"
    pairs = f"{plural(len(made.verdicts), 'pair')} of attacker and {what}{stand_for(made)}"
    good = int((made.verdicts == "p").sum())
    how_many = "all" if good == len(made.verdicts) else count(good)
    if made.distance is not None:  # nothing is published about changes, so there was nobody to simulate
        return f"{pairs}, {how_many} as far from the truth as required; no attacker was simulated (`sdcdsl assess`)"
    said = "wide enough in what is possible" if made.pattern.random else "protected"
    return f"{pairs}, {how_many} {said}"


def _listed(outcome: Outcome) -> Iterator[str]:
    pattern = outcome.pattern
    assert pattern is not None
    yield ""
    for cell in outcome.touched[:SHOWN].tolist():
        low, high = float(pattern.low[cell]), float(pattern.high[cell])
        size = max((abs(x) for x in (low, high) if math.isfinite(x)), default=0.0)
        said = f"{shown(low, size)} .. {shown(high, size)}"
        if pattern.status[cell] == HIDDEN:
            said = "hidden"
        elif pattern.status[cell] == CHANGED:
            said = shown(float(pattern.value[cell]), abs(float(pattern.value[cell])))
        yield f"  {outcome.problem.label(cell)}: {said}"
    if len(outcome.touched) > SHOWN:
        yield f"  … and {count(len(outcome.touched) - SHOWN)} more"


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _percent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.3g} %"


def _number(x: float | None) -> float | int | None:
    return None if x is None else tidy(float(x))
