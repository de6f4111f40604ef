"""The words a policy may use that are not keywords: methods, rules, formats, experiments, names of cell quantities.

Each is described by a dataclass: checking, completion, documentation and the frozen record of the edition all read it
from there, and the layer that does the work imports it from here. Nothing heavy is imported.
"""
