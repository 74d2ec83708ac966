# The ways in. CI runs .ci/run, which is all of "make check" and more.

GO ?= go
FUZZTIME ?= 10s
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build test race bench fuzz fmt lint golden check

build: ## ./policyscan
	$(GO) build -o policyscan ./cmd/policyscan

test: ## all tests
	$(GO) test ./...

race: ## all tests, shortened, with the race detector
	$(GO) test -race -short ./...

bench: ## all benchmarks
	$(GO) test -bench . -run '^$$' ./...

fuzz: ## each fuzz target for FUZZTIME
	@set -e; $(GO) list ./... | while read -r pkg; do \
	  $(GO) test -list '^Fuzz' "$$pkg" | sed -n '/^Fuzz/p' | while read -r target; do \
	    echo "== $$pkg $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$pkg" </dev/null; \
	  done; \
	done

fmt: ## format the code
	gofmt -w .

lint: ## what CI says about the code without running it
	gofmt -l .
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

golden: ## write all expected outputs anew; read the difference before you commit it
	$(GO) test ./cmd/policyscan ./docs ./rules ./verdict -update

check: lint test race ## lint, test, race
