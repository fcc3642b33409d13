# make demo: the main job on a small real capture; make test: everything that guards main. Both set up what they need.
VENV ?= .venv
export VENV
PYTHON_IN := $(VENV)/bin/python
SOURCES := pyproject.toml setup.py tools/environment.sh $(shell find pyx -name '*.p*')
REPORT ?= demo-report

# Byte code is kept, whatever the environment says: tests begin many processes, which would each compile all of kwire again.
test unit: export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test unit bench asan mutants lint docs clean
.DELETE_ON_ERROR:

$(VENV)/.ready-%: $(SOURCES)
	@sh tools/environment.sh $*
	@touch $@

demo: $(VENV)/.ready-demo
	$(PYTHON_IN) -m kwire analyze examples/*.pcap* --out $(REPORT) --overwrite --engine local

test: $(VENV)/.ready-test
	KWIRE_REQUIRE_NATIVE=1 $(PYTHON_IN) -m pytest -n 2 --dist loadgroup --whole tests

unit: $(VENV)/.ready-test
	KWIRE_REQUIRE_NATIVE=1 $(PYTHON_IN) -m pytest -n 2 tests/unit tests/parity tests/vectors

bench: $(VENV)/.ready-bench
	KWIRE_REQUIRE_NATIVE=1 $(PYTHON_IN) -m pytest benchmarks -p no:xdist -q --benchmark-quiet

asan: $(VENV)/.ready-test
	@sh tools/asan.sh

# LISTS=pairing or LISTS="tcp native-ends.mysql"; all lists take hours
mutants: $(VENV)/.ready-test
	KWIRE_REQUIRE_NATIVE=1 $(PYTHON_IN) tools/mutants.py $(LISTS)

lint: $(VENV)/.ready-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	PATH=$(VENV)/bin:$$PATH cython-lint pyx
	$(VENV)/bin/lint-imports
	$(VENV)/bin/zizmor --offline --quiet .github/workflows

docs: $(VENV)/.ready-test
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --site-dir build/site

clean:
	rm -rf build dist $(REPORT) src/kwire/*/_native/*.so src/*.egg-info
