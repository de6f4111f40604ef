;;; sdc-mode.el --- major mode for sdcdsl policies  -*- lexical-binding: t; -*-
;; Written by editors/generate.py from the grammar and the vocabulary.
;; Version: 1
;; Package-Requires: ((emacs "27.1"))

;;; Code:

(defconst sdc-mode-font-lock
  `((,(regexp-opt '("attacker" "data" "dimension" "fix" "override" "param" "period" "policy" "protect" "publish" "require" "scenario" "sdc" "seed" "sensitive" "suppress" "table" "use" "waive" "as" "assess" "attribute" "bounds" "by" "coalition" "codes" "column" "conditional" "contributions" "cost" "counts" "down" "each" "fixed" "from" "given" "group" "hierarchy" "integer" "knows" "labels" "largest" "like" "lpl" "measure" "method" "only" "prefix" "previous" "recode" "release" "scales" "scenarios" "spl" "status" "sum" "to" "together" "total" "tree" "unit" "units" "up" "upl" "values" "against" "and" "at" "because" "else" "if" "in" "inf" "level" "not" "of" "or" "otherwise" "then" "under" "until" "where") 'symbols) . font-lock-keyword-face)
    (,(regexp-opt '("abs" "ceil" "exp" "floor" "log" "max" "min" "round" "sqrt" "adjustment" "cell_key" "cellkey" "combined" "csp" "cta" "ecta" "enhanced_adjustment" "intervals" "ip" "perturb" "perturbation" "rounding" "suppression" "attribute_disclosure" "contributors" "dominance" "freq" "group_disclosure" "k_disclosure" "nk" "p" "p_percent" "pq" "request" "threshold" "zero") 'symbols) . font-lock-function-name-face)
    (,(regexp-opt '("contribution" "count" "needed" "value" "weight") 'symbols) . font-lock-variable-name-face)
    ("\\_<[0-9]+\\(?:\\.[0-9]+\\)?%?" . font-lock-constant-face)))

(defvar sdc-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?_ "w" table)
    table))

;;;###autoload
(define-derived-mode sdc-mode prog-mode "sdc"
  "Policies of statistical disclosure control."
  (setq-local comment-start "# ")
  (setq-local indent-tabs-mode nil)
  (setq-local font-lock-defaults '(sdc-mode-font-lock)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.sdc\\'" . sdc-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(sdc-mode . ("sdcdsl" "lsp"))))

(provide 'sdc-mode)
;;; sdc-mode.el ends here
