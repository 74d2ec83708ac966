# The ways in. CI runs .ci/run, which is all of "make check" and more.

GO ?= go
FUZZTIME ?= 10s
FUZZERS ?= $(shell getconf _NPROCESSORS_ONLN)
TARGETS ?=
MUTANTS ?= $(or $(TMPDIR),/tmp)/policyscan-mutants
export TARGETS
BENCHSTAT = golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GORELEASER = github.com/goreleaser/goreleaser/v2@v2.16.0

.PHONY: build test race faults reliability inject kill corrupt differ bounds same conformance agents pictures bench bench-go compare fuzz fuzz-targets mutate cover fmt lint golden check release-snapshot release-check

build: ## ./policyscan
	$(GO) build -o policyscan ./cmd/policyscan

test: ## all tests
	$(GO) test ./...

race: ## all tests, shortened, with the race detector
	GORACE=atexit_sleep_ms=0 $(GO) test -race -short ./...

faults: ## docs/reliability.md: every fault that the program was designed against; as root, with strace and FUSE, for all of them
	$(GO) test ./docs/reliability -run '^TestFaults$$' -count=1 -timeout 60m -v -args -measure

reliability: faults inject kill corrupt bounds same differ cover ## docs/reliability.md but for fuzzing and mutants, hours

inject kill corrupt: ## what becomes of runs whose calls fail, that are killed, whose files are damaged; RELIABILITY='-errors 2 -seed 7' for fewer errors at each call, other moments and damages
	$(GO) test ./docs/reliability/trials -count=1 -timeout 4h -v -args -measure -part $@ $(RELIABILITY)

differ: ## against git and a naive search, some minutes; RAILS, AZURERM and WILDMATCH say where they are
	$(GO) test ./docs/reliability/bounds -run '^TestDifferentials$$' -count=1 -timeout 4h -v -args -measure -rails '$(RAILS)' -azurerm '$(AZURERM)' -wildmatch '$(WILDMATCH)'

bounds: ## memory and time, as root
	$(GO) test ./docs/reliability/bounds -run '^TestBounds$$' -count=1 -timeout 4h -v -args -measure

same: ## a thousand runs, one hash, as root
	$(GO) test ./docs/reliability/bounds -run '^TestSame$$' -count=1 -timeout 4h -v -args -measure

conformance: ## under the programs of others, which it installs
	$(GO) test -count=1 -timeout 60m ./.../conformance -args -conformance

agents: ## coding agents with the hook that policyscan installs, and with each of its answers; it installs them
	$(GO) test -count=1 -timeout 60m ./agent/protocol/exchange ./cmd/policyscan/conformance -run 'Agent|Claude|Codex|Copilot|Gemini' -args -agents

pictures: ## those of docs/reports.md, by Chromium; look at them before you commit them
	$(GO) test -count=1 ./verdict/report/conformance -run '^TestPictures$$' -args -conformance -pictures "$(CURDIR)/docs/pictures"

bench: ## docs/performance.md: policyscan against its peers, about an hour; BENCH='-rows W1' for some
	$(GO) test ./docs/bench -run '^TestPerformance$$' -count=1 -timeout 4h -v -args -measure $(BENCH)

compare: ## docs/comparison.md: policyscan beside other tools, which it installs, a quarter of an hour; COMPARE='-rows PNG' for some
	$(GO) test ./docs/compare -run '^TestComparison$$' -count=1 -timeout 60m -v -args -measure $(COMPARE)

bench-go: ## the benchmarks of each package; BASE=FILE compares with the output of an earlier run
	$(GO) test -bench . -run '^$$' -count 6 ./agent/... ./rules/... ./scanner/... ./verdict/... | tee bench.txt
	$(GO) run $(BENCHSTAT) $(BASE) bench.txt

fuzz-targets: ## the names of all fuzz targets, PACKAGE:TARGET
	@set -e; all="$$($(GO) list ./...)"; for pkg in $$all; do \
	  names="$$($(GO) test -list '^Fuzz' "$$pkg")"; \
	  printf '%s\n' "$$names" | sed -n "s,^Fuzz,$$pkg:Fuzz,p"; \
	done

# What covers new code is made small by so many tries only: by default a minute goes by each time, in which nothing else is tried.
# One processor for each process: half of the time went into waking the other, for every run is a goroutine of its own.
fuzz: ## each fuzz target for FUZZTIME, a time or a number of runs such as 10000000x; TARGETS='PACKAGE:TARGET ...' for some
	@set -e; targets="$${TARGETS:-$$($(MAKE) --silent fuzz-targets)}"; for target in $$targets; do \
	  echo "== $$target"; \
	  GOMAXPROCS=1 $(GO) test -p $(FUZZERS) -parallel $(FUZZERS) -run '^$$' -fuzz "^$${target##*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x "$${target%:*}"; \
	done

mutate: ## whether the tests notice another operator, hours; MUTANTS is where the results are kept
	$(GO) run ./.ci/mutated "$(MUTANTS)"

cover: ## what the tests run, cover.out; fails under 90%, or if a statement that decides or ends the program is never run
	.ci/cover

fmt: ## format the code
	gofmt -w .

lint: ## what CI says about the code without running it
	gofmt -l .
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

golden: ## write all expected outputs anew; read the difference before you commit it
	$(GO) test ./cmd/policyscan ./docs ./rules ./agent/protocol ./verdict/report -update

check: lint test race ## lint, test, race

# goreleaser asks for a remote, of which it uses the URL alone.
release-snapshot: ## all that a release has, in dist/, unsigned and published nowhere
	GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/policyscan/policyscan.git \
	  $(GO) run $(GORELEASER) release --snapshot --clean --skip=publish,announce,sign,docker

release-check: ## build the last commit's release twice, and check all of it
	.ci/release
