"""One paper's method, one file: a table problem goes in, a pattern with its bound comes out. None of it is trusted: the
audit looks at every pattern with fresh eyes."""
