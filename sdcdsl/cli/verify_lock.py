"""`sdcdsl verify` on a lock: what it says against what is there, and what a second run gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sdcdsl.cli import exits
from sdcdsl.cli.audit_text import plural
from sdcdsl.cli.keys import unusable
from sdcdsl.cli.printing import echo
from sdcdsl.cli.protect_watching import watched
from sdcdsl.cli.reading import say, say_document
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.diagnostics.foreign import visible
from sdcdsl.pipeline.replay import meaning_now, replay_lock
from sdcdsl.pipeline.verify import ABSENT, BROKEN, HOLDS, Check, checks
from sdcdsl.report.lock import Unreadable, load_lock
from sdcdsl.report.signature import NoKey, Untrusted, apart, check, read_trusted


def verify_lock(file: str, replay: bool, strict: bool, trust: str | None, as_document: bool) -> int:
    """Prints what was found and gives the exit code."""
    path = Path(file)
    try:
        content, raw = load_lock(path)
    except Unreadable as error:
        _say({"ok": False, "checks": []}, [_unfit(file, error)], as_document, exits.WRONG_DATA)
        return exits.WRONG_DATA
    made, found = _signature(file, raw, trust)
    if replay and found:  # nobody who is trusted requires this run
        replay = False
    made += checks(content, path.parent)
    if replay:
        try:
            more, found = replay_lock(content, path.parent, watched("auto"))
        except Unreadable as error:
            more, found = [], [_unfit(file, error)]
        made += more
    elif any(c.what == "policy" and c.state == BROKEN for c in made):
        made += meaning_now(content, path.parent)
    if strict and (missing := _missing(file, made)) is not None:
        found = [*found, missing]
    code = _exit_code(made, found)
    if as_document:
        document = {"ok": code == exits.DONE, "policy": content["policy"], "blocks": content["blocks"]}
        document |= {"checks": [{"what": c.what, "name": c.name, "state": c.state, "why": c.why} for c in made]}
        _say(document, found, True, code)
        return code
    say(found, "text")
    lines = _lines(content, made, code)
    if trust is None and apart(raw)[1] is not None:
        lines.append("  it has a signature, which was not checked: --trust KEYS does")
    echo("\n".join(lines))
    return code


def _signature(file: str, raw: bytes, trust: str | None) -> tuple[list[Check], list[Diagnostic]]:
    """Who signed the lock; without `trust` nobody asks."""
    if trust is None:
        return [], []
    try:
        signed = check(raw, read_trusted(Path(trust)))
    except NoKey as error:
        return [], [unusable(trust, error)]
    except Untrusted as error:
        help = "`sdcdsl protect --sign KEY` signs it" if apart(raw)[1] is None else None
        return [], [diagnostic("SDC413", f"{file} is not trusted: {error}", FilePlace(file), help=help)]
    return [Check("signature", signed.name, HOLDS, signed.fingerprint)], []


def _unfit(file: str, error: Unreadable) -> Diagnostic:
    headline = f"{file} is no lock that can be checked: {visible(str(error))}"
    return diagnostic("SDC409", headline, FilePlace(file))


def _missing(file: str, made: list[Check]) -> Diagnostic | None:
    """Files that --strict requires."""
    absent = list(dict.fromkeys(c.name for c in made if c.state == ABSENT and c.what != "version"))
    if not absent:
        return None
    headline = f"{plural(len(absent), 'file')} that the lock names cannot be checked: --strict requires all of them"
    return diagnostic("SDC412", headline, FilePlace(file), notes=[visible(name) for name in absent[:20]])


def _exit_code(made: list[Check], found: list[Diagnostic]) -> int:
    if any(c.state == BROKEN and c.what != "replay" for c in made) or has_errors(found):
        return exits.WRONG_DATA
    return exits.CHANGES if any(c.state == BROKEN for c in made) else exits.DONE


def _say(document: dict[str, Any], found: list[Diagnostic], as_document: bool, code: int) -> None:
    if as_document:
        say_document(document, found, code)
    else:
        say(found, "text")


def _lines(content: dict[str, Any], made: list[Check], code: int) -> list[str]:
    verdict = {exits.DONE: "the lock holds", exits.CHANGES: "the lock holds, its replay differs"}
    title = visible(str(content["policy"].get("title") or content["run"]["policy"]))
    shown = [c for c in made if c.what != "version" or c.state != HOLDS]
    width = max(len(c.what) for c in shown) + 2
    absent = sum(c.state == ABSENT and c.what != "version" for c in made)
    limits = f", as far as can be seen: {plural(absent, 'file')} not here" if absent and code in verdict else ""
    broken = "the policy was reworded, and requires the same" if _only_reworded(made) else "THE LOCK DOES NOT HOLD"
    out = [f"{title}: {verdict.get(code, broken)}{limits}"]
    for block in content["blocks"]:
        facts = ", ".join(str(block.get(key)) for key in ("method", "status", "verdict"))
        out.append(f"  {'block':<{width}}{visible(block['name'])}: {visible(facts)}")
    for one in shown:
        why = f", {one.why}" if one.why else ""
        out.append(visible(f"  {one.what:<{width}}{one.name}: {one.state}{why}"))
    same = sum(c.what == "version" and c.state == HOLDS for c in made)
    return [*out, f"  {'version':<{width}}{plural(same, 'program')} of the same version"] if same else out


def _only_reworded(made: list[Check]) -> bool:
    """Nothing is broken but the text of the policy: a remark, or another layout."""
    broken = [c.what for c in made if c.state == BROKEN]
    return broken == ["policy"] and any((c.what, c.name, c.state) == ("policy", "meaning", HOLDS) for c in made)
