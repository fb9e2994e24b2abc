package lock

import (
	"context"
	"fmt"
)

// Fenced is [Single] with a fencing token: each grant of a resource carries a number larger than those
// of all grants before it. The token is minted in the same script as the grant, from a counter per
// resource that never expires. It is safe for concurrent use.
//
// The order of tokens depends on the counter. A node that loses it, by eviction (F10), FLUSHALL (F46), a failover
// before replication (F40) or a crash without persistence (F17), mints lower or equal tokens afterwards (F09). Protect
// it from eviction (maxmemory-policy noeviction or volatile-*), and persist it.
//
// Acquire behaves as Single's does.
type Fenced struct{ engine *engine }

// NewFenced returns a lock on the node that client talks to, or an error that says which option is
// wrong.
func NewFenced(client Redis, o Options) (*Fenced, error) {
	l := &Fenced{}
	e, err := newEngine(client, o, l.grant)
	if err != nil {
		return nil, fmt.Errorf("make a fenced lock: %w", err)
	}
	l.engine = e
	return l, nil
}

// Acquire implements [Locker]. The documentation of [Single] says when it fails.
func (l *Fenced) Acquire(ctx context.Context, resource string) (Lease, error) {
	return l.engine.acquire(ctx, resource)
}

// Key returns the key that exists while the lock on resource is held.
func (l *Fenced) Key(resource string) string { return lockKey(l.engine.opt.KeyPrefix, resource) }

// TokenKey returns the key of the counter that the tokens for resource are minted from. It is never
// deleted, and it holds the last token minted.
func (l *Fenced) TokenKey(resource string) string { return tokenKey(l.engine.opt.KeyPrefix, resource) }

func (l *Fenced) grant(ctx context.Context, c claim) (token uint64, granted bool, err error) {
	keys := []string{c.key, l.TokenKey(c.resource)}
	token, err = grantFencedScript.Run(ctx, l.engine.redis, keys, c.owner, l.engine.opt.TTL.Milliseconds()).Uint64()
	return token, token != 0, err
}
