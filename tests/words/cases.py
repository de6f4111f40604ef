"""For every word that names knowledge, a level or a limit: two policies that differ in it alone and come out apart."""

from __future__ import annotations

from tests.words import noise_cases
from tests.words.case import Case
from tests.words.policies import FILES, LEVELS, RECORDS, inline, micro


def _of(method: str, options: str = "") -> str:
    inside = "".join(f"    {line}\n" for line in options.split("; ") if line)
    return f"{method} {{\n{inside}  }}" if inside else method


# What each method needs beside the word in question.
NEEDS = {
    "csp": "",
    "ip": "",
    "cta": "",
    "ecta": "alpha 60%; tries 8",
    "rounding": "base 10",
    "perturb": "range -20 .. 20",
    "combined": "suppress where c = C2; interval where c = C1; perturb 25 where c = C0",
}


def _both(method: str, without: str, given: str, needs: str | None = None, **more: str) -> Case:
    """Two policies that differ in options of the method."""
    always = NEEDS[method] if needs is None else needs
    made = [
        inline(_of(method, "; ".join(part for part in (always, said) if part)), **more) for said in (without, given)
    ]
    return Case(*made)


# One contributor to each of R0·C0 and R1·C0: both are sensitive, and so is their sum of two.
PAIRED = "unit,r,c,v\nA,R0,C0,60\nB,R1,C0,25\n" + "".join(
    f"U{i}{r}{c},{r},{c},{10 + 7 * i}\n"
    for i in range(4)
    for r, c in (("R2", "C0"), ("R0", "C1"), ("R1", "C1"), ("R2", "C1"))
)


def _unions(method: str) -> Case:
    """The sum of both cells in one column must stay uncertain as well, which takes a third one."""
    needs = {
        "csp": "",
        "ip": "",
        "cta": "sense up where r = R0; sense down where r = R1",
        "ecta": "alpha 90%; tries 8",
        "rounding": "base 60; steps 1",
        "perturb": "range -90 .. 90",
        "combined": "suppress where c under CT; interval where c = CT",
    }[method]
    both = [
        micro(
            _of(method, "; ".join(p for p in (needs, f"unions {word}") if p)),
            "lpl needed\n  upl needed",
            "sensitive by threshold(3)",
        )
        for word in ("on", "off")
    ]
    return Case(*both, files={"d.csv": PAIRED})


def _fixed() -> Case:
    """A table of which two tries do not protect five cells, unless cells are fixed one after another."""
    rows = "    | R0 | 31 | 76 | 70 |\n    | R1 | 17 | 48 | 78 |\n    | R2 | 61 | 81 | 75 |\n"
    out = []
    for k in (1, 6):
        text = inline(
            _of("ecta", f"alpha 30%; beta 3%; tries 2; fix_at_a_time {k}"), "lpl 10% of value\n  upl 10% of value"
        )
        before, after = text.split("    | R0 |")[0], text.split("| 12 |\n")[1]
        out.append(
            (before + rows + after).replace("sensitive t at (r: R1, c: C2)", "sensitive t where r = R1 or c = C1")
        )
    return Case(*out)


