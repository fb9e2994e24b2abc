package lock

import (
	"context"
	"fmt"
)

// Single is a lock on one Redis node: SET NX PX with a new owner id for each grant, released by compare-and-delete. It
// is the single-instance algorithm of the Redis documentation ("Distributed Locks with Redis"). It mints no tokens. It
// is safe for concurrent use.
//
// Acquire waits, as Options.Waiting says, while another owner holds the lock. Its error wraps that of ctx when ctx has
// ended; any other failure of a request ends it too, and then the error wraps [ErrOutcomeUnknown] if the request may
// have been carried out. The clean-up after that takes up to Options.ReleaseTimeout, even when ctx has ended. A grant
// is given back, not returned, when the answer arrives after the end of its own validity or of ctx.
type Single struct{ engine *engine }

// NewSingle returns a lock on the node that client talks to, or an error that says which option is
// wrong.
func NewSingle(client Redis, o Options) (*Single, error) {
	l := &Single{}
	e, err := newEngine(client, o, l.grant)
	if err != nil {
		return nil, fmt.Errorf("make a single lock: %w", err)
	}
	l.engine = e
	return l, nil
}

// Acquire implements [Locker]. The type says when it fails.
func (l *Single) Acquire(ctx context.Context, resource string) (Lease, error) {
	return l.engine.acquire(ctx, resource)
}

// Key returns the key that exists while the lock on resource is held.
func (l *Single) Key(resource string) string { return lockKey(l.engine.opt.KeyPrefix, resource) }

func (l *Single) grant(ctx context.Context, c claim) (token uint64, granted bool, err error) {
	granted, err = l.engine.redis.SetNX(ctx, c.key, c.owner, l.engine.opt.TTL).Result()
	return 0, granted, err
}
