# make run     see gradsan explain an error, on a fresh machine, within a minute
# make test    everything that CI checks
# make prove   100,000 random programs, in PyTorch and in the model; thousands of faults, signals and kills, none of them felt
# make explore other random programs for the line log; CI always takes the same
# make lightgcn  LightGCN in plain torch, PyTorch Geometric and DGL: explained, mended, trained, in a few minutes
# make bench   what watching costs, as ratios; what explaining costs as a graph grows; how fast source is checked
# make test-all  the suite on every Python found, and on the oldest torch
# make golden  rewrite the golden files, the JSON Schema and what the documents show, to be read in review

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
QUIET_PIP := python -m pip --disable-pip-version-check --quiet
PIP := $(BIN)/$(QUIET_PIP)
PROGRAMS ?= 100000
FAULTS ?= 10000
SIGNALS ?= 1000

.PHONY: run test check prove explore lightgcn bench test-all golden clean

run: .venv/run.stamp
	@echo '$$ gradsan run examples/own_cell/broken.py'
	@$(BIN)/gradsan run examples/own_cell/broken.py; test $$? -eq 1

test: check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses logical --dist worksteal

check: .venv/test.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

prove: .venv/test.stamp
	cd tests && ../$(BIN)/python -W error -m lifecycle.proof $(PROGRAMS)
	cd tests && ../$(BIN)/python -W error -m fix.chaos 100
	cd tests && OMP_NUM_THREADS=1 ../$(BIN)/python -m observe.injection $(FAULTS)
	cd tests && OMP_NUM_THREADS=1 ../$(BIN)/python -m observe.injection.signals $(SIGNALS)

explore: .venv/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses logical --hypothesis-profile explore tests/observe/test_line_log.py tests/observe/test_recorder.py

lightgcn: .venv/run.stamp .venv-pyg/stamp .venv-dgl/stamp
	@OMP_NUM_THREADS=1 $(BIN)/python examples/lightgcn/compare.py \
		torch=$(BIN)/python pyg=.venv-pyg/bin/python dgl=.venv-dgl/bin/python

bench: .venv/run.stamp
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/explaining.py
	$(PIP) install --target .venv/torchfix torchfix==0.7.0
	TORCHFIX=.venv/torchfix $(BIN)/python benchmarks/check_speed.py

test-all: .venv/test.stamp
	$(PIP) install nox==2026.10.20
	$(BIN)/nox

golden: .venv/test.stamp
	$(BIN)/python -m pytest --update-golden -k 'golden or page or schema or text or shown or picture'

clean:
	rm -rf .venv .venv-pyg .venv-dgl .nox .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/run.stamp: requirements/run.txt pyproject.toml
	@echo 'installing into .venv (once)'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) install -r requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

.venv/test.stamp: .venv/run.stamp requirements/test.txt
	@$(PIP) install -r requirements/test.txt
	@touch $@

# A graph library has an environment of its own. DGL stopped before setuptools 71, which torch's metadata asks to exceed:
# hence the last install, without a look at what others require.
.venv-%/stamp: requirements/%.txt requirements/run.txt pyproject.toml
	@echo 'installing into .venv-$* (once)'
	@test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/$(QUIET_PIP) install -r $<
	@.venv-$*/bin/$(QUIET_PIP) install --no-deps --no-build-isolation --editable .
	@test $* != dgl || .venv-$*/bin/$(QUIET_PIP) install --no-deps setuptools==70.3.0
	@touch $@
