# Every target works on a bare machine with Python 3.11 or newer: it makes .venv in the checkout first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Stamped by what decides its content, so that a changed dependency reinstalls and nothing else does.
STAMP := $(VENV)/.installed

.PHONY: demo test lint install clean

install: $(STAMP)

# Most of its 14,000 files are never imported; Python compiles the others as it meets them.
$(STAMP): pyproject.toml constraints.txt
	@echo 'installing into $(VENV): a minute or more, about 3 GB'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e '.[emulator,dev]'
	touch $@

demo: install
	tests/end_to_end/demo.sh

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Two processes, each with files of its own: the tests mostly wait for interpreters that they started.
test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

bench-%: install
	$(BIN)/python benches/bench_$(subst -,_,$*).py

clean:
	rm -rf $(VENV) .tputriage build dist
