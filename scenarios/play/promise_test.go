package play_test

import (
	"slices"
	"testing"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// Every kind keeps its promise in every scenario of the library that names it and
// that the promise covers: claims never overlap, the data is right in the promised
// mode, and the lock can be acquired again. Clients that share an owner id use the
// lock against its terms (F31, F32).
func TestKindsKeepTheirPromises(t *testing.T) {
	for _, name := range kinds.Names() {
		t.Run(name, func(t *testing.T) {
			judged := 0
			for _, sc := range librarySample(t) {
				l := testruns.Kind(t, name)
				lawful := sc.Lock.Owner != file.OwnerShared && len(sc.Workload.Writes()) == 1
				if lawful && slices.Contains(sc.LockNames(), name) && l.Promises(sc.Faults) {
					judged += judge(t, sc, l)
				}
			}
			if judged == 0 {
				t.Error("the promise covers no scenario: nothing was judged")
			}
		})
	}
}

// judge plays a scenario over some seeds and returns how many runs contended.
func judge(t *testing.T, sc *file.Scenario, l subject.Lock) int {
	contended := 0
	data, ok := l.DataMode()
	if !ok {
		t.Fatalf("%s promises nothing about data", l.Name)
	}
	seeds := uint64(testruns.Soak(t, 20, 0.1))
	if seeds <= 2 { // each scenario and lock is there
		seeds = 1
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, m := range testruns.Play(t, sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None, data}}).Modes {
			f := m.Verdict.Facts
			if f.ClaimOverlaps > 0 || f.Liveness != checker.LivenessOK {
				t.Errorf("%s, seed %d, mode %s: %d claim overlaps, liveness %s: %v", sc.Name, seed, m.Mode, f.ClaimOverlaps,
					f.Liveness, m.Verdict.Reasons)
			}
			if oneWrite := sc.Workload.Kind == file.WorkloadRegister; oneWrite && m.Mode == data && f.Data != checker.DataRight {
				t.Errorf("%s, seed %d, mode %s: data %s: %v", sc.Name, seed, m.Mode, f.Data, m.Verdict.Reasons)
			}
			if data == fence.Seal && m.Mode == data && f.FalseRejects > 0 {
				t.Errorf("%s, seed %d, mode %s: %d false rejects: %v", sc.Name, seed, m.Mode, f.FalseRejects, m.Verdict.Reasons)
			}
			if f.Contended > 0 {
				contended++
			}
		}
	}
	return contended
}

// Every kind has a promise, and a promise with unknown words is refused.
func TestPromisesResolve(t *testing.T) {
	sc, l := testruns.Load(t, "calm")
	for _, name := range kinds.Names() {
		p, ok := lock.PromiseOf(name)
		if !ok {
			t.Errorf("%s has no promise", name)
		}
		if testruns.Kind(t, name).Tokens != (p.Data == "seal") && name != "redlock-fenced" {
			t.Errorf("%s promises data in mode %s, which does not fit its tokens", name, p.Data)
		}
	}
	for _, p := range []lock.Promise{{Exclusion: []lock.Fault{"weather"}}, {Data: "glue"}, {FreeWithin: "soon"},
		{FreeWithin: lock.TermReleaseTimeout},
		{FreeAfter: map[promise.Cause]lock.Term{promise.CauseCrash: lock.TermNodeTimeouts}}} {
		l.Promise = p
		if _, err := play.Run(sc, l, play.RunOptions{}); err == nil {
			t.Errorf("the promise %+v was accepted", p)
		}
	}
}

// A promise does not cover a schedule with one fault outside it.
func TestPromises(t *testing.T) {
	single, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	schedule := func(actions ...faults.Action) (all []faults.Fault) {
		for _, a := range actions {
			all = append(all, faults.Fault{Action: a})
		}
		return all
	}
	redlock, err := redislocks.Kind("redlock")
	if err != nil {
		t.Fatal(err)
	}
	drift := func(clock string, ppm int64) faults.Action { return faults.ClockDrift{Clock: clock, PPM: ppm} }
	in, out := faults.Stall{Node: "r0"}, faults.Evict{Node: "r0"}
	for _, tt := range []struct {
		lock     subject.Lock
		schedule []faults.Fault
		want     bool
	}{
		{single, nil, true},
		{single, schedule(in, in), true},
		{single, schedule(in, out), false},
		{single, schedule(unknownAction{}), false},
		{subject.Lock{Name: "theirs"}, nil, false},
		{single, schedule(drift("c0", 1)), false},
		{redlock, schedule(drift("r0", 10_000), drift("r1", 10_000)), true},
		{redlock, schedule(drift("c0", -4_000), drift("r1", 6_000)), true},
		{redlock, schedule(drift("c0", -4_001), drift("r1", 6_000)), false},
		{redlock, schedule(faults.ClockFreeze{Clock: "c0"}), false},
	} {
		if got := tt.lock.Promises(tt.schedule); got != tt.want {
			t.Errorf("%s promises %v: %v, want %v", tt.lock.Name, tt.schedule, got, tt.want)
		}
	}
}

