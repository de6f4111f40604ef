"""The sensitivity rules `sensitive by …` may name: their arguments, and which cell quantities they read."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from sdcdsl.record import Record, record
from sdcdsl.vocabulary.option import Kind, NoOptions, option


@record
class ThresholdArguments(Record):
    n: Any = option(Kind.WHOLE, "fewer contributors than this make a cell sensitive", least=1, tighter=+1)
    level: Any = option(Kind.SHARE, "the level it gives, as a share of the contributions", "20%", least=0, tighter=+1)


@record
class DominanceArguments(Record):
    n: Any = option(Kind.WHOLE, "the number of largest contributors", least=1, tighter=+1)
    k: Any = option(Kind.SHARE, "their share of the value that makes a cell sensitive", least=0, most=100, tighter=-1)


@record
class PPercentArguments(Record):
    p: Any = option(Kind.SHARE, "how closely one contributor may estimate another", least=0, tighter=+1)
    n: Any = option(Kind.WHOLE, "how many contributors may work together", 1, least=1, tighter=+1)


@record
class PqArguments(Record):
    p: Any = option(Kind.SHARE, "how closely one contributor may estimate another", least=0, tighter=+1)
    q: Any = option(Kind.SHARE, "how closely everybody knew contributions before", least=0, most=100, tighter=-1)


@record
class ContributorsArguments(Record):
    n: Any = option(Kind.WHOLE, "a cell needs at least this many contributors of more than zero", least=1, tighter=+1)
    level: Any = option(Kind.SHARE, "the level it gives, as a share of the contributions", "20%", least=0, tighter=+1)


@record
class RequestArguments(Record):
    share: Any = option(
        Kind.SHARE, "only where who asked gives more than this share of the cell", "0%", least=0, most=100, tighter=-1
    )
    level: Any = option(Kind.SHARE, "the level it gives, as a share of the contributions", "20%", least=0, tighter=+1)


@record
class ZeroArguments(Record):
    level: Any = option(Kind.NUMBER, "the level it gives above zero, in units of the table", 1, least=0, tighter=+1)


@record
class Rule(Record):
    name: str
    about: str
    arguments: type
    needs: tuple[str, ...] = ()  # "count", "largest" or "units"
    largest: int = 0  # how many of the largest contributions it reads at least
    aliases: tuple[str, ...] = ()


_ALL = (
    Rule("threshold", "too few contributors", ThresholdArguments, ("count",), aliases=("freq",)),
    Rule("dominance", "a few contributors make up most of the cell", DominanceArguments, ("largest",), 1, ("nk",)),
    Rule("p_percent", "one contributor can estimate another too closely", PPercentArguments, ("largest",), 2, ("p",)),
    Rule("pq", "p_percent with prior knowledge of contributions", PqArguments, ("largest",), 2),
    Rule("contributors", "too few contributors of more than zero", ContributorsArguments, ("count",)),
    Rule("request", "a contributor asked for protection", RequestArguments, ("units",), 2),
    Rule("zero", "all contributors report zero, which tells what each of them reported", ZeroArguments, ("count",)),
    Rule("status", "the data's own status column says so", NoOptions, ("status",)),
)
RULES: MappingProxyType[str, Rule] = MappingProxyType({r.name: r for r in _ALL})
ALIASES: MappingProxyType[str, str] = MappingProxyType({alias: r.name for r in _ALL for alias in r.aliases})
