# `make demo` and `make test` are all a newcomer needs; each sets up what it needs, once.

VENV := .venv
BIN := $(VENV)/bin
# The examples of a guide build on one another, so a file stays with one process.
PYTEST := python -m pytest -n auto --dist loadfile

.PHONY: demo test test-statistical test-oldest test-pythons lint bench docs wheel-check clean help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 20

demo: $(VENV)/.run  ## what three real classifiers cost, and the report on them
	@$(BIN)/stakes demo

test: $(VENV)/.test  ## run the tests (minutes)
	$(BIN)/$(PYTEST) -m "not statistical"

test-statistical: $(VENV)/.test  ## run the long statistical tests
	$(BIN)/python -m pytest -n auto -m statistical tests

lint: $(VENV)/.lint  ## style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.bench  ## speed, as ratios against a peer or a limit in the same run
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.docs  ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

test-oldest:  ## run the tests on the oldest dependencies that pyproject.toml allows
	RESOLUTION=lowest-direct tools/setup .venv-oldest test
	.venv-oldest/bin/$(PYTEST) -m "not statistical"

test-pythons:  ## run the tests on every supported Python found on this machine
	tools/test-pythons

wheel-check: $(VENV)/.run  ## build the wheel and try it, with nothing but what it requires
	tools/wheel-check

clean:  ## remove everything that the other targets made
	rm -rf .venv* .pytest_cache .mypy_cache .ruff_cache .hypothesis stakes-demo.html docs/_build docs/gallery docs/sg_execution_times.rst docs/reference/generated dist

# A stamp for each set of extras, so that a second run starts at once.
$(VENV)/.run $(VENV)/.test $(VENV)/.lint $(VENV)/.docs $(VENV)/.bench: $(VENV)/.%: pyproject.toml tools/setup
	tools/setup $(VENV) $*
	@touch $@
