"""Cell perturbation: another table within given ranges, sensitive cells at an end of theirs."""
