# make run     see gradsan explain an error, on a fresh machine, within a minute
# make test    everything that CI checks; what needs no torch also on Python 3.12 to 3.14, where they are found
# make prove   100,000 random programs, in PyTorch and in the model; mutated sources; thousands of faults, signals and kills
# make explore other random programs for the line log; CI always takes the same
# make lightgcn  LightGCN in plain torch, PyTorch Geometric and DGL: explained, fixed, trained, in a few minutes
# make test-frameworks  rows of `knowledge/` about accelerate, lightning, transformers, tensorboard …, run against them
# make test-integrations  trainers, launchers, Ray: real packages, in environments of their own, up to sixteen processes;
#              the extension of VS Code, packaged
# make page    rebuild the page of reports from page/, with node; what it gives ships in the package
# make test-page  its own tests, a rebuild compared with what ships, and what a browser takes to open and move it; a
#              picture of every view is left in build/screens
# make page-pictures  take the pictures of pages in docs/ again
# make docs    the site, in build/site; a link that leads nowhere is an error
# make test-docs  what the site's search finds, where links of reports lead, and what a browser shows; pictures are left in
#              build/screens
# make dist    wheel and sdist, in dist; each is installed into an empty environment, and takes the README's tour
# make bench   all that is measured, beside the tools that it is compared with, as ratios; and the page of it
# make bench-page  docs/benchmarks.md, its plots and the figures in other documents, from the results that are there
# make test-all  the suite on every Python found, and on the oldest torch
# make golden  rewrite the golden files, the JSON Schema and what the documents show, to be read in review

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
QUIET_PIP := python -m pip --disable-pip-version-check --quiet
PIP := $(BIN)/$(QUIET_PIP)
LATER := 3.12 3.13 3.14
# Tests of what needs no torch: they are run by these too, and the line log by their `sys.monitoring`.
PURE = $(wildcard $(addprefix tests/,check causes facts fix knowledge show source lifecycle \
	observe/test_line_log.py observe/test_recorder.py observe/test_parsing.py observe/test_source_loops.py))
# A Python of this minor version that starts: by its name, or among those that pyenv keeps.
later = $(shell for each in python3.$(1) $$(pyenv root 2>/dev/null)/versions/3.$(1).*/bin/python; \
	do $$each -c '' 2>/dev/null && echo $$each && break; done)
# Some machines ask Python to keep no bytecode: every process of the tests would compile all of gradsan again.
unexport PYTHONDONTWRITEBYTECODE
PROGRAMS ?= 100000
FAULTS ?= 10000
SIGNALS ?= 1000
MUTANTS ?= 5000

.PHONY: run test $(LATER:%=test-%) check prove explore lightgcn test-frameworks test-integrations page test-page page-pictures docs test-docs dist bench bench-page test-all golden clean

run: .venv/run.stamp
	@echo '$$ gradsan run examples/own_cell/broken.py'
	@$(BIN)/gradsan run examples/own_cell/broken.py; test $$? -eq 1

test:
	@$(MAKE) --no-print-directory --jobs 2 --output-sync check $(LATER:%=test-%)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses logical --dist worksteal

# One that is not found is named and left out. In one process each: they run side by side, beside mypy, and a second
# process would take as long to load all tests as to run its half of them.
$(LATER:%=test-%): test-3.%:
	@if [ -n "$(call later,$*)" ]; then $(MAKE) --no-print-directory .venv-3.$*/stamp && \
		.venv-3.$*/bin/python -m pytest --quiet --without-torch -m "not cold" $(PURE); \
	else echo 'Python 3.$* is not found: what needs no torch is not tested with it'; fi

