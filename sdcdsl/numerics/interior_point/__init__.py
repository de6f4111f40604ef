"""Primal–dual interior point methods, their normal equations, and the crossover to a vertex."""
