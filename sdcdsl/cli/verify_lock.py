"""`sdcdsl verify` on a lock: what it says against what is there, and what a second run gives."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.cli import exits
from sdcdsl.cli.audit_text import plural
from sdcdsl.cli.keys import unusable
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.cli.protect_display import display
from sdcdsl.cli.protect_watching import Watching
from sdcdsl.cli.reading import guarded, is_jj, read_any, say
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.foreign import visible
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.outcome import End
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.replay import replayed_files
from sdcdsl.pipeline.request import Request
from sdcdsl.pipeline.verify import ABSENT, BROKEN, HOLDS, Check, checks, meaning, replayed
from sdcdsl.policy.resolve import Policy
from sdcdsl.report.lock import Unreadable, load_lock
from sdcdsl.report.signature import NoKey, Untrusted, apart, check, read_trusted
from sdcdsl.vocabulary.backends import BACKENDS


def verify_lock(file: str, replay: bool, strict: bool, trust: str | None, as_document: bool) -> int:
    """Prints what was found and gives the exit code."""
    path = Path(file)
    try:
        content, raw = load_lock(path)
    except Unreadable as error:
        found = [diagnostic("SDC409", f"{file} is no lock that can be checked: {visible(str(error))}", FilePlace(file))]
        _say({"ok": False, "checks": []}, found, as_document, exits.WRONG_DATA)
        return exits.WRONG_DATA
    made, found = _signature(file, raw, trust)
    if replay and found:  # nobody who is trusted asks for this run
        replay = False
    made += checks(content, path.parent)
    if replay:
        try:
            more, found = _replay(content, path.parent)
        except Unreadable as error:
            more, found = [], [_unfit(file, error)]
        made += more
    elif any(c.what == "policy" and c.state == BROKEN for c in made):
        made += _meaning_now(content, path.parent)
    if strict and (missing := _missing(file, made)) is not None:
        found = [*found, missing]
    code = _exit_code(made, found)
    if as_document:
        document = {"ok": code == exits.DONE, "policy": content["policy"], "blocks": content["blocks"]}
        document |= {"checks": [{"what": c.what, "name": c.name, "state": c.state, "why": c.why} for c in made]}
        _say(document, found, True, code)
        return code
    say(for_reading(found), "text")
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
    """Files that --strict asks for."""
    absent = list(dict.fromkeys(c.name for c in made if c.state == ABSENT and c.what != "version"))
    if not absent:
        return None
    headline = f"{plural(len(absent), 'file')} that the lock names cannot be checked: --strict asks for all of them"
    return diagnostic("SDC412", headline, FilePlace(file), notes=[visible(name) for name in absent[:20]])


def _exit_code(made: list[Check], found: list[Diagnostic]) -> int:
    if any(c.state == BROKEN and c.what != "replay" for c in made) or has_errors(found):
        return exits.WRONG_DATA
    return exits.CHANGES if any(c.state == BROKEN for c in made) else exits.DONE


def _say(document: dict[str, Any], found: list[Diagnostic], as_document: bool, code: int) -> None:
    if as_document:
        whole = {**document, "diagnostics": [as_json(d) for d in for_reading(found)], "exit": code}
        echo_json(whole)
    else:
        say(for_reading(found), "text")


def _lines(content: dict[str, Any], made: list[Check], code: int) -> list[str]:
    verdict = {exits.DONE: "the lock holds", exits.CHANGES: "the lock holds, its replay differs"}
    title = visible(str(content["policy"].get("title") or content["run"]["policy"]))
    shown = [c for c in made if c.what != "version" or c.state != HOLDS]
    width = max(len(c.what) for c in shown) + 2
    absent = sum(c.state == ABSENT and c.what != "version" for c in made)
    limits = f", as far as can be seen: {plural(absent, 'file')} not here" if absent and code in verdict else ""
    broken = "the policy was reworded, and asks for the same" if _only_reworded(made) else "THE LOCK DOES NOT HOLD"
    out = [f"{title}: {verdict.get(code, broken)}{limits}"]
    for block in content["blocks"]:
        facts = ", ".join(str(block.get(key)) for key in ("method", "status", "verdict"))
        out.append(f"  {'block':<{width}}{visible(block['name'])}: {visible(facts)}")
    for one in shown:
        why = f", {one.why}" if one.why else ""
        out.append(visible(f"  {one.what:<{width}}{one.name}: {one.state}{why}"))
    same = sum(c.what == "version" and c.state == HOLDS for c in made)
    return [*out, f"  {'version':<{width}}{plural(same, 'program')} as then"] if same else out


def _only_reworded(made: list[Check]) -> bool:
    """Nothing is broken but the text of the policy: a remark, or another layout."""
    broken = [c.what for c in made if c.state == BROKEN]
    return broken == ["policy"] and any((c.what, c.name, c.state) == ("policy", "meaning", HOLDS) for c in made)


def _meaning_now(content: dict[str, Any], folder: Path) -> list[Check]:
    """Of a policy that was changed: only its words, or what it asks for?"""
    path, outside = folder / content["run"]["policy"], bool(content["run"].get("allow_outside"))
    if is_jj(path):
        return []
    policy, found = guarded(path, lambda: read_any(path, outside))
    return [] if has_errors(found) else [meaning(content, policy)]


def _replay(content: dict[str, Any], folder: Path) -> tuple[list[Check], list[Diagnostic]]:
    path, outside = folder / content["run"]["policy"], bool(content["run"].get("allow_outside"))
    method = str(content["blocks"][0].get("method", "csp")) if content["blocks"] and is_jj(path) else "csp"
    policy, found = guarded(path, lambda: read_any(path, outside, method, f"{path.stem}.csv"))
    if has_errors(found):
        return [], found
    made = [meaning(content, policy)]
    request = _request(content["run"], policy, path, folder)
    watching = Watching(display("auto", as_document=False))
    with watching:
        prepared = watching.run(lambda: prepare(request, watching))
    # Too little time is nothing that the lock is to blame for.
    if prepared.end not in (End.DONE, End.LIMIT, End.STOPPED):
        found = [*found, *prepared.diagnostics]
    made += replayed(content, prepared)
    if prepared.end is End.DONE:
        made += replayed_files(content, prepared, request, folder)
    return made, found


def _request(run: dict[str, Any], policy: Policy, path: Path, folder: Path) -> Request:
    """As the lock says; what is odd in it is refused, not guessed at."""
    block, options, data = run.get("block"), run.get("options", {}), run.get("data", {})
    if block is not None and block not in policy.protects:
        raise Unreadable("its block is not in the policy")
    if not isinstance(options, dict) or not isinstance(data, dict):
        raise Unreadable("its options or data are no tables")
    for name, value in options.items():
        if name not in _OPTIONS or isinstance(value, bool) or not isinstance(value, _OPTIONS[name]):
            raise Unreadable(f"its option {name} is not one that `protect` has")
    if options.get("backend", "highs") not in BACKENDS or any(v <= 0 for k, v in options.items() if k in _POSITIVE):
        raise Unreadable("its options are out of range")
    try:
        day = datetime.date.fromisoformat(str(run.get("day")))
    except ValueError:
        raise Unreadable("its day is none") from None
    places = RecordedLocations(
        path.parent, {str(k): folder / str(v) for k, v in data.items()}, bool(run.get("allow_outside"))
    )
    where = run.get("folder", ".")
    if not isinstance(where, str):
        raise Unreadable("the folder of its release is none")
    return Request(policy, path, places, day, folder / where, block, options)


_OPTIONS: dict[str, Any] = {"time_limit": (int, float), "gap": (int, float), "threads": int, "backend": str}
_POSITIVE = ("time_limit", "threads")
