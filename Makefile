PYTHON ?= python3
VENV := .venv
# What is installed beside gitguard: all that developing needs, or what the tests need alone.
EXTRA := dev
BIN := $(VENV)/bin
# How many processes the tests run in.
JOBS ?= 2
# Tests write and sync a lot: they do so in memory where there is room, on the disk elsewhere.
MEMORY := $(shell df --output=avail -k /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 4000000 {print "/dev/shm"}')

# What has more places and steps than every run of the tests tries.
THOROUGH := tests/store/session/test_moments.py tests/store/session/test_agmi.py tests/state/test_joining.py

.PHONY: setup demo test quick check e2e e2e-all dist plugin bench bench-fidelity bench-memory bench-collisions bench-redaction bench-scale bench-transcripts faults model references golden

setup: $(VENV)/installed

# The stamp names the file the environment was made from, so a changed pin installs again.
$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet pip==26.3
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRA)]'
	touch $@

demo: setup
	$(BIN)/python -m tests.demo

test: setup
	PYTEST_DEBUG_TEMPROOT=$(MEMORY) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal --ignore=tests/e2e

# A cross-section of two minutes, for another Python than the one that runs all tests.
QUICK := state model hooks pressure delegation sessions/resume transcripts/formats
quick: setup
	$(BIN)/python -m tests.demo
	PYTEST_DEBUG_TEMPROOT=$(MEMORY) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(QUICK:%=tests/%)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# What every change has to pass in the real hosts; all of it takes three times as long.
e2e: setup
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m essential tests/e2e

e2e-all: setup
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal tests/e2e

dist: setup
	$(BIN)/python -m tests.dist

plugin: setup
	$(BIN)/python -m tests.plugin

bench: setup
	$(BIN)/python -m tests.benches.bench

bench-fidelity: setup
	$(BIN)/python -m tests.benches.bench_fidelity

bench-memory: setup
	$(BIN)/python -m tests.benches.bench_memory

bench-redaction: setup
	$(BIN)/python -m tests.benches.bench_redaction

bench-collisions: setup
	$(BIN)/python -m tests.benches.bench_collisions

bench-scale: setup
	TMPDIR=$(or $(MEMORY),$(TMPDIR)) $(BIN)/python -m tests.benches.bench_scale

bench-transcripts: setup
	$(BIN)/python -m tests.benches.bench_transcripts

faults: setup
	$(BIN)/python -m tests.faults
	$(BIN)/python -m tests.sync_simulation
	PYTEST_DEBUG_TEMPROOT=$(MEMORY) $(BIN)/python -m pytest -n $(JOBS) --thorough $(THOROUGH)

model: setup
	$(BIN)/python -m tests.simulation
	$(BIN)/python -m tests.authorship

references: setup
	$(BIN)/python -m tests.generating.generate_references

golden: setup
	$(BIN)/python -m tests.generating.generate_golden
