"""Accelerators: ways to solutions of the models in `sdcdsl.methods`, for tables where a solver alone is too slow.

A folder with a `driver` is the accelerator of the method of that name, which the method's record names; the other
folders are what several of them share. The contract of `solve(problem, context) -> Result`:

**A release at any moment.** From its first release on an accelerator holds a valid one, the *incumbent*. Whatever ends
the search (the deadline, a stop, memory), the incumbent is the result, or a status that says that there is none.

**The deadline is kept.** `context.deadline` is looked at between steps, and every step is given what is left of it. A
result that time contributed to is marked as such (`Deadline.time_dependent`).

**Bounds by arithmetic.** A bound is computed from multipliers, or from enumeration, with plain arithmetic
(`numerics.master`): it holds whatever the tolerances of a solver were. Where there is none, `bound` is None; `optimal`
is said only of a gap that was required, `infeasible` only with a proof.

**The same for a seed.** Without a deadline the same problem, options and seed give the same release, with any team.

**Values of the model.** A release stands for values of the model's variables (`Definition.decisions`). They are put
into the model itself before the audit (`methods.model_check`): what disagrees with it is a failure, and not released.

**Worth its place.** Every accelerator has a page in `docs/accelerators/` and rows in `benchmarks/accelerators.py`, next
to the model alone. What buys nothing goes.
"""
