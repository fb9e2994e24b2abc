package quickstart

import (
	"context"
	"testing"

	"locksim/lock"
	"locksim/scenarios"
)

// underTest is Mutex as locksim runs it, with the Unlock that is given.
func underTest(name string, unlock func(m *Mutex, ctx context.Context) error) scenarios.Lock {
	return scenarios.Lock{Name: name, Promise: lock.LeasePromise(), New: func(e scenarios.Env) (lock.Locker, error) {
		client := scenarios.RedisClient(e, scenarios.Primary) // a real *redis.Client, in the world
		return scenarios.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
			m := New(client, key)
			if err := m.Lock(ctx); err != nil {
				return nil, scenarios.Unanswered(err)
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{
				Until:  m.Until,
				Unlock: func(ctx context.Context) error { return scenarios.NotHeld(unlock(m, ctx), ErrNotHeld) },
			}), nil
		}), nil
	}}
}

func TestMutex(t *testing.T) {
	scenarios.Check(t, underTest("mutex", (*Mutex).Unlock), scenarios.Options{})
}
