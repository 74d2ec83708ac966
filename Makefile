# The ways in. CI runs .ci/run, which is all of "make check" and more. "make help" lists them.

GO ?= go
FUZZTIME ?= 10s
FUZZERS ?= $(shell getconf _NPROCESSORS_ONLN)
TARGETS ?=
export TARGETS
BENCHSTAT = golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GORELEASER = github.com/goreleaser/goreleaser/v2@v2.16.0

# Those of lab/Makefile.
LAB = agents before bench bounds changes conformance corrupt differ dockerfile faults fleet history inject kill kubernetes mutate packs parsers policies pushes reliability revisions same second shards
# Packages with tests that take longer with -long.
LONG = $(shell git grep -l 'flag.Bool."long"' -- '*_test.go' ':!lab' | xargs -n 1 dirname | sort -u | sed 's,^,./,')

.PHONY: help build test long race bench-go fuzz fuzz-targets cover fmt lint golden check release-snapshot release-check $(LAB)

help: ## this list
	@sed -n 's/^\([a-z][a-z -]*\):[^#]*## /\1\t/p' Makefile | awk -F'\t' '{printf "  %-22s %s\n", $$1, $$2}'
	@echo
	@echo 'What measures policyscan (lab/):'
	@$(MAKE) --silent --no-print-directory -C lab help

build: ## ./policyscan
	$(GO) build -o policyscan ./cmd/policyscan

test: ## all tests, about a minute
	$(GO) test ./...

long: ## the long tests in full (-long), and those with git in repositories of SHA-256, about 15 minutes
	$(GO) test -count=1 -timeout 60m $(LONG) -long
	GIT_DEFAULT_HASH=sha256 $(GO) test -count=1 -timeout 60m ./cmd/policyscan ./scanner/... ./agent/gate

race: ## all tests with the race detector
	GORACE=atexit_sleep_ms=0 $(GO) test -race ./...

lint: ## static checks: format, modules, vet, staticcheck, vulnerabilities, builds
	.ci/lint

golden: ## write all expected outputs again; read the difference before you commit it
	$(GO) test ./cmd/policyscan ./docs ./editor ./rules ./rules/document ./rules/glob ./rules/keyitem ./rules/regex ./rules/starter ./agent/protocol ./verdict/report -update

fmt: ## format the code
	gofmt -w .

check: lint test race ## lint, test, race

cover: ## what the tests run, cover.out; fails under 90%, or if a statement that decides or ends the program is never run
	.ci/cover

bench-go: ## the benchmarks of each package; BASE=FILE compares with the output of an earlier run
	$(GO) test -bench . -run '^$$' -count 6 ./agent/... ./editor ./rules/... ./scanner/... ./verdict/... | tee bench.txt
	$(GO) run $(BENCHSTAT) $(BASE) bench.txt

fuzz-targets: ## the names of all fuzz targets, PACKAGE:TARGET
	@set -e; for dir in . lab; do all="$$(cd $$dir && $(GO) list ./...)"; for pkg in $$all; do \
	  names="$$(cd $$dir && $(GO) test -list '^Fuzz' "$$pkg")"; \
	  printf '%s\n' "$$names" | sed -n "s,^Fuzz,$$pkg:Fuzz,p"; \
	done; done

# What covers new code is made small by so many tries only: by default a minute goes by each time, in which nothing else is tried.
# One processor for each process: half of the time went into waking the other, for every run is a goroutine of its own.
fuzz: ## each fuzz target for FUZZTIME, a time or a number of runs such as 10000000x; TARGETS='PACKAGE:TARGET ...' for some
	@set -e; targets="$${TARGETS:-$$($(MAKE) --silent fuzz-targets)}"; lab/fuzz/corpus.sh unpack; \
	for target in $$targets; do \
	  echo "== $$target"; dir=.; case "$$target" in */lab/*) dir=lab;; esac; \
	  (cd $$dir && GOMAXPROCS=1 $(GO) test -p $(FUZZERS) -parallel $(FUZZERS) -run '^$$' -fuzz "^$${target##*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x "$${target%:*}"); \
	done

# goreleaser asks for a remote, of which it uses the URL alone.
release-snapshot: ## all that a release has, in dist/, unsigned and published nowhere
	GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/policyscan/policyscan.git \
	  $(GO) run $(GORELEASER) release --snapshot --clean --skip=publish,announce,sign,docker

release-check: ## build the last commit's release twice, and check all of it
	.ci/release

$(LAB):
	@$(MAKE) --no-print-directory -C lab $@
