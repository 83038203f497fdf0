# make run     see gradsan explain an error, on a fresh machine, within a minute
# make test    everything that CI checks
# make prove   100,000 random programs, in PyTorch and in the model
# make bench   what watching costs, as ratios
# make test-all  the suite on every Python found, and on the oldest torch
# make golden  rewrite the golden files and the JSON Schema, to be read in review

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PROGRAMS ?= 100000

.PHONY: run test check prove bench test-all golden clean

run: .venv/run.stamp
	@echo '$$ gradsan run examples/recurrent.py'
	@$(BIN)/gradsan run examples/recurrent.py; test $$? -eq 1

test: check
	$(BIN)/python -m pytest

check: .venv/test.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

prove: .venv/test.stamp
	cd tests && ../$(BIN)/python -W error -m lifecycle.proof $(PROGRAMS)

bench: .venv/run.stamp
	$(BIN)/python benchmarks/overhead.py

test-all: .venv/test.stamp
	$(PIP) install nox==2026.10.20
	$(BIN)/nox

golden: .venv/test.stamp
	$(BIN)/python -m pytest --update-golden -k 'golden or page or schema or text'

clean:
	rm -rf .venv .nox .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/run.stamp: requirements/run.txt pyproject.toml
	@echo 'installing into .venv (once)'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) install -r requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

.venv/test.stamp: .venv/run.stamp requirements/test.txt
	@$(PIP) install -r requirements/test.txt
	@touch $@
