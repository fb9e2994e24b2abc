package etcdlock_test

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locksim/lock/etcdlock"
	"locksim/sim"
	"locksim/sim/etcd"
)

// A transaction with the guard is executed while the lease is the holder's, and not afterwards.
func TestGuard(t *testing.T) {
	cfg := sim.Config{Seed: 1, Servers: []sim.Kind{etcd.Servers{Members: 3}}, Clients: 1}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			ctx := context.Background()
			c, err := etcd.Client(p, "e0", "e1", "e2")
			if err != nil {
				t.Error(err)
				return
			}
			locks, err := etcdlock.New(c, etcdlock.Options{TTL: 5 * time.Second, Clock: p.Clock()})
			if err != nil {
				t.Error(err)
				return
			}
			write := func(l *etcdlock.Lease) bool {
				r, err := c.Txn(ctx).If(l.Guard()).Then(clientv3.OpPut("stock", "7")).Commit()
				if err != nil {
					t.Error(err)
				}
				return err == nil && r.Succeeded
			}
			var last *etcdlock.Lease
			for range 2 {
				lease, err := locks.Acquire(ctx, "order/42")
				if err != nil {
					t.Error(err)
					return
				}
				now := lease.(*etcdlock.Lease)
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

// Options that etcd would change unseen are refused, with what to write instead.
func TestOptions(t *testing.T) {
	for name, o := range map[string]etcdlock.Options{
		"a fraction of a second": {TTL: 2500 * time.Millisecond},
		"less than etcd grants":  {TTL: time.Second},
		"negative":               {TTL: -time.Second},
		"no time for a renewal":  {TTL: 10 * time.Second, Interval: 9 * time.Second, Margin: time.Second},
		"a negative timeout":     {ReleaseTimeout: -1},
	} {
		if err := o.Validate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := (etcdlock.Options{}).Validate(); err != nil {
		t.Error(err)
	}
	if _, err := etcdlock.New(nil, etcdlock.Options{}); err == nil {
		t.Error("a lock without a client was made")
	}
}
