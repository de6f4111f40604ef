"""`<SUPPRESS>` and `<WRITETABLE>`: protect blocks with their levels, costs, methods and releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sdcdsl.bind.readers.arb import METHODS, Suppress
from sdcdsl.bind.readers.wording import clip
from sdcdsl.diagnostics import did_you_mean
from sdcdsl.importing.batch import TableJob
from sdcdsl.importing.draft import Draft, Files, figure, number, percent
from sdcdsl.importing.rda import spelled
from sdcdsl.importing.rules import MARGIN, TableRules
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x

MINUTES = 10.0  # where the batch file sets no limit
_FORMATS = {
    "csv": "cross_table",
    "pivot": "pivot",
    "code and value": "code_value",
    "SBS": "csv",
    "intermediate": "argus",
    "jj": "jj",
}
# What an option of the file is called here, by layout; those that say what holds anyway are left out.
_LISTS: dict[tuple[str, bool], d.Option | None] = {
    ("AS", True): d.Option("status"),
    ("SE", True): d.Option("leave_out_zeros"),
    ("QU", False): d.Option("quotes", (x.Name("no"),)),
    **dict.fromkeys([("AS", False), ("SE", False), ("QU", True)]),
}
_OPTIONS: dict[str, dict[tuple[str, bool], d.Option | None]] = {
    "csv": {("QU", False): d.Option("quotes", (x.Name("no"),)), ("QU", True): None, ("AS", True): None},
    "pivot": {**_LISTS, ("FL", True): None},
    "code and value": {**_LISTS, ("FL", True): d.Option("names"), ("FL", False): None},
}


@dataclass
class ProtectBlocks:
    draft: Draft
    files: Files
    rules: dict[TableJob, TableRules]
    released: set[str] = field(default_factory=set)  # two releases into one file would overwrite each other

    def block(
        self, tables: Sequence[TableJob], attacker: str, signed: bool, more: Sequence[d.Cost | d.Level]
    ) -> tuple[d.Block, list[str]]:
        """The block for tables that are protected together, and the comments above it."""
        suppress = tables[0].suppress
        statements: list[d.Statement] = [
            d.Level("lpl", self._level(tables, "lpl")),
            d.Level("upl", self._level(tables, "upl")),
            *(s for s in more if isinstance(s, d.Level)),
            d.Against((attacker,)),
            d.Cost(self._cost(tables, signed)),
            *(s for s in more if isinstance(s, d.Cost)),
            d.MethodChain((self._engine(suppress, tables[0]),)),
            *self._releases(tables),
        ]
        lines = [suppress.line] if suppress is not None else []
        lines += sorted({w.line for t in tables for w in t.writes})
        shown = ", ".join(map(str, lines))
        comments = [f"{self.draft.file}, line{'s' if len(lines) > 1 else ''} {shown}"] if lines else []
        if suppress is not None and suppress.method == "MOD" and suppress.figures:
            comments.append("The time limit was one for each subtable; here it is for the whole.")
        names = tuple(t.name for t in tables)
        return d.Block("protect", names[0], tuple(statements), names), comments

    # ---- levels --------------------------------------------------------------------------------------------

    def _level(self, tables: Sequence[TableJob], role: str) -> x.Expression:
        """What the rules require; cells marked by a status or an a-priori file bring their own or the manual level."""
        judged = [self.rules[t] for t in tables]
        given = [t for t in tables if t.apriori or uses_status(t, self.rules[t])]
        if not given:
            return x.Name("needed")
        manual = [j.manual for j in judged if j.manual is not None]
        if all(uses_status(t, self.rules[t]) and t.data.metadata and t.data.metadata.with_role(role) for t in tables):
            own: x.Expression = x.Name({"lpl": "lower_level", "upl": "upper_level"}[role])
        else:
            own = x.Binary("of", percent(max(manual, default=MARGIN)), x.Name("value"))
            if not manual and role == "lpl":
                self.draft.left_behind(
                    f"no MAN says which level cells marked by a file need: {figure(MARGIN)} % is put in",
                    given[0].spec.line,
                    help="lpl … and upl … in the protect block",
                )
        if not any(t.apriori for t in tables) and not any(j.calls for j in judged):
            return own
        return x.Cond(x.Compare(">", x.Name("needed"), x.Number("0")), x.Name("needed"), own)

    # ---- costs ---------------------------------------------------------------------------------------------

    def _cost(self, tables: Sequence[TableJob], signed: bool) -> x.Expression:
        costs = [self._cost_of(t, signed) for t in tables]
        for table, cost in zip(tables[1:], costs[1:], strict=True):
            if cost != costs[0]:
                self.draft.left_behind(
                    f"tables protected together have one cost, that of `{tables[0].name}`",
                    table.spec.line,
                    help="cost AMOUNT where CONDITION gives some cells another",
                )
        return costs[0]

    def _cost_of(self, table: TableJob, signed: bool) -> x.Expression:
        spec, job = table.spec, table.data
        value: x.Expression = x.Name("value")
        if signed:
            value = x.Call("abs", (x.Argument(None, value),))
        base = value
        if spec.cost == "-2":
            return x.Number("1")
        if spec.cost == "-1":
            counted = not job.is_table or bool(job.metadata and job.metadata.with_role("count"))
            base = x.Name("count") if counted else base
            if not counted:
                self._instead("the cost is the number of contributors, which the table does not give", spec.line)
        elif spec.cost == "-3":
            self._instead("the distance cost has no counterpart", spec.line)
        elif spec.cost is not None and spec.cost.lower() != (spec.response or "").lower():
            if job.is_table and job.metadata is not None:
                base = x.Name("weight")
            else:
                self._instead(f"the cost variable `{clip(spec.cost)}` is not summed up beside the table", spec.line)
        if spec.lambda_ is None or spec.lambda_ == 1:
            return base
        if spec.lambda_ < 0:
            headline = "a power below zero has no value in empty cells: the cost is taken as it is"
            self.draft.left_behind(headline, spec.line, help="cost 1 / (value + 1)")
            return base
        if spec.lambda_ == 0:
            return x.Call("log", (x.Argument(None, x.Binary("+", base, x.Number("1"))),))
        return x.Binary("^", base, number(spec.lambda_))

    def _instead(self, headline: str, line: int) -> None:
        headline = f"{headline}: `cost value` is put in its place"
        self.draft.left_behind(headline, line, help="cost AMOUNT in the protect block")

    # ---- methods ---------------------------------------------------------------------------------------------

    def _engine(self, suppress: Suppress | None, table: TableJob) -> d.Engine:
        if suppress is None:
            headline = f"nothing protects table `{table.name}`: cell suppression is put in"
            self.draft.left_behind(headline, table.spec.line, help="method NAME in the protect block")
            return d.Engine("csp", (_minutes(0),))
        f, line = suppress.figures, suppress.line
        if suppress.method == "RND":
            return self._rounding(f, line)
        if suppress.method == "CTA":
            return d.Engine("cta", (_minutes(0),))
        if suppress.method not in METHODS:
            near = did_you_mean(suppress.method, METHODS)
            headline = f"no method `{clip(suppress.method)}` is known: cell suppression is put in its place"
            self.draft.left_behind(headline, line, help=near or "method NAME in the protect block")
        if suppress.method == "CKM":
            self.draft.left_behind("cell keys have no counterpart: cell suppression is put in their place", line)
        if suppress.method == "GH" and f and f[0] not in (0, 100):
            below, above = figure(max(0, 100 - f[0])), figure(100 + max(0, f[0]))
            self.draft.left_behind(
                f"GH supposes that everybody knows each value to {figure(abs(f[0]))} %: not carried over",
                line,
                help=f"bounds {below}% of value .. {above}% of value in the attacker",
            )
        limited = suppress.method in ("MOD", "OPT") and f
        return d.Engine("csp", (_minutes(f[0] if limited else 0),))

    def _rounding(self, f: tuple[float, ...], line: int) -> d.Engine:
        base = f[0] if f and f[0] > 0 else 5.0
        if not f or f[0] <= 0:
            self.draft.left_behind("RND does not say its base: 5 is put in", line, help="base NUMBER")
        steps = int(f[1]) if len(f) > 1 and f[1] > 0 else 0
        if any(f[3:]):
            headline = "partitions and stop rule of RND are not carried over"
            self.draft.left_behind(headline, line, help="gap 1% in the method stops earlier")
        options = [d.Option("base", (number(base),))]
        options += [d.Option("steps", (x.Number(str(steps)),))] if steps else []
        return d.Engine("rounding", (*options, _minutes(f[2] if len(f) > 2 else 0)))

    # ---- releases ----------------------------------------------------------------------------------------------

    def _releases(self, tables: Sequence[TableJob]) -> list[d.Release]:
        out: list[d.Release] = []
        done: list[int] = []
        for write in (w for t in tables for w in t.writes):
            if write.line in done:
                continue
            done.append(write.line)
            _, path = self.files.refer(write.file, write.line, self.draft)
            if path.casefold() in self.released:
                self.draft.left_behind(f"{clip(path)} is written twice: only the first is carried over", write.line)
                continue
            self.released.add(path.casefold())
            format = _FORMATS[write.format]
            if write.format == "SBS":
                self.draft.left_behind(f"the {write.format} layout has no counterpart: CSV is written", write.line)
            known = _OPTIONS.get(write.format, {("AS", True): None})
            odd = [f"{word}{'+' if on else '-'}" for word, on in write.options if (word, on) not in known]
            if odd:
                self.draft.left_behind(f"{' '.join(odd)}: how the file is laid out is not carried over", write.line)
            options = tuple(option for one in write.options if (option := known.get(one)) is not None)
            out.append(d.Release(d.FileReference(format, path, options)))
        return out


def uses_status(table: TableJob, judged: TableRules) -> bool:
    metadata = table.data.metadata
    return judged.only_given and table.data.is_table and metadata is not None and bool(metadata.with_role("status"))


def says_shadow(table: TableJob, draft: Draft) -> None:
    spec = table.spec
    if spec.shadow is not None and spelled(table.data, spec.shadow) != spelled(table.data, spec.response or ""):
        headline = f"the shadow variable `{clip(spec.shadow)}` is not carried over: rules read what the table sums"
        draft.left_behind(headline, spec.line)


def _minutes(value: float) -> d.Option:
    return d.Option("time_limit", (x.Duration(figure(value if value > 0 else MINUTES), "min"),))
