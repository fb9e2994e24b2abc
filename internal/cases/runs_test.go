package cases_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/cases"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/sim/postgres"
)

// find is the lock of that name.
func find(t *testing.T, name string) scenarios.Lock {
	t.Helper()
	for _, l := range cases.All() {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("there is no case %s", name)
	return scenarios.Lock{}
}

// load is the scenario file of that name.
func load(t *testing.T, name string, l scenarios.Lock) *scenarios.Scenario {
	t.Helper()
	sc, err := scenarios.Load(filepath.Join("scenarios", name+".yaml"), l)
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// Every case is a lock that can be played.
func TestAll(t *testing.T) {
	for _, l := range cases.All() {
		if err := l.Validate(); err != nil {
			t.Error(err)
		}
	}
	load(t, "renewal-answered-late", find(t, "mine"))
}

// A lock that needs a replica says so, and is judged in calm runs and under faults. One that does not
// say so is told. Its own key keeps a client out, which this one lives with.
func TestNotSynced(t *testing.T) {
	l := find(t, "r25-not-synced")
	l.Promise.SelfExcludes = true
	scenarios.Check(t, l, scenarios.Options{Runs: testruns.Soak(t, 100, 0.3), Seed: 1, Dir: t.TempDir()})
	l.Replicas = 0
	_, err := search.Discover(l, spaces.Space{})
	if want := "say how many it needs in its Replicas"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v: want %s", err, want)
	}
}

// A scenario with fewer replicas than the lock needs has as many as it needs.
func TestNotSyncedPlayed(t *testing.T) {
	l := find(t, "r25-not-synced")
	sc := load(t, "not-synced", l)
	for _, replicas := range []int{0, 1} {
		sc.World.Replicas = replicas
		if replicas == 0 {
			sc.Faults = nil
		}
		out, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
		if err != nil {
			t.Fatal(err)
		}
		if n := out.Modes[0].Verdict.Facts.Grants; n == 0 {
			t.Errorf("%d replicas: no client was granted the lock", replicas)
		}
		sc = load(t, "not-synced", l)
	}
}

// Each replica runs the job of the hour, and none is to blame but the one that did not ask
// whether it has run.
func TestTick(t *testing.T) {
	single, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	out, err := play.Run(load(t, "tick", single), single, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	if err != nil {
		t.Fatal(err)
	}
	v := out.Modes[0].Verdict
	if v.Label != checker.Repeated || v.Facts.Recomputed != 2 {
		t.Errorf("%s, %d more runs than one: want %s and 2", v.Label, v.Facts.Recomputed, checker.Repeated)
	}
}

// A lock that gives up a grant which no replica has, and asks again, is right under the same faults.
func TestSynced(t *testing.T) {
	const wait = 100 * time.Millisecond
	l := scenarios.Lock{Name: "synced", Traits: scenarios.Traits{Replicas: 1, FollowsSpec: true, GrantTime: wait,
		Messages: 12,
		Promise: lock.Promise{
			Exclusion:  []lock.Fault{lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultPartition, lock.FaultLatency},
			FreeWithin: lock.TermTTL,
		}},
		New: func(e scenarios.Env) (lock.Locker, error) {
			c, n := scenarios.RedisClient(e, scenarios.Primary), 0
			return lockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				for {
					n++
					me, until := fmt.Sprintf("%s.%d", e.Identity(), n), e.Clock().Now().Add(e.Spec().TTL)
					free := func(ctx context.Context) error {
						return del.Run(context.WithoutCancel(ctx), c, []string{name}, me).Err()
					}
					ok, err := c.SetNX(ctx, name, me, e.Spec().TTL).Result()
					if err == nil && ok {
						var have int64
						if have, err = c.Wait(ctx, 1, wait).Result(); err == nil && have > 0 {
							return synced{until, free}, nil
						}
					}
					if ok || err != nil {
						_ = free(ctx)
					}
					if err := e.Clock().Sleep(ctx, e.Spec().Backoff.Max); err != nil {
						return nil, err
					}
				}
			}), nil
		}}
	scenarios.Check(t, l, scenarios.Options{Runs: testruns.Soak(t, 400, 0.25), Seed: 1, Dir: t.TempDir()})
}