.venv-3.%/stamp: requirements/run.txt requirements/test.txt pyproject.toml
	@echo 'installing into .venv-3.$* (once)'
	@test -x .venv-3.$*/bin/python || $(call later,$*) -m venv .venv-3.$*
	@sed '/^-r/d; /^torch==/d' requirements/run.txt requirements/test.txt > .venv-3.$*/requirements.txt
	@.venv-3.$*/bin/$(QUIET_PIP) install -r .venv-3.$*/requirements.txt
	@.venv-3.$*/bin/$(QUIET_PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

check: .venv/test.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

prove: .venv/test.stamp
	cd tests && ../$(BIN)/python -W error -m lifecycle.proof $(PROGRAMS)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --hypothesis-profile prove tests/lifecycle/test_replay_agrees_with_pytorch.py
	cd tests && ../$(BIN)/python -W error -m fix.chaos 100
	cd tests && OMP_NUM_THREADS=1 ../$(BIN)/python -W error -m check.fuzz $(MUTANTS)
	cd tests && OMP_NUM_THREADS=1 ../$(BIN)/python -m observe.injection $(FAULTS)
	cd tests && OMP_NUM_THREADS=1 ../$(BIN)/python -m observe.injection.signals $(SIGNALS)

explore: .venv/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses logical --hypothesis-profile explore tests/observe/test_line_log.py tests/observe/test_recorder.py

lightgcn: .venv/run.stamp .venv-pyg/stamp .venv-dgl/stamp
	@OMP_NUM_THREADS=1 $(BIN)/python examples/lightgcn/compare.py \
		torch=$(BIN)/python pyg=.venv-pyg/bin/python dgl=.venv-dgl/bin/python

test-frameworks: .venv-frameworks/stamp
	OMP_NUM_THREADS=1 .venv-frameworks/bin/python -m pytest tests/knowledge/test_calls.py

test-integrations: .venv-frameworks/stamp editors/vscode/node_modules/stamp
	OMP_NUM_THREADS=1 .venv-frameworks/bin/python -m pytest tests/integrations
	cd editors/vscode && npm run --silent package

page: page/node_modules/stamp .venv/test.stamp
	cd page && npm run --silent build
	cd tests && ../$(BIN)/python -m show.bundle_sources

test-page: page/node_modules/stamp .venv/test.stamp
	cd page && npm run --silent test
	cd page && npm run --silent build -- --outDir node_modules/.again
	diff page/node_modules/.again/page.js src/gradsan/show/bundle/page.js
	diff page/node_modules/.again/page.css src/gradsan/show/bundle/page.css
	command -v chromium > /dev/null || apt-get install --yes --no-install-recommends chromium
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/show/test_page_in_browser.py tests/show/test_page_screens.py
	cd tests && ../$(BIN)/python -m show.page_speed

page-pictures: .venv/test.stamp
	cd tests && OMP_NUM_THREADS=1 ../$(BIN)/python -m show.page_pictures

docs: .venv-docs/stamp .venv/run.stamp
	$(BIN)/python website/stage.py build/site-pages
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet

test-docs: docs .venv/test.stamp
	command -v chromium > /dev/null || apt-get install --yes --no-install-recommends chromium
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/site

dist: .venv-docs/stamp
	rm -rf dist
	.venv-docs/bin/python -m build --quiet --outdir dist
	$(PYTHON) website/tour.py dist

# Some ten minutes on two cores that nobody else uses.
bench: .venv-bench/stamp
	OMP_NUM_THREADS=1 .venv-bench/bin/python benchmarks/measure.py --out benchmarks/results/cpu.json
	$(MAKE) --no-print-directory bench-page

bench-page: .venv-bench/stamp
	.venv-bench/bin/python benchmarks/page.py

# All that `benchmarks/measure.py --device cuda` imports besides torch and numpy, for a machine with a GPU that has those and
# nothing else, and where nothing can be installed:
#     mkdir carried && tar xzf build/carried.tar.gz -C carried
#     PYTHONPATH=carried:src python benchmarks/measure.py --device cuda --out gpu.json
CARRIED := click msgspec rich markdown-it-py mdurl pygments torchlens safetensors tqdm graphviz pillow packaging
CARRIED_FOR ?= 3.12
build/carried.tar.gz: requirements/bench.txt requirements/run.txt
	rm -rf build/carried
	python3 -m pip --disable-pip-version-check --quiet install --target build/carried --no-compile --no-deps \
		--only-binary :all: --python-version $(CARRIED_FOR) --platform manylinux_2_28_x86_64 \
		--platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
		$(foreach each,$(CARRIED),$$(grep -h '^$(each)==' requirements/run.txt requirements/bench.txt))
	tar czf $@ -C build/carried .

test-all: .venv/test.stamp
	$(PIP) install nox==2026.10.20
	$(BIN)/nox

golden: .venv/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --update-golden

clean:
	rm -rf .venv .venv-* page/node_modules editors/vscode/node_modules .nox .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/run.stamp: requirements/run.txt pyproject.toml
	@echo 'installing into .venv (once)'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) install -r requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# Not `npm ci`: it asks for the builds of every other system in the lock, and a registry need not have them all.
%/node_modules/stamp: %/package.json %/package-lock.json
	cd $* && npm install --no-save --silent --no-audit --no-fund
	@touch $@

.venv/test.stamp: .venv/run.stamp requirements/test.txt
	@$(PIP) install -r requirements/test.txt
	@touch $@

.venv-docs/stamp: requirements/docs.txt
	@echo 'installing into .venv-docs (once)'
	@test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/$(QUIET_PIP) install -r $<
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
