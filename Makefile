# `make` lists the commands. Every command first sets up what it needs in .venv.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Dependencies come from pyproject.toml and constraints.txt; the code itself is installed editable,
# so these stamps go stale only when one of the two files changes.
DEV := .venv/.dev-installed
BENCH := .venv/.bench-installed
DOCS := .venv/.docs-installed
LOWEST := .venv-lowest/.installed

# the tests that run kernels, for test-bounds
KERNEL_TESTS := $(addprefix tests/test_, exact_posterior.py oracle.py blocked.py metropolis.py uncollapsed.py \
	em.py promoted.py promoted_law.py seeds.py prior_knowledge.py forged.py lying_matrices.py counts.py edges.py)

# Seeds that `make test-seeds` uses instead of those in the tests.
SEEDS ?= $(shell seq 1 50)

.PHONY: help install check fix test test-bench test-bounds test-cuda test-dask test-lowest test-seeds fuzz bench demo docs screenshots outputs build clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

install: $(DEV) ## create .venv with coterie (editable) and the development tools

check: $(DEV) ## check formatting, lint, types and import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(DEV) ## format, and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: $(DEV) ## run the tests, a process per core (ARGS="-k name" for some of them)
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

test-bench: $(DEV) ## run the tests of the benchmarks (about a minute)
	$(BIN)/python -m pytest -n auto --dist loadfile benchmarks/tests $(ARGS)

test-bounds: $(DEV) ## run the kernels' tests with every array index checked (about 20 minutes)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="$(CURDIR)/.cache/numba-bounds" $(BIN)/python -m pytest $(KERNEL_TESTS) $(ARGS)

# In the environment at hand, not in .venv: CuPy must match the driver, so nothing is installed.
test-cuda: ## run the tests that need an NVIDIA GPU, with the python at hand
	PYTHONPATH=src $(PYTHON) -m pytest tests/cuda $(ARGS)

test-dask: $(DEV) ## run the tests that start and kill Dask workers (about ten minutes)
	COTERIE_TEST_DASK=1 $(BIN)/python -m pytest tests/test_dask*.py $(ARGS)

# Old and new packages warn about each other's deprecations; our own show up with new versions.
test-lowest: $(LOWEST) ## run the tests with the lowest versions that pyproject.toml allows
	NUMBA_CACHE_DIR="$(CURDIR)/.cache/numba-lowest" .venv-lowest/bin/python -m pytest -m "not slow" \
	  -W ignore::DeprecationWarning $(ARGS)

fuzz: $(DEV) ## test with damaged files, odd cells, invalid matrices, kills and races (ARGS="folders --quick" for a part)
	$(BIN)/python -m benchmarks.trust $(ARGS)

test-seeds: $(DEV) ## run the tests that draw with 50 other seeds (SEEDS="1 2 3" for other ones)
	failed=""; \
	for seed in $(SEEDS); do \
	  echo "COTERIE_TEST_SEED=$$seed"; \
	  COTERIE_TEST_SEED=$$seed $(BIN)/python -m pytest -q -m chance $(ARGS) || failed="$$failed $$seed"; \
	done; \
	if [ -n "$$failed" ]; then echo "failed with COTERIE_TEST_SEED:$$failed"; exit 1; fi

bench: $(BENCH) ## measure speed, memory and quality (ARGS="speed" for a part; "papers"; "peers")
	$(BIN)/python -m benchmarks $(or $(ARGS),all)

demo: $(DEV) ## cluster a small built-in corpus and show the result
	$(BIN)/python -m coterie.demo $(ARGS)

docs: $(DOCS) ## build the documentation in site/ (static pages that work offline)
	rm -rf site
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --fresh-env -d .cache/docs docs site
	$(BIN)/python tools/check_site.py site

screenshots: $(DEV) ## make the pictures of the documentation (needs chromium and chromedriver)
	$(BIN)/python tools/screenshots.py

outputs: $(DEV) ## write what the code of the tutorials prints below it
	$(BIN)/python tools/outputs.py

build: $(DEV) ## build wheel and sdist in dist/, then test the wheel in an empty environment
	rm -rf dist
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m build --outdir dist .
	try="$$(mktemp -d)"; trap 'rm -rf "$$try"' EXIT; \
	$(PYTHON) -m venv "$$try/venv"; \
	"$$try/venv/bin/python" -m pip --disable-pip-version-check install --quiet -c constraints.txt dist/*.whl; \
	cp tools/try_wheel.py "$$try/"; cd "$$try"; \
	NUMBA_CACHE_DIR="$$try/numba" venv/bin/python -I try_wheel.py

clean: ## remove .venv, caches and builds
	rm -rf .venv .venv-lowest .cache build dist site .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find src tests tools benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	$(PYTHON) -m venv .venv

$(DEV): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e ".[dev]"
	@touch $@

$(BENCH): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e ".[bench]"
	@touch $@

$(DOCS): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e ".[docs]"
	@touch $@

$(LOWEST): pyproject.toml tools/lowest.py
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip --disable-pip-version-check install --quiet packaging
	.venv-lowest/bin/python tools/lowest.py test ja th > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip --disable-pip-version-check install --quiet \
	  -c .venv-lowest/lowest.txt -e ".[test,ja,th]"
	@touch $@