var del = redis.NewScript(
	`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

type lockerFunc func(ctx context.Context, name string) (lock.Lease, error)

func (f lockerFunc) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return f(ctx, name)
}

type synced struct {
	until time.Time
	free  func(ctx context.Context) error
}

func (s synced) Token() uint64                     { return 0 }
func (s synced) Until() time.Time                  { return s.until }
func (s synced) Lost() <-chan struct{}             { return nil }
func (s synced) Context() context.Context          { return context.Background() }
func (s synced) Release(ctx context.Context) error { return s.free(ctx) }

// One fault suspends a machine, and the story says what it does to the clock.
func TestVMSuspend(t *testing.T) {
	fenced, err := redislocks.Kind("fenced")
	if err != nil {
		t.Fatal(err)
	}
	out, err := play.Run(load(t, "vm-suspend", fenced), fenced, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	if err != nil {
		t.Fatal(err)
	}
	m := out.Modes[0]
	if m.Verdict.Label != checker.Corrupted || !m.FaultsFelt[0] {
		t.Errorf("%s, felt %v: want %s of a holder that has not noticed", m.Verdict.Label, m.FaultsFelt[0], checker.Corrupted)
	}
	var story []string
	for _, line := range m.Story {
		if line.Actor == "c0" {
			story = append(story, line.What)
		}
	}
	text := strings.Join(story, "\n")
	for _, want := range []string{"MACHINE SLEEPS, its monotonic clock with it, for 1m0s",
		"MACHINE WAKES: its monotonic clock has not counted that time"} {
		if !strings.Contains(text, want) {
			t.Errorf("the story does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "DRIFTS") {
		t.Errorf("the story speaks of a drift:\n%s", text)
	}
}

// A process that is asked to end releases its lock, and is gone before it would be killed.
func TestSigterm(t *testing.T) {
	single, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	out, err := play.Run(load(t, "sigterm", single), single, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	if err != nil {
		t.Fatal(err)
	}
	m := out.Modes[0]
	var text string
	for _, line := range m.Story {
		text += fmt.Sprintf("%.1f %s %s\n", line.At.Seconds(), line.Actor, line.What)
	}
	if m.Verdict.Label != checker.Safe || m.Verdict.Facts.Grants != 3 {
		t.Errorf("%s, %d grants: want %s and 3, of which one of c0", m.Verdict.Label, m.Verdict.Facts.Grants, checker.Safe)
	}
	for _, want := range []string{
		"3.0 c0 IS ASKED TO END (SIGTERM) within 2s\n", "3.0 c0 has released\n",
		"3.0 c0 ENDS by itself, as it was asked to\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the story does not say %q:\n%s", want, text)
		}
	}
}

// Where every connection of a client's pool is in use, the story says so: by connections that a lock
// keeps, and by other work of the process.
func TestEmptyPool(t *testing.T) {
	if err := postgres.Missing(); err != nil {
		t.Skip(err)
	}
	leaks, pool := find(t, "s13-try-leaks"), find(t, "s14-on-the-pool")
	leaking, busy := load(t, "on-the-pool", pool), load(t, "on-the-pool", pool)
	leaking.Faults, leaking.Lock.Kind = nil, leaks.Name
	busy.Faults[0].Action = faults.ExhaustPool{Process: "c0", For: 5 * time.Second} // until after the release
	for _, tt := range []struct {
		lock scenarios.Lock
		sc   *scenarios.Scenario
		who  string
	}{{leaks, leaking, "c1"}, {pool, busy, "c0"}} {
		out, err := play.Run(tt.sc, tt.lock, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
		if err != nil {
			t.Fatal(err)
		}
		waits := slices.ContainsFunc(out.Modes[0].Story, func(l outcome.Line) bool {
			return l.Actor == tt.who && l.What == "waits for a connection: all 4 of its pool are in use"
		})
		if !waits {
			t.Errorf("%s: the story does not say that %s waits for a connection:\n%v", tt.lock.Name, tt.who, out.Modes[0].Story)
		}
	}
}