def _options() -> dict[str, Case]:
    out = {}
    two = "sensitive t at (r: R0, c: C0)\nsensitive t at (r: R2, c: C1)"
    for method in ("csp", "cta", "perturb", "combined"):
        out[f"{method} gap"] = _both(method, "gap 0%", "gap 90%", facts=two)
    out["ip gap"] = _both("ip", "min_width 30; gap 0%", "min_width 30; gap 90%", facts=two)
    out["ecta gap"] = _both("ecta", "", "gap 90%")  # refused
    for method in NEEDS:
        out[f"{method} time_limit"] = _both(method, "", "time_limit 0 s")
        out[f"{method} unions"] = _unions(method)
    out |= {
        "csp cap_hidden": _both("csp", "", "cap_hidden 3"),
        "csp previous": _both("csp", "", 'previous "before.csv"; previous_discount 90%'),
        "csp previous_discount": _both(
            "csp", 'previous "before.csv"; previous_discount 1%', 'previous "before.csv"; previous_discount 90%'
        ),
        "ip min_width": _both("ip", "", "min_width 40"),
        "ip cap_width": _both("ip", "", "cap_width 10 where r = R1"),
        "ip cap_intervals": _both("ip", "", "cap_intervals 3"),
        "ip avoid_centre": _both("ip", "", "avoid_centre", levels="lpl 5\n  upl 5"),
        "ip previous": _both("ip", "", 'previous "before.csv"; previous_discount 90%'),
        "ip previous_discount": _both(
            "ip", 'previous "before.csv"; previous_discount 1%', 'previous "before.csv"; previous_discount 90%'
        ),
        "rounding below": _both("rounding", "base 25", "base 25; below 25", "", levels="lpl 0\n  upl 1"),
        "cta norm": _both("cta", "norm L1", "norm L2"),
        "cta norm Linf": _both("cta", "norm L1", "norm Linf"),
        "cta norm L1L2": _both("cta", "norm L1", "norm L1L2"),
        "cta sense": _both("cta", "sense up", "sense down"),
        "cta sense keyed": Case(
            *(micro(_of("cta", f"sense {s}"), levels="lpl 30\n  upl 5") for s in ("free", "keyed"))
        ),
        "cta range": _both("cta", "", "range -3 .. 20"),
        "cta keep_totals": _both(
            "cta", "sense up", "sense up; keep_totals where r = RT and c = CT", cost="cost 0.01 where r = RT or c = CT"
        ),
        "cta integer": _both("cta", "", "integer", levels="lpl 4.5\n  upl 8.5"),
        "cta omega1": _both("cta", "norm L1L2; omega1 1", "norm L1L2; omega1 9"),
        "cta omega2": _both("cta", "norm L1L2; omega2 1", "norm L1L2; omega2 9"),
        "cta squared": _both("cta", "norm L1L2", "norm L1L2; squared where c = C0"),
        "cta soft_totals": _both(
            "cta", "keep_totals; sense up", "keep_totals; sense up; soft_totals 10", levels="upl 30"
        ),
        "ecta alpha": _both("ecta", "alpha 60%", "alpha 30%", needs="tries 8"),
        "ecta beta": _both("ecta", "", "beta 1%"),
        "ecta tries": _both("ecta", "tries 1", "tries 30", needs="alpha 40%"),
        "ecta fix_at_a_time": _fixed(),
        "ecta sensitive_free": _both("ecta", "", "sensitive_free"),
        "ecta norm": _both("ecta", "norm Linf", "norm L1"),
        "ecta norm L2": _both("ecta", "norm Linf", "norm L2"),
        "rounding base": _both("rounding", "base 10", "base 20", needs=""),
        "rounding steps": _both("rounding", "base 8", "base 8; steps 1", needs=""),
        "perturb range": _both("perturb", "range -20 .. 20", "range -12 .. 12", needs=""),
        "perturb end": _both("perturb", "end low", "end high"),
        "perturb end free": _both("perturb", "end free", "end high"),
        "perturb cap_changed": _both("perturb", "", "cap_changed 2"),
        # Cells of no part are published as they are, too; said of cells of a part, it is a contradiction (SDC334).
        "combined exact": _both("combined", "", "exact where c = C0", needs="interval where r under RT and c under CT"),
        "combined suppress": _both(
            "combined", "interval where r under RT and c under CT", "suppress where r under RT and c under CT", needs=""
        ),
        "combined interval": _both("combined", "suppress where r under RT", "interval where r under RT", needs=""),
        "combined perturb": _both(
            "combined",
            "suppress where c = C2; perturb 25 where c = C0",
            "suppress where c = C2; perturb 12 where c = C0",
            needs="",
        ),
        "combined round": _both(
            "combined",
            "suppress where c = C2; round 10 where c = C0",
            "suppress where c = C2; round 20 where c = C0",
            needs="",
        ),
        "combined cap_hidden": _both("combined", "", "cap_hidden 1"),
        "combined cap_intervals": _both(
            "combined", "", "cap_intervals 0", needs="interval where c = C2; suppress where c = C1"
        ),
        "combined cap_changed": _both(
            "combined", "", "cap_changed 0", needs="perturb 25 where r = R1; suppress where r = R2"
        ),
        "combined min_width": _both("combined", "", "min_width 60", needs="interval where r under RT and c under CT"),
        "combined cap_width": _both(
            "combined", "", "cap_width 9 where r = R1", needs="interval where r under RT and c under CT"
        ),
    }
    return out


OPTIONS = _options() | noise_cases.OPTIONS


