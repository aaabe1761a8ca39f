# The commands of this project. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help demo test peers check format coverage clean

WEFT := build/release/bin/weft
VENV := .venv
# A finite-element stiffness matrix: hexahedra, three displacements a node, 15 million nonzeros.
DEMO_MATRIX ?= gen:elasticity3d:40
export CTEST_PARALLEL_LEVEL ?= $(shell nproc)

help:  ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo:  ## install what is needed, build, and time each format on a finite-element matrix
	@tools/install-packages build
	@tools/build release -DWEFT_BUILD_TESTS=OFF
	@echo
	$(WEFT) bench $(DEMO_MATRIX)

test: $(VENV)/ready  ## install what is needed, build, and run all tests
	@tools/build release -DWEFT_BUILD_TESTS=ON
	@ctest --preset release
	@tools/pytest build/release

peers: $(VENV)/ready  ## install the libraries that weft bench compares with, and tell which it finds
	@tools/install-packages peers
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r bench/peers/requirements.txt
	@tools/build release --target weft_cli
	@$(WEFT) doctor | sed -n '/^Peers/,/^$$/p'

check:  ## everything .ci/run does: tests, format, lint, sanitizers, fuzzers, nvcc
	@.ci/run

format:  ## rewrite the C++ and CUDA sources in the project's format
	@tools/install-packages check
	@tools/format

coverage:  ## which lines the C++ tests run, as text and as HTML under build/coverage
	@tools/install-packages build test check
	@tools/coverage

clean:  ## remove everything that was built here
	rm -rf build $(VENV)

$(VENV)/ready: tests/python/requirements.txt tools/packages/build.txt tools/packages/test.txt
	@tools/install-packages build test
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/python/requirements.txt
	@touch $@
