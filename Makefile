# `make demo` and `make test` are all a newcomer needs; each sets up what it needs, once.

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n auto

.PHONY: demo test test-statistical test-oldest test-pythons lint bench docs clean help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 20

demo: $(VENV)/.run  ## what the example's classifiers cost
	@$(BIN)/python examples/demo.py

test: $(VENV)/.test  ## run the tests (minutes)
	$(PYTEST) -m "not statistical"

test-statistical: $(VENV)/.test  ## run the long statistical tests
	$(PYTEST) -m statistical

lint: $(VENV)/.lint  ## style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test  ## speed, as ratios against a peer or a limit in the same run
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.docs  ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

test-oldest:  ## run the tests on the oldest dependencies that pyproject.toml allows
	RESOLUTION=lowest-direct tools/setup .venv-oldest test
	.venv-oldest/bin/python -m pytest -n auto -m "not statistical"

test-pythons:  ## run the tests on every supported Python found on this machine
	tools/test-pythons

clean:  ## remove everything that the other targets made
	rm -rf .venv* .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build docs/gallery docs/reference/generated dist

# A stamp for each set of extras, so that a second run starts at once.
$(VENV)/.run $(VENV)/.test $(VENV)/.lint $(VENV)/.docs: $(VENV)/.%: pyproject.toml tools/setup
	tools/setup $(VENV) $(filter-out run,$*)
	@touch $@
