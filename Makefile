# `make test` needs only Go. `make check` also downloads the linter, at the version below, through Go.

GO            ?= go
GOLANGCI_LINT ?= v2.15.0
BENCH         ?= .
SOAK          ?= 1
LIVE          ?= --own

# Tests have little live memory: a sixth of their time would go into its collection.
test test-modules race: export GOGC ?= 400

LINT := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)

# Modules that neither make test nor make check compiles, which takes minutes. upstream has tests of other people's code
# alone, and does not import locksim: make upstream makes them. dapr, golang-migrate and goose have one file each, and are
# played by make soak, as is the manager of controller-runtime. realconsul and realkube are servers of others, which tests
# of make soak compile.
HEAVY := ./examples/libraries/dapr/ ./examples/libraries/golang-migrate/ ./examples/libraries/goose/ ./examples/upstream/ ./examples/leases/manager/ ./internal/realconsul/ ./internal/realkube/

# The programs of those who work on locksim have a module of their own.
DEV := $(GO) -C internal/dev run

# Every module of the tree: the main one, and those that separate heavy dependencies from it.
MODULES := $(sort $(dir $(shell find . -name go.mod -not -path '*/testdata/*' -not -path '*/.*/*')))
in_modules = @set -e; for dir in $(filter-out $(2),$(MODULES)); do echo "== $$dir"; (cd $$dir && $(1)); done

# The packages of the module in this folder with tests that make soak alone plays, or whose number of runs LOCKSIM_SOAK sets.
soak_packages = $$($(GO) list -f '{{$$d := .Dir}}{{range .TestGoFiles}}{{$$d}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$d}}/{{.}} {{end}}' ./... | \
	xargs grep -lE 'LOCKSIM_SOAK|soak\.(Only|RealTime|Checks)\(' /dev/null | sed 's,/[^/]*$$,,' | sort -u)

.PHONY: help test test-modules race check format lint actions bench soak soak-tests upstream promises mutants owntests reach strategies redlock release module schemas matrix compare findings groundtruth libraries tables-check gallery playground site screenshots peers costs demo live

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

# Without the tables for a debugger, linking a hundred programs of tests takes two thirds of the time. A package has half an
# hour: Go's ten minutes end one on a busy machine, without an assertion that failed.
TESTED := . ./examples/quickstart/
TEST := $(DEV) ./testall
TEST_FLAGS := -vet=off -ldflags=-w -timeout 30m

test: ## tests of the main module and of the example to begin with, without the race detector; of those that play in real time a few
	$(TEST) -only '$(TESTED)' $(TEST_FLAGS)

test-modules: ## tests of all other modules: examples, real servers, browsers
	$(TEST) -without '$(TESTED) $(HEAVY)' $(TEST_FLAGS)

# The packages that start goroutines, the one that takes longest first. Those of the commands are in internal/campaign,
# internal/workers and internal/serve; those of a search or a check are in scenarios/play. A program with the race detector
# sleeps for a second before it exits; workers are such programs. The servers of etcd and PostgreSQL run on the goroutine of
# the world, and their clients take long to compile: they are not here. Tests that wait leave time for those of a third package.
RACE_PACKAGES := ./scenarios/play ./lock ./lock/fence/... ./lock/locktest/... ./lock/metrics ./checker ./sim ./sim/redis ./sim/store ./sim/trace ./faults \
	./internal/campaign ./internal/workers ./internal/runfolder ./internal/serve

race: ## short tests under the race detector, of the packages that start goroutines
	GORACE=atexit_sleep_ms=0 $(GO) test -race -short -vet=off -p 3 $(RACE_PACKAGES)
	GORACE=atexit_sleep_ms=0 $(GO) -C internal/dev test -race -short -vet=off ./testall

check: format lint actions ## gofmt, the linter, which does what go vet does too, and actionlint

format: ## lists the files that gofmt would change, and fails if there are any
	@files=$$(gofmt -l .); test -z "$$files" || { echo "not formatted; run gofmt -w on:"; echo "$$files"; exit 1; }

