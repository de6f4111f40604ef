"""The arrays that the loops of boxes share: few of them, and each with the fields that are read together.

* `table`: nodes of the trees, numbered through all dimensions; the dimensions; members of the cells beyond the lattice
  (unions), and the unions of each cell; slack up and down [view, cell]; and what single attackers know beyond it.
* `pattern`: the cells, the requirements, numbers that change (`counts`), and the cost and the price of what is hidden
  already (`amounts`).
* `pool`: moves, their entries by cell and the requirements they certify, both in doubly linked lists.
* `work`: work space, left as it was found.

Lists begin where the field `…_start` of one says, and end where the next one's begins; so there is one cell, node and
move more than there are. Where loops are compiled, a record is read at its address, and an argument is one for all of
its fields: compiling takes a third of the time that it takes with an array for each of them.
"""

from __future__ import annotations

from math import prod

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.csp.product_table import ProductTable
from sdcdsl.accelerate.csp.tuning import BOXES
from sdcdsl.methods.instance import Instance, Requirements

SLOTS, ENTRIES, COVERS, HIDDEN, DRAWN, WORK, TOUCHED, LENGTH, LATTICE = range(9)  # `counts`
COST, FREE = 0, 1  # `amounts`
# Arguments of one type only: a loop is compiled anew for each literal number and each width that it is called with.
NONE, FORBID, ALLOW = np.int64(0), np.int64(1), np.int64(-1)


def _record(**fields: str) -> np.dtype:
    return np.dtype(list(fields.items()), align=True)


NODE = _record(parent="i8", part_start="i8", part="i8", stride="i8")
DIMENSION = _record(first="i8", codes="i8", step="i8", count="i8", best_count="i8")  # nodes of a box, now and the best
MEMBER = _record(cell="i8", sign="f8", sum="i8", sum_sign="f8")  # members by sum; and sums by member
SLACK = _record(up="f8", down="f8")
ATTACKER = _record(known_start="i8")
KNOWN = _record(cell="i8", up="f8", down="f8", up_before="f8", down_before="f8")
CELL = _record(
    now="f8",  # its price as things are
    d="f8",  # how far the move that is being made takes it
    price="f8",  # while it is not hidden
    weight="f8",
    users="i4",  # moves of the pattern that need it
    barred="i4",  # how often it is forbidden to move
    head="i4",  # its last entry in the pool
    place="i4",  # on the list of hidden cells
    listed="i4",  # that list
    requirement_start="i4",
    member_start="i4",
    sum_start="i4",
    must="i4",  # hidden in any case
    part="i4",  # of the table, where parts are improved side by side
)
REQUIREMENT = _record(
    need="f8",
    sign="f8",
    cell="i8",
    at="i8",  # the requirements by cell
    view="i4",
    attacker="i4",
    count="i4",  # moves of the pattern that certify it
    head="i4",  # its last cover in the pool
    failed="i4",
)
ENTRY = _record(d="f8", cell="i4", move="i4", next="i4", previous="i4")
COVER = _record(requirement="i4", move="i4", next="i4", previous="i4")
MOVE = _record(start="i8", cover_start="i8", gain="f8", alive="i4", marked="i4", fresh="i4")
SIDE = _record(node="i8", sign="f8")
SIGNED = _record(cell="i8", sign="f8")
STEP = _record(node="i8", at="i8", path="i8", cost="f8")
LENGTHS = _record(ahead="f8", back="f8")
LISTED = _record(added="i8", removed="i8", closed="i8", item="i8", key="f8")

Arrays = tuple[np.ndarray, ...]


def table_arrays(instance: Instance, table: ProductTable, requirements: Requirements) -> tuple[Arrays, np.ndarray]:
    """`table`, and the view of each requirement within it."""
    nodes = np.zeros(len(table.parent) + 1, dtype=NODE)
    for name in ("parent", "part", "stride"):
        values = getattr(table, name)
        nodes[name][: len(values)] = values
    nodes["part_start"] = table.part_start
    shape = np.zeros(len(table.codes), dtype=DIMENSION)
    for name in ("first", "codes", "step"):
        shape[name] = getattr(table, name)
    sums = np.zeros(table.sums.nnz, dtype=MEMBER)
    by_member = csr_array(table.sums.T)
    sums["cell"], sums["sign"] = table.sums.indices, table.sums.data
    sums["sum"], sums["sum_sign"] = by_member.indices, by_member.data
    who = np.unique(requirements.attacker)
    views, view = np.unique(instance.view_of[who], return_inverse=True)
    slack = np.zeros((len(views), instance.n), dtype=SLACK)
    slack["up"] = np.where(instance.may_open, instance.UB[views], 0.0)
    slack["down"] = np.where(instance.may_open, instance.LB[views], 0.0)
    parts = [instance.known(int(k)) for k in who]
    attackers = np.zeros(len(who) + 1, dtype=ATTACKER)
    attackers["known_start"] = np.cumsum([0, *(len(cells) for cells, _, _ in parts)])
    known = np.zeros(attackers["known_start"][-1], dtype=KNOWN)
    for name, k in (("cell", 0), ("down", 1), ("up", 2)):
        known[name] = np.concatenate([part[k] for part in parts] or [np.zeros(0)])
    return (nodes, shape, sums, slack, attackers, known), view[np.searchsorted(who, requirements.attacker)]


def cell_array(instance: Instance, table: ProductTable, must: np.ndarray, weight: np.ndarray, at: np.ndarray):
    """`at`: the cells of the requirements, in order."""
    n, size = instance.n, table.size
    cells = np.zeros(n + 1, dtype=CELL)
    cells["weight"][:n], cells["price"][:n], cells["now"][:n], cells["must"][:n] = weight, weight, weight, must
    cells["barred"][:n] = ~instance.may_open
    cells["head"], cells["place"] = -1, -1
    cells["requirement_start"] = np.searchsorted(at, np.arange(n + 1))
    cells["member_start"][size:] = table.sums.indptr  # cells of the lattice have no members
    by_member = csr_array(table.sums.T)
    cells["sum_start"][: size + 1], cells["sum_start"][size:] = by_member.indptr, by_member.indptr[-1]
    return cells


def requirement_array(requirements: Requirements, view: np.ndarray) -> np.ndarray:
    made = np.zeros(len(requirements), dtype=REQUIREMENT)
    made["cell"], made["sign"], made["need"] = requirements.cell, requirements.sign, requirements.need
    made["view"] = view
    made["attacker"] = np.searchsorted(np.unique(requirements.attacker), requirements.attacker)
    made["head"] = -1
    made["at"] = np.argsort(requirements.cell, kind="stable")
    return made


def pool_arrays(entries: int) -> Arrays:
    """Space for so many cells of moves."""
    moves = np.zeros(entries // BOXES.shortest + 1, dtype=MOVE)
    return np.zeros(entries, dtype=ENTRY), np.zeros(entries, dtype=COVER), moves


def work_arrays(table: ProductTable, views: int) -> Arrays:
    longest, dimensions = int(2 * table.depth.max() + 2), len(table.depth)
    many = prod(int(2 * d) for d in table.depth)
    return (
        np.zeros(max(BOXES.touched, 4 * many), dtype=np.int64),
        np.zeros((2, dimensions, longest), dtype=SIDE),
        np.zeros((2, many), dtype=SIGNED),
        np.zeros(longest, dtype=STEP),
        np.zeros(views, dtype=LENGTHS),
        np.zeros(BOXES.undone, dtype=LISTED),
        np.zeros(BOXES.draws),
    )
