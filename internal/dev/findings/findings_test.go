package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
)

// A search that found nothing is written as a dash, and counts as missed.
func TestCounts(t *testing.T) {
	c := counts{41, 0, 2000}
	if c.String() != "41, –, 2000" || c.missed() != 1 {
		t.Errorf("%v, %d missed", c, c.missed())
	}
}

// Only a violation that no correct lock has shows the mistake of a specimen.
func TestShowsMistake(t *testing.T) {
	for _, c := range []struct {
		lock  string
		label checker.Label
		mode  fence.Mode
		want  bool
	}{
		{"broken/get-then-del", checker.Overlap, fence.None, true},
		{"broken/get-then-del", checker.Corrupted, fence.None, false},
		{"broken/token-read-late", checker.Corrupted, fence.Seal, true},
		{"broken/setnx-then-expire", checker.Stuck, fence.None, true},
		{"single", checker.Corrupted, fence.None, true},
	} {
		got, err := showsMistake(c.lock, &search.Trial{Violations: []outcome.Violation{{Mode: c.mode, Label: c.label}}})
		if err != nil || got != c.want {
			t.Errorf("%s, %s in mode %s: shows the mistake: %v, %v; want %v", c.lock, c.label, c.mode, got, err, c.want)
		}
	}
}

// Data that a broken watchdog loses shows its mistake only where the correct watchdog
// does not lose it too.
func TestShowsMistakeOfWatchdog(t *testing.T) {
	const story = "name: cut\nlock: {kind: watchdog, ttl: 10s}\nworkload: {hold: 30s, stagger: 1s, checks_until: " +
		"%s}\nfaults:\n" +
		"  - when: {client: c0, event: read}\n    partition: {between: [c0], and: [r0], for: 40s}\n"
	for care, want := range map[string]bool{"lost": true, "never": false} {
		sc, err := file.Parse("cut.yaml", []byte(strings.Replace(story, "%s", care, 1)))
		if err != nil {
			t.Fatal(err)
		}
		s := &search.Trial{
			Outcome:    &outcome.Outcome{Scenario: sc, Seed: 1},
			Violations: []outcome.Violation{{Mode: fence.None, Label: checker.Corrupted}},
		}
		if got, err := showsMistake("broken/watchdog-ignores-failure", s); err != nil || got != want {
			t.Errorf("a client that checks until %s: shows the mistake: %v, %v; want %v", care, got, err, want)
		}
	}
}

// The command fails where the search finds no violation of a lock.
func TestVerdict(t *testing.T) {
	if code := verdict([]row{{Lock: "x", Runs: sample{Any: counts{1, 0}}}}, io.Discard); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if code := verdict([]row{{Lock: "x", Runs: sample{Any: counts{1, 2}, Mistake: counts{0}}}},
		io.Discard); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-most", "0"}, {"-run", "("}, {"more"}, {"-what"}} {
		if code := command(args, io.Discard, io.Discard); code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", args, code, exitUsage)
		}
	}
}

// A small measurement gives the same table each time, and finds a simple mistake.
func TestMeasure(t *testing.T) {
	r, err := measure("broken/expire-whole-seconds", 20)
	if err != nil {
		t.Fatal(err)
	}
	again, err := measure("broken/expire-whole-seconds", 20)
	if err != nil || markdown([]row{r}, 20) != markdown([]row{again}, 20) {
		t.Errorf("%v: two measurements differ", err)
	}
	if r.Runs.Mistake.missed() > 0 || r.Faults != "none" || r.TTL != "500ms..999ms" {
		t.Errorf("%+v", r)
	}
}

// A lock of locksim is measured as a specimen is: the duties that it has are judged too.
func TestMeasureLock(t *testing.T) {
	r, err := measure("single", 5)
	if err != nil || r.Faults != "pause" || len(r.Runs.Any) != len(firstSeeds) {
		t.Errorf("%+v, %v", r, err)
	}
}

// The committed table has a line for each lock, and the searches found a violation of
// each.
func TestCommittedTable(t *testing.T) {
	kept, err := os.ReadFile("../../../reports/FINDINGS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(kinds.Specimens(), "single") {
		_, line, ok := strings.Cut(string(kept), "\n| "+name+" |")
		line, _, _ = strings.Cut(line, "\n")
		if !ok || strings.Contains(strings.Split(line, "|")[2], "–") {
			t.Errorf("%s is not found in reports/FINDINGS.md: %q; run make findings", name, line)
		}
	}
}
