package libraries

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locksim/checker"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/file"
)

// inCluster are locks of other people over one Redis Cluster, as their users have them: each with one client of the
// cluster.
func inCluster() []scenarios.Lock {
	const ttl = 8 * time.Second
	return []scenarios.Lock{
		{Name: "redsync", Traits: scenarios.Traits{Servers: clusterlocks.Servers("order"), Promise: glue.Lease()},
			New: func(e scenarios.Env) (lock.Locker, error) {
				locks := redsync.New(goredis.NewPool(clusterlocks.Client(e, nil)))
				return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
					m := locks.NewMutex(name)
					asked, err := glue.Tried(ctx, e, m.LockContext)
					if err != nil {
						return nil, err
					}
					return scenarios.NewLease(ctx, e, scenarios.Grant{TTL: ttl, Asked: asked, Until: m.Until,
						Unlock: func(ctx context.Context) error {
							ok, err := m.UnlockContext(ctx)
							return glue.Done(ok, err, "already taken", "already expired")
						}}), nil
				}), nil
			}},
		{Name: "redislock", Traits: scenarios.Traits{Servers: clusterlocks.Servers("order"), Promise: glue.Lease()},
			New: func(e scenarios.Env) (lock.Locker, error) {
				locks := redislock.New(clusterlocks.Client(e, nil))
				return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
					var l *redislock.Lock
					asked, err := glue.Tried(ctx, e, func(ctx context.Context) (err error) {
						l, err = locks.Obtain(ctx, name, ttl, nil)
						return err
					})
					if err != nil {
						return nil, err
					}
					return scenarios.NewLease(ctx, e, scenarios.Grant{TTL: ttl, Asked: asked,
						Unlock: func(ctx context.Context) error {
							return scenarios.NotHeld(l.Release(ctx), redislock.ErrLockNotHeld)
						}}), nil
				}), nil
			}},
		{Name: "rueidislock", Traits: scenarios.Traits{Servers: clusterlocks.Servers("rueidislock:0:order"),
			Lease: scenarios.LeaseHeld, Detection: 4 * time.Second, Promise: glue.Held()},
			New: func(e scenarios.Env) (lock.Locker, error) {
				return Opened(e, func() (rueidislock.Locker, error) {
					return rueidislock.NewLocker(rueidislock.LockerOption{KeyMajority: 1,
						ClientOption: rueidis.ClientOption{InitAddress: []string{e.Address("rc0")}, DisableCache: true,
							DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
								return e.Dial(ctx, "tcp", addr)
							}}})
				}), nil
			}},
	}
}

// Locks of other people over a Redis Cluster go along with a slot that moves, and with a failover that the primary
// agrees to. They lose the exclusion where a replica takes over that lacks the key, as ours do. reports/LIBRARIES.md
// has them over one server.
func TestInCluster(t *testing.T) {
	for _, l := range inCluster() {
		t.Run(l.Name, func(t *testing.T) {
			for _, c := range []struct {
				scenario string
				grants   int // two clients, some rounds
				want     checker.Label
			}{
				{"cluster-moved-slot", 4, checker.Safe},
				{"cluster-agreed-failover", 4, checker.Safe},
				{"cluster-failover", 2, checker.Corrupted},
			} {
				sc, err := file.Load(c.scenario)
				if err != nil {
					t.Fatal(err)
				}
				for seed := range uint64(2) {
					o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}})
					if err != nil {
						t.Fatal(err)
					}
					v := o.Modes[0].Verdict
					if never := o.NeverFired(); v.Label != c.want || v.Facts.Grants != c.grants || len(never) > 0 {
						t.Errorf("%s, seed %d: %s, not %s, with %d grants; faults that did not strike: %v; %v", c.scenario, seed,
							v.Label, c.want, v.Facts.Grants, never, v.Reasons)
					}
				}
			}
		})
	}
}
