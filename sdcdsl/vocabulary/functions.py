"""What a function of amounts is, as in `cost sqrt(value)`: one record each.

A cost, a level or a bound that the language has no words for is a function of what it knows about a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdcdsl.record import Record, record
from sdcdsl.registry import Registry, unloadable


@record
class Function(Record):
    name: str
    about: str
    least: int  # arguments
    most: int | None
    of: Callable[..., Any] | str | None = None  # takes and gives an array, an entry a cell; or "module:function"
    argument: str = "number"  # or "dimension", "rank": only ours, which look into the table

    def incomplete(self) -> str | None:
        if self.of is None:
            return "it is described and has no implementation: give `of`, a function of arrays"
        if self.argument != "number":
            return f"functions of a {self.argument} are for sdcdsl itself"
        whole = isinstance(self.least, int) and (self.most is None or isinstance(self.most, int))
        if not whole or self.least < 1 or (self.most is not None and self.most < self.least):
            return "it takes no number of arguments that makes sense: `least` is at least 1, `most` as many or None"
        return unloadable(self.of)


MIN = Function("min", "the smallest", 1, None, "sdcdsl.bind.evaluate:smallest")
MAX = Function("max", "the largest", 1, None, "sdcdsl.bind.evaluate:largest")
ABS = Function("abs", "without its sign", 1, 1, "numpy:abs")
SQRT = Function("sqrt", "the square root", 1, 1, "numpy:sqrt")
LOG = Function("log", "the natural logarithm", 1, 1, "numpy:log")
EXP = Function("exp", "e to the power of", 1, 1, "numpy:exp")
ROUND = Function("round", "to the nearest whole number", 1, 1, "numpy:round")
FLOOR = Function("floor", "down to a whole number", 1, 1, "numpy:floor")
CEIL = Function("ceil", "up to a whole number", 1, 1, "numpy:ceil")
LARGEST = Function("largest", "the k-th largest contribution", 1, 1, argument="rank")
LEVEL = Function("level", "how deep the cell's code lies in a dimension; the total is 1", 1, 1, argument="dimension")

FUNCTIONS = Registry("functions", Function)
