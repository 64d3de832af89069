# `make demo` and `make test` are all a newcomer needs; each sets up what it needs, once.

VENV := .venv
BIN := $(VENV)/bin
# The examples of a guide build on one another, so a file stays with one process; conftest.py orders them.
PYTEST := python -m pytest -n auto --dist loadfile --no-loadscope-reorder
QUICK := -m "not statistical and not services"
# Modules are compiled once for all processes that the tests start, even where the machine says not to.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-services test-search fuzz test-statistical test-oldest test-pythons lint bench docs pictures reader-test wheel-check clean help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 20

demo: $(VENV)/.run  ## what three models cost, and the report on them
	@$(BIN)/stakes demo

test: $(VENV)/.test  ## run the tests (minutes)
	$(BIN)/$(PYTEST) $(QUICK)

test-services: $(VENV)/.test  ## run the tests that need a cluster, Spark, a database, pictures of the report or a long compilation
	$(BIN)/$(PYTEST) -m services tests

test-search: $(VENV)/.test  ## try the properties on new random input (an hour)
	$(BIN)/$(PYTEST) -m "hypothesis and not statistical and not services" --hypothesis-profile search tests

MINUTES := 30
fuzz: $(VENV)/.test  ## break files at random and see that none is read wrongly (MINUTES=30)
	$(BIN)/python tools/fuzz.py $(MINUTES)

test-statistical: $(VENV)/.test  ## run the long statistical tests
	$(BIN)/python -m pytest -n auto -m statistical tests

lint: $(VENV)/.lint  ## style, formatting, types, docstrings and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/docstrings.py
	$(BIN)/python tools/words.py
	$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md changelog.d docs src replications tests tools examples benchmarks

bench: $(VENV)/.bench  ## speed, as ratios against a peer or a limit in the same run
	$(BIN)/python benchmarks/run.py

# With a browser the build draws the report's pictures, by what the tests install.
BROWSER := $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
docs: $(VENV)/.docs $(if $(BROWSER),$(VENV)/.test)  ## build the documentation into build/docs/html
	rm -rf build/docs/source && mkdir -p build/docs  # pages are also made beside their sources: in a copy
	cp -pR docs build/docs/source && cp -p CHANGELOG.md build/docs
	$(BIN)/python -m sphinx -W --keep-going -b html -c docs build/docs/source build/docs/html

test-oldest:  ## run the tests on the oldest dependencies that pyproject.toml allows
	RESOLUTION=lowest-direct tools/setup .venv-oldest test
	.venv-oldest/bin/$(PYTEST) $(QUICK)

test-pythons:  ## run the tests on every supported Python found on this machine
	tools/test-pythons

pictures: $(VENV)/.test  ## draw the pictures of the report in the documents again
	$(BIN)/python tools/pictures.py

reader-test: $(VENV)/.run  ## follow the tutorial literally, in an environment of its own
	$(BIN)/python tools/reader_test.py

EXTRAS := plot report cli trees ci databases excel mlflow engines
wheel-check: $(VENV)/.run  ## build what is released and try it, alone and with each extra (EXTRAS=plot: only that)
	tools/wheel-check $(EXTRAS)

clean:  ## remove everything that the other targets made
	rm -rf .venv* .pytest_cache .mypy_cache .ruff_cache .hypothesis stakes-demo.html build dist
	find src replications tests benchmarks tools -name __pycache__ -prune -exec rm -rf {} +  # compiled trees, too

# A stamp for each set of extras, so that a second run starts at once.
$(VENV)/.run $(VENV)/.test $(VENV)/.lint $(VENV)/.docs $(VENV)/.bench: $(VENV)/.%: pyproject.toml tools/setup
	tools/setup $(VENV) $*
	@touch $@
