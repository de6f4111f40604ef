"""What an engine is tuned by stands in one record beside it; what stands in its modules are tolerances and forms."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from operator import add, mul, pow, sub, truediv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "sdcdsl"
ENGINES = ("numerics", "attack", "accelerate", "audit", "methods")
RECORDS = sorted(path for name in ENGINES for path in (ROOT / name).rglob("tuning.py"))

# Numbers of modules that are neither small enough nor near enough to 1 to be taken for a tolerance, and no tuning.
FORMS = {
    "accelerate/csp/bounding": {"LASTING", "GRAIN", "STEPS"},  # decimals of costs, and an age that never ends
    "accelerate/csp/box_neighbourhoods": {"MET"},  # draws of a loop that has to end
    "accelerate/csp/box_through_cell": {"BIG", "DEAREST"},  # prices of what may not move
    "accelerate/csp/cheapest_direction": {"SLIGHT"},  # a tolerance of prices
    "accelerate/csp/cheapest_in_basis": {"SLIGHT"},
    "accelerate/csp/exchange": {"SLIGHT"},  # the smallest pivot
    "accelerate/csp/network_incumbent": {"HIDE, SHOW, ATTACH, DETACH"},  # kinds
    "accelerate/csp/network_state": {"BITS", "DRAWS"},  # of fractions; a prime number
    "accelerate/csp/partition_bound": {"CLOSE"},  # a tolerance
    "accelerate/csp/product_table": {"SEED, MOST"},  # of a trial
    "accelerate/cta/driver": {"SHOWN"},  # lines of a report
    "accelerate/cta/senses/sense_choice": {"LEAST, FASTEST"},  # of clocks
    "accelerate/cutting/attacks": {"BITS", "HUGE"},  # the grid of flows
    "accelerate/cutting/joint_model": {"NEAR"},  # a tolerance
    "accelerate/cutting/lattice_boxes": {"MOST", "DEEP"},  # the size of arrays
    "accelerate/forms/bounds": {"MOST"},  # what doubles count exactly
    "attack/flow_engine": {"FINEST", "BITS"},  # the grid of flows
    "audit/attacking": {"FAR", "NEAR", "ALIKE"},  # docs/numerics.md
    "audit/ends": {"ROOM"},  # docs/numerics.md
    "audit/intervals": {"DIGITS", "HARDLY", "NEARLY"},  # how figures are shown
    "methods/cellkey/learned": {"MOST_GROUPS", "GRID", "LIKELY"},  # of a report
    "methods/cellkey/ptable": {"STEPS"},  # of a bisection
    "methods/checkpoint": {"EVERY", "BUSY"},  # how often a file is written
    "methods/ecta/advice": {"HALVINGS", "NAMED"},
    "methods/ecta/attempt": {"FIRST_BETA"},  # of the paper's rounds
    "methods/ecta/deviations": {"DIGITS"},
    "methods/ecta/model": {"FOLLOW"},  # the paper's F
    "methods/ecta/ranges": {"HALVINGS"},
    "methods/incumbents": {"KEPT"},
    "methods/ip/centre": {"LEAST, MOST"},  # how far ends are moved at random
    "methods/pattern_check": {"FAR"},
    "methods/published_amounts": {"FEW", "CROWD"},  # when a message is given
    "methods/witness_tables": {"STRETCH", "MOST_VARIABLES"},  # of the model; a limit of memory
    "numerics/integrality": {"COUNTED"},  # HiGHS's own
    "numerics/interior_point/box_loops": {"REACHED, SHORT, NEAR, STUCK, THERE"},  # kinds
    "numerics/master": {"AROUND"},  # how far whole numbers are looked for
    "numerics/milp": {"MOMENT"},  # the shortest time
    "numerics/nearest/interior_point": {"LEAST"},  # a tolerance
    "numerics/simplex/dual": {"SLIGHT"},
    "numerics/simplex/tableau": {"REACHED, CLOSED, RAY, TIRED"},  # kinds
}

OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
    ast.Pow: pow,
    ast.LShift: lambda number, by: number * 2**by,
}
READ = {
    name for path in ROOT.rglob("*.py") for name in re.findall(r"\b[A-Z_]+\.(\w+)", path.read_text(encoding="utf-8"))
}


def test_modules_hold_tolerances_and_forms_only() -> None:
    for name in ENGINES:
        for path in (ROOT / name).rglob("*.py"):
            names = {said for said, numbers in _constants(path) if not all(map(_tolerance, numbers))}
            module = str(path.relative_to(ROOT).with_suffix(""))
            strange = sorted(names - FORMS.get(module, set()))
            record = path.with_name("tuning.py").relative_to(ROOT)
            assert path in RECORDS or not strange, f"{module}: put {strange} into {record}, or name the form here"


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: str(path.relative_to(ROOT)))
def test_records_say_what_they_were_tuned_on_and_are_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    records = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    said = f"{ast.get_docstring(tree)} {' '.join(ast.get_docstring(record) or '' for record in records)} {text}"
    assert re.search(r"benchmarks?|hier1[36]|ninenew|[Ll]ook-alikes|cells|conformance", said), "on which tables?"
    for record in records:
        for field in record.body:
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                assert field.target.id in READ, f"nobody reads {field.target.id}"


def _constants(path: Path) -> Iterator[tuple[str, list[float]]]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            names = ", ".join(e.id for t in node.targets for e in ast.walk(t) if isinstance(e, ast.Name))
            yield names, _numbers(node.value)


def _numbers(node: ast.expr) -> list[float]:
    """Of plain numbers and what is worked out from them, or of a row of these; nothing of what else there is."""
    if isinstance(node, ast.Tuple):
        return [number for one in node.elts for number in _numbers(one)]
    try:
        return [_worked_out(node)]
    except TypeError:
        return []


def _worked_out(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)  # pyright: ignore[reportArgumentType]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_worked_out(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](_worked_out(node.left), _worked_out(node.right))
    raise TypeError(ast.dump(node))


def _tolerance(number: float) -> bool:
    """Small, or as near to 1 as a tolerance is, or what counts and halves."""
    size = abs(number)
    return size < 1e-5 or abs(size - 1) < 2e-5 or size in (0.5, 2.0, 2.0**31 - 1) or size >= 1e15