def _rules() -> dict[str, Case]:
    """Arguments of rules: which cells are sensitive, or how much room they need."""
    said = {
        "threshold n": ("threshold(2)", "threshold(4)"),
        "threshold level": ("threshold(4, level: 10%)", "threshold(4, level: 60%)"),
        "dominance n": ("dominance(1, 80%)", "dominance(2, 80%)"),
        "dominance k": ("dominance(2, 99%)", "dominance(2, 70%)"),
        "p_percent p": ("p_percent(5%)", "p_percent(60%)"),
        "p_percent n": ("p_percent(20%)", "p_percent(20%, n: 2)"),
        "pq p": ("pq(5%, 90%)", "pq(60%, 90%)"),
        "pq q": ("pq(30%, 90%)", "pq(30%, 40%)"),
        "contributors n": ("contributors(1)", "contributors(4)"),
        "contributors level": ("contributors(4, level: 10%)", "contributors(4, level: 60%)"),
        "request share": ("request(share: 99%)", "request(share: 1%)"),
        "request level": ("request(level: 10%)", "request(level: 90%)"),
        "zero level": ("zero(level: 1)", "zero(level: 20)"),
    }
    asked = 'column request = "asked"'
    always = "sensitive t at (r: R0, c: C0)\nsensitive by "
    levels = "upl max(needed, 1)"
    return {
        word: Case(*(micro("ip", levels=levels, facts=always + rule, columns=asked) for rule in pair))
        for word, pair in said.items()
    }


RULE_ARGUMENTS = _rules()
# A group of which one is elsewhere: no secret to strangers, and to that one.
RULE_ARGUMENTS["group_disclosure coalition"] = Case(
    *(
        inline("ip", levels="upl max(needed, 1)", facts=f"sensitive by group_disclosure(coalition: {k})")
        .replace("| R0 | 20 | 50 | 10 |", "| R0 | 20 | 1 | 0 |")
        .replace("  by r, c\n", "  by r, c\n  attribute c\n")
        for k in (0, 1)
    )
)

