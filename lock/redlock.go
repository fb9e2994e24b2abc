package lock

import (
	"context"
	"fmt"
)

// Redlock is a lock on N independent Redis nodes, of which a majority has to grant it: the algorithm of
// the Redis documentation ("Distributed Locks with Redis", "The Redlock Algorithm"). Less than half of
// the nodes may be down or unreachable. It is safe for concurrent use.
//
// Each operation asks all nodes at once and waits for all of them, each for RedlockOptions.NodeTimeout
// at most. So a node that is down makes every operation last that long and no longer, no request of a
// call goes on after it, and the error says what each node answered.
//
// A lease is valid for the TTL, less the time that the nodes took to answer, less an allowance for
// clocks of different speed. That time is measured anew when the answers are there, on a monotonic
// clock: answers that were held up, by the network or by a pause of the caller, grant nothing (F23). An
// attempt that fails is taken back on every node, also where no answer came (F26), under an owner id
// that is never used again, and the next one follows after a random delay (F25).
//
// Acquire waits as long as a majority of the nodes answers and somebody else has the lock, or no one
// has a majority. Its error wraps that of ctx when ctx has ended, and [ErrNoQuorum] when so many nodes
// failed that no majority answered; it then wraps [ErrOutcomeUnknown] too if a request may have been
// carried out. [NodeErrors] in it says which node said what.
//
// # What it does not promise
//
// It mints no token, Token is 0. A token must come from one order that all grants share; here each node
// has an order of its own, and the nodes agree on none. [RedlockFenced] shows what it takes to pretend
// otherwise. A resource can still be guarded by the unique ids of fence mode "claim", which need no order.
//
// A node that restarts without the keys it had granted, within their TTL, lets a second majority form
// (F15): persist every write (appendfsync always), or keep a crashed node away for longer than the
// longest TTL (F16). A clock of a node that jumps or runs too fast has the same effect (F18, F20).
// What a lease does not promise in the package documentation holds here as well.
type Redlock struct{ quorum *quorum }

// NewRedlock returns a lock on the nodes that the clients talk to, or an error that says what is wrong
// with its arguments. Each client is for one node, and the nodes must not replicate each other. Their
// number is odd, best 5: an even number tolerates no more failures than one less. In errors they are
// r0, r1 and so on, in the order given here.
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

// Key returns the key that is there, on a majority of the nodes, while somebody holds the lock on resource.
func (l *Redlock) Key(resource string) string { return lockKey(l.quorum.opt.KeyPrefix, resource) }

func (l *Redlock) grant(ctx context.Context, c claim) (token uint64, err error) {
	q := l.quorum
	votes := q.ask(ctx, q.nodeTimeout, func(ctx context.Context, node Redis) vote {
		granted, err := node.SetNX(ctx, c.key, c.owner, q.opt.TTL).Result()
		return newVote(granted, err)
	})
	return 0, votes.granted(taken)
}
