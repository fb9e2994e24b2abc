package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// quorum is the common part of the kinds of Redlock: all but the request that asks the nodes for the lock.
type quorum struct {
	*core
	nodes []Redis
	grant quorumGrant

	nodeTimeout   time.Duration
	drift         time.Duration
	maxExtensions int
}

// quorumGrant asks the nodes for the lock once. Its error wraps ErrTaken or errLate when the lock may be asked for
// again.
type quorumGrant func(ctx context.Context, c claim) (token uint64, err error)

func newQuorum(clients []Redis, o RedlockOptions, g quorumGrant) (*quorum, error) {
	if len(clients) == 0 {
		return nil, errors.New("no Redis clients")
	}
	for i, client := range clients {
		if client == nil {
			return nil, fmt.Errorf("no Redis client for r%d", i)
		}
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	c, err := newCore(o.Options)
	if err != nil {
		return nil, err
	}
	return &quorum{core: c, nodes: append([]Redis(nil), clients...), grant: g,
		nodeTimeout: o.NodeTimeout, drift: o.drift(), maxExtensions: o.MaxExtensions}, nil
}

// validity is how long a grant or a renewal lasts, from its sending.
func (q *quorum) validity() time.Duration { return q.opt.TTL - q.drift }

// acquire asks for the lock until it is granted, ctx ends, or no majority answers.
func (q *quorum) acquire(ctx context.Context, resource string) (Lease, error) {
	began := q.opt.Clock.Now()
	tries := 0
	var last error
	over := ended(ctx)
	for ; over == nil; over = q.wait(ctx, tries) {
		tries++
		lease, err := q.try(ctx, resource)
		if err == nil {
			return lease, nil
		}
		if !errors.Is(err, ErrTaken) && !errors.Is(err, errLate) {
			return nil, fmt.Errorf("acquire %s: %w", resource, err)
		}
		last = err
	}
	return nil, fmt.Errorf("acquire %s: gave up after %v and %d tries: %w",
		resource, q.opt.Clock.Now().Sub(began), tries, gaveUp(over, last))
}

// tryAcquire asks for the lock once.
func (q *quorum) tryAcquire(ctx context.Context, resource string) (Lease, error) {
	lease, err := q.try(ctx, resource)
	if err != nil {
		return nil, fmt.Errorf("try to acquire %s: %w", resource, err)
	}
	return lease, nil
}

// try asks for the lock once, with its own owner id: a key that a late request leaves on a node, and a late clean-up,
// then cannot be confused with those of the next try (F28).
func (q *quorum) try(ctx context.Context, resource string) (Lease, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	c, err := q.claim(resource)
	if err != nil {
		return nil, err
	}
	until := q.opt.Clock.Now().Add(q.validity())
	token, err := q.grant(ctx, c)
	if err == nil && !q.opt.Clock.Now().Before(until) {
		err = errLate
	}
	if over := ended(ctx); over != nil {
		err = gaveUp(over, err)
	}
	if err != nil {
		return nil, q.clear(ctx, c, err)
	}
	return &quorumLease{lease: newLease(ctx, q, c, token, until), max: int64(q.maxExtensions)}, nil
}

// gaveUp is the error of an Acquire whose ctx has ended, with that of its last try.
func gaveUp(over, last error) error {
	switch {
	case last == nil:
		return over
	case errors.Is(last, over):
		return last
	}
	return fmt.Errorf("%w; the last try: %w", over, last)
}

// clear undoes a failed try on every node, and returns why it failed.
func (q *quorum) clear(ctx context.Context, c claim, why error) error {
	if left := q.deleteAll(ctx, c).unanswered(); left != nil {
		return fmt.Errorf("%w; the clean-up failed too, so these nodes may be taken for %v: %w", why, q.opt.TTL, left)
	}
	return why
}

// extend renews the claim's key on every node that has it.
func (q *quorum) extend(ctx context.Context, c claim) (until time.Time, held bool, err error) {
	until = q.opt.Clock.Now().Add(q.validity())
	votes := q.ask(ctx, q.nodeTimeout, func(ctx context.Context, node Redis) vote {
		return newVote(extendKey(ctx, node, c, q.opt.TTL))
	})
	if votes.passed() || votes.rejected() {
		return until, votes.passed(), nil
	}
	return until, false, votes.noQuorum(gone)
}

// delete gives the lock back on every node, also after the end of ctx (F29).
func (q *quorum) delete(ctx context.Context, c claim) (deleted bool, err error) {
	votes := q.deleteAll(ctx, c)
	left := votes.unanswered()
	if left == nil || votes.rejected() {
		return votes.passed(), nil
	}
	yes, _, _ := votes.count()
	return false, fmt.Errorf("given back on %d of %d nodes, %d make it free; these may be taken for %v: %w",
		yes, len(votes), votes.majority(), q.opt.TTL, left)
}

func (q *quorum) deleteAll(ctx context.Context, c claim) votes {
	return q.ask(context.WithoutCancel(ctx), q.opt.ReleaseTimeout, func(ctx context.Context, node Redis) vote {
		return newVote(deleteKey(ctx, node, c))
	})
}
