# make demo   builds the tagus command and runs its demonstration
# make test   installs what the tests need and runs them
#
# The rest: build bench pingpong race invariants fuzz soak lint (fmt vet staticcheck) cross clean

MODULE := github.com/tagus-ros/tagus
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Packages whose tests the race detector cannot bear: they share mapped memory between processes or threads, which it does not see, and
# report heap data that is ordered by mapped words only; and cmd/tagus, whose tests run the program as processes of their own, for
# minutes, with no heap in common. Nothing else may be left out. Alternatives are separated by |.
RACE_SKIP := internal/shm|cmd/tagus

FUZZTIME ?= 20s
FUZZ ?= ./...
SOAKTIME ?= 10m
GO ?= go

# A test that hangs says so before the patience of whoever waits for it ends.
TESTFLAGS ?= -timeout 5m

# No C anywhere.
export CGO_ENABLED := 0

.PHONY: demo build test race invariants bench pingpong fuzz soak lint fmt vet staticcheck cross clean
.DEFAULT_GOAL := build

demo: build
	bin/tagus demo

build:
	$(GO) build -trimpath -o bin/ ./cmd/tagus

# The tests that compare with independent implementations install those themselves, into .cache (package internal/peers).
test:
	$(GO) test $(TESTFLAGS) ./...

# The race detector is the one thing here that needs a C compiler; nothing that is built for use has it in.
# Generated messages have no goroutines, so there a short run will do: it is for the check of unsafe pointers that comes with the detector.
race:
	CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) -timeout 10m $$($(GO) list ./... | grep -v -E '^$(MODULE)/($(RACE_SKIP)|msgs(/.*)?)$$')
	CGO_ENABLED=1 $(GO) test -race -short $(TESTFLAGS) -timeout 10m ./msgs

# Without those in which nothing is lent or recycled, or whose tests build programs without the tag.
invariants:
	$(GO) test -tags invariants $(TESTFLAGS) $$($(GO) list ./... | grep -v -E '^$(MODULE)/(cmd|examples|internal/bench|internal/repo|msgs|rosidl|zenoh)(/|$$)')

bench:
	$(GO) test -run '^$$' -bench . -benchmem $(TESTFLAGS) ./...

pingpong: build
	bin/tagus bench pingpong

# Each fuzz target of each package of FUZZ for FUZZTIME.
fuzz:
	@for p in $$($(GO) list $(FUZZ)); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; \
			$(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
		done; \
	done

soak:
	TAGUS_SOAK=$(SOAKTIME) $(GO) test -run Soak -count 1 -v -p 1 $(TESTFLAGS) -timeout 60m ./...

lint: fmt vet staticcheck

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not as gofmt writes it:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...
	$(GO) vet -tags invariants ./...

staticcheck:
	$(GO) run $(STATICCHECK) ./...

# vet also compiles the tests.
cross:
	GOOS=linux GOARCH=arm64 $(GO) build ./... && GOOS=linux GOARCH=arm64 $(GO) vet ./...
	GOOS=darwin GOARCH=arm64 $(GO) build ./... && GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) build ./... && GOOS=windows GOARCH=amd64 $(GO) vet ./...

clean:
	rm -rf bin .cache
