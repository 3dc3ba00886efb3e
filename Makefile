# The project's commands. `make help` lists them; every target sets up what it needs.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup check format test

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(STAMP) ## virtual environment with the project and its tools

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("sanare needs Python 3.11 or newer; set PYTHON=/path/to/python3.11") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

check: setup ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## reformat and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: setup ## unit and integration tests (embedded cluster)
	$(BIN)/pytest

# --- the CRDs and the image ---------------------------------------------------------------------------------------
.PHONY: crds

crds: setup ## write the CRDs from the models in operator/sanare/api
	$(BIN)/python -m sanare.api.crd crds charts/sanare/files/crds
