package lock

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Redlock is a lock on N independent Redis nodes, of which a majority has to grant it: the algorithm of the Redis
// documentation ("Distributed Locks with Redis", "The Redlock Algorithm"). Less than half of the nodes may be down or
// unreachable. It is safe for concurrent use.
//
// Each operation asks all nodes at once and waits for all of them, for at most RedlockOptions.NodeTimeout. So a node
// that is down makes every operation last that long and no longer, no request outlives the call, and the error has the
// answer of each node.
//
// A lease is valid for the TTL, less the time that the nodes took to answer, less an allowance for clocks of different
// speed. That time is measured when the answers have arrived, on a monotonic clock: answers that were delayed, by the
// network or by a pause of the caller, grant nothing (F23). A failed attempt is undone on every node, also if it did
// not answer (F26), with an owner id that is never used again, and the next one follows after a random delay (F25).
//
// Acquire waits as long as a majority of the nodes answers and another client has the lock, or none has a majority. Its
// error wraps that of ctx when ctx has ended, and [ErrNoQuorum] when so many nodes failed that no majority answered; it
// then wraps [ErrOutcomeUnknown] too if a request may have been carried out. [NodeErrors] in it has the answer of each
// node.
//
// # What it does not promise
//
// It mints no token, Token is 0. Tokens need one order of all grants; here each node has its own order, and the nodes
// do not agree on one. [RedlockFenced] shows an attempt. A resource can still be guarded by the unique ids of fence
// mode "claim", which need no order.
//
// A node that restarts without the keys it had granted, within their TTL, makes a second majority possible (F15):
// persist every write (appendfsync always), or keep a crashed node down for longer than the longest TTL (F16). A clock
// of a node that jumps or runs too fast has the same effect (F18, F20). The limits of leases in the package
// documentation apply here too.
type Redlock struct{ quorum *quorum }

// NewRedlock returns a lock on the nodes of the clients, or an error that says which argument is wrong. Each client is
// for one node, and the nodes must not replicate each other. Their number should be odd, best 5: an even number
// tolerates no more failures than one less. In errors they are r0, r1 and so on, in the given order.
func NewRedlock(clients []Redis, o RedlockOptions) (*Redlock, error) {
	l := &Redlock{}
	q, err := newQuorum(clients, o, l.grant)
	if err != nil {
		return nil, fmt.Errorf("make a redlock: %w", err)
	}
	l.quorum = q
	return l, nil
}

// Acquire implements [Locker]. The type says when it fails.
func (l *Redlock) Acquire(ctx context.Context, resource string) (Lease, error) {
	return l.quorum.acquire(ctx, resource)
}

// TryAcquire implements [Trier]. It fails as Acquire does, and with [ErrTaken] where Acquire would wait.
func (l *Redlock) TryAcquire(ctx context.Context, resource string) (Lease, error) {
	return l.quorum.tryAcquire(ctx, resource)
}

// Key returns the key that exists, on a majority of the nodes, while the lock on resource is held.
func (l *Redlock) Key(resource string) string { return lockKey(l.quorum.opt.KeyPrefix, resource) }

func (l *Redlock) grant(ctx context.Context, c claim) (token uint64, err error) {
	q := l.quorum
	votes := q.ask(ctx, q.nodeTimeout, func(ctx context.Context, node Redis) vote {
		granted, err := node.SetNX(ctx, c.key, c.owner, q.opt.TTL).Result()
		return newVote(granted, err)
	})
	return 0, votes.granted(taken)
}

// quorumLease is a lease that can be extended a limited number of times.
type quorumLease struct {
	*lease
	max      int64
	extended atomic.Int64 // successful extensions, and those in flight
}

// Extend renews the lease on every node that still has it, and moves Until when that is a majority. It does not set the
// key again on a node that has lost it (F05). If a majority has lost it, the lease ends.
//
// The error wraps [ErrExtensionLimit] after RedlockOptions.MaxExtensions, and [ErrNoQuorum] when nodes
// failed and it is not known who has a majority; the lease is then as valid as before.
func (l *quorumLease) Extend(ctx context.Context) error {
	if l.extended.Add(1) > l.max {
		l.extended.Add(-1)
		return fmt.Errorf("extend %s: %w of %d", l.claim.resource, ErrExtensionLimit, l.max)
	}
	err := l.lease.Extend(ctx)
	if err != nil {
		l.extended.Add(-1)
	}
	return err
}
