"""Proofs that cells are protected or exposed, and the arithmetic that checks them without a solver."""
