package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// redlock is the algorithm of the Redis documentation, in parts, each of which a specimen can replace by a wrong one.
// newRedlock has the right ones.
type redlock struct {
	opt   Options
	nodes []redis.Cmdable

	// ask asks the nodes, and returns how many have granted the claim.
	ask func(ctx context.Context, c claim) (votes int)
	// stopwatch measures how long that took.
	stopwatch lock.Clock
	// majority is how many of the nodes have to grant the claim.
	majority func(nodes int) int
	// drift is the allowance for clocks of different speed.
	drift func(ttl time.Duration) time.Duration
	// failed cleans up after an attempt without a majority.
	failed func(ctx context.Context, c claim)
}

func newRedlock(nodes []redis.Cmdable, o Options) *redlock {
	r := &redlock{opt: o, nodes: nodes, stopwatch: o.Clock}
	r.ask = r.askAll
	r.majority = func(nodes int) int { return nodes/2 + 1 }
	r.drift = func(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }
	r.failed = func(ctx context.Context, c claim) { r.deleteAll(ctx, c) }
	return r
}

// locker returns the lock. A node that fails counts as a refusal.
func (r *redlock) locker() *poller { return newPoller(r.opt, r.try) }

func (r *redlock) try(ctx context.Context, c claim) (*lease, error) {
	began := r.stopwatch.Now()
	votes := r.ask(ctx, c)
	r.opt.Point("answered")
	now := r.opt.Clock.Now()
	valid := r.opt.TTL - r.stopwatch.Now().Sub(began) - r.drift(r.opt.TTL)
	if votes < r.majority(len(r.nodes)) || valid <= 0 {
		r.failed(ctx, c)
		return nil, nil
	}
	l := newLease(ctx, r.opt, c, now.Add(valid), func(ctx context.Context, c claim) error {
		if r.deleteAll(ctx, c) == 0 {
			return owned(0, nil)
		}
		return nil
	})
	l.endInTime()
	return l, nil
}

// askAll asks all nodes at once, each with a timeout of a small part of the TTL.
func (r *redlock) askAll(ctx context.Context, c claim) (votes int) {
	timeout := min(max(r.opt.TTL/100, 50*time.Millisecond), r.opt.TTL/10)
	return r.count(func(node redis.Cmdable) bool {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		granted, err := setNX(ctx, node, c, r.opt.TTL)
		return err == nil && granted
	})
}

// deleteAll deletes the claim on all nodes, also on those that did not answer. It returns how many had it.
func (r *redlock) deleteAll(ctx context.Context, c claim) (deleted int) {
	ctx, cancel := detached(ctx, r.opt.ReleaseTimeout)
	defer cancel()
	return r.count(func(node redis.Cmdable) bool { return deleteOwn(ctx, node, c) == nil })
}

// count asks all nodes at once and returns how many agree.
func (r *redlock) count(ask func(redis.Cmdable) bool) (yes int) {
	answers := make(chan bool, len(r.nodes))
	for _, node := range r.nodes {
		go func() { answers <- ask(node) }()
	}
	for range r.nodes {
		if <-answers {
			yes++
		}
	}
	return yes
}
