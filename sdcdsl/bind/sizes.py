"""How large the models of the methods would be: the papers' first models in full, and what the solvers really hold."""

from __future__ import annotations

from typing import Any

from sdcdsl.bind.problem import TableProblem


def model_sizes(method: str, problem: TableProblem) -> dict[str, Any]:
    """Counts of the compact ("first") model, and of the model the cutting-plane methods keep in memory."""
    counts = problem.summary()
    n, m, pairs = problem.n, counts["relations"], counts["pairs"]
    free = n - counts["fixed"]
    sensitive = counts["sensitive"]
    # Two attacker tables for every pair: the lowest and the highest that stay possible.
    attacks = {"variables": 2 * pairs * n, "constraints": 2 * pairs * (m + 2 * n)}
    match method:
        case "csp":
            full = _sum(attacks, free, pairs)
            kept = f"{_n(free)} binaries and cuts"
        case "ip":
            full = _sum(attacks, 2 * free, pairs)
            kept = f"{_n(2 * free)} variables and cuts"
        case "cta":
            full = {"variables": 2 * free + sensitive, "constraints": m + 4 * sensitive}
            kept = f"{_n(full['variables'])} variables, {_n(full['constraints'])} constraints"
        case "ecta":
            full = {"variables": 2 * free + 1, "constraints": m + 2 * free}
            kept = f"{_n(full['variables'])} variables a try, {_n(2 * pairs)} attacker problems an audit"
        case "rounding" | "perturb" | "combined":
            full = _sum(attacks, 2 * free, m + pairs)
            kept = f"{_n(2 * free)} variables, {_n(m)} relations and cuts"
        case _:
            return {"about": "a plug-in: its sizes are not known", "full": None}
    about = f"{kept}; in full {_n(full['variables'])} variables and {_n(full['constraints'])} constraints"
    return {"about": about, "full": full}


def _n(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _sum(attacks: dict[str, int], variables: int, constraints: int) -> dict[str, int]:
    return {
        "variables": attacks["variables"] + variables,
        "constraints": attacks["constraints"] + constraints,
    }
