from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.numerics.compiled import kernels
from sdcdsl.numerics.flow.network import Network, as_network
from tests.attack.planes import System, hidden_part, hierarchies, plane_tables, shuffled, table, tree


def incidence(network: Network) -> np.ndarray:
    made = np.zeros((network.ground + 1, network.cells))
    np.add.at(made, (network.head, np.arange(network.cells)), 1)
    np.add.at(made, (network.tail, np.arange(network.cells)), -1)
    return made[:-1]


def says_the_same(system: System, network: Network) -> None:
    """The nodes are equations of the system, and as many independent ones."""
    full, nodes = system.dense, incidence(network)
    assert np.array_equal(nodes, network.flip[:, None] * full[network.equation])
    assert np.linalg.matrix_rank(nodes) == np.linalg.matrix_rank(full)
    ends = np.concatenate([network.tail, network.head])
    for v in range(network.ground + 1):
        arcs = network.arc[network.start[v] : network.start[v + 1]]
        assert sorted(arcs) == sorted(np.flatnonzero(ends == v) % max(network.cells, 1))


@settings(deadline=None, max_examples=150)
@given(plane_tables(), st.integers(0, 2**32 - 1))
def test_tables_in_two_dimensions_with_one_hierarchy_are_recognised(system, seed):
    system = shuffled(system, seed)
    network = as_network(*system)
    assert network is not None
    says_the_same(system, network)


@settings(deadline=None, max_examples=60)
@given(plane_tables(), st.integers(0, 2**32 - 1))
def test_equations_given_twice_change_nothing(system, seed):
    rng = np.random.default_rng(seed)
    n = system.equations
    again = rng.random(n) < 0.4
    copied = again[system.equation_of]
    twice = System(
        np.concatenate([system.coefficient, -system.coefficient[copied]]),
        np.concatenate([system.cell_of, system.cell_of[copied]]),
        np.concatenate([system.equation_of, system.equation_of[copied] + n]),
        system.cells,
        2 * n,
    )
    network = as_network(*twice)
    assert network is not None
    says_the_same(twice, network)


SIDES = st.lists(hierarchies(most=5), min_size=2, max_size=3)


@settings(deadline=None, max_examples=100)
@given(SIDES, st.floats(0.2, 1), st.booleans(), st.integers(0, 2**32 - 1))
def test_what_is_recognised_elsewhere_is_right(sides, share, settle, seed):
    """Three dimensions, hierarchies on both sides, and cells that are known but were left in."""
    system = table(*sides)
    hidden = np.random.default_rng(seed).random(system.cells) < share
    system = shuffled(hidden_part(system, hidden, settle), seed)
    network = as_network(*system)
    if network is not None:
        says_the_same(system, network)


@pytest.mark.parametrize(
    "sides", [(tree(3), tree(3), tree(3)), (tree(2, 2), tree(2, 2)), (tree(3, 3), tree(2, 3))], ids=["3-D", "2H", "2H+"]
)
def test_not_every_table_is_a_network(sides):
    assert as_network(*table(*sides)) is None


def test_an_odd_cycle_is_no_network():
    # x + y, y + z, x + z: signs cannot be turned to fit, and d = 0 is the only solution
    assert as_network(np.ones(6), np.array([0, 1, 1, 2, 0, 2]), np.array([0, 0, 1, 1, 2, 2]), 3, 3) is None


def test_an_equation_that_does_not_follow_is_not_dropped():
    """A third relation through cells of a flat table: every other equation is a network, this one says more."""
    flat = table(tree(3), tree(3))
    extra = np.array([5, 6, 9])
    more = System(
        np.concatenate([flat.coefficient, [1.0, 1.0, -1.0]]),
        np.concatenate([flat.cell_of, extra]),
        np.concatenate([flat.equation_of, np.full(3, flat.equations)]),
        flat.cells,
        flat.equations + 1,
    )
    assert as_network(*more) is None


def test_other_coefficients_are_no_network():
    assert as_network(np.array([2.0, 1.0]), np.array([0, 1]), np.array([0, 0]), 2, 1) is None


def test_entries_for_the_same_place_add_up():
    network = as_network(np.array([2.0, 1.0, -1.0]), np.array([0, 1, 0]), np.array([0, 0, 0]), 2, 1)
    assert network is not None
    assert network.ground == 1


def test_an_empty_system_is_a_network():
    nothing = np.zeros(0, dtype=np.int64)
    network = as_network(np.zeros(0), nothing, nothing, 0, 0)
    assert network is not None
    assert network.cells == network.ground == 0


@settings(deadline=None, max_examples=25)
@given(plane_tables())
def test_compiled_and_plain_agree(system):
    with kernels("plain"):
        plain = as_network(*system)
    with kernels("fast"):
        fast = as_network(*system)
    assert plain is not None and fast is not None
    for name in ("tail", "head", "equation", "flip"):
        assert np.array_equal(getattr(plain, name), getattr(fast, name))
