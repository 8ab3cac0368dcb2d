# Every target runs in a virtual environment that make creates: you only need python3 and make.
# `make PYTHON=python3.12 VENV=.venv-3.12 test` uses another interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO_READY := $(VENV)/.demo-ready
# Python compiles what it imports. Compiling all that is installed takes minutes.
PIP_OPTIONS := --quiet --disable-pip-version-check --no-compile
PINNED := --constraint constraints.txt
PIP := $(BIN)/python -m pip install $(PIP_OPTIONS)
# Clients that need Node.js: that of Context7, the MCP inspector, and the conformance suite of MCP in
# one version for each protocol revision.
MCP_SUITE := @modelcontextprotocol/conformance
NODE_CLIENTS := @upstash/context7-sdk@0.3.1 $(MCP_SUITE)@0.1.16 \
	conformance-2026@npm:$(MCP_SUITE)@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0
# This version requests strict tool calls from every model. One test uses it instead of the newest.
OLDER_LANGCHAIN := langchain==1.3.18
# An MCP client that requires version 1 of the SDK. A test runs it in a separate environment.
OLDER_MCP_CLIENT := langchain-mcp-adapters==0.3.2 mcp==1.30.0
# The oldest LangChain that the extra accepts. A test runs it in an environment of its own.
OLDEST_LANGCHAIN := langchain==1.2.11 langchain-core==1.4.0 langchain-anthropic
# An adapter with its extra and what its first example needs, in an environment with the name of the
# extra.
alone = $(PYTHON) -m venv $(VENV)/$(1) && $(VENV)/$(1)/bin/python -m pip install $(PIP_OPTIONS) \
	--editable '.[$(1),sandbox]' $(2)
# Tests wait for servers and processes, so there are more workers than cores.
TEST_ALL := -n $(shell expr 2 + $$(getconf _NPROCESSORS_ONLN)) --dist worksteal

# Install what some tests need beside the environment. If that fails, say why and go on; the tests that
# are skipped for it repeat the cause, which is kept in NAME.failed. One pip keeps only one core busy, so
# these installations run at the same time.
install_aside = { $(2); } >$(VENV)/$(1).failed 2>&1 && rm $(VENV)/$(1).failed || \
	{ echo '$(1) was not installed, so its tests are skipped:'; tail -n 5 $(VENV)/$(1).failed; } >&2

# The tests run while mypy checks. If lint fails, make waits for the tests and then says so.
MAKEFLAGS += --jobs=2

# Tests start many processes. Without bytecode files, each would compile its imports again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-only test-all test-recipes lint pyright format docs docs-check bench dist record clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	@echo 'Installing all extras and the development tools into $(VENV); this takes some minutes ...'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1'
	$(PIP) $(PINNED) --editable '.[all]' --group dev --group models
	@$(call install_aside,langchain-1.3,$(PIP) --no-deps --target $(VENV)/langchain-1.3 '$(OLDER_LANGCHAIN)') & \
	$(call install_aside,mcp-1,$(PYTHON) -m venv $(VENV)/mcp-1 && $(VENV)/mcp-1/bin/python -m pip \
		install $(PIP_OPTIONS) $(OLDER_MCP_CLIENT)) & \
	$(call install_aside,pydantic-ai,$(call alone,pydantic-ai,$(PINNED) 'pydantic-ai-slim[anthropic]')) & \
	$(call install_aside,openai-agents,$(call alone,openai-agents,$(PINNED))) & \
	$(call install_aside,langchain,$(call alone,langchain,$(OLDEST_LANGCHAIN))) & \
	$(call install_aside,node,npm install --prefix $(VENV)/node --loglevel error --no-audit --no-fund \
		--ignore-scripts $(NODE_CLIENTS)) & \
	wait
	@touch $@

# The demo needs only one extra.
$(DEMO_READY): pyproject.toml constraints.txt
	@echo 'Installing the package with its extra cli into $(VENV) ...'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) $(PINNED) --editable '.[cli]'
	@touch $@

demo: $(DEMO_READY) ## Search, read a page and answer with citations, offline; ARGS=--live to use the web
	@$(BIN)/webtools demo $(ARGS)

test: lint test-only ## Run lint and all tests; COVERAGE=1 also measures their coverage, as CI does

# Measuring coverage doubles the time of the tests.
test-only: $(READY)
	$(BIN)/python -m pytest $(if $(ARGS),$(ARGS),$(TEST_ALL)) \
		$(if $(COVERAGE),--cov --cov-report=term:skip-covered)

test-all: ## Run the tests on every Python from 3.11 to 3.14 that is installed
	@MAKE="$(MAKE)" sh scripts/test-all.sh

# Each framework is installed into an environment of its own, which takes minutes.
test-recipes: ## Run the recipes of docs/agents.md with their frameworks; ARGS=NAME for one
	$(PYTHON) tests/recipes/try_recipes.py $(ARGS)

lint: $(READY) ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/check_plain_words.py
	$(BIN)/mypy --num-workers auto
	$(BIN)/python scripts/check_examples.py mypy

pyright: $(READY) ## Report what a second type checker finds
	-$(BIN)/pyright --project pyproject.toml
	-$(BIN)/python scripts/check_examples.py pyright

format: $(READY) ## Format the code and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY) ## Update the generated parts of the docs and build the site
	$(BIN)/python scripts/generate_docs.py
	$(BIN)/python scripts/docs_pictures.py
	$(BIN)/zensical build --strict --clean

docs-check: $(READY) ## Check that the generated parts of the docs are up to date
	$(BIN)/python scripts/generate_docs.py --check
	$(BIN)/python scripts/docs_pictures.py --check
	$(BIN)/zensical build --strict --clean

bench: $(READY) ## Compare with plain httpx
	$(BIN)/python -m benchmarks $(ARGS)

dist: ## Build wheel and sdist reproducibly, check and install them
	$(PYTHON) -m venv $(VENV)-release
	$(VENV)-release/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(VENV)-release/bin/python -m pip install --quiet --disable-pip-version-check \
		$(PINNED) --group release hatchling
	$(VENV)-release/bin/python scripts/build_dist.py

record: $(READY) ## Record responses of the sandbox; ARGS=NAME for one, ARGS=--live for the live APIs
	$(BIN)/python tests/recording.py $(ARGS)

clean: ## Remove the environment and the caches
	rm -rf $(VENV) $(VENV)-release $(VENV)-recipes dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
