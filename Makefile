# Every target works on a bare machine with Python 3.11 or newer: it makes .venv in the checkout first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Stamped by what decides its content, so that a changed dependency reinstalls and nothing else does.
STAMP := $(VENV)/.installed

.PHONY: demo test lint install clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@echo 'installing into $(VENV): a minute or more, about 3 GB'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[emulator,dev]'
	touch $@

demo: install
	tests/end_to_end/demo.sh

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest

bench-%: install
	$(BIN)/python benches/bench_$(subst -,_,$*).py

clean:
	rm -rf $(VENV) .tputriage build dist
