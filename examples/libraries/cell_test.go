package libraries

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
)

// keyFor is a lock with a key for some time, which Release leaves there. Its holder is told within 100 ms of the next
// one.
func keyFor(ttl time.Duration) scenarios.Lock {
	return scenarios.Lock{Name: "key-for-a-time", Traits: scenarios.Traits{Lease: scenarios.LeaseHeld,
		Detection: 30 * time.Second,
		Promise:   lock.LeasePromise()}, New: func(e scenarios.Env) (lock.Locker, error) {
		client := scenarios.RedisClient(e, scenarios.Primary)
		return scenarios.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
			for {
				ok, err := client.SetNX(ctx, key, e.Identity(), ttl).Result()
				if err != nil {
					return nil, scenarios.Unanswered(err)
				}
				if ok {
					break
				}
				if err := e.Clock().Sleep(ctx, 20*time.Millisecond); err != nil {
					return nil, err
				}
			}
			ended, cancel := context.WithCancel(e.Context())
			lost := make(chan struct{})
			go func() {
				for e.Clock().Sleep(ended, 100*time.Millisecond) == nil {
					if has, err := client.Get(ended, key).Result(); err == nil && has != e.Identity() {
						close(lost)
						return
					}
				}
			}()
			return scenarios.NewLease(ctx, e,
				scenarios.Grant{Lost: lost, Unlock: func(context.Context) error { cancel(); return nil }}), nil
		}), nil
	}}
}

// says is the sentence of a lock that keeps others out.
func says(text string, under ...lock.Fault) []Sentence {
	return []Sentence{{Text: text, Where: "a test", Under: under}}
}

func cellOf(t *testing.T, x Lock, trouble string, runs int) Cell {
	t.Helper()
	column, err := FindTrouble(trouble)
	if err != nil {
		t.Fatal(err)
	}
	c, err := playCell(x, column, runs, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Shares {
		if s.NoVerdict != "" {
			t.Fatalf("%s %v: %s", trouble, s.Faults, s.NoVerdict)
		}
	}
	return c
}

// A cell is judged by the Detection of the lock, which its page prints, in every column.
func TestOneDetection(t *testing.T) {
	for _, detection := range []time.Duration{30 * time.Second, 10 * time.Millisecond} {
		l := keyFor(200 * time.Millisecond)
		l.Detection = detection
		for _, trouble := range []string{"none", "pause"} {
			c := cellOf(t, Lock{Lock: l, Says: says("it excludes")}, trouble, 8)
			if s := c.Shares[0]; (s.Labels["overlap"]+s.Labels["misconduct"] > 0) != (detection < time.Second) {
				t.Errorf("%s, told within %v: %v in %d runs, %d of which tested the lock", trouble, detection, s.Labels, s.Runs,
					s.Evidence)
			}
		}
	}
}

// Each class of fault strikes alone, until it was felt as often as the others, and then those of the promise together.
func TestClassesInEqualShares(t *testing.T) {
	single, err := scenarios.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	c := cellOf(t, Lock{Lock: single, Says: says("it excludes")}, "network", 5)
	var drawn [][]lock.Fault
	for _, s := range c.Shares {
		drawn = append(drawn, s.Faults)
		if s.Felt != 5 || !s.Promised {
			t.Errorf("%v: felt in %d runs of %d, promised %v", s.Faults, s.Felt, s.Runs, s.Promised)
		}
	}
	all := []lock.Fault{lock.FaultPartition, lock.FaultLatency, lock.FaultReset}
	if len(drawn) != 4 || !slices.Equal(drawn[3], all) || !slices.Equal(slices.Concat(drawn[:3]...), all) {
		t.Errorf("drawn are %v", drawn)
	}
}

// A client is started again only after its crash: the two are drawn together, and the restart has to be felt.
func TestRestartsAreFelt(t *testing.T) {
	l := scenarios.Lock{Name: "careful",
		Traits: scenarios.Traits{
			Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultCrash, lock.FaultRestart}},
		}}
	x := Lock{Lock: careful(l), Says: says("it excludes")}
	process, err := FindTrouble("process")
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.share(x.Lock, process, []lock.Fault{lock.FaultRestart}, true, 3, 1)
	if err != nil || s.Felt != 3 || s.Idle != "" || s.NoVerdict != "" || s.Broken+s.Wished > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Under faults of which no sentence speaks nothing is promised, and a label that no sentence has is a wish.
