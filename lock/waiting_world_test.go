package lock_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"locksim/faults"
	"locksim/lock"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/trace"
)

// tenure is the time of a client's lease: from the grant to the release or the end of validity.
type tenure struct {
	client     string
	start, end time.Time
}

// faultyRun is one run of clients that wait for each other under faults.
type faultyRun struct {
	kind    kind
	waiting lock.Waiting
	seed    uint64

	mu      sync.Mutex
	tenures []tenure
	last    error // of the single client that asks after the workload
}

// TestWaitingUnderFaults pauses, crashes and cuts off clients while they wait. No two clients may hold the lock
// together, none may wait forever, no waiter may leak a goroutine (a [sim.LeakError]) or freeze the world (a
// [sim.FrozenError]), and a run must be repeatable.
func TestWaitingUnderFaults(t *testing.T) {
	for _, k := range kinds {
		for _, waiting := range []lock.Waiting{lock.WaitPoll, lock.WaitNotify} {
			t.Run(k.name+"/"+waiting.String(), func(t *testing.T) {
				seeds := 2
				if os.Getenv("LOCKSIM_SOAK") != "" {
					seeds = 8
				}
				grants := 0
				for seed := range uint64(seeds) {
					s, run := tell(t, k, waiting, seed)
					grants += len(s.tenures)
					s.check(t)
					if _, again := tell(t, k, waiting, seed); again.Hash() != run.Hash() {
						t.Errorf("seed %d: two runs differ", seed)
					}
				}
				if grants < seeds*20 {
					t.Errorf("only %d grants in all", grants)
				}
			})
		}
	}
}

func tell(t *testing.T, k kind, waiting lock.Waiting, seed uint64) (*faultyRun, *trace.Trace) {
	t.Helper()
	s := &faultyRun{kind: k, waiting: waiting, seed: seed}
	result, err := sim.Run(sim.Config{Seed: seed, Servers: []sim.Kind{simredis.Servers{}}, Clients: 4}, s.play)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return s, result.Trace
}

func (s *faultyRun) play(w *sim.World) error {
	for i := range 4 {
		p := w.Client(i)
		p.Go(func() { s.work(p) })
	}
	rng := rand.New(rand.NewPCG(s.seed, 7))
	for range 8 {
		if err := w.RunFor(time.Duration(rng.Int64N(int64(4 * time.Second)))); err != nil {
			return err
		}
		if err := s.harm(w, rng); err != nil {
			return err
		}
	}
	if err := w.RunUntil(w.Idle); err != nil {
		return err
	}
	w.Heal()
	lone := w.NewProcess("lone")
	lone.Go(func() {
		ctx, cancel := context.WithTimeout(lone.Context(), 10*time.Second) // the longest queue entry, and a TTL
		defer cancel()
		lease, err := s.lock(lone).Acquire(ctx, resource)
		if err == nil {
			err = lease.Release(ctx)
		}
		s.last = err
	})
	return w.RunUntil(w.Idle)
}

func (s *faultyRun) harm(w *sim.World, rng *rand.Rand) error {
	victim := fmt.Sprintf("c%d", rng.IntN(4))
	lasts := time.Duration(1 + rng.Int64N(int64(5*time.Second)))
	switch rng.IntN(5) {
	case 0:
		return w.Faults().Cut(faults.Partition{Between: []string{victim}, For: lasts, Bytes: faults.BytesHold})
	case 1:
		return w.Faults().Cut(faults.Partition{Between: []string{victim}, For: lasts, Bytes: faults.BytesDrop})
	case 2:
		if victim == "c3" { // the others are not crashed
			return w.Faults().Crash(victim, faults.CrashProcess)
		}
	}
	return w.Faults().Pause(victim, lasts)
}

func (s *faultyRun) lock(p *sim.Process) lock.Locker {
	l, err := s.kind.make(redisclient.New(p, "r0"), lock.Options{TTL: 2 * time.Second, Waiting: s.waiting,
		Clock: p.Clock(), Entropy: p.Entropy("lock"), Jitter: p.Source("lock")})
	if err != nil {
		panic(err)
	}
	return l
}

// work is a client's work: some rounds of waiting, holding and giving up.
func (s *faultyRun) work(p *sim.Process) {
	l, rng := s.lock(p), p.Rand("work")
	for range 12 {
		ctx, cancel := context.WithTimeout(p.Context(), 4*time.Second)
		lease, err := l.Acquire(ctx, resource)
		cancel()
		if err == nil {
			start := p.Clock().Peek()
			_ = p.Clock().Sleep(p.Context(), time.Duration(rng.Int64N(int64(400*time.Millisecond))))
			end := lease.Until()
			if now := p.Clock().Peek(); now.Before(end) {
				end = now
			}
			s.mu.Lock()
			s.tenures = append(s.tenures, tenure{p.Name(), start, end})
			s.mu.Unlock()
			_ = lease.Release(p.Context())
		}
		if p.Clock().Sleep(p.Context(), time.Duration(rng.Int64N(int64(200*time.Millisecond)))) != nil {
			return
		}
	}
}

func (s *faultyRun) check(t *testing.T) {
	t.Helper()
	if s.last != nil {
		t.Errorf("seed %d: a single client does not get the lock: %v", s.seed, s.last)
	}
	slices.SortFunc(s.tenures, func(a, b tenure) int {
		return cmp.Or(a.start.Compare(b.start), a.end.Compare(b.end))
	})
	for i := 1; i < len(s.tenures); i++ {
		if before, after := s.tenures[i-1], s.tenures[i]; after.start.Before(before.end) {
			t.Errorf("seed %d: %s and %s hold the lock together, for %v", s.seed, before.client, after.client,
				before.end.Sub(after.start))
		}
	}
}
