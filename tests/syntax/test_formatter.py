"""One layout for every text, reached in one step, with nothing lost."""

from __future__ import annotations

import pytest

from tests.syntax.reading import formatted, read, spelled

CASES = {
    "blocks are indented and spaced out": (
        "sdc 1\nseed 1\ndimension a {\ncodes A,B\ntotal T }\nattacker x { bounds 0..inf }",
        "sdc 1\nseed 1\n\ndimension a {\n  codes A, B\n  total T\n}\n\nattacker x {\n  bounds 0 .. inf\n}\n",
    ),
    "blank lines are kept one at a time": (
        '\n\nsdc 1\n\n\n\nseed 1\npolicy "x"\n\n\n',
        'sdc 1\n\nseed 1\npolicy "x"\n',
    ),
    "comments stay where they are": (
        "# a\nsdc 1 # b\n# c\n\n# d\nseed 1   # e\n# f\n",
        "# a\nsdc 1  # b\n# c\n\n# d\nseed 1  # e\n# f\n",
    ),
    "comments behind neighbouring lines are aligned": (
        'sdc 1\nseed 1 # a\npolicy "x" # b\n',
        'sdc 1\nseed 1      # a\npolicy "x"  # b\n',
    ),
    "comments inside a statement break it where newlines are free": (
        "sdc 1\ndimension a {\n  codes A, # first\n  # between\n  B # last\n}\n",
        "sdc 1\n\ndimension a {\n  codes A,  # first\n      # between\n      B  # last\n}\n",
    ),
    "operators are spaced, signs are not": (
        'sdc 1\nrequire a*-b+c^2>=(- 3)/d because "x"',
        'sdc 1\nrequire a * -b + c ^ 2 >= (-3) / d because "x"\n',
    ),
    "calls hug their parentheses": (
        "sdc 1\nsensitive by p_percent ( 10% , n : 2 ) where not( value>3 ) and a in( B,C )",
        "sdc 1\nsensitive by p_percent(10%, n: 2) where not (value > 3) and a in (B, C)\n",
    ),
    "tables are aligned": (
        "sdc 1\ntable t {\nvalues\n|a|value|\n|---|--:|\n|x|1|\n|long name|200|\n}",
        "sdc 1\n\ntable t {\n  values\n    | a         | value |\n    | --------- | ----- |\n"
        "    | x         |     1 |\n    | long name |   200 |\n}\n",
    ),
    "trees are indented by depth": (
        "sdc 1\ndimension a {\nhierarchy tree\n - T\n    - A\n        - B\n    - C\n}",
        "sdc 1\n\ndimension a {\n  hierarchy tree\n    - T\n      - A\n        - B\n      - C\n}\n",
    ),
    "chains stay on the line of the brace": (
        "sdc 1\nprotect t {\nmethod csp {gap 1%}\nelse ip\nelse cta {}\n}",
        "sdc 1\n\nprotect t {\n  method csp {\n    gap 1%\n  } else ip else cta {}\n}\n",
    ),
    "an option's sign is its own": (
        "sdc 1\nprotect t { method cta { range - 30% .. 30% } }",
        "sdc 1\n\nprotect t {\n  method cta {\n    range -30% .. 30%\n  }\n}\n",
    ),
    "times have one space": (
        "sdc 1\nprotect t { method csp { time_limit 10min } }",
        "sdc 1\n\nprotect t {\n  method csp {\n    time_limit 10 min\n  }\n}\n",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_canonical_form(case: str):
    text, wanted = CASES[case]
    assert formatted(text) == wanted
    assert formatted(wanted) == wanted


def test_long_lists_are_folded_at_commas():
    text = "sdc 1\ndimension a {\n  codes " + ", ".join(f"code_{i:03}" for i in range(100)) + "\n}\n"
    out = formatted(text)
    assert max(map(len, out.splitlines())) <= 100
    assert formatted(out) == out
    assert spelled(read(out)[0]) == spelled(read(text)[0])


def test_wide_characters_are_aligned_as_they_are_seen():
    out = formatted("sdc 1\ntable t {\nvalues\n|a|value|\n|東京|1|\n|x|2|\n}")
    assert "| 東京 |     1 |\n    | x    |     2 |" in out
