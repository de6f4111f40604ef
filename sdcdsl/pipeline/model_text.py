"""A model as a person reads it: the paper's formulas, and of every family of rows how many there are and one of them,
with the cells by name. The models that solvers get can be written to files (`sdcdsl compile`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods import witness_tables
from sdcdsl.methods.definition import Definition
from sdcdsl.vocabulary.methods import Method

if TYPE_CHECKING:
    import linopy

TERMS = 4  # of a sum that are written out
CONDITION = re.compile(r"if (hidden|an interval)$")  # what touched means, where cells have several forms
CAP = re.compile(r"^cap_\w+ \d+$")  # one of several caps
WORDS = {"<": "≤", ">": "≥", "=": "="}
QUOTED = re.compile(r'"([^"]+)"')


def described(problem: TableProblem, method: Method, definition: Definition, model: linopy.Model) -> Iterator[str]:
    """Line by line."""
    paper, names = papers_words(definition), _Names(problem, model)
    families = f"{paper}\n{witness_tables.__doc__}"
    yield f"{problem.name}: {method.about} (`{method.name}`, paper {method.paper})"
    size = problem.dataset.sizes
    yield f"  {problem.n} cells, {problem.m} relations, {size['pair']} pairs of attacker and cell"
    yield from ("", *(f"  {line}".rstrip() for line in formulas(paper)))
    yield from ("", "  variables")
    yield from (f"    {name}: {_counted(variable)}" for name, variable in model.variables.items())
    yield f"  {'maximise' if model.objective.sense == 'max' else 'minimise'}"
    yield f"    {_objective(model, names)}"
    yield "  constraints"
    for name, rows in model.constraints.items():
        formula = formula_of(str(name), families)
        count = len(rows.active_labels())
        yield f"    {name}, {count} {'row' if count == 1 else 'rows'}" + (f": {formula}" if formula else "")
        yield f"      {_example(rows, model, names)}"


def papers_words(definition: Any) -> str:
    """What the definition says of its model, and of the modules that it shares with others."""
    modules = getattr(definition, "modules", None) or (definition,)
    return "\n".join(module.__doc__ or "" for module in modules)


def formulas(paper: str) -> list[str]:
    """The indented blocks: there the formulas stand."""
    out: list[str] = []
    for line in paper.splitlines():
        if line.startswith("    "):
            out.append(line[4:])
        elif line.strip() and out and out[-1]:
            out.append("")
    return out[:-1] if out and not out[-1] else out


def formula_of(family: str, paper: str) -> str | None:
    """What stands before the name of the family; a name that begins with `…` stands for all that end so. Of several
    formulas in a line with as many names each has its own."""
    plain = CAP.sub("few enough changed", CONDITION.sub("if touched", family))
    for line in paper.splitlines():
        names = QUOTED.findall(line)
        for number, name in enumerate(names):
            if name == plain or (name.startswith("… ") and plain.endswith(name[2:])):
                said = line[: line.index('"')].strip(" ,;")
                parts = re.split(r",\s{2,}", said)
                return re.sub(r"\s+", " ", parts[number] if len(parts) == len(names) else said) or None
    return None


def _counted(variable: Any) -> str:
    kind = "binary" if variable.attrs.get("binary") else "whole" if variable.attrs.get("integer") else "continuous"
    count = int((variable.labels.values != -1).sum())
    over = " and ".join(str(dim) for dim in variable.labels.dims)
    return f"{count} {kind}" + (f", one per {over}" if over else "")


def _objective(model: linopy.Model, names: _Names) -> str:
    seen = model.matrices
    cost = seen.c * seen.var_scaling / float(model.objective.scaling)
    at = np.flatnonzero(cost)
    said = names.sum([(float(cost[j]), int(seen.vlabels[j])) for j in at[:TERMS]], len(at))
    quadratic = cast("Any", seen).Q
    if quadratic is None:
        return said
    squares = f"{quadratic.nnz} products of two variables"
    return f"{said} + {squares}" if len(at) else squares


def _example(rows: Any, model: linopy.Model, names: _Names) -> str:
    """The first row with a variable in it."""
    labels = model.variables.label_index
    matrix, _, right, sense = rows.to_matrix_with_rhs(labels)
    lengths = np.diff(matrix.indptr)
    row = int(np.argmax(lengths > 0))
    start, count = int(matrix.indptr[row]), int(lengths[row])
    terms = [
        (float(matrix.data[k]), int(labels.vlabels[matrix.indices[k]])) for k in range(start, start + min(count, TERMS))
    ]
    return f"{names.sum(terms, count)} {WORDS[str(sense[row])[0]]} {float(right[row]) + 0.0:g}"


class _Names:
    """Variables by the codes of their cells."""

    def __init__(self, problem: TableProblem, model: linopy.Model):
        self.problem, self.model = problem, model

    def sum(self, terms: Sequence[tuple[float, int]], count: int) -> str:
        said = ""
        for number, (value, label) in enumerate(terms):
            sign = ("-" if value < 0 else "") if number == 0 else (" - " if value < 0 else " + ")
            said += sign + self.column(label) if abs(value) == 1 else f"{sign}{abs(value):g} {self.column(label)}"
        return (said or "0") + (f" + … ({count} terms)" if count > len(terms) else "")

    def column(self, label: int) -> str:
        found: Any = self.model.variables.get_label_position(label)
        name, where = found
        parts = [self._place(str(dim), int(where[dim])) for dim in where or ()]
        return f"{name}[{'; '.join(parts)}]" if parts else str(name)

    def _place(self, dim: str, at: int) -> str:
        if dim == "cell":
            return self._cell(at)
        d = self.problem.dataset
        attacker = self.problem.attackers[int(d["attacker_at"].values[at])]
        return f"{attacker} about {self._cell(int(d['cell_at'].values[at]))}"

    def _cell(self, cell: int) -> str:
        """Its codes alone; which dimension each is of can be seen from the order."""
        return re.sub(r"[^,:+]+ = ", lambda found: " " if found[0].startswith(" ") else "", self.problem.label(cell))
