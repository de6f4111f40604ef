# What the project uses of scipy, which has no types: pyright would infer them from its source, for minutes.
# What is missing here is an error where it is used: add it.
