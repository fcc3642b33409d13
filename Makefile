# make demo: the main job on a small real capture; make test: what guards main. Both set up what they need.
VENV ?= .venv
export VENV
PYTHON_IN := $(VENV)/bin/python
SOURCES := pyproject.toml setup.py tools/environment.sh $(shell find pyx -name '*.p*')
REPORT ?= demo-report

# Byte code is kept, whatever the environment says: tests begin many processes, which would each compile all of kwire again.
test test-all unit: export PYTHONDONTWRITEBYTECODE :=
TESTS := KWIRE_REQUIRE_NATIVE=1 $(PYTHON_IN) -m pytest
WITH_SERVICES := -n 3 --dist loadgroup --no-loadscope-reorder --durations=40 --ignore=tests/lint tests

.PHONY: demo test test-all unit bench peers asan debug flat fuzz mutants lint docs wheels proof sbom requirements clean
.DELETE_ON_ERROR:

$(VENV)/.ready-%: $(SOURCES)
	@sh tools/environment.sh $*
	@touch $@

demo: $(VENV)/.ready-demo
	$(PYTHON_IN) -m kwire analyze examples/three-brokers.pcap.gz --owners examples/three-brokers-owners.csv --out $(REPORT) --overwrite --engine local

# Three workers for two cores: tests with brokers and browsers wait more than they run. tests/conftest.py says which groups begin first.
test: $(VENV)/.ready-test
	$(TESTS) -m "not matrix" $(WITH_SERVICES)

# With the matrix (other versions of Spark and brokers, clusters, lakes, builds, all looks of the page) and with all cases of the tests that
# otherwise take a share of them
test-all: $(VENV)/.ready-test
	$(TESTS) --whole $(WITH_SERVICES)

# What to run after each change: without the tests of tests/slow_tests.txt
unit: $(VENV)/.ready-test
	$(TESTS) -n 2 --quick tests/unit tests/parity tests/vectors

bench: $(VENV)/.ready-bench
	KWIRE_REQUIRE_NATIVE=1 $(PYTHON_IN) -m pytest benchmarks -p no:xdist -q --benchmark-quiet

# kwire beside Java, Go and Rust on the same bytes; a language that is not on this machine is named and left out
peers: $(VENV)/.ready-bench
	KWIRE_REQUIRE_NATIVE=1 $(PYTHON_IN) benchmarks/compiled/race.py

asan: $(VENV)/.ready-test
	@sh tools/asan.sh

# Debian's debug build of Python, which asserts what others assume. Exit status 3: it is not to be had on this machine, and was named.
debug: $(VENV)/.ready-test
	$(PYTHON_IN) tools/debug_python.py || { status=$$?; [ $$status = 3 ]; }

# decodes of damaged bytes, after which the process must hold what it held before
DECODES ?= 10000000
flat: $(VENV)/.ready-test
	KWIRE_REQUIRE_NATIVE=1 $(PYTHON_IN) tests/failing_decodes.py $(DECODES)

# TARGETS="headers relay" runs some; all are in tests/fuzz/targets. MINUTES is for each.
MINUTES ?= 10
fuzz: $(VENV)/.ready-fuzz
	KWIRE_REQUIRE_NATIVE=1 $(PYTHON_IN) tests/fuzz/run.py --minutes $(MINUTES) $(TARGETS)

# MUTANTS="tcp --sample 0"; all mutants of all subjects take days
mutants: $(VENV)/.ready-test
	KWIRE_REQUIRE_NATIVE=1 $(PYTHON_IN) tools/mutants.py $(MUTANTS)

lint: docs
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(PYTHON_IN) tools/lint_cython.py
	$(VENV)/bin/lint-imports
	$(TESTS) -n 2 -q tests/lint
	$(VENV)/bin/zizmor --offline --quiet .github/workflows action.yml
	@if command -v go >/dev/null; then go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 .github/workflows/*.yml && \
	    go run github.com/compose-spec/compose-go/v2/cmd@v2.16.2 deploy/compose.yaml >build/compose.yaml && \
	    go run github.com/vale-cli/vale/v3/cmd/vale@v3.21.0 --output=line README.md docs; \
	    else echo "kwire: workflows (actionlint), the Compose file and prose (vale) were not checked, which needs Go"; fi

docs: $(VENV)/.ready-test
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --site-dir build/site

# An environment that holds what requirements/build.txt lists, by hash, and nothing else
BUILD := build/wheels/venv
$(BUILD)/.ready: requirements/build.txt
	@sh tools/wheels/environment.sh requirements/build.txt $(BUILD)
	@touch $@

# PYTHONS=3.11,3.14 and PLATFORMS=x86_64 build a part; PROVE=3.11 tries the wheels of one Python, PROVE=none none.
# Exit status 3 of a step: a Python is not to be had on this machine, and was named; what could be done is done.
PROVE ?= 3.10,3.11,3.12,3.13,3.14,3.14t
MACHINE ?= $(shell uname -m)
EMULATED ?= $(if $(filter none,$(PROVE)),none,3.11)
OUTSIDE = status=$$?; [ $$status = 0 ] || [ $$status = 3 ]

wheels: $(BUILD)/.ready
	$(BUILD)/bin/python tools/wheels/build.py $(if $(PYTHONS),--pythons $(PYTHONS)) $(if $(PLATFORMS),--platforms $(PLATFORMS)) || { $(OUTSIDE); }
	$(BUILD)/bin/python tools/wheels/prove.py --pythons $(PROVE) --platform $(MACHINE) --emulated $(EMULATED) || { $(OUTSIDE); }

# the wheel in dist for one Python and platform (aarch64, musl-x86_64, pure): must be there
proof:
	python3 tools/wheels/prove.py --pythons $(PROVE) --platform $(MACHINE)

# dist/kwire.cdx.json: what `pip install kwire[...]` brings without Spark, with versions and licences (CycloneDX); needs the wheels in dist
sbom:
	@sh tools/wheels/environment.sh requirements/sbom.txt build/sbom/tool
	rm -rf build/sbom/kwire
	python3 -m venv --without-pip build/sbom/kwire
	python3 -m pip --python build/sbom/kwire/bin/python install -q "$$(ls dist/kwire-*-py3-none-any.whl)[cli,proxy,tls,redact]"
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) build/sbom/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type library \
	    --output-reproducible --output-file dist/kwire.cdx.json build/sbom/kwire/bin/python

# New versions of what builds releases, with their hashes
requirements:
	for each in build sbom; do uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes --no-annotate \
	    --custom-compile-command "make requirements" requirements/$$each.in --output-file requirements/$$each.txt; done

clean:
	rm -rf build dist $(REPORT) src/kwire/*/_native/*.so src/*.egg-info
