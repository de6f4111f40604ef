"""Checking a lock: nobody changed it, the files it names are the ones it knows, and a replay gives the same release.

Without a replay nothing is computed but digests, and what a certificate proves. Files that are not there are no
failure by themselves: whoever checks a release need not have the microdata. What is there must fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sdcdsl.outcome import Prepared
from sdcdsl.pattern.digest import digest as pattern_digest
from sdcdsl.policy.digest import digest as policy_digest
from sdcdsl.policy.resolve import Policy
from sdcdsl.proof.checking import verify as verify_certificate
from sdcdsl.report.certificate import sha256
from sdcdsl.report.lock import seal
from sdcdsl.report.provenance import versions

HOLDS, ABSENT, DIFFERS, BROKEN = "holds", "absent", "differs", "broken"


@dataclass(frozen=True)
class Check:
    what: str
    name: str
    state: str  # holds · absent, nothing can be said · differs, and may · broken
    why: str = ""


def checks(content: Mapping[str, Any], folder: Path) -> Iterator[Check]:
    """Of a lock that was read from `folder`."""
    state = HOLDS if content.get("seal") == seal(content) else BROKEN
    yield Check("lock", "seal", state, "" if state == HOLDS else "the lock was changed after it was written")
    for kind in ("inputs", "outputs"):
        for entry in content[kind]:
            yield _file(entry, folder)
    for entry in content["outputs"]:
        path = folder / entry["path"]
        if entry.get("what") == "certificate" and path.is_file():
            yield _certificate(path, content)
    yield from _versions(content["versions"])


def _file(entry: Mapping[str, str], folder: Path) -> Check:
    what = entry.get("what", "file")
    if "path" not in entry:
        return Check(what, entry["origin"], ABSENT, "what was read is no file, and only a replay reads it again")
    path = folder / entry["path"]
    try:
        if not path.is_file():
            return Check(what, entry["path"], ABSENT, "there is no such file here")
        same = sha256(path) == entry["sha256"]
    except OSError as error:
        return Check(what, entry["path"], ABSENT, f"it cannot be read: {error.strerror}")
    return Check(what, entry["path"], HOLDS) if same else Check(what, entry["path"], BROKEN, "another content")


def _certificate(path: Path, content: Mapping[str, Any]) -> Check:
    found = verify_certificate(path)
    if not found.ok:
        return Check("proofs", path.name, BROKEN, found.reasons[0])
    if found.header.get("name") not in [block["name"] for block in content["blocks"]]:
        return Check("proofs", path.name, BROKEN, "it is about no block of this lock")
    if _named(found.header.get("inputs")) != _named(content["inputs"]):
        return Check("proofs", path.name, BROKEN, "it was made from other files than the lock names")
    if found.protected != found.pairs:
        return Check("proofs", path.name, BROKEN, f"{found.pairs - found.protected} pairs are not proven protected")
    return Check("proofs", path.name, HOLDS, f"{found.pairs:,} checked again, without a solver")


def _named(inputs: Any) -> list[tuple[str, ...]]:
    """Files as certificates and locks name them, in one order."""
    listed = cast(list[object], inputs) if isinstance(inputs, list) else []
    entries = [cast(Mapping[str, object], one) for one in listed if isinstance(one, Mapping)]
    return sorted(tuple(str(one.get(key)) for key in ("what", "name", "sha256")) for one in entries)


def _versions(then: Mapping[str, str]) -> Iterator[Check]:
    now = versions()
    for name, version in then.items():
        if name not in now:
            yield Check("version", name, ABSENT, f"{version} then, not here now")
        elif now[name] != version:
            yield Check("version", name, DIFFERS, f"{version} then, {now[name]} now")
        else:
            yield Check("version", name, HOLDS, version)


def meaning(content: Mapping[str, Any], policy: Policy) -> Check:
    """Does the policy still mean what it meant?"""
    if content["policy"].get("digest") == policy_digest(policy):
        return Check("policy", "meaning", HOLDS)
    return Check("policy", "meaning", BROKEN, "the policy requires something else now")


def replayed(content: Mapping[str, Any], prepared: Prepared) -> Iterator[Check]:
    """Every block of the lock against the one that was protected once more."""
    again = {outcome.name: outcome for outcome in prepared.outcomes}
    for block in content["blocks"]:
        outcome = again.get(block["name"])
        if outcome is not None and outcome.pattern is not None and pattern_digest(outcome.pattern) == block["pattern"]:
            yield Check("replay", block["name"], HOLDS, "the same pattern")
            continue
        attempts = () if outcome is None else outcome.attempts
        timed = block.get("timed", True) or any(attempt.result.timed for attempt in attempts)
        why = "the search depended on time, and may take another course" if timed else "this should not happen"
        what = "nothing was found this time" if outcome is None or outcome.pattern is None else "another pattern"
        yield Check("replay", block["name"], BROKEN, f"{what}; {why}")
