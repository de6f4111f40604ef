"""Invented data for the examples: classifications, enterprises, and random numbers that are the same everywhere.

Economy(seed=1, enterprises=5000).frame()     one row an enterprise, as a polars frame
activities(), regions()                       the classifications, as trees
"""

from examples.generator.draws import Draws
from examples.generator.enterprises import Economy
from examples.generator.trees import Tree, activities, regions

__all__ = ["Draws", "Economy", "Tree", "activities", "regions"]
