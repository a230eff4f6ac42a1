# The front door. Everything is built below build/ by CMake presets; `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

JOBS ?= $(shell nproc)
RUN_ARGS ?=
TEST_ARGS ?=
FUZZ_SECONDS ?= 60
BENCH_REPETITIONS ?= 5
BENCH_FILTER ?= .
SOAK_PRESET ?= release
SOAK_SECONDS ?= 600
SOAK_RELOADS ?= 1000
ROW ?=
BASE ?=

export JOBS

.PHONY: help build run test bench bench-full bench-micro bench-ab bench-peers bench-publish fuzz format format-check layers lint docs soak tsan asan clean

help: ## This list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

build: ## The program, as it ships: build/release/culvert
	@tools/deps.sh build
	tools/build.sh release culvert

run: build ## Build and start it, with RUN_ARGS; without a profile the built-in one is served
	exec build/release/culvert $(RUN_ARGS)

test: ## Everything: unit tests and fuzz corpora (asan, tsan), end to end (release)
	@tools/deps.sh build test
	tools/test.py $(TEST_ARGS)

asan: ## Unit tests and fuzz corpora under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/deps.sh build test
	tools/test.py --only asan $(TEST_ARGS)

soak: ## Reloads under load for SOAK_SECONDS (600); SOAK_PRESET=asan or tsan to look closer
	@tools/deps.sh build test
	tools/build.sh $(SOAK_PRESET) culvert
	tests/soak/soak.py --binary build/$(SOAK_PRESET)/culvert --seconds $(SOAK_SECONDS) \
	  --reloads $(SOAK_RELOADS) $(if $(filter release,$(SOAK_PRESET)),--flat 2)

tsan: ## The runtime's unit tests under ThreadSanitizer
	@tools/deps.sh build test
	tools/test.py --only tsan $(TEST_ARGS)

bench: ## Within 15 minutes: micro, then the main rows against the best peer of each; ROW=name for one
	@tools/deps.sh build bench
	tools/build.sh release culvert loadgen
ifeq ($(ROW),)
	tools/build.sh bench micro_bench
	tools/bench_micro.py || test $$? -eq 3
	bench/bench.py quick
else
	bench/bench.py row $(ROW)
endif

bench-full: ## Every row, every peer that is there, five repetitions and more
	@tools/deps.sh build bench
	tools/build.sh release culvert loadgen
	tools/build.sh bench micro_bench
	tools/bench_micro.py --repetitions 7 || test $$? -eq 3
	bench/bench.py full

bench-micro: ## Micro benchmarks, within 3 minutes: bench/results/ and a table (BENCH_FILTER, BENCH_REPETITIONS)
	@tools/deps.sh build bench
	tools/build.sh bench micro_bench
	tools/bench_micro.py --filter '$(BENCH_FILTER)' --repetitions $(BENCH_REPETITIONS)

bench-ab: ## This tree against the commit BASE, fresh processes in turn; ROW="short relay_32k" for these
	@test -n '$(BASE)' || { echo 'make bench-ab BASE=<commit>' >&2; exit 2; }
	@tools/deps.sh build bench
	tools/build.sh release culvert loadgen
	bench/bench.py ab '$(BASE)' $(ROW)

bench-peers: ## Install the peers that Debian packages: daemons, some of which start by themselves
	@tools/deps.sh peers

bench-publish: ## Put the results of bench-full into docs/performance.md and its charts
	bench/bench.py publish

fuzz: ## Every fuzz target under libFuzzer, FUZZ_SECONDS each
	@tools/deps.sh build fuzz
	tools/build.sh fuzz fuzz_targets
	tools/fuzz.py --seconds $(FUZZ_SECONDS)

format: ## Format the C++ sources in place
	@tools/deps.sh lint
	tools/format.sh

format-check: ## Fail when a C++ source is not formatted, or the tree breaks a rule of the house
	@tools/deps.sh lint
	tools/check_tree.py
	tools/format.sh --check

layers: ## Fail when an include disagrees with cmake/layers.txt
	@tools/deps.sh build
	tools/build.sh release

lint: ## clang-tidy over the sources that changed since they last passed
	@tools/deps.sh build test lint
	tools/build.sh dev
	tools/lint.py

docs: ## Write docs/config.md, the list of all keys of a profile
	@tools/deps.sh build
	tools/build.sh release culvert
	build/release/culvert keys >docs/config.md

clean: ## Remove everything that was built
	rm -rf build
