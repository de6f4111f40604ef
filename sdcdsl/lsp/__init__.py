"""The language server: what `sdcdsl.editing` knows of a policy, in the Language Server Protocol."""
