"""What a plan says, as a document and as text."""

from __future__ import annotations

from typing import Any

from sdcdsl.cli import exits
from sdcdsl.cli.audit_text import count
from sdcdsl.diagnostics import has_errors
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.pipeline.plan import PolicyPlan

MOST = 8  # codes without records that are named


def exit_code(plan: PolicyPlan) -> int:
    return exits.WRONG_DATA if has_errors(plan.found) else exits.DONE


def as_document(plan: PolicyPlan) -> dict[str, Any]:
    return {
        "title": plan.policy.title,
        "blocks": plan.blocks(),
        "diagnostics": [as_json(one) for one in plan.found],
        "exit": exit_code(plan),
    }


def as_text(plan: PolicyPlan) -> str:
    lines: list[str] = []
    if plan.policy.title:
        lines += [plan.policy.title, ""]
    blocks = plan.blocks()
    for block in blocks:
        lines += _text(block)
    if not blocks:
        lines.append("the policy protects nothing: no protect block")
    return "\n".join(lines).rstrip() + "\n"


def _text(block: dict[str, Any]) -> list[str]:
    counts = block["counts"]
    unions = f" and {count(counts['unions'])} union{'s' * (counts['unions'] > 1)}" if counts["unions"] else ""
    lines = [f"protect {block['name']}", f"  cells       {count(counts['cells'])}{unions}"]
    for t in block["tables"]:
        sides = " × ".join(f"{name} {n}" for name, n in t["dimensions"].items()) or "numbered cells"
        notes = [
            f"{count(t[key])} {words}"
            for key, words in (
                ("computed_totals", "totals computed"),
                ("empty_cells", "empty cells"),
                ("rounded_totals", "totals off by rounding"),
            )
            if t[key]
        ]
        lines.append(
            f"              {t['name']}: {count(t['cells'])} ({sides}){'; ' + ', '.join(notes) if notes else ''}"
        )
        lines.append(f"              from {t['from']}")
        lines += [
            f"              without records: {name} {', '.join(codes[:MOST])}"
            + (f" and {count(len(codes) - MOST)} more" if len(codes) > MOST else "")
            for name, codes in t["codes_without_records"].items()
        ]
    lines.append(f"  relations   {count(counts['relations'])} with {count(counts['entries'])} entries")
    lines.append(
        f"  sensitive   {count(counts['sensitive'])} {'cell' if counts['sensitive'] == 1 else 'cells'}"
        + (f"; {count(counts['fixed'])} fixed" if counts["fixed"] else "")
        + (f"; {count(counts['hidden'])} already hidden" if counts["hidden"] else "")
    )
    for m in block["marked"]:
        per_table = ", ".join(f"{t} {count(n)}" for t, n in m["cells"].items())
        lines.append(f"              {m['by']}")
        lines.append(f"                {per_table}; {count(m['only_here'])} by this alone")
    kinds = ", ".join(f"{name} {count(n)}" if n > 1 else name for name, n in block["attackers"].items())
    merged = f" ({count(block['merged_attackers'])} more are covered by these)" if block["merged_attackers"] else ""
    lines.append(f"  attackers   {kinds}{merged}")
    lines.append(f"  pairs       {count(counts['pairs'])} of attacker and sensitive cell")
    if "listed_pairs" in counts:
        listed = count(counts["listed_pairs"])
        lines.append(f"              {listed} in the list; others when a release leaves them too little")
        lines.append("              fewer: `each unit where contribution >= 5% of value` in the attacker")
    if (seen := block["foreseen"]) is not None:
        memory, seconds = _size(seen["memory_bytes"]), f"{seen['seconds']:.0f} s"
        lines.append(
            f"  foreseen    about {memory} and {seconds} of one core until a release for all pairs is audited;"
        )
        lines.append("              less: fewer attackers, or fewer cells (coarser codes in one dimension)")
    for m in block["methods"]:
        lines.append(f"  method      {m['method']}: {m['about']}")
    lines.append(f"  memory      {_size(block['memory_bytes'])} for the problem itself")
    lines.append(f"  writes      {', '.join(block['writes']) or 'nothing'}")
    return [*lines, ""]


def _size(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
