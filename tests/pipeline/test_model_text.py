"""Models as people read them: every family of rows with the paper's formula and a row of its own."""

import pytest

from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition
from sdcdsl.pipeline.model_text import described, formula_of
from sdcdsl.vocabulary.methods import METHODS
from tests.conformance.cases import case

CASES = 3


def text_of(method, seed):
    made = case(method, seed)
    defined = definition(method)
    model = defined.model(made.problem, SolveContext(made.options))
    return model, list(described(made.problem, METHODS[method], defined, model))


@pytest.mark.parametrize("method", [name for name, one in METHODS.built_in.items() if one.model is not None])
def test_every_variable_and_every_family_of_rows_is_shown(method):
    for seed in range(CASES):
        model, lines = text_of(method, seed)
        assert all(any(line.startswith(f"    {name}: ") for line in lines) for name in model.variables)
        for name, rows in model.constraints.items():
            (at,) = [i for i, line in enumerate(lines) if line.startswith(f"    {name}, ")]
            head, row = lines[at], lines[at + 1]
            count = len(rows.active_labels())
            assert head.startswith(f"    {name}, {count} row") and ": " in head, f"no formula for {name}"
            assert any(f" {sign} " in row for sign in "≤≥=")


def test_formulas_of_a_line_belong_to_the_names_of_the_line():
    paper = '    M f = b,   x ≤ 1      "adds up", "… only where hidden"\n    and Σ x ≤ q           "few"'
    assert formula_of("adds up", paper) == "M f = b"
    assert formula_of("high table rises only where hidden", paper) == "x ≤ 1"
    assert formula_of("few", paper) == "and Σ x ≤ q"
    assert formula_of("nothing", paper) is None
