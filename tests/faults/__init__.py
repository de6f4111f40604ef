"""Solvers that lie, die and return rubbish, in every method and in the attack: what is released all the same is judged
in exact arithmetic that shares no code with the program."""
