package libraries

import (
	"context"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locksim/internal/live"
	"locksim/internal/live/server"
	"locksim/internal/soak"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// brief is rueidislock with a lease of a second, for live runs. It dials by itself.
func brief() scenarios.Lock {
	return scenarios.Lock{Name: "brief", Traits: scenarios.Traits{Lease: scenarios.LeaseHeld, Detection: time.Second},
		New: func(e scenarios.Env) (lock.Locker, error) {
			return Opened(e, func() (rueidislock.Locker, error) {
				return rueidislock.NewLocker(rueidislock.LockerOption{
					ClientOption: rueidis.ClientOption{InitAddress: []string{e.Address(scenarios.Primary)}, DisableCache: true,
						AlwaysRESP2: true},
					KeyMajority: 1, KeyValidity: time.Second, TryNextAfter: 200 * time.Millisecond,
				})
			}), nil
		}}
}

// A library that dials by itself has its server in a live run, and a partition of its client cuts it off, and no other:
// the renewals of c0 get lost, and c1 is granted the lock while c0 is cut off. Otherwise c0 has it until it releases.
func TestLiveDialsAlone(t *testing.T) {
	needsOverlay(t)
	soak.RealTime(t)
	if err := server.Missing(server.Redis); err != nil {
		t.Skip(err)
	}
	sc, err := file.Parse("alone.yaml", []byte(`name: alone
world: {redis: 1, clients: 2, latency: 1ms}
lock: {ttl: 1s}
workload: {rounds: 1, hold: 3s, stagger: 300ms, acquire_within: 20s}
faults:
  - when: {client: c0, event: granted, nth: 1}
    partition: {between: [c0], and: [r0], for: 3500ms}
`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := live.Open()
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Run(context.Background(), sc, brief(), live.Options{Seed: 1, Modes: []fence.Mode{fence.None}, Scale: 1})
	if end := s.Close(); err != nil || end != nil {
		t.Fatal(err, end)
	}
	cut, order := false, ""
	for _, e := range o.Modes[0].Trace.Events {
		switch what := e.What.(type) {
		case trace.Cut:
			cut = true
		case trace.Heal:
			cut = false
		case trace.Mark:
			if what.Step == trace.Granted && e.Actor != trace.Probe {
				order += e.Actor
				if e.Actor == "c1" && !cut {
					t.Error("c1 is granted the lock only when c0 is connected again")
				}
			}
		}
	}
	if n := o.Modes[0].Verdict.Facts.BeliefOverlaps; order != "c0c1" || n == 0 {
		t.Errorf("granted to %s, and %d beliefs overlap", order, n)
	}
}
