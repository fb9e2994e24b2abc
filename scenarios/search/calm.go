package search

import (
	"cmp"
	"iter"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// calmCases is the number of runs that [CalmTrials] makes, heldCases of a lock that is held until it is told. The first
// usualCases differ in numbers alone.
const (
	usualCases = 9
	calmCases  = usualCases + 2
	heldCases  = calmCases + 1
)

// manyRounds are more than the tries after which a lock that counts them does something else.
const manyRounds = 48

// alikeAtFirst are names of two locks that are equal in more bytes than some locks look at.
func alikeAtFirst() []string {
	return []string{"customer-orders-of-2026:1", "customer-orders-of-2026:2"}
}

// CalmTrials plays a lock without any fault, before faults are drawn for it. Its clients ask for the lock at the same
// time and ignore the lease; a message and a section take less than a quarter of the lease, but for a lock that is held
// until it is told. In such a run no fence is needed: claims exclude each other, each lasts until its release, the data
// is right in mode none, and a lock that is free is granted. A lock that fails here excludes nobody, whatever it
// promises about faults.
//
// The space must come from [Discover].
func CalmTrials(l subject.Lock, space spaces.Space) iter.Seq[*Trial] {
	return PlayEach(InCalm(l), CalmCases(l, space))
}

// InCalm is the lock as it is judged in a run without faults.
func InCalm(l subject.Lock) subject.Lock {
	l.Promise = l.JudgedBy()
	if !l.TestsFence() && !l.Promise.Unlocked { // without a lock, and in a store under test, the fence keeps it right
		l.Promise.Data = string(fence.None)
	}
	return l
}

// CalmCases are the cases of [CalmTrials], with seeds from 1 on. In one, clients ask for the lock again and again; in
// one, they contend for two locks whose names are nearly the same, and have both at once, unless the lock has a section
// of its own. In the last one of a lock that is held until it is told, a section lasts for three lengths of its lease:
// the lock has to renew it.
func CalmCases(l subject.Lock, space spaces.Space) iter.Seq[Case] {
	cases := calmCases
	if l.Lease == subject.LeaseHeld {
		cases = heldCases
	}
	return func(yield func(Case) bool) {
		for n := range cases {
			sc := calmCase(space, n)
			sc.Workload.Beside = sc.Workload.Beside && l.Section.Run == nil
			if !yield(Case{Scenario: sc, Seed: uint64(n + 1)}) {
				return
			}
		}
	}
}

// FirstCases are runs without faults of a lock of which nothing is known: the one by which [Discover] begins, and those
// of [CalmTrials] without what Discover finds out.
func FirstCases(l subject.Lock, space spaces.Space) iter.Seq[Case] {
	space.Lock, space.Store = l.Kind(), l.Fence()
	space = equipped(space, l)
	return func(yield func(Case) bool) {
		if !yield(Case{Scenario: calmScenario(space), Seed: calmSeed}) {
			return
		}
		CalmCases(l, space)(yield)
	}
}

// mostLateRounds is the number of rounds in which sections are late enough to say something, and few enough to be read.
const mostLateRounds = 8

// calmCase is the scenario of one of the runs. They differ in the number of clients,
// the length of a section, the latency, and in whether the context of Acquire ends when
// it has returned.
func calmCase(space spaces.Space, n int) *file.Scenario {
	space = space.WithDefaults()
	sc := file.Defaults()
	sc.Name = "calm"
	ttl := space.TTL.Max.Truncate(time.Millisecond)
	part := func(percent int) time.Duration {
		return max(ttl*time.Duration(percent)/100, time.Millisecond).Truncate(time.Millisecond)
	}
	sc.World.Redis, sc.World.Servers, sc.World.Replicas = space.Redis, space.Servers, space.LeastReplicas
	sc.World.Clients = 2 + n%2
	latency := min(time.Duration(1+n%4)*time.Millisecond, ttl/50)
	sc.World.Latency = file.Range{Min: latency, Max: latency}
	sc.Lock.Kind, sc.Store, sc.Lock.TTL = space.Lock, space.Store, ttl
	sc.Lock.Backoff = file.Range{Min: part(2), Max: part(4)}
	sc.Workload.Rounds, sc.Workload.ChecksUntil = 4, checker.CareNever
	if space.Store != "" {
		sc.Workload.Kind = file.WorkloadLate
	}
	sc.Workload.Data = cmp.Or(space.Data, sc.Workload.Data)
	if n%2 == 1 { // the context of Acquire ends when it has returned
		sc.Workload.AcquireWithin = time.Hour
	}
	sc.Workload.Hold, sc.Workload.Think = part([]int{5, 10, 20}[n%3]), part(5)
	w := &sc.Workload
	switch n {
	case usualCases - 1: // each client asks when the one before has released, long before the end of its lease
		w.Rounds, w.Hold, w.Stagger = 1, part(5), part(50)
	case usualCases:
		w.Rounds, w.Hold, w.Think = manyRounds, part(1), part(1)
	case usualCases + 1:
		w.Resources, w.Beside, w.Hold = alikeAtFirst(), true, part(5)
	case heldCases - 1:
		sc.World.Clients, w.Rounds, w.Hold = 2, 1, 3*ttl
	}
	if sc.Workload.TriesFence() {
		w.Rounds = min(w.Rounds, mostLateRounds)
	}
	return sc
}