// unknownAction is an action that no promise covers.
type unknownAction struct{ faults.Pause }

// The faults that a promise does not cover are named by their classes, each once;
// of two clock drifts the difference counts.
func TestUnpromised(t *testing.T) {
	fault := func(a faults.Action) faults.Fault { return faults.Fault{Action: a} }
	pause, flush := fault(faults.Pause{Process: "c0", For: time.Second}),
		fault(faults.Flush{Node: "r0", What: faults.FlushKeys})
	fast, slow := fault(faults.ClockDrift{Clock: "c0", PPM: 5000}), fault(faults.ClockDrift{Clock: "c1", PPM: -6000})
	for _, tt := range []struct {
		lock     string
		schedule []faults.Fault
		want     []string
	}{
		{"single", nil, nil},
		{"single", []faults.Fault{pause}, nil},
		{"single", []faults.Fault{flush, pause, flush}, []string{"flush"}},
		{"single", []faults.Fault{fast, flush}, []string{"clock-drift", "flush"}},
		{"redlock", []faults.Fault{fast}, nil},
		{"redlock", []faults.Fault{fast, slow}, []string{"clock-rate"}},
		{"broken/del-without-owner", []faults.Fault{pause}, []string{"pause"}},
	} {
		l, err := redislocks.Kind(tt.lock)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Unpromised(tt.schedule); !slices.Equal(got, tt.want) {
			t.Errorf("%s under %v: %q, want %q", tt.lock, tt.schedule, got, tt.want)
		}
	}
}

// A lock that promises neither exclusion nor right data is judged by liveness and right data under every fault, and by
// its duties.
func TestJudgedBy(t *testing.T) {
	pause := []lock.Fault{lock.FaultPause}
	for _, c := range []struct {
		promise lock.Promise
		tokens  bool
		nothing bool
		data    string
	}{
		{lock.Promise{}, false, true, "none"},
		{lock.Promise{}, true, true, "seal"},
		{lock.Promise{Duties: promise.Duties(), FreeWithin: lock.TermAnyTime, Order: lock.FIFO}, false, true, "none"},
		{lock.Promise{Exclusion: pause}, false, false, ""},
		{lock.Promise{Data: "claim"}, true, false, "claim"},
		{lock.Promise{Exclusion: append(pause, lock.FaultCrash), Data: "claim"}, false, false, "claim"},
	} {
		l := subject.Lock{Name: "theirs", Traits: subject.Traits{Promise: c.promise, Tokens: c.tokens}}
		judged := l.JudgedBy()
		if l.PromisesNothing() != c.nothing || judged.Data != c.data || !slices.Equal(judged.Duties, c.promise.Duties) {
			t.Errorf("%+v: promises nothing %v, judged by %+v", c.promise, l.PromisesNothing(), judged)
		}
		if c.nothing && (judged.FreeWithin != "" || judged.Order != "" || len(judged.Exclusion) > 0) || !c.nothing &&
			judged.FreeWithin != c.promise.FreeWithin {
			t.Errorf("%+v is judged by %+v", c.promise, judged)
		}
	}
}

func TestDescribePromise(t *testing.T) {
	for want, p := range map[string]lock.Promise{
		"promises nothing":                      {},
		"claims exclude each other under pause": {Exclusion: []lock.Fault{lock.FaultPause}},
		"claims exclude each other under pause, crash; data right in mode seal; free again within any time; " +
			"calls return within release timeout; duties: ends, waits": {
			Exclusion: []lock.Fault{lock.FaultPause, lock.FaultCrash}, Data: "seal", FreeWithin: lock.TermAnyTime,
			ReturnsWithin: lock.TermReleaseTimeout,
			Duties:        []promise.Duty{promise.DutyEnds, promise.DutyWaits},
		},
	} {
		if got := subject.DescribePromise(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
