# The two commands: `make grade` and `make test`. Both set up .venv first, from the lock files in requirements/.
# For daily work: `make check`. CONTRIBUTING.md says what else there is.
PYTHON ?= python3
BIN := .venv/bin
EXAMPLES := examples/submissions

.PHONY: grade test check quick lint mutants lock bench bench-compare robustness clean
.DELETE_ON_ERROR:

# Exit code 1 of `course grade`: graded, and something needs a person.
grade: .venv/base
	@for set in $(notdir $(sort $(wildcard $(EXAMPLES)/*))); do $(BIN)/course grade $$set $(EXAMPLES)/$$set || [ $$? = 1 ] || exit 2; done
	@$(BIN)/course totals

test: .venv/dev
	$(BIN)/python -m pytest $(IN_PARALLEL)

# A file's tests share what they set up, so a file stays together; tests/conftest.py says how many go on at once, and in
# which order.
IN_PARALLEL := --numprocesses auto --dist loadfile --no-loadscope-reorder

# Lint, types, and the quick tests: those of the modules that need no sandbox, platform or browser.
QUICK := $(patsubst %,tests/test_%.py,authoring course docs exports figures grades intake intake_names journal loading record student \
	update values wire)

check: lint quick

quick: .venv/dev
	$(BIN)/python -m pytest $(IN_PARALLEL) -m "not slow" -q $(QUICK)

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# One table: ours, nbgrader, otter, plain pytest and the limit. BENCH holds the same figures for `make bench-compare OLD=file`.
BENCH ?= results/bench.json

bench: .venv/dev
	@mkdir -p $(dir $(BENCH))
	$(BIN)/python benchmarks/peers.py --save $(BENCH)

bench-compare: .venv/dev
	@test -f "$(OLD)" || { echo "say which figures to compare with: make bench-compare OLD=results/bench-old.json"; exit 2; }
	$(BIN)/python benchmarks/peers.py --against $(OLD)

# Speed and robustness, the quick ones; each file of benchmarks/ says how to run it in full.
robustness: .venv/dev
	$(BIN)/python benchmarks/overhead.py --rounds 20
	$(BIN)/python benchmarks/soak.py --submissions 500
	$(BIN)/python benchmarks/fuzz_wire.py --frames 20000 --sessions 200
	$(BIN)/python benchmarks/ps2_false_alarms.py --runs 20
	$(BIN)/python benchmarks/ps3_false_alarms.py --runs 5
	$(BIN)/python benchmarks/false_alarms.py ps4 --seeds 3
	$(BIN)/python benchmarks/false_alarms.py ps5 --seeds 3
	$(BIN)/python benchmarks/ps5_attention.py --repeats 3
	$(BIN)/python benchmarks/false_alarms.py ps6 --seeds 2
	$(BIN)/python benchmarks/ps6_capstone.py --seeds 2

# Are the engine's tests tested? A seeded sample of mutants of each module; fails if fewer than 95 % are found.
mutants: .venv/dev
	$(BIN)/python benchmarks/engine_mutants.py

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv

.venv/base: requirements/base.txt pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/base.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

.venv/dev: requirements/dev.txt .venv/base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	touch $@

# Writes the lock files anew from pyproject.toml; needs `uv` on the PATH.
lock:
	uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --python-version 3.11 --extra build pyproject.toml -o requirements/base.txt
	uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --python-version 3.11 --extra build --extra grader --extra authoring --extra cluster --extra dev --constraint requirements/base.txt pyproject.toml -o requirements/dev.txt

# results/ stays: it holds the journal, and with it all grades.
clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
