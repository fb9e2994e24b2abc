// Package adapter is Mutex as locksim runs it. It knows the environment of a lock under test, and compiles nothing of
// what plays it.
package adapter

import (
	"context"

	"locksim/examples/quickstart"
	"locksim/lock"
	"locksim/scenarios/subject"
)

// Lock is Mutex under test, with the Unlock that is given.
func Lock(name string, unlock func(m *quickstart.Mutex, ctx context.Context) error) subject.Lock {
	judged := subject.Traits{Promise: lock.LeasePromise()}
	return subject.Lock{Name: name, Traits: judged, New: func(e subject.Env) (lock.Locker, error) {
		client := subject.RedisClient(e, subject.Primary) // a real *redis.Client, in the world
		return subject.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
			m := quickstart.New(client, key)
			if err := m.Lock(ctx); err != nil {
				return nil, subject.Unanswered(err)
			}
			return subject.NewLease(ctx, e, subject.Grant{
				Until:  m.Until,
				Unlock: func(ctx context.Context) error { return subject.NotHeld(unlock(m, ctx), quickstart.ErrNotHeld) },
			}), nil
		}), nil
	}}
}
