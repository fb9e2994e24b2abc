// Command redsync1 has the lock of the first major version of go-redsync/redsync, whose calls have no context.
package main

import (
	"context"
	"time"

	"github.com/go-redsync/redsync"

	"locksim/examples/groundtruth"
	"locksim/examples/groundtruth/pools"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	const ttl = 8 * time.Second * 99 / 100 // the default, without the drift of clocks
	groundtruth.Main(map[string]scenarios.Lock{"redsync-38": {New: func(e scenarios.Env) (lock.Locker, error) {
		locks := redsync.New([]redsync.Pool{pools.Redigo(e, scenarios.Primary)})
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			m := locks.NewMutex(name, redsync.SetTries(1))
			asked, err := glue.Tried(ctx, e, func(context.Context) error { return m.Lock() })
			if err != nil {
				return nil, err
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{
				TTL: ttl, Asked: asked,
				Unlock: func(context.Context) error { return unsure(m.Unlock()) },
				Extend: func(context.Context) error { return unsure(m.Extend()) },
			}), nil
		}), nil
	}}})
}

// unsure is an error for false, which may mean that the lock was lost, or that there was no answer.
func unsure(ok bool) error {
	if ok {
		return nil
	}
	return lock.ErrOutcomeUnknown
}
