package lock_test

import (
	"slices"
	"testing"

	"locksim/lock"
)

// kindNames are the kinds that have a promise.
var kindNames = []string{
	"single", "fenced", "watchdog", "watchdog-fenced", "reentrant", "reentrant-fenced", "fair", "fair-fenced",
	"redlock", "redlock-watchdog", "redlock-fenced",
}

// A promise lists only known faults, each once.
func TestPromisesSpeakOfKnownFaults(t *testing.T) {
	all := lock.Faults()
	if slices.Sort(all); len(slices.Compact(all)) != len(lock.Faults()) {
		t.Errorf("Faults lists a class twice: %v", all)
	}
	for _, kind := range kindNames {
		p, ok := lock.PromiseOf(kind)
		if !ok || len(p.Exclusion) == 0 {
			t.Errorf("%s promises nothing", kind)
		}
		for i, f := range p.Exclusion {
			if !slices.Contains(lock.Faults(), f) || slices.Contains(p.Exclusion[:i], f) {
				t.Errorf("%s promises %q, which is unknown or listed before", kind, f)
			}
		}
	}
	if p, ok := lock.PromiseOf("zookeeper"); ok {
		t.Errorf("an unknown kind promises %v", p)
	}
}

// No kind promises anything about a node that loses data or whose clock is
// wrong; renewal and quorums make the other differences.
func TestPromises(t *testing.T) {
	renewing := []string{"watchdog", "watchdog-fenced", "redlock-watchdog"}
	quorum := []string{"redlock", "redlock-watchdog", "redlock-fenced"}
	for _, kind := range kindNames {
		p, _ := lock.PromiseOf(kind)
		for fault, want := range map[lock.Fault]bool{
			lock.FaultNodeCrash: false, lock.FaultFailover: false, lock.FaultEviction: false, lock.FaultFlush: false,
			lock.FaultNodeClock: false, lock.FaultClockRate: false,
			lock.FaultWorker:     !slices.Contains(renewing, kind),
			lock.FaultClockDrift: slices.Contains(quorum, kind),
			lock.FaultPause:      true, lock.FaultReset: true, lock.FaultStall: true, lock.FaultScripts: true,
		} {
			if got := slices.Contains(p.Exclusion, fault); got != want {
				t.Errorf("%s, %s: promised is %v, want %v", kind, fault, got, want)
			}
		}
	}
}

// A promise belongs to its caller.
func TestPromisesAreNotShared(t *testing.T) {
	p, _ := lock.PromiseOf("redlock")
	p.Exclusion[0] = "weather"
	for _, kind := range kindNames {
		if again, _ := lock.PromiseOf(kind); slices.Contains(again.Exclusion, "weather") {
			t.Errorf("%s has changed too", kind)
		}
	}
	if slices.Contains(lock.Faults(), "weather") {
		t.Error("the list of faults has changed too")
	}
}
