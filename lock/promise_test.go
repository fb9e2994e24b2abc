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
			lock.FaultIntervention: false,
			lock.FaultNodeClock:    false, lock.FaultClockRate: false,
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

// The promises to start from are within those of a lock with a lease, and a session does not depend on what its server
// has of keys and scripts.
func TestPromisesToStartFrom(t *testing.T) {
	single, _ := lock.PromiseOf("single")
	lease, session := lock.LeasePromise(), lock.SessionPromise()
	for _, p := range []lock.Promise{lease, session} {
		for _, f := range p.Exclusion {
			if !slices.Contains(single.Exclusion, f) {
				t.Errorf("%s is promised, which single does not stand", f)
			}
		}
		for _, d := range p.Duties {
			if !slices.Contains(single.Duties, d) {
				t.Errorf("%s is promised, which single does not do", d)
			}
		}
		if p.Data != "claim" || p.FreeWithin != lock.TermTTL || len(p.Duties) == 0 {
			t.Errorf("%+v", p)
		}
	}
	for _, f := range []lock.Fault{lock.FaultPool, lock.FaultStall} {
		if !slices.Contains(session.Exclusion, f) {
			t.Errorf("a session does not promise %s", f)
		}
	}
	if slices.Contains(session.Exclusion, lock.FaultScripts) || !slices.Contains(lease.Exclusion, lock.FaultScripts) {
		t.Error("scripts are forgotten by a lease, or by a session")
	}
}
