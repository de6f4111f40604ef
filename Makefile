# Two commands do it all on a fresh machine with Python 3.11+ and make:
#   make demo    makes its own environment and shows the program at work
#   make test    the same, and runs the short tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Test processes: one per physical core. More than eight only wait for each other's memory.
JOBS ?= -n auto --maxprocesses 8 --dist worksteal

.PHONY: docs dist locks demo test test-all check lint types types-quick imports bench bench-quick bless grammar fuzz faults soak conformance clean

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (PYTHON=python3.12 make …)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m compileall -q sdcdsl
	touch $@

demo: $(STAMP)
	@$(BIN)/python examples/demo.py

# The short tier: all capabilities, in minutes.
test: $(STAMP)
	$(BIN)/python -m pytest $(JOBS) -m 'not long' $(PYTEST)

# Both tiers. The long one: clusters, fuzzing, faults, walks, the browser, and more cases of what the short one shows.
test-all: test
	$(BIN)/python -m pytest $(JOBS) -m long $(PYTEST)

# Random policies on random tables by all methods, for as long as one likes; findings and counts go to soak/.
MINUTES ?= 60
SEED ?= 1
soak: $(STAMP)
	$(BIN)/python -m tests.soak --minutes $(MINUTES) --seed $(SEED)

# The same tiny tables solved in every way, so many of each method: make conformance CASES=500 FROM=1000.
CASES ?= 200
FROM ?= 0
conformance: $(STAMP)
	CONFORMANCE=$(CASES) CONFORMANCE_FROM=$(FROM) $(BIN)/python -m pytest tests/conformance $(JOBS) $(PYTEST)

check: lint types imports

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/pyright

# The packages that are checked before every change; the whole tree takes a quarter of an hour on two cores.
CHECKED := $(addprefix sdcdsl/,policy pattern proof pipeline cli methods vocabulary syntax diagnostics editing lsp formats)
types-quick: $(STAMP)
	$(BIN)/pyright $(CHECKED)

imports: $(STAMP)
	$(BIN)/lint-imports

# Every row of every suite, and the peers from PyPI: hours. BENCH='--suites csp --only small*' runs some of it.
bench: $(STAMP)
	$(BIN)/python benchmarks/run.py --cache .bench --results benchmarks/results $(BENCH)
	$(BIN)/python benchmarks/papers.py

# A look at all of it in less than ten minutes on two idle cores, set-up and all; what it measures stays in .bench/quick.
bench-quick: $(STAMP)
	$(BIN)/python benchmarks/run.py --quick --jobs 2 --within 490 --cache .bench --results .bench/quick $(BENCH)

# Readers against broken files, ten CPU minutes each: make fuzz FUZZ='--minutes 3 jj rda'. atheris guides it where it is
# installed (the extra `fuzz`). Figures: docs/security.md.
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzzing $(FUZZ)

# Solvers that lie, at least a thousand times in each of four places: make faults FAULTS='--faults 100'.
faults: $(STAMP)
	$(BIN)/python -m tests.faults $(FAULTS)

# Golden files from what the program says now; review them in the diff.
bless: $(STAMP)
	$(BIN)/python -m pytest -q --bless

# The documentation site, in build/site; every warning is an error.
DOCS := $(VENV)/.docs-installed
$(DOCS): $(STAMP)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[docs]'
	touch $@
docs: $(DOCS)
	$(BIN)/python docs/site/build.py

# What a release consists of, in dist: wheel, sdist, list of components (CycloneDX), manual pages and completions.
# SOURCE_DATE_EPOCH is the last commit's time: two builds of one commit are the same bytes.
dist: $(STAMP)
	rm -rf dist
	$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[release]'
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --outdir dist .
	$(BIN)/cyclonedx-py requirements packaging/requirements.txt --pyproject pyproject.toml --of JSON -o dist/sdcdsl.cdx.json
	$(BIN)/python packaging/manual.py dist

# The exact versions that are tested, with hashes: what runs, and the lowest that work with the tests.
UV := $(BIN)/uv pip compile pyproject.toml -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11
locks: $(STAMP)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[release]'
	$(UV) -o packaging/requirements.txt
	$(UV) --resolution lowest-direct --extra dev -o packaging/requirements-lowest.txt

# After a change of grammar/sdc.lark or of the vocabulary.
grammar: $(STAMP)
	$(BIN)/python -m sdcdsl.syntax.grammar
	$(BIN)/python -m sdcdsl.vocabulary.edition

clean:
	rm -rf $(VENV) build dist demo-output fuzz-findings .bench .pytest_cache .ruff_cache .hypothesis
