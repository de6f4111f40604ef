"""Highlighting for editors, from the grammar and the vocabulary: python editors/generate.py

Writes the TextMate grammar (VS Code, Sublime Text, JetBrains), the Vim syntax file and the Emacs mode. They know words
and patterns only; what a name is in its place is told by the language server (docs/editors.md). A test holds the files
to what this writes.
"""

from __future__ import annotations

import json
from pathlib import Path

from sdcdsl.syntax.automaton import RESERVED
from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.messages import USAGE
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.quantities import QUANTITIES
from sdcdsl.vocabulary.rules import RULES

HERE = Path(__file__).resolve().parent
NOTE = "Written by editors/generate.py from the grammar and the vocabulary."


def words() -> dict[str, list[str]]:
    """The words of the language by what they are; each in one list."""
    top = [word for word in USAGE["file"] if word]
    inner = [word for block, forms in USAGE.items() if block != "file" for word in forms if word]
    methods, rules = (
        [*METHODS.built_in, *(alias for method in METHODS.built_in.values() for alias in method.aliases)],
        [*RULES.built_in, *(alias for rule in RULES.built_in.values() for alias in rule.aliases)],
    )
    expression = sorted(RESERVED | {"level"})
    taken: set[str] = set()
    out: dict[str, list[str]] = {}
    for name, found in (
        ("expression", expression),
        ("function", [f for f in FUNCTIONS.built_in_names if f not in ("level", "largest")]),
        ("top", top),
        ("method", methods),
        ("rule", [rule for rule in rules if rule not in tables().keywords]),
        ("quantity", [q for q in QUANTITIES if q not in ("lpl", "upl", "spl")]),
        ("statement", [*inner, *tables().keywords]),
    ):
        out[name] = sorted(set(found) - taken)
        taken |= set(found)
    return out


def alternatives(of: list[str]) -> str:
    return "|".join(sorted(of, key=lambda word: (-len(word), word)))


