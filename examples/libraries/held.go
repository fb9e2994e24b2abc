package libraries

import (
	"context"
	"sync"

	"locksim/lock"
	"locksim/scenarios"
)

// WithContext is the interface of rueidislock and valkeylock: a lock whose lease lives in a context.
type WithContext interface {
	WithContext(ctx context.Context, name string) (context.Context, context.CancelFunc, error)
	Close()
}

// Opened is such a lock that is made when it is first used: that dials, and in New the world does not run yet.
func Opened[L WithContext](e scenarios.Env, open func() (L, error)) lock.Locker {
	opened := sync.OnceValues(func() (WithContext, error) {
		l, err := open()
		if err == nil {
			e.OnEnd(l.Close)
		}
		return l, err
	})
	return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
		l, err := opened()
		if err == nil {
			err = ctx.Err() // it may have ended meanwhile
		}
		if err != nil {
			return nil, err
		}
		lease, err := scenarios.Within(ctx, e, func(ctx context.Context) (context.Context, func(), error) {
			return l.WithContext(ctx, name)
		})
		return lease, scenarios.Unanswered(err)
	})
}
