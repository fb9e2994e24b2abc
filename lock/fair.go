package lock

import (
	"context"
	"fmt"
	"time"

	"locksim/lock/promise"
)

// minRequests is the least number of requests that a live waiter sends before its entry in a queue expires.
const minRequests = promise.PlaceRequests

// Fair is [Single] with a queue: waiters are granted the lock in the order in which their first requests reached the
// node. It mints no tokens. It is safe for concurrent use.
//
// Each request of a waiter renews its entry in the queue. A waiter without a request for the length of an entry counts
// as dead, and those behind it move up (F51): that length is the TTL, or four times Backoff.Max if that is longer, so
// that a live waiter sends several requests meanwhile (F52). Only the node measures it, by its own clock (F53). So a
// dead waiter delays the others by at most that long after its last request, and until their own next request. A live
// waiter loses its entry only if its requests fail to reach the node for that long, or if the node's clock jumps ahead
// by as much; its next request puts it at the end.
//
// A waiter that gives up leaves the queue (F54). If that fails, Acquire's error says so, and its entry expires like a
// dead one's. So does the entry of a last request that was late in the network (F28); if that is granted the lock, the
// lock has no holder until its TTL has passed.
//
// TryAcquire does not overtake: it fails with [ErrTaken] while there are waiters. Other kinds on the same resource
// exclude a Fair lock, but ignore its queue.
//
// With [WaitNotify] a release wakes only the first waiter. Otherwise Acquire behaves as Single's does; waiters behind
// the first poll too, to renew their entries.
type Fair struct{ fair }

// NewFair returns a lock on the node that client talks to, or an error that says which option is wrong.
func NewFair(client Redis, o Options) (*Fair, error) {
	e, err := newFairEngine(client, o, noTokens)
	if err != nil {
		return nil, fmt.Errorf("make a fair lock: %w", err)
	}
	return &Fair{fair{e}}, nil
}

// FairFenced is [Fair] with a fencing token, as [Fenced] mints it.
type FairFenced struct{ fair }

// NewFairFenced returns a lock on the node that client talks to, or an error that says which option is
// wrong.
func NewFairFenced(client Redis, o Options) (*FairFenced, error) {
	e, err := newFairEngine(client, o, tokensOf)
	if err != nil {
		return nil, fmt.Errorf("make a fair-fenced lock: %w", err)
	}
	return &FairFenced{fair{e}}, nil
}

// TokenKey returns the key of the counter that the tokens for resource are minted from. It is never
// deleted, and it holds the last token minted.
func (l *FairFenced) TokenKey(resource string) string {
	return tokenKey(l.engine.opt.KeyPrefix, resource)
}

// newFairEngine returns an engine whose claims wait in a queue.
func newFairEngine(client Redis, o Options, m mint) (*engine, error) {
	e, err := newEngine(client, o, nil)
	if err != nil {
		return nil, err
	}
	ttl := e.opt.TTL
	e.queueTTL = promise.PlaceLasts(ttl, e.opt.Backoff.Max)
	e.channel = func(c claim) string { return turnChannel(c.key, c.owner) }
	e.grant = func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
		return m.ask(ctx, client, grantFairScript, c, fairKeys(c), c.owner, ttl.Milliseconds(), roundUp(e.queueTTL), waitArg(c))
	}
	e.release = func(ctx context.Context, c claim) (bool, error) {
		return owned(releaseFairScript.Run(ctx, client, fairKeys(c), c.owner, turnChannel(c.key, "")))
	}
	return e, nil
}

// fairKeys are the keys of the lock, of its queue, and of the expiries of the queue's entries.
func fairKeys(c claim) []string { return []string{c.key, c.key + ":queue", c.key + ":places"} }

// waitArg tells the script whether the claim joins the queue.
func waitArg(c claim) string {
	if c.once {
		return "once"
	}
	return "wait"
}

// roundUp is d in whole milliseconds, not less than d.
func roundUp(d time.Duration) int64 { return (d + time.Millisecond - 1).Milliseconds() }

// fair is the common part of the two kinds.
type fair struct{ engine *engine }

// Acquire implements [Locker].
func (l fair) Acquire(ctx context.Context, resource string) (Lease, error) {
	return l.engine.acquire(ctx, resource)
}

// TryAcquire implements [Trier].
func (l fair) TryAcquire(ctx context.Context, resource string) (Lease, error) {
	return l.engine.tryAcquire(ctx, resource)
}

// Key returns the key that exists while the lock on resource is held.
func (l fair) Key(resource string) string { return lockKey(l.engine.opt.KeyPrefix, resource) }

// QueueKeys returns the two keys that exist while there are waiters for resource: the queue, and the expiries of its
// entries. Both expire without further requests.
func (l fair) QueueKeys(resource string) []string {
	return fairKeys(claim{key: l.Key(resource)})[1:]
}
