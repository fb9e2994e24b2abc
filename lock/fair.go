package lock

import (
	"context"
	"fmt"
	"math"
	"time"
)

// signsOfLife is how many times, at the least, a waiter asks while its place in a queue lasts.
const signsOfLife = 4

// Fair is [Single] with a queue: those who wait are granted the lock in the order in which their first
// requests reached the node. It mints no tokens. It is safe for concurrent use.
//
// Each request of a waiter renews its place in the queue. A waiter that is silent for as long as a place
// lasts counts as dead, and those behind it move up (F51): that is the TTL, or four times Backoff.Max if
// that is longer, so that a live waiter asks several times meanwhile (F52). The node alone measures it, by
// its own clock (F53). So a dead waiter keeps the others waiting for that long at the most, from its last
// request on, and until their own next request. A live waiter loses its place only if its requests fail to
// reach the node for that long, or if the node's clock jumps ahead by it; its next request puts it at the
// end.
//
// A waiter that gives up leaves the queue (F54). If that fails, Acquire's error says so, and its place
// ends as a dead one's does. So does the place of a last request that was late on its way (F28); should
// it be granted the lock then, that is nobody's until its TTL has passed.
//
// TryAcquire does not overtake: it fails with [ErrTaken] while somebody waits. Other kinds on the same
// resource exclude a Fair lock, and know nothing of its queue.
//
// With [WaitNotify] a release wakes the first in line and nobody else. Otherwise Acquire behaves as
// Single's does; a waiter behind others polls too, as its sign of life.
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
	e.place = max(ttl, signsOfLife*min(e.opt.Backoff.Max, math.MaxInt64/signsOfLife))
	e.channel = func(c claim) string { return turnChannel(c.key, c.owner) }
	e.grant = func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
		return m.ask(ctx, client, grantFairScript, c, lineKeys(c), c.owner, ttl.Milliseconds(), roundUp(e.place), patience(c))
	}
	e.release = func(ctx context.Context, c claim) (bool, error) {
		return owned(releaseFairScript.Run(ctx, client, lineKeys(c), c.owner, turnChannel(c.key, "")))
	}
	return e, nil
}

// lineKeys are the keys of the lock, of its queue, and of the places in that.
func lineKeys(c claim) []string { return []string{c.key, c.key + ":queue", c.key + ":places"} }

// patience tells the script whether the claim takes a place in the queue.
func patience(c claim) string {
	if c.once {
		return "once"
	}
	return "wait"
}

// roundUp is d in whole milliseconds, not less than d.
func roundUp(d time.Duration) int64 { return (d + time.Millisecond - 1).Milliseconds() }

// fair is what the two kinds share.
type fair struct{ engine *engine }

// Acquire implements [Locker].
func (l fair) Acquire(ctx context.Context, resource string) (Lease, error) {
	return l.engine.acquire(ctx, resource)
}

// TryAcquire implements [Trier].
func (l fair) TryAcquire(ctx context.Context, resource string) (Lease, error) {
	return l.engine.tryAcquire(ctx, resource)
}

// Key returns the key that is there while somebody holds the lock on resource.
func (l fair) Key(resource string) string { return lockKey(l.engine.opt.KeyPrefix, resource) }

// QueueKeys returns the two keys that are there while somebody waits for resource: the line, and until
// when each place in it lasts. Both expire when nobody asks any more.
func (l fair) QueueKeys(resource string) []string {
	return lineKeys(claim{key: l.Key(resource)})[1:]
}
