# One set of commands for people and for CI; `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
BIN := .venv/bin
INSTALLED := .venv/.installed
PROTO := $(wildcard proto/tilewarp/v1/*.proto)

.PHONY: help install run test soak bench check docs pictures format proto lock clean

help: ## List the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

install: $(INSTALLED) ## Make .venv with the tilewarp command in .venv/bin

$(INSTALLED): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "tilewarp needs Python 3.11 or newer; name one with PYTHON=" >&2; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv .venv || { rm -rf .venv; \
		echo "$(PYTHON) cannot make a virtual environment (on Debian: apt install python3-venv)" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: install ## Analyse the example positions through the service, all of it on this machine
	@$(BIN)/python -W error examples/run.py

test: install ## Run the test suite
	$(BIN)/tilewarp warmup
	$(BIN)/pytest -n 2 --dist loadfile -m "not soak"

soak: install ## Run the tests that take longer
	$(BIN)/tilewarp warmup
	$(BIN)/pytest -m soak --timeout 3600

bench: install ## Measure perft, beside another generator if one is named; print the bench signature
	$(BIN)/python bench/perft.py
	$(BIN)/tilewarp bench

check: install ## Check format, lint, types, import rules, the wire contract, deployment files and documentation
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/buf lint proto
	$(BIN)/buf format --diff --exit-code proto
	@rm -rf .proto-check && mkdir .proto-check && $(call generate,.proto-check) && \
		for file in $$(cd .proto-check && find . -type f); do \
			diff -u "proto/$$file" ".proto-check/$$file" || { echo "run make proto" >&2; rm -rf .proto-check; exit 1; }; \
		done; rm -rf .proto-check
	$(BIN)/hadolint deploy/Dockerfile
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec deploy/compose.yaml
	$(BIN)/kubernetes-validate --strict --quiet --no-warn deploy/kubernetes/*.yaml
	@! command -v systemd-analyze >/dev/null || $(verify_units)
	@! command -v promtool >/dev/null || { promtool check config deploy/prometheus/prometheus.yaml && \
		promtool test rules tests/deploy/alerts.yaml; }
	$(MAKE) --no-print-directory docs

# The units start what stands in /opt/tilewarp; here it stands in this folder.
verify_units = { rm -rf .units-check && mkdir .units-check && \
	for unit in deploy/systemd/*.service; do \
		sed 's|/opt/tilewarp|$(CURDIR)|' $$unit > .units-check/$$(basename $$unit); \
	done; systemd-analyze verify --man=no .units-check/*.service; code=$$?; rm -rf .units-check; exit $$code; }

docs: install ## Build the documentation to build/docs
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going --jobs auto docs build/docs

pictures: install ## Draw the pictures of the documentation
	$(BIN)/python docs/draw.py

format: install ## Format the sources and mend what the linter can mend
	$(BIN)/ruff check --quiet --fix .
	$(BIN)/ruff format --quiet .
	$(BIN)/buf format --write proto

# The plugins for type stubs are found on PATH.
generate = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m grpc_tools.protoc -I proto \
	--python_out=$(1) --grpc_python_out=$(1) --mypy_out=quiet:$(1) --mypy_grpc_out=quiet:$(1) $(PROTO)

proto: install ## Generate the code of the wire contract
	$(call generate,proto)

COMPILE := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header

lock: ## Choose the newest versions that fit pyproject.toml; needs uv
	$(COMPILE) --upgrade --extra dev pyproject.toml -o requirements.lock
	$(COMPILE) -c requirements.lock --no-annotate --extra tracing pyproject.toml -o deploy/runtime.lock
	echo hatchling | $(COMPILE) -c requirements.lock --no-annotate - -o deploy/build.lock

clean: ## Remove what was built, .venv included
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .proto-check .units-check build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