_WHO = "each unit"
_COMPETITOR = "attacker f {\n  bounds 50% of value .. 150% of value\n}"
KNOWLEDGE_CASES = {
    "own contribution": Case(
        *(micro(who=_WHO, more=m, bounds="0 .. inf", levels="upl 3") for m in ("", "knows own contribution"))
    ),
    "zeros": Case(*(micro(more=m, facts="sensitive t at (r: R2, c: C0)", levels="upl 3") for m in ("", "knows zeros"))),
    "counts": Case(
        *(micro(more=m, facts="sensitive t at (r: R0, c: C0)", levels="lpl 3") for m in ("", "knows counts")),
        files=FILES | {"d.csv": "\n".join(line for line in RECORDS.splitlines() if ",R0,C1," not in line) + "\n"},
    ),
}
STATEMENTS = {
    # ---- of an attacker
    "bounds": Case(inline(), inline().replace("bounds 0 .. inf", "bounds 50% of value .. 150% of value")),
    "bounds_given": Case(
        *(
            'sdc 1\ntable t {\n  jj "t.jj"\n}\nattacker e {\n  bounds '
            + bounds
            + '\n}\nprotect t {\n  upl 6\n  against e\n  method csp\n  release csv "released.csv"\n}\n'
            for bounds in ("0 .. inf", "given")
        ),
        files={
            "t.jj": "0\n3\n0 30 1 s 0 99 0 0 0\n1 10 1 u 0 15 0 6 0\n2 20 1 s 0 90 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n"
        },
    ),
    "each": Case(
        *(
            micro(who=w, more="knows own contribution", levels="lpl 3")
            for w in ("each unit where contribution > 1000", "each unit")
        )
    ),
    "coalition": Case(
        *(
            micro(who=w, more="knows own contribution", levels="lpl 30", columns='column group = "group"')
            for w in ("each unit", "each unit\n  coalition group")
        )
    ),
    # ---- of a protect block or a scenario
    "lpl": Case(inline("ip", levels="lpl 5"), inline("ip", levels="lpl 17")),
    "upl": Case(inline(levels="upl 8"), inline(levels="upl 40")),
    "spl": Case(inline(levels="spl 10"), inline(levels="spl 60")),
    "conditional": Case(inline(), inline(levels=f"{LEVELS}\n  conditional upl 30")),
    "level_against": Case(
        inline("ip", blocks=_COMPETITOR).replace("against e\n", "against e, f\n"),
        inline("ip", f"{LEVELS}\n  upl 10 against f", blocks=_COMPETITOR).replace("against e\n", "against e, f\n"),
    ),
    "against": Case(inline(blocks=_COMPETITOR), inline(blocks=_COMPETITOR).replace("against e\n", "against f\n")),
    "scenarios": Case(
        inline("ip"),
        inline("ip", blocks="scenario s {\n  against e\n  lpl 17\n}").replace(
            "against e\n  cost", "scenarios s\n  cost"
        ),
    ),
    "cost": Case(inline(), inline(cost="cost 100 where c = C0")),
    "price up": Case(*(inline("ip", cost=cost) for cost in ("", "cost up 9 * value"))),
    "price down": Case(*(inline("ip", cost=cost) for cost in ("", "cost down 9 * value"))),
    "price fixed": Case(*(inline("ip", cost=cost) for cost in ("", "cost fixed 100"))),
    # ---- of the file
    "seed": Case(inline(_of("ecta", NEEDS["ecta"])), inline(_of("ecta", NEEDS["ecta"])).replace("seed 11", "seed 12")),
    "publish": Case(inline(), inline(facts="publish t at (r: R1, c: C0)")),
    "suppress": Case(inline(), inline(facts="suppress t at (r: R0, c: C1)")),
    "fix": Case(inline(), inline(facts="fix t at (r: R1, c: C0)")),
    "waive": Case(inline(), inline(facts='waive t at (r: R1, c: C2) because "agreed"')),
    "require": Case(inline(), inline(facts='require upl >= 9 because "the house rule"')),
    "together": Case(inline(), inline(facts="sensitive t together at (r: R1, c: C2), (r: R1, c: C0)")),
}
QUANTITY_CASES = {
    "value": Case(inline(levels="upl 8"), inline(levels="upl 2 * value")),
    "count": Case(micro("ip", levels="upl 3"), micro("ip", levels="upl 20 * count")),
    "weight": Case(*(micro(levels="upl 10 * weight", columns=c) for c in ("", 'column weight = "w"'))),
    "needed": Case(*(micro("ip", levels=lv, facts="sensitive by p_percent(60%)") for lv in ("upl 3", "upl needed"))),
    "contribution": Case(
        *(
            micro(who=f"each unit where {w}", more="knows own contribution", levels="lpl 3")
            for w in ("value > 1000", "contribution > 1")
        )
    ),
    "lpl": Case(*(inline(_of("ip", f"min_width {w}")) for w in ("1", "9 * lpl"))),
    "upl": Case(*(inline(_of("ip", f"min_width {w}")) for w in ("1", "9 * upl"))),
    "spl": Case(*(inline(_of("ip", f"min_width {w}"), levels="spl 9") for w in ("1", "5 * spl"))),
}
ROLE_CASES = {
    "key": noise_cases.KEY,
    "unit": Case(
        *(
            micro(
                facts="sensitive by threshold(2)\nsensitive t at (r: R0, c: C0)", levels="upl max(needed, 1)"
            ).replace('column unit = "unit"', c)
            for c in ('column unit = "unit"', 'column unit = "group"')
        )
    ),
    "group": Case(
        *(
            micro(
                facts="sensitive t at (r: R1, c: C1)\nsensitive by threshold(3)", levels="upl max(needed, 1)", columns=c
            )
            for c in ("", 'column group = "group"')
        )
    ),
    "weight": Case(*(micro(columns=c) for c in ("", 'column weight = "w"'))),
    "status": Case(
        *(
            micro(facts=f"sensitive t at (r: R0, c: C0){more}").replace("  sum v\n", "  value v\n  status s\n")
            for more in ("", "\nsensitive by status")
        ),
        files={
            "d.csv": "unit,r,c,v,s\n"
            + "".join(
                f"x,{r},{c},{v},{s}\n"
                for r, c, v, s in (
                    ("R0", "C0", 90, "s"),
                    ("R0", "C1", 160, "s"),
                    ("R1", "C0", 130, "u"),
                    ("R1", "C1", 125, "s"),
                    ("R2", "C0", 0, "s"),
                    ("R2", "C1", 106, "s"),
                )
            )
        },
    ),
    "request": Case(
        *(
            micro(
                facts="sensitive t at (r: R0, c: C0)\nsensitive by request",
                levels="upl max(needed, 1)",
                columns=f'column request = "{c}"',
            )
            for c in ("asked", "unit")
        )
    ),
}

_ADJUSTED = "cta {\n    sense up\n  }\n  assess <what>"


def _assess(without: str, given: str) -> Case:
    facts = "sensitive t at (r: R0, c: C0)\nsensitive t at (r: R2, c: C1)"
    return Case(*(inline(_ADJUSTED.replace("<what>", what), facts=facts) for what in (without, given)), by="assess")


EXPERIMENT_CASES = {
    "B1": _assess("B3", "B1"),
    "B2": _assess("B3", "B2"),
    "B3": _assess("B1", "B3"),
    "C": _assess("B1", "C"),
    "replications": _assess("B1 {\n    replications 2\n  }", "B1 {\n    replications 5\n  }"),
    "delta": _assess("B2 {\n    delta 5%\n  }", "B2 {\n    delta 60%\n  }"),
    "norm": _assess("B2 {\n    delta 90%\n    norm L1\n  }", "B2 {\n    delta 90%\n    norm L2\n  }"),
    "soft": _assess("B2 {\n    delta 90%\n    soft 0.1\n  }", "B2 {\n    delta 90%\n    soft 1000\n  }"),
}
