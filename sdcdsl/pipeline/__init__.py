"""From a policy to released files, one module for each stage:

    bind       policy and data become one table problem for each protect block
    search     the methods of the block's chain, until one gives a pattern
    audit      every attacker against every sensitive cell of the pattern; nothing skips this
    release    all files are written beside their place and renamed into it, or none is

`protect` does the first three for all blocks and writes nothing. Built on them: `assess`, `compare`, `compile`, `diff`,
`explain`, `plan` and `verify`, one for each command. Commands and notebooks call these and print what they return.
"""
