# One command each for setting up, running, testing and checking Dissensus. Needs Python 3.11 to
# 3.13, git and make. What the app writes goes under var/, or under DISSENSUS_VAR_DIR.

.DEFAULT_GOAL := help
.PHONY: help install install-dev run test lint bench screenshots messages lock

PORT ?= 8000
TEST_WORKERS ?= 2
VENV := .venv
PYTHON := $(VENV)/bin/python
PYTHON_CANDIDATES ?= python3 python3.13 python3.12 python3.11 python
SUPPORTED := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PIP := $(PYTHON) -m pip --disable-pip-version-check --no-input

# What production settings ask for, made up, so that they can be checked anywhere.
MADE_UP_PRODUCTION := \
	DJANGO_SETTINGS_MODULE=config.settings.prod \
	DISSENSUS_SECRET_KEY=made-up-for-make-lint-0123456789-abcdefghijklmnopqrstuvwxyz \
	DATABASE_URL=postgresql://nobody:nothing@localhost/nowhere \
	CELERY_BROKER_URL=redis://localhost:6379/0 \
	BASE_URL=https://judge.example.org

# Installs lock file $(1), unless the stamps of the environment say that it, or the larger lock
# $(2), is there already. The stamp comes last: an interrupted installation is taken up again.
# The lock is complete, so nothing is left to resolve, and Python compiles what is really imported:
# together that is three times as fast.
define install_lock
	@wanted=$$(git hash-object $(1)); larger=$$(git hash-object $(2)); \
	if grep -qs "$$wanted" $(VENV)/$(1).stamp || grep -qs "$$larger" $(VENV)/$(2).stamp; then exit 0; fi; \
	echo "Installing $(1) into $(VENV)"; \
	$(PYTHON) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m ensurepip >/dev/null; \
	$(PIP) install --quiet --require-hashes --no-deps --no-compile -r $(1) || { \
		echo "The packages could not be installed (see above). What was installed is kept;" \
			"check the network or pip's settings and run the command again." >&2; exit 1; }; \
	echo "$$wanted" > $(VENV)/$(1).stamp
endef

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(PYTHON) ## Set up .venv with the locked packages that running needs
	$(call install_lock,requirements.lock,requirements-dev.lock)

install-dev: $(PYTHON) ## The same with the packages for tests and checks
	$(call install_lock,requirements-dev.lock,requirements-dev.lock)

run: export BASE_URL ?= http://localhost:$(PORT)
run: install ## Set up, migrate, load the demo the first time, and serve on PORT (8000)
	@$(PYTHON) manage.py serve --check-port --port $(PORT)
	@$(PYTHON) manage.py migrate --verbosity 0
	@$(PYTHON) manage.py demo --if-missing
	@exec $(PYTHON) manage.py serve --port $(PORT)

test: install-dev ## Run every test that this machine can run; ARGS goes to pytest
	@$(PYTHON) -m pytest -n $(TEST_WORKERS) -rs $(ARGS)

lint: install-dev ## Check code, types, layers, templates, migrations and production settings
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy
	@$(VENV)/bin/lint-imports
	@$(PYTHON) -m djhtml --check templates
	@$(PYTHON) manage.py makemigrations --check --dry-run
	@$(MADE_UP_PRODUCTION) $(PYTHON) manage.py check --deploy --fail-level WARNING

bench: install-dev ## Measure what the documentation claims; a table at the end
	@$(PYTHON) -m benchmarks $(ARGS)

screenshots: install-dev ## Make the pictures of the documentation again from the demo study
	@$(PYTHON) -m benchmarks.screenshots

# The compiled catalogues are kept beside their sources: only whoever changes a text needs gettext.
messages: install-dev ## Collect the texts to translate and compile the catalogues (needs gettext)
	@$(PYTHON) manage.py makemessages -l zh_Hant -l id -i 'tests/*' -i 'benchmarks/*'
	@cd locale && ../$(PYTHON) ../manage.py compilemessages --verbosity 0

lock: $(PYTHON) ## Resolve the packages again and write both lock files
	@tools=$$(mktemp -d) && trap 'rm -rf "$$tools"' EXIT && \
	$(PYTHON) -m venv "$$tools" && \
	"$$tools/bin/python" -m pip install --quiet --disable-pip-version-check uv && \
	compile="$$tools/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-annotate --upgrade pyproject.toml" && \
	$$compile -o requirements.lock && \
	$$compile --group dev -o requirements-dev.lock

$(PYTHON):
	@for candidate in $(PYTHON_CANDIDATES); do \
		if $$candidate -c '$(SUPPORTED)' 2>/dev/null; then \
			exec $$candidate -m venv --clear $(VENV); \
		fi; \
	done; \
	echo "No Python 3.11, 3.12 or 3.13 with its venv module was found (looked for:" \
		"$(PYTHON_CANDIDATES)). Install one (on Debian: apt install python3 python3-venv), or" \
		"name one: make PYTHON_CANDIDATES=/path/to/python3.12 ..." >&2; \
	exit 1
