"""The program from Python: the same stages as on the command line, with values one can look at.

    import sdcdsl

    policy = sdcdsl.load("turnover.sdc")
    run = policy.protect(time_limit=60)
    run["turnover"].verdict
    run.release("release/")

Nothing is written before `release`, and nothing but what was found protected. In a notebook, policies, problems,
patterns and verdicts show themselves.
"""

from sdcdsl.notebook.loaded import Loaded, load
from sdcdsl.notebook.pattern import Pattern
from sdcdsl.notebook.policy import Attacker, Data, Dimension, File, Method, Policy, Protect, Sensitive, Table
from sdcdsl.notebook.problem import Problem
from sdcdsl.notebook.refused import Refused
from sdcdsl.notebook.run import Protected, Run
from sdcdsl.notebook.verdict import Verdict

__all__ = [
    "Attacker",
    "Data",
    "Dimension",
    "File",
    "Loaded",
    "Method",
    "Pattern",
    "Policy",
    "Problem",
    "Protect",
    "Protected",
    "Refused",
    "Run",
    "Sensitive",
    "Table",
    "Verdict",
    "load",
]
