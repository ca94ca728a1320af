# `make run` watches the whole loop once; `make test` passes the tests. Both install first, into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

# A folder of wheels that pip is told of (PIP_FIND_LINKS) is used by uv too, and a torch wheel in it is preferred;
# elsewhere uv picks the torch build that fits the machine, so that one without a GPU is spared the CUDA build.
LINKS := $(wildcard $(PIP_FIND_LINKS))
TORCH_WHEEL := $(firstword $(wildcard $(addsuffix /torch-2.13.*.whl,$(LINKS))))
ifneq ($(TORCH_WHEEL),)
TORCH := --find-links $(dir $(TORCH_WHEEL)) torch==2.13.0
else
TORCH := --torch-backend=auto "torch>=2.6"
endif

.PHONY: help install run test bench lint lock clean

help:
	@echo "make run    install and run the whole loop once (ARGS=... goes to agentworld run)"
	@echo "make test   install and run the tests"
	@echo "make bench  measure the engine;  make lint  check style;  make lock  resolve infra/requirements.txt anew"

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml infra/requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python $(TORCH)
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -r infra/requirements.txt
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --no-deps --editable .
	touch $@

run: install
	$(BIN)/agentworld run $(ARGS)

test: install
	$(BIN)/python -m pytest $(ARGS)

bench: install
	$(BIN)/agentworld bench $(ARGS)

lint: install
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

# torch itself is left out, so that each machine takes the build that fits; the constraint keeps its CUDA parts out.
lock: $(VENV)/.installed
	$(BIN)/python -c 'import torch; print("torch==" + torch.__version__.split("+")[0])' > $(VENV)/constraints.txt
	$(BIN)/uv pip compile --quiet pyproject.toml --extra train --extra test --no-emit-index-url --no-annotate \
	  --no-header --no-emit-package torch --constraint $(VENV)/constraints.txt \
	  $(addprefix --find-links ,$(dir $(TORCH_WHEEL))) --no-emit-find-links -o infra/requirements.txt

clean:
	rm -rf $(VENV) build dist
