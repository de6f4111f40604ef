# Two commands do it all on a fresh machine with Python 3.11+ and make:
#   make demo    makes its own environment and shows the program at work
#   make test    the same, and runs the tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check lint types imports bench bless grammar clean

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (PYTHON=python3.12 make …)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m compileall -q sdcdsl
	touch $@

demo: $(STAMP)
	@$(BIN)/python examples/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 $(PYTEST)

check: lint types imports

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/pyright

imports: $(STAMP)
	$(BIN)/lint-imports

# Start-up, and a quick look at the methods; all figures: benchmarks/README.md.
bench: $(STAMP)
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/csp.py --no-peers --limit 10 --only 'lookalike-1-*,business-0,small-tenth,hier13x7x7d'
	$(BIN)/python benchmarks/ip.py --limit 5 --only 'lookalike-1-symmetric,lookalike-1-asymmetric,targus,table8'

# Golden files from what the program says now; review them in the diff.
bless: $(STAMP)
	$(BIN)/python -m pytest -q --bless

# After a change of grammar/sdc.lark or of the vocabulary.
grammar: $(STAMP)
	$(BIN)/python -m sdcdsl.syntax.grammar
	$(BIN)/python -m sdcdsl.vocabulary.edition

clean:
	rm -rf $(VENV) build dist demo-output .pytest_cache .ruff_cache .hypothesis
