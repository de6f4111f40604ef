"""The lock of a release: what was asked, what was read, who worked on it, what came out.

A TOML file beside the release, without a time of day: the same run gives the same lock. `seal` is the digest of
everything else in it, so that a changed line shows. It is for insiders: no cell stands in it, but costs and digests
follow from confidential values.
"""

from __future__ import annotations

import hashlib
import math
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sdcdsl.ordinary_files import open_ordinary
from sdcdsl.outcome import Outcome
from sdcdsl.pattern.digest import digest as pattern_digest
from sdcdsl.policy import document as d
from sdcdsl.policy.digest import digest as policy_digest
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import option
from sdcdsl.report.provenance import Provenance
from sdcdsl.report.signature import Signer
from sdcdsl.report.toml import dumps

FORM = 1
LARGEST = 16_000_000  # bytes; a lock has a few lines for each file and block
_HEADING = """\
# What was released, from what, by what. `sdcdsl verify` checks it; `--replay` protects once more and compares.
# For insiders: costs and digests in it follow from confidential values.
"""


def content_of(
    outcomes: Iterable[Outcome],
    provenance: Provenance,
    run: Mapping[str, Any],
    outputs: Iterable[Mapping[str, str]],
    folder: Path,
) -> dict[str, Any]:
    """`run` is what a replay needs to know beside the policy; `folder` is the lock's own."""
    policy = provenance.policy
    return {
        "policy": {
            "title": provenance.title,
            "digest": policy_digest(policy),
            "seed": policy.seed,
            **_parameters(policy),
        },
        "run": dict(run),
        "versions": dict(sorted(provenance.versions.items())),
        "inputs": [
            {**file.entry(), **({"path": relative(file.path, folder)} if file.path else {"origin": file.origin})}
            for file in provenance.files
        ],
        "blocks": [_block(outcome, policy.protects[outcome.name]) for outcome in outcomes],
        "outputs": list(outputs),
    }


def _parameters(policy: Policy) -> dict[str, Any]:
    """Their values as `--set` takes them, so that a replay sets them whatever the file says by then."""
    return {"parameters": {p.name: p.text for p in policy.parameters.values()}} if policy.parameters else {}


def _block(outcome: Outcome, protect: d.Block) -> dict[str, Any]:
    result, counts = outcome.result, outcome.problem.summary()
    assert outcome.pattern is not None and outcome.audit is not None
    engine = protect.the(d.MethodChain).engines[len(outcome.attempts) - 1]
    return {
        "name": outcome.name,
        "method": outcome.method,
        "options": [option(one) for one in engine.options],
        "tried": [f"{attempt.method}: {attempt.result.status}" for attempt in outcome.attempts[:-1]],
        "status": result.status,
        "objective": _finite(result.objective),
        "bound": _finite(result.bound),
        "gap": None if result.gap is None else round(result.gap, 9),
        **{name: counts[name] for name in ("cells", "relations", "sensitive", "attackers", "pairs")},
        "touched": len(outcome.touched),
        "verdict": outcome.verdict,
        "attacked": outcome.audit.distance is None,
        "timed": any(attempt.result.timed for attempt in outcome.attempts),
        "pattern": pattern_digest(outcome.pattern),
    }


def _finite(value: float | None) -> float | None:
    """Twelve digits: the rest is rounding, which need not be the same on the next machine."""
    return float(f"{value:.12g}") if value is not None and math.isfinite(value) else None


# ---- the file --------------------------------------------------------------------------------------


def write_lock(path: Path, content: Mapping[str, Any], signer: Signer | None = None) -> None:
    body = {"lock": FORM, **content}
    text = f"{_HEADING}{dumps({'lock': FORM, 'seal': seal(body), **content})}"
    if signer is not None:
        text += signer.block(text.encode())
    path.write_text(text, encoding="utf-8", newline="\n")


def seal(content: Mapping[str, Any]) -> str:
    """The digest of a lock without its seal."""
    return hashlib.sha256(dumps({k: v for k, v in content.items() if k != "seal"}).encode()).hexdigest()


class Unreadable(Exception):
    """No lock, or not one that this version knows; says why."""


def load_lock(path: Path) -> tuple[dict[str, Any], bytes]:
    """What it says, and the bytes that say it: a signature is about these, whatever the file holds a moment later."""
    try:
        with open_ordinary(path) as file:
            raw = file.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise Unreadable(f"it is larger than {LARGEST:,} bytes")
        content = tomllib.loads(raw.decode("utf-8"))
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise Unreadable(f"it is no TOML: {error}") from error
    if content.get("lock") != FORM:
        raise Unreadable(f"it is not a lock of the form {FORM}")
    for name, kind in (("policy", dict), ("run", dict), ("versions", dict), *_LISTS):
        if not isinstance(content.get(name), kind):
            raise Unreadable(f"`{name}` is missing or not what it should be")
    said = content["policy"].get("parameters", {})
    if not isinstance(said, dict) or not all(isinstance(text, str) for text in said.values()):
        raise Unreadable("the parameters of its policy are no table of texts")
    if not isinstance(content["run"].get("policy"), str):
        raise Unreadable("it does not say which policy it is about")
    for name, _ in _LISTS:
        for one in content[name]:
            elsewhere = name == "inputs" and isinstance(one, dict) and "origin" in one
            wanted = ("name", "pattern") if name == "blocks" else ("origin" if elsewhere else "path", "sha256")
            if not isinstance(one, dict) or not all(isinstance(one.get(key), str) for key in wanted):
                raise Unreadable(f"an entry of `{name}` lacks {' or '.join(wanted)}")
    return content, raw


_LISTS = (("inputs", list), ("blocks", list), ("outputs", list))


# ---- files -----------------------------------------------------------------------------------------


def relative(path: Path, folder: Path) -> str:
    """As seen from the lock, so that a whole folder can move; on another drive there is no such way."""
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:
        return path.resolve().as_posix()
