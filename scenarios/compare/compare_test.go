package compare_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/compare"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

func kind(t *testing.T, name string) subject.Lock {
	t.Helper()
	l, err := redislocks.Kind(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func again(scenario, lock string, seed uint64, modes ...fence.Mode) string {
	return fmt.Sprint("again ", scenario, " ", lock, " ", seed, " ", modes)
}

// measured caches the measurements of locks between tests: each takes many runs.
var measured = map[string]*comparisons.Lock{}

func measure(t *testing.T, l subject.Lock) *comparisons.Lock {
	t.Helper()
	if m := measured[l.Name]; m != nil {
		return m
	}
	m, err := compare.Measure(l, compare.Options{Seeds: outcome.Seeds{First: 1, Last: 1}, Replay: again, Troubles: 2})
	if err != nil {
		t.Fatal(err)
	}
	measured[l.Name] = m
	return m
}

// of is the result of a lock under a class.
func of(t *testing.T, l *comparisons.Lock, class lock.Fault) comparisons.Survival {
	t.Helper()
	i := slices.IndexFunc(l.Survives, func(s comparisons.Survival) bool { return s.Class == class })
	if i < 0 {
		t.Fatalf("%s: nothing about %s", l.Name, class)
	}
	return l.Survives[i]
}

// three is Redlock on three servers, as in a user's code.
func three() subject.Lock {
	return subject.Lock{Name: "three", Traits: subject.Traits{Servers: subject.Redis(3), FollowsSpec: true},
		New: func(e subject.Env) (lock.Locker, error) {
			nodes := make([]lock.Redis, 3)
			for i := range nodes {
				nodes[i] = redisclient.New(e, fmt.Sprintf("r%d", i))
			}
			return lock.NewRedlock(nodes,
				lock.RedlockOptions{Options: lock.Options{TTL: e.Spec().TTL, Clock: e.Clock(), Entropy: e.Entropy("lock"),
					Jitter: e.Source("lock")}})
		}}
}

// The round trips follow from how the locks work: one request, one to each of
// several servers at once, or one after the other.
func TestTrips(t *testing.T) {
	once := comparisons.Trip{RoundTrips: 1, Messages: 1}
	each := func(servers int) comparisons.Trip { return comparisons.Trip{RoundTrips: 1, Messages: servers} }
	plain := comparisons.Trips{Acquire: once, Release: once, Renew: &once}
	five := each(5)
	for name, tt := range map[string]struct {
		lock subject.Lock
		want comparisons.Trips
	}{
		"single":   {kind(t, "single"), plain},
		"fenced":   {kind(t, "fenced"), plain},
		"watchdog": {kind(t, "watchdog"), comparisons.Trips{Acquire: once, Release: once, Renew: &once, Unasked: true}},
		"redlock":  {kind(t, "redlock"), comparisons.Trips{Acquire: five, Release: five, Renew: &five}},
		"redlock-watchdog": {kind(t, "redlock-watchdog"),
			comparisons.Trips{Acquire: five, Release: five, Renew: &five, Unasked: true}},
		"redlock-fenced, which reads the counters and writes them back": {kind(t, "redlock-fenced"),
			comparisons.Trips{Acquire: comparisons.Trip{RoundTrips: 2, Messages: 10}, Release: five, Renew: &five}},
		"a user's redlock on three servers": {three(),
			comparisons.Trips{Acquire: each(3), Release: each(3), Renew: new(each(3))}},
		"five servers one by one": {kind(t, "broken/redlock-one-by-one"),
			comparisons.Trips{Acquire: comparisons.Trip{RoundTrips: 5, Messages: 5}, Release: five}},
		"a token in a second request": {kind(t, "broken/token-after-lock"),
			comparisons.Trips{Acquire: comparisons.Trip{RoundTrips: 2, Messages: 2}, Release: once}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := compare.TripsOf(tt.lock)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each run that a comparison names shows what the comparison says of it, and its
// command repeats that run. LOCKSIM_SOAK=1 has more locks.
func TestSeenRunsAreRight(t *testing.T) {
	names := []string{"fenced"}
	if os.Getenv("LOCKSIM_SOAK") == "1" {
		names = append(names, "redlock", "watchdog")
	}
	library, err := redislocks.Library(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		l := kind(t, name)
		m := measure(t, l)
		shown := 0
		for _, s := range m.Survives {
			seen := slices.Clone(s.Others)
			for _, one := range []*comparisons.Seen{s.Refused, s.Overlap} {
				if one != nil {
					seen = append(seen, *one)
				}
			}
			for _, one := range seen {
				shown++
				i := slices.IndexFunc(library, func(sc *file.Scenario) bool { return sc.Name == one.Scenario })
				o, err := play.Run(library[i], l, play.RunOptions{Seed: one.Seed, Modes: []fence.Mode{one.Mode}, Alone: true})
				if err != nil {
					t.Fatal(err)
				}
				if got := o.Modes[0].Verdict.Label; got != one.Label {
					t.Errorf("%s under %s: %s is %s", name, s.Class, one.Replay, got)
				}
				if one.Replay != again(one.Scenario, name, one.Seed, one.Mode) {
					t.Errorf("%s under %s: %s", name, s.Class, one.Replay)
				}
			}
			if s.Overlap != nil && s.Promised {
				t.Errorf("%s promises exclusion under %s, and claims overlap: %s", name, s.Class, s.Overlap.Replay)
			}
			if s.Promised && s.Scenarios > 0 && s.Fence == "" {
				t.Errorf("%s promises exclusion under %s, and no fence saves the data: %+v", name, s.Class, s.Others)
			}
		}
		if shown == 0 {
			t.Errorf("%s: no run is shown", name)
		}
	}
}

// The results agree with what the catalogue says about these locks.
func TestSurvival(t *testing.T) {
	fenced, dog := measure(t, kind(t, "fenced")), measure(t, kind(t, "watchdog"))
	single := measure(t, kind(t, "single"))
	for name, tt := range map[string]struct {
		got  comparisons.Survival
		want comparisons.Survival // its counts and runs are not compared
	}{
		"a crash needs no fence (F01)": {of(t, fenced, lock.FaultCrash),
			comparisons.Survival{Promised: true, Fence: fence.None}},
		"a pause needs one that seals (F11, F14)": {of(t, fenced, lock.FaultPause),
			comparisons.Survival{Promised: true, Fence: fence.Seal}},
		"a section beyond the TTL needs a fence": {of(t, fenced, comparisons.NoFault),
			comparisons.Survival{Promised: true, Fence: fence.Seal}},
		"but not if the lease is renewed": {of(t, dog, comparisons.NoFault),
			comparisons.Survival{Promised: true, Fence: fence.None}},
		"without tokens, claim refuses a rightful holder": {of(t, single, lock.FaultPause),
			comparisons.Survival{Promised: true, Fence: fence.Claim, Refused: &comparisons.Seen{}}},
		"a counter that is lost with the lock gets past seal": {of(t, fenced, lock.FaultFailover),
			comparisons.Survival{Fence: fence.Claim, Overlap: &comparisons.Seen{}}},
		"a write that is late needs one that seals (F13), in a scenario about other locks": {
			of(t, fenced, lock.FaultLatency), comparisons.Survival{Promised: true, Fence: fence.Seal}},
		"a dead worker's watchdog renews for ever (F36)": {of(t, dog, lock.FaultWorker), comparisons.Survival{}},
	} {
		got, want := tt.got, tt.want
		if got.Promised != want.Promised || got.Fence != want.Fence || (got.Refused != nil) != (want.Refused != nil) ||
			(got.Overlap != nil) != (want.Overlap != nil) || got.Runs == 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if s := of(t, dog, lock.FaultWorker); !s.Stuck() {
		t.Errorf("a watchdog whose worker was killed is not stuck: %+v", s)
	}
	if s := of(t, fenced, lock.FaultFailover); s.Stuck() {
		t.Errorf("a lock that can be acquired is stuck: %+v", s)
	}
	var failed []fence.Mode
	for _, o := range of(t, fenced, lock.FaultPause).Others {
		failed = append(failed, o.Mode)
	}
	if diff := cmp.Diff([]fence.Mode{fence.None, fence.Check}, failed); diff != "" {
		t.Errorf("the weaker fences under a pause: %s", diff)
	}
}

// Of a lock that the library does not know, its own mistakes are seen, and the
// effects of its short lease without faults are not attributed to faults.
func TestLockFromOutside(t *testing.T) {
	careless := kind(t, "broken/del-without-owner")
	careless.Name = "mine"
	if s := of(t, measure(t, careless), lock.FaultPause); s.Overlap == nil || s.Overlap.Scenario != "del-without-owner" {
		t.Errorf("a release that deletes another's key was not seen: %+v", s)
	}
	sound := measure(t, testlocks.Correct("sound"))
	if s := of(t, sound, comparisons.NoFault); s.Fence == fence.None || s.Overlap != nil {
		t.Errorf("a lease of %v in sections of twenty seconds: %+v", testlocks.TTL, s)
	}
	for _, class := range []lock.Fault{lock.FaultCrash, lock.FaultWorker, lock.FaultScripts, lock.FaultReset} {
		if s := of(t, sound, class); s.Scenarios > 0 && s.Fence != fence.None {
			t.Errorf("the effect of a short lease was attributed to %s: %+v", class, s)
		}
	}
	for _, s := range sound.Survives {
		if s.Promised && s.Overlap != nil {
			t.Errorf("claims of a sound lock overlap under %s: %+v", s.Class, s.Overlap)
		}
	}
}

// A fault on a server that the lock does not use does not count.
func TestOtherServers(t *testing.T) {
	m := measure(t, subject.Lock{Name: "second", Traits: subject.Traits{Servers: subject.Redis(2), FollowsSpec: true},
		New: func(e subject.Env) (lock.Locker, error) {
			return lock.NewSingle(redisclient.New(e, "r1"), lock.Options{TTL: e.Spec().TTL, Clock: e.Clock(),
				Entropy: e.Entropy("lock"), Jitter: e.Source("lock")})
		}})
	for _, class := range []lock.Fault{lock.FaultFlush, lock.FaultFailover, lock.FaultScripts} {
		if s := of(t, m, class); s.Scenarios > 0 {
			t.Errorf("%s strikes r0, and counts for a lock on r1: %+v", class, s)
		}
	}
	if s := of(t, m, lock.FaultPause); s.Scenarios == 0 {
		t.Errorf("a pause of a client does not count: %+v", s)
	}
}

// hasty waits before each Acquire for a time from a source without a seed.
type hasty struct {
	lock.Locker
	clock lock.Clock
}

func (h hasty) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	if err := h.clock.Sleep(ctx, time.Duration(rand.Int64N(int64(time.Second)))); err != nil {
		return nil, err
	}
	return h.Locker.Acquire(ctx, resource)
}

// closed is a lock whose Acquire fails.
type closed struct{}

func (closed) Acquire(context.Context, string) (lock.Lease, error) {
	return nil, errors.New("closed on Mondays")
}

// A lock that no client can use, or that draws from a source without a seed, is not measured.
func TestMeasureRefuses(t *testing.T) {
	opt := compare.Options{Seeds: outcome.Seeds{First: 1, Last: 1}, Replay: again, Troubles: 2}
	for name, of := range map[string]func(subject.Env) (lock.Locker, error){
		"never granted": func(subject.Env) (lock.Locker, error) { return closed{}, nil },
		"not made":      func(subject.Env) (lock.Locker, error) { return nil, errors.New("closed on Mondays") },
	} {
		if _, err := compare.Measure(subject.Lock{Name: "mine", New: of}, opt); !errors.Is(err, compare.ErrUnusable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := compare.Measure(subject.Lock{Name: "mine"}, opt); err == nil || errors.Is(err, compare.ErrUnusable) {
		t.Errorf("without New: %v", err)
	}
	drawing := kind(t, "single")
	inner := drawing.New
	drawing.New = func(e subject.Env) (lock.Locker, error) {
		l, err := inner(e)
		return hasty{l, e.Clock()}, err
	}
	_, err := compare.Measure(drawing, opt)
	if _, ok := errors.AsType[*play.NondeterminismError](err); !ok {
		t.Errorf("a lock that is not deterministic: %v", err)
	}
}

// patient waits for two seconds before each Acquire.
type patient struct {
	lock.Locker
	clock lock.Clock
}

func (p patient) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	if err := p.clock.Sleep(ctx, 2*time.Second); err != nil {
		return nil, err
	}
	return p.Locker.Acquire(ctx, resource)
}

// A time in which a lock waits for no answer is no round trip.
func TestWaits(t *testing.T) {
	l := kind(t, "single")
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		locks, err := inner(e)
		return patient{locks, e.Clock()}, err
	}
	got, err := compare.TripsOf(l)
	if err != nil {
		t.Fatal(err)
	}
	if want := (comparisons.Trip{RoundTrips: 1, Messages: 1, WaitsSeconds: 2}); got.Acquire != want {
		t.Errorf("it takes %+v, want %+v", got.Acquire, want)
	}
}

// A scenario of the user's own counts for a lock that it names, and its runs are named by its file.
func TestAlso(t *testing.T) {
	var also []*file.Scenario
	for _, name := range []string{"single", "watchdog"} {
		sc, err := file.Parse("mine/"+name+".yaml", []byte("name: "+name+"\nworld: {redis: 1, clients: 2}\nlock: {kind: "+
			"single, ttl: 4s}\n"+
			"workload: {rounds: 2, hold: 1s}\nfaults: [{when: {client: c0, event: read, nth: 1}, stall: {node: r0, for: "+
			"500ms}}]\nlocks: ["+name+"]\n"))
		if err != nil {
			t.Fatal(err)
		}
		sc.Lock.Kind = name
		also = append(also, sc)
	}
	m, err := compare.Measure(kind(t, "single"), compare.Options{Seeds: outcome.Seeds{First: 1, Last: 1}, Also: also,
		Replay: again, Troubles: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, before := of(t, m, lock.FaultStall), of(t, measure(t, kind(t, "single")), lock.FaultStall)
	if s.Scenarios != before.Scenarios+1 {
		t.Errorf("%d scenarios, and %d without these: %+v", s.Scenarios, before.Scenarios, s)
	}
}

// The same lock gives the same document, whatever was measured before; every seed
// adds runs, and every run is a step.
func TestMeasureIsStable(t *testing.T) {
	seeds := outcome.Seeds{First: 1, Last: 1}
	document := func(l *comparisons.Lock) string {
		b, err := comparisons.New(seeds, []comparisons.Lock{*l}).JSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	runs := func(l *comparisons.Lock) (n int) {
		for _, s := range l.Survives {
			n += s.Runs
		}
		return n
	}
	first := measure(t, kind(t, "single"))
	steps := 0
	again, err := compare.Measure(kind(t, "single"), compare.Options{Seeds: seeds, Replay: again, Troubles: 2,
		Step: func() { steps++ }})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document(first), document(again)); diff != "" {
		t.Error(diff)
	}
	if steps < runs(again) {
		t.Errorf("%d steps for %d runs", steps, runs(again))
	}
	if os.Getenv("LOCKSIM_SOAK") != "1" { // the script compare of cmd/locksim has two seeds
		return
	}
	more, err := compare.Measure(kind(t, "single"), compare.Options{Seeds: outcome.Seeds{First: 1, Last: 2}, Troubles: 2,
		Replay: func(string, string, uint64, ...fence.Mode) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if runs(more) <= runs(first) {
		t.Errorf("%d runs with two seeds, and %d with one", runs(more), runs(first))
	}
}

// Every kind says how it works and for what it is suitable, and every survival has a class.
func TestKindsDeclare(t *testing.T) {
	for _, name := range append(kinds.Names(), kinds.Specimens()...) {
		if l := kind(t, name); l.About == "" || l.ForWhom == "" {
			t.Errorf("%s lacks About or ForWhom", name)
		}
	}
	classes := comparisons.New(outcome.Seeds{First: 1, Last: 1}, nil).Classes
	if diff := cmp.Diff(append([]lock.Fault{comparisons.NoFault}, lock.Faults()...), classes); diff != "" {
		t.Error(diff)
	}
}

// A lock without an order lets one client wait for longer than others; a fair one does not.
func TestCrowd(t *testing.T) {
	longest := map[string]float64{}
	for _, name := range []string{"single", "fair"} {
		m := measure(t, kind(t, name))
		if m.Crowd == nil || m.Crowd.Waits < 10 {
			t.Fatalf("%s: %+v", name, m.Crowd)
		}
		longest[name] = m.Crowd.LongestSeconds / m.Crowd.MedianSeconds
	}
	if longest["fair"] > 2 || longest["single"] < 2*longest["fair"] {
		t.Errorf("longest waits, in medians: %v", longest)
	}
}

// What is no lock is right by its compare-and-set, and never without: its clients write over one another then, with a
// fault or without one.
func TestUnlockedNeedsItsComparison(t *testing.T) {
	m := measure(t, redislocks.Unlocked()[0])
	played := 0
	for _, s := range m.Survives {
		if s.Runs == 0 || !s.Promised {
			continue
		}
		if played++; s.Fence != fence.CAS {
			t.Errorf("%s: right with %q: %+v", s.Class, s.Fence, s.Others)
		}
	}
	if played < 3 || m.Crowd != nil {
		t.Errorf("%d classes were played, and a crowd waited: %+v", played, m.Crowd)
	}
}