func TestOnlySentencesArePromises(t *testing.T) {
	excludes, free := says("it excludes")[0], Sentence{Text: "it is free soon", Labels: []checker.Label{checker.Stuck},
		Under: []lock.Fault{lock.FaultPower}}
	x := Lock{Says: []Sentence{excludes, free}}
	power, crash := []lock.Fault{lock.FaultPower}, []lock.Fault{lock.FaultCrash}
	for _, c := range []struct {
		faults   []lock.Fault
		promised bool
		label    checker.Label
		want     string
	}{
		{power, true, checker.Overlap, "it excludes"},
		{power, true, checker.Stuck, "it is free soon"},
		{crash, true, checker.Stuck, ""},
		{slices.Concat(power, crash), true, checker.Stuck, ""}, // it says nothing of the one
		{nil, true, checker.Void, ""},                          // another sentence would have to say what a grant means
		{nil, true, checker.Stuck, ""},
		{power, false, checker.Overlap, ""},
	} {
		s, got := Share{Faults: c.faults, Promised: c.promised}, ""
		if q := x.against(&s, c.label); q != nil {
			got = q.Text
		}
		if got != c.want {
			t.Errorf("%s under %v, promised %v: it breaks %q, want %q", c.label, c.faults, c.promised, got, c.want)
		}
		s.count(x, &search.Trial{Violations: []outcome.Violation{{Label: c.label}}}, true)
		if s.Broken+s.Wished != 1 || (s.Broken == 1) != (c.want != "") || s.Labels[string(c.label)] != 1 {
			t.Errorf("%s under %v: counted as %+v", c.label, c.faults, s)
		}
	}
	// Beyond the promise, what its calls say counts for nothing; where the caller makes mistakes, or it is promised, it
	// does.
	for _, c := range []struct {
		s    Share
		want int
	}{
		{Share{Faults: power}, 0}, {Share{Faults: power, Promised: true}, 1}, {Share{}, 1},
	} {
		c.s.count(x, &search.Trial{Violations: []outcome.Violation{{Label: checker.Misconduct}}}, true)
		if got := c.s.Broken + c.s.Wished; got != c.want {
			t.Errorf("misconduct under %v, promised %v: counted %d times, want %d", c.s.Faults, c.s.Promised, got, c.want)
		}
	}
	bears := Lock{Says: says("it bears pauses", lock.FaultPause)}
	if !bears.speaks(lock.FaultPause) || bears.speaks("") || bears.speaks(lock.FaultCrash) || !x.speaks("") {
		t.Error("a sentence on pauses promises something elsewhere, or one without faults does not")
	}
}

// careful is a lock with a key that outlives each section, which hands the context of a release on to its client.
func careful(l scenarios.Lock) scenarios.Lock {
	l.Name = "careful"
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		client := scenarios.RedisClient(e, scenarios.Primary)
		return scenarios.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
			for {
				asked := e.Clock().Now()
				ok, err := client.SetNX(ctx, key, e.Identity(), time.Minute).Result()
				if err != nil {
					return nil, scenarios.Unanswered(err)
				}
				if ok {
					return scenarios.NewLease(ctx, e, scenarios.Grant{TTL: 10 * time.Second, Asked: asked,
						Unlock: func(ctx context.Context) error {
							return scenarios.Unanswered(client.Del(ctx, key).Err())
						}}), nil
				}
				if err := e.Clock().Sleep(ctx, 300*time.Millisecond); err != nil {
					return nil, err
				}
			}
		}), nil
	}
	l.Lease, l.Detection, l.Promise.FreeWithin = "", 0, lock.TermAnyTime
	return l
}

// Where nothing fails the caller makes no mistake. In the column of mistakes each run that counts has one, and none of
// what they break was promised.
func TestMistakesHaveTheirColumn(t *testing.T) {
	x := Lock{Lock: careful(keyFor(0)), Says: says("it excludes"), Misuse: "the context has ended"}
	if s := cellOf(t, x, "none", 4).Shares[0]; s.Broken+s.Wished > 0 {
		t.Errorf("without mistakes: %v, %+v", s.Labels, s.Failures)
	}
	s := cellOf(t, x, Misused, 2).Shares[0]
	if s.Felt != 2 || s.Broken > 0 || s.Wished == 0 {
		t.Errorf("with mistakes in %d runs: %d broken, %d wished, %v", s.Felt, s.Broken, s.Wished, s.Labels)
	}
	x.Misuse = ""
	if s := cellOf(t, x, Misused, 10).Shares[0]; s.Idle == "" || s.Runs > 0 {
		t.Errorf("a lock that cannot be misused: %+v", s)
	}
}

// No clock is wrong from the start but where the column is about clocks.
func TestOnlyClocksAreSkewed(t *testing.T) {
	single, err := scenarios.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	l := keyFor(0)
	l.New = single.New // every run fails: its holder is never told
	l.Promise.FreeWithin, l.Detection = lock.TermTTL, time.Millisecond
	for _, trouble := range Troubles() {
		want := trouble.Name == "clocks" || trouble.Name == "server-clocks"
		if trouble.space().SameClocks == want {
			t.Errorf("%s: %+v", trouble.Name, trouble.space())
		}
	}
	for _, trouble := range []string{"none", "network", "lost-data"} {
		for _, s := range cellOf(t, Lock{Lock: l, Says: says("it excludes")}, trouble, 5).Shares {
			for _, f := range s.Failures {
				if strings.Contains(f.Source, "skew") {
					t.Errorf("%s: a failure of skewed clocks:\n%s", trouble, f.Source)
				}
			}
		}
	}
}

// A lock that does not start with what a fault needs is not judged under that fault.
func TestALockThatRefuses(t *testing.T) {
	single, err := scenarios.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	x := Lock{Lock: single, Says: says("it excludes"), Refuses: map[lock.Fault]string{lock.FaultFailover: "it says no"}}
	if c := cellOf(t, x, "failover", 5); len(c.Shares) != 1 || c.Shares[0].Idle != "it says no" || c.Shares[0].Runs != 0 {
		t.Errorf("%+v", c.Shares)
	}
}

// A free lock that stays idle is a failure, and no live run can show it.
func TestIdleLockIsNotSeenLive(t *testing.T) {
	l := keyFor(15 * time.Second)
	l.Promise.FreeAfter = map[promise.Cause]lock.Term{promise.CauseOther: lock.TermTTL}
	s := cellOf(t, Lock{Lock: l, Says: says("it excludes")}, "none", 4).Shares[0]
	if len(s.Failures) == 0 {
		t.Fatalf("no failure in %d runs, %d of which tested the lock", s.Runs, s.Evidence)
	}
	for _, f := range s.Failures {
		if f.Label == checker.Stuck && f.AsLive[fence.None] != checker.Safe {
			t.Errorf("%s is %v by what a live run is judged by: %v", f.What, f.AsLive, f.Reasons)
		}
	}
}