def textmate() -> str:
    w = words()

    def keyword(name: str, of: str) -> dict[str, str]:
        return {"name": f"{name}.sdc", "match": rf"(?<![\w.])(?:{alternatives(w[of])})(?![\w.])"}

    grammar = {
        "information_for_contributors": [NOTE],
        "name": "sdc",
        "scopeName": "source.sdc",
        "fileTypes": ["sdc"],
        "patterns": [
            {"name": "comment.line.number-sign.sdc", "match": "#.*$"},
            {"name": "string.quoted.double.sdc", "begin": '"', "end": '"(?!")|$', "patterns": _IN_TEXT},
            {
                "match": r"^\s*((?:override\s+)?(?:" + alternatives(_BLOCKS) + r"))\s+([^\W\d][\w.]*)",
                "captures": {"1": {"name": "keyword.declaration.sdc"}, "2": {"name": "entity.name.type.sdc"}},
            },
            {
                "match": rf"(?<![\w.])(method|else)\s+({alternatives(w['method'])})(?![\w.])",
                "captures": {"1": {"name": "keyword.other.sdc"}, "2": {"name": "support.function.method.sdc"}},
            },
            {
                "match": rf"(?<![\w.])(by)\s+({alternatives(w['rule'])})(?![\w.])",
                "captures": {"1": {"name": "keyword.other.sdc"}, "2": {"name": "support.function.rule.sdc"}},
            },
            {"name": "constant.numeric.date.sdc", "match": r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"},
            {"name": "constant.numeric.duration.sdc", "match": r"\b[0-9]+(?:\.[0-9]+)?[ \t]?(?:ms|s|min|h)(?!\w)"},
            {"name": "constant.numeric.sdc", "match": r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?%?(?!\w)"},
            keyword("keyword.operator.word", "expression"),
            {"name": "support.function.sdc", "match": rf"(?<![\w.])(?:{alternatives(w['function'])})(?=\s*\()"},
            keyword("keyword.control", "top"),
            keyword("variable.language", "quantity"),
            keyword("keyword.other", "statement"),
            {"name": "keyword.operator.sdc", "match": r"\.\.|!=|<=|>=|[-+*/^=<>]"},
        ],
    }
    return json.dumps(grammar, indent=2, ensure_ascii=False) + "\n"


_IN_TEXT = [
    {"match": '""'},
    {"match": r"\{\{|\}\}"},
    {"name": "variable.parameter.sdc", "match": r"\{\s*[^\W\d][\w.]*\s*\}"},
]
_BLOCKS = ["dimension", "data", "table", "attacker", "scenario", "protect"]


def vim() -> str:
    w = words()
    groups = {
        "sdcTop": ("Keyword", w["top"]),
        "sdcStatement": ("Statement", w["statement"]),
        "sdcExpression": ("Operator", w["expression"]),
        "sdcQuantity": ("Identifier", w["quantity"]),
        "sdcFunction": ("Function", [*w["function"], *w["method"], *w["rule"]]),
    }
    lines = [
        f'" {NOTE}',
        'if exists("b:current_syntax")',
        "  finish",
        "endif",
        "syntax iskeyword @,48-57,_,192-255",
        *(f"syntax keyword {group} {' '.join(of)}" for group, (_, of) in groups.items()),
        r"syntax match sdcNumber /\<[0-9]\+\(\.[0-9]\+\)\?\([eE][+-]\?[0-9]\+\)\?%\?/",
        r"syntax match sdcNumber /\<[0-9]\+\(\.[0-9]\+\)\?[ \t]\?\(ms\|s\|min\|h\)\>/",
        r"syntax match sdcNumber /\<[0-9]\{4}-[0-9]\{2}-[0-9]\{2}\>/",
        r"syntax match sdcComment /#.*$/ contains=@Spell",
        r'syntax region sdcString start=/"/ skip=/""/ end=/"/ oneline',
        *(f"highlight default link {group} {link}" for group, (link, _) in groups.items()),
        "highlight default link sdcNumber Number",
        "highlight default link sdcComment Comment",
        "highlight default link sdcString String",
        'let b:current_syntax = "sdc"',
    ]
    return "\n".join(lines) + "\n"


def emacs() -> str:
    w = words()

    def listed(*names: str) -> str:
        return " ".join(f'"{word}"' for name in names for word in w[name])

    return f""";;; sdc-mode.el --- major mode for sdcdsl policies  -*- lexical-binding: t; -*-
;; {NOTE}
;; Version: 1
;; Package-Requires: ((emacs "27.1"))

;;; Code:

(defconst sdc-mode-font-lock
  `((,(regexp-opt '({listed("top", "statement", "expression")}) 'symbols) . font-lock-keyword-face)
    (,(regexp-opt '({listed("function", "method", "rule")}) 'symbols) . font-lock-function-name-face)
    (,(regexp-opt '({listed("quantity")}) 'symbols) . font-lock-variable-name-face)
    ("\\\\_<[0-9]+\\\\(?:\\\\.[0-9]+\\\\)?%?" . font-lock-constant-face)))

(defvar sdc-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\\n ">" table)
    (modify-syntax-entry ?_ "w" table)
    table))

;;;###autoload
(define-derived-mode sdc-mode prog-mode "sdc"
  "Policies of statistical disclosure control."
  (setq-local comment-start "# ")
  (setq-local indent-tabs-mode nil)
  (setq-local font-lock-defaults '(sdc-mode-font-lock)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\\\.sdc\\\\'" . sdc-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(sdc-mode . ("sdcdsl" "lsp"))))

(provide 'sdc-mode)
;;; sdc-mode.el ends here
"""


FILES = {
    "vscode/syntaxes/sdc.tmLanguage.json": textmate,
    "vim/syntax/sdc.vim": vim,
    "emacs/sdc-mode.el": emacs,
}


def main() -> None:
    for name, write in FILES.items():
        path = HERE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(write(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
