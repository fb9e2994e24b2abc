package zklock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/faults"
	"locksim/lock"
	"locksim/lock/zklock"
	"locksim/sim"
	"locksim/sim/zookeeper"
)

// A transaction with the guard is executed while the lease is the holder's, and not afterwards.
func TestGuard(t *testing.T) {
	cfg := sim.Config{Seed: 1, Servers: []sim.Kind{zookeeper.Servers{Count: 3}}, Clients: 1}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			ctx := context.Background()
			c := connect(t, p, 10*time.Second, 3)
			locks, err := zklock.New(c, zklock.Options{SessionTimeout: 10 * time.Second, Clock: p.Clock()})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := c.Create("/stock", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				t.Error(err)
			}
			write := func(l *zklock.Lease) bool {
				_, err := c.Multi(l.Guard(), &zk.SetDataRequest{Path: "/stock", Data: []byte("7"), Version: -1})
				if err != nil && !errors.Is(err, zk.ErrNoNode) {
					t.Error(err)
				}
				return err == nil
			}
			var last *zklock.Lease
			for range 2 {
				lease, err := locks.Acquire(ctx, "order/42")
				if err != nil {
					t.Error(err)
					return
				}
				now := lease.(*zklock.Lease)
				if !write(now) {
					t.Error("the holder's transaction was refused")
				}
				if last != nil && (write(last) || last.Token() >= now.Token()) {
					t.Errorf("the transaction of the former holder was executed, or its token %d is not less than %d", last.Token(),
						now.Token())
				}
				if err := now.Release(ctx); err != nil {
					t.Error(err)
				}
				if write(now) {
					t.Error("a transaction was executed after the release")
				}
				last = now
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Options that cannot be right are refused, with what is wrong.
func TestOptions(t *testing.T) {
	for name, o := range map[string]zklock.Options{
		"no session timeout":    {},
		"negative":              {SessionTimeout: -time.Second},
		"no time for a renewal": {SessionTimeout: 10 * time.Second, Interval: 6 * time.Second},
		"a short session":       {SessionTimeout: 2 * time.Second},
		"a negative tick":       {SessionTimeout: 10 * time.Second, Tick: -1},
		"a negative interval":   {SessionTimeout: 10 * time.Second, Interval: -1},
		"a negative timeout":    {SessionTimeout: 10 * time.Second, ReleaseTimeout: -1},
		"a relative prefix":     {SessionTimeout: 10 * time.Second, Prefix: "locks"},
		"an open prefix":        {SessionTimeout: 10 * time.Second, Prefix: "/locks/"},
	} {
		if err := o.Validate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := (zklock.Options{SessionTimeout: 10 * time.Second}).Validate(); err != nil {
		t.Error(err)
	}
	if _, err := zklock.New(nil, zklock.Options{SessionTimeout: 10 * time.Second}); err == nil {
		t.Error("a lock without a connection was made")
	}
}

// Resources with awkward names have queues of their own, whose names ZooKeeper takes.
func TestAwkwardNames(t *testing.T) {
	seen := map[string]bool{}
	for _, resource := range []string{"a", ".", "..", "a/b", "a%2Fb", "ä", "a b", "\x00", "zookeeper", "%2E"} {
		queue := zklock.Options{}.Queue(resource)
		if seen[queue] {
			t.Errorf("%q has the queue of another: %s", resource, queue)
		}
		seen[queue] = true
	}
	cfg := sim.Config{Seed: 1, Servers: []sim.Kind{zookeeper.Servers{}}, Clients: 1}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			c := connect(t, p, 10*time.Second, 1)
			locks, err := zklock.New(c, zklock.Options{SessionTimeout: 10 * time.Second, Clock: p.Clock(),
				Prefix: "/deep/down/locks"})
			if err != nil {
				t.Error(err)
				return
			}
			for _, resource := range []string{".", "..", "a/b", "ä", "a b", "\x00"} {
				lease, err := locks.Acquire(p.Context(), resource)
				if err != nil {
					t.Errorf("%q: %v", resource, err)
					continue
				}
				if err := lease.Release(p.Context()); err != nil {
					t.Errorf("%q: %v", resource, err)
				}
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A lease that was lost is not released with success later, although the lock itself has deleted the node meanwhile,
// without an answer.
func TestReleaseAfterALoss(t *testing.T) {
	cfg := sim.Config{Seed: 1, Servers: []sim.Kind{zookeeper.Servers{Count: 3}}, Clients: 1,
		Latency: sim.Latency{Min: time.Millisecond, Max: time.Millisecond}}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			locks, err := zklock.New(connect(t, p, 10*time.Second, 3), zklock.Options{SessionTimeout: 10 * time.Second,
				Clock: p.Clock()})
			if err != nil {
				t.Error(err)
				return
			}
			lease, err := locks.Acquire(p.Context(), "order")
			if err != nil {
				t.Error(err)
				return
			}
			// Answers are held: the lease ends, and what the lock asks for then is executed.
			if err := w.Faults().Cut(faults.Partition{Between: []string{"c0"}, Direction: faults.DirectionBackward,
				For: 15 * time.Second}); err != nil {
				t.Error(err)
			}
			_ = p.Clock().Sleep(p.Context(), 15*time.Second+4*time.Millisecond)
			if err := lease.Release(p.Context()); !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("the release of a lost lease: %v", err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A lease over a connection that was idle for some time is renewed like any other.
func TestIdleConnection(t *testing.T) {
	for _, timeout := range []time.Duration{4 * time.Second, 5 * time.Second, 10 * time.Second} {
		cfg := sim.Config{Seed: 1, Servers: []sim.Kind{zookeeper.Servers{Count: 3}}, Clients: 1,
			Latency: sim.Latency{Min: time.Millisecond, Max: time.Millisecond}}
		_, err := sim.Run(cfg, func(w *sim.World) error {
			p := w.Client(0)
			p.Go(func() {
				locks, err := zklock.New(connect(t, p, timeout, 3), zklock.Options{SessionTimeout: timeout, Clock: p.Clock()})
				if err != nil {
					t.Error(err)
					return
				}
				for idle := time.Duration(0); idle < 3*timeout/2; idle += timeout / 16 {
					_ = p.Clock().Sleep(p.Context(), idle)
					lease, err := locks.Acquire(p.Context(), "order")
					if err != nil {
						t.Error(err)
						return
					}
					_ = p.Clock().Sleep(p.Context(), timeout)
					if err := lease.Context().Err(); err != nil {
						t.Errorf("session timeout %v: after %v without a request the lease was lost: %v", timeout, idle,
							context.Cause(lease.Context()))
					}
					if err := lease.Release(p.Context()); err != nil {
						t.Errorf("session timeout %v: after %v without a request: %v", timeout, idle, err)
					}
				}
			})
			return w.RunUntil(w.Idle)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