lint: ## golangci-lint with the rules of .golangci.yml
	$(call in_modules,$(LINT) run ./...,$(HEAVY))

actions: ## actionlint for the workflows and the action that they use
	$(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 .github/workflows/*.yml

bench: ## benchmarks on one core; BENCH=REGEXP selects some
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -cpu 1 ./...

# Half of the drawn runs are evidence: 10,000 runs give 5,000 of each lock.
EXPLORE_RUNS := $(shell awk 'BEGIN { n = int(10000 * $(SOAK)); print (n > 1 ? n : 1) }')

REDIS_LOCKS := single,fenced,watchdog,watchdog-fenced,reentrant,reentrant-fenced,fair,fair-fenced,redlock,redlock-watchdog,redlock-fenced

soak: soak-tests promises ## the long tests, those in real time, and each lock within its promise, with all runs; SOAK=0.1 makes a tenth of them

soak-tests:
	$(call in_modules,packages="$(soak_packages)"; test -z "$$packages" || LOCKSIM_SOAK=$(SOAK) $(GO) test -count=1 -timeout 2h $$packages)

upstream: ## shows findings in other people's libraries on real servers, in plain Go, without locksim; takes minutes to compile
	$(GO) -C examples/upstream test -count=1 .
	cd examples/upstream && $(LINT) run .

# A run on etcd takes ten times as long: TestLock in scenarios/etcdlocks has fewer.
promises: ## each lock on Redis within its promise, 5,000 runs that are evidence; SOAK=10 makes them 50,000
	$(GO) run ./cmd/locksim explore --lock $(REDIS_LOCKS) --promise --runs $(EXPLORE_RUNS)

mutants: ## makes one mistake at a time and runs the test that must detect it; writes reports/MUTANTS.md; takes minutes, and goes on after an interruption at the same commit
	@mkdir -p reports/out
	$(DEV) ./mutants named --results ../../reports/out/MUTANTS.jsonl --markdown >reports/MUTANTS.md.new
	mv reports/MUTANTS.md.new reports/MUTANTS.md

# A mutant takes about ten seconds. internal/dev/mechanical/unseen.txt has the reasons why no run can show some of them.
FOLDER ?= checker
SIZE   ?= 60
SEED   ?= 1

owntests: ## changes one place of a package at a time, drawn by SEED, and lists what its own tests do not detect: FOLDER=sim SIZE=100
	$(DEV) ./mutants own $(FOLDER) --size $(SIZE) --seed $(SEED)

reach: ## makes one mistake at a time in the locks, of a sample, and lets a search find it; writes reports/REACH.md; takes less than an hour, and goes on after an interruption
	@mkdir -p reports/out
	$(DEV) ./mutants reach $(REACH) >reports/out/REACH.md
	mv reports/out/REACH.md reports/REACH.md

strategies: ## searches hard mistakes with the strategies of a search, in turns, and compares how soon they find them; writes reports/SEARCH.md; takes most of half an hour, and goes on after an interruption
	@mkdir -p reports/out
	$(DEV) ./mutants strategies $(STRATEGIES) >reports/out/SEARCH.md
	mv reports/out/SEARCH.md reports/SEARCH.md

redlock: ## plays how often a Redlock and other locks fail under each trouble; writes reports/REDLOCK.md; takes half an hour, and goes on after an interruption
	$(DEV) ./redlock -table $(REDLOCK)

release: ## the command for Linux, macOS and Windows, with licences and checksums, into reports/out/release; takes minutes
	$(DEV) ./release

# Make hands PATH on to the recipe, where it is to find programs: it gets that of the environment back, which a make from
# 4.4 on no longer knows, and the folders in which Go and Git mostly are.
module: ## gives the module another path, everywhere: make module PATH=example.org/you/locksim
	@test "$(origin PATH)" = "command line" || { echo "name the path: make module PATH=example.org/you/locksim"; exit 1; }
	@export PATH='$(shell echo "$$PATH"):/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin'; $(DEV) ./rename '$(PATH)'

live: ## plays each scenario of the library, with its own lock, on real servers and in the simulated world; writes reports/LIVE.md; takes an hour, and goes on after an interruption; LIVE= for all locks
	@mkdir -p reports/out/live
	$(GO) run ./cmd/locksim matrix --live $(LIVE) --resume --out reports/out/live >/dev/null
	mv reports/out/live/LIVE.md reports/LIVE.md

schemas: ## the JSON Schemas of the documents that locksim prints, from its Go types; writes reports/schema
	$(DEV) ./schemas

matrix: ## every lock and specimen in every scenario; writes reports/MATRIX.md, and a page for each scenario in reports/matrix
	$(GO) run ./cmd/locksim matrix --seeds 20 --broken --no-runs --out reports/matrix.new
	rm -rf reports/matrix && mv reports/matrix.new/matrix reports/matrix && mv reports/matrix.new/MATRIX.md reports/MATRIX.md
	rm -rf reports/matrix.new

LEASES = kube-lease kube-lease-kept consul-lock consul-semaphore nats-kv nats-kv-file nats-kv-sync nats-cas

compare: ## the locks side by side; writes docs/reference/compare.md, and docs/reference/compare-leases.md for examples/leases; takes ten minutes
	$(GO) run ./cmd/locksim compare --markdown >docs/reference/compare.md.new
	mv docs/reference/compare.md.new docs/reference/compare.md
	cd examples/leases && $(GO) run ./cmd compare $(LEASES) --seeds 20 --also '*/scenarios/*.yaml' --markdown >../../docs/reference/compare-leases.md.new
	mv docs/reference/compare-leases.md.new docs/reference/compare-leases.md

findings: ## explores each specimen until its mistake is found; writes reports/FINDINGS.md; takes minutes, and goes on after an interruption at the same commit
	@mkdir -p reports/out
	$(DEV) ./findings -results ../../reports/out/FINDINGS.jsonl >reports/FINDINGS.md.new
	mv reports/FINDINGS.md.new reports/FINDINGS.md

groundtruth: ## plays published bugs of other people's locks; writes reports/GROUNDTRUTH.md and reports/groundtruth; takes most of an hour on two cores, and goes on after an interruption; TABLE=-anew plays results of other commits again, TABLE=-stored plays nothing
	cd examples/groundtruth && $(GO) run ./cmd -table $(TABLE)

libraries: ## judges other people's lock libraries; writes reports/LIBRARIES.md and its pages; takes most of an hour on two cores, and goes on after an interruption; TABLE is as for groundtruth
	cd examples/libraries && $(GO) run ./cmd -table $(TABLE)

tables-check: ## plays the command that a page of reports/libraries prints beside each failure, and compares what it shows with the page; takes minutes
	cd examples/libraries && $(GO) run ./cmd -check

gallery: ## known failures as Markdown; writes reports/gallery
	$(GO) run ./cmd/locksim gallery reports/gallery

playground: ## scenarios played by sliders in a browser, on this machine
	$(GO) run ./cmd/locksim playground

SITE ?= reports/out/site

site: ## the web site, which needs no server: front page, playground, gallery, documents; into SITE=reports/out/site; the first time takes minutes
	@mkdir -p $(SITE)
	$(DEV) ./site '$(abspath $(SITE))'

screenshots: ## pictures of the reports in Chromium, on each screen, into reports/out/screenshots
	cd reports/browser && LOCKSIM_REQUIRE_LIVE=1 LOCKSIM_SCREENSHOTS=1 $(GO) test -count=1 .

peers: ## measures the locks beside other Go locks on real Redis; writes reports/PEERS.md
	cd lock/peers && $(GO) run . >../../reports/PEERS.md.new
	mv reports/PEERS.md.new reports/PEERS.md

COSTS ?=

costs: ## measures what each lock costs on real servers, beside a SET on Redis; writes reports/COSTS.md; takes 20 minutes, and goes on after an interruption at the same commit; COSTS=-stored measures nothing
	$(DEV) ./costs $(COSTS) >reports/COSTS.md.new
	mv reports/COSTS.md.new reports/COSTS.md

demo: ## a GC pause costs a client its lock
	$(GO) run ./cmd/locksim run gc-pause
