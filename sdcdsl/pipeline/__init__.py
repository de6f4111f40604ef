"""From a policy to released files, one module for each stage:

    bind       policy and data become one table problem for each protect block
    search     the methods of the block's chain, until one gives a pattern
    audit      every attacker against every sensitive cell of the pattern; nothing skips this
    release    all files are written beside their place and renamed into it, or none is

`protect` does the first three for all blocks and writes nothing; `audit` also attacks tables somebody else released.
Built on them, one module for each command: `assess`, `compare`, `compile`, `diff`, `explain`, `plan`, and `verify` with
`replay`. Each is a function of a request (`request.Inputs` and what the stage needs beside) and gives a value with its
diagnostics. Commands and notebooks call these, and render what they return; how long work goes on is told to a `Watch`.
"""
