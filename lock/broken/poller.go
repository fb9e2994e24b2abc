package broken

import (
	"context"
	"time"

	"locksim/lock"
	"locksim/lock/broken/polling"
)

// poller is the right part of the specimens: it asks for the lock, with a new owner id each time, until it is granted,
// with random delays in between.
type poller struct {
	opt Options
	try func(ctx context.Context, c claim) (*lease, error) // nil, nil: another client holds it
	// rest begins an Acquire, and returns what is for how long it waits before each try; nil for no time.
	rest func(resource string) func(ctx context.Context) time.Duration

	polling *polling.Poller
}

// claim identifies an owner and the lock that it requests or holds.
type claim struct{ resource, key, owner string }

func newPoller(o Options, try func(ctx context.Context, c claim) (*lease, error)) *poller {
	return &poller{opt: o, try: try, polling: polling.New(o.Clock, o.Backoff, o.Jitter, o.Entropy)}
}

// Acquire implements lock.Locker. A request that fails ends it; its outcome counts as unknown.
func (p *poller) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return p.acquire(ctx, resource, "")
}

// acquire asks as owner, or with a new owner id each time if owner is empty.
func (p *poller) acquire(ctx context.Context, resource, owner string) (lock.Lease, error) {
	rest := func(context.Context) time.Duration { return 0 }
	if p.rest != nil {
		rest = p.rest(resource)
	}
	return p.polling.Acquire(ctx, resource, func() (lock.Lease, error) {
		if d := rest(ctx); d > 0 && p.opt.Clock.Sleep(ctx, d) != nil {
			return nil, nil // the poller sees that ctx has ended
		}
		c, err := p.claim(resource, owner)
		if err != nil {
			return nil, err
		}
		l, err := p.try(ctx, c)
		if l == nil || err != nil {
			return nil, err
		}
		return l, nil
	})
}

func (p *poller) claim(resource, owner string) (claim, error) {
	c := claim{resource, p.opt.KeyPrefix + "{" + resource + "}", owner}
	if owner != "" {
		return c, nil
	}
	var err error
	c.owner, err = p.polling.Owner()
	return c, err
}

// onGrant lets f change each lease before its holder gets it. ctx is that of Acquire.
func (p *poller) onGrant(f func(ctx context.Context, l *lease)) *poller {
	try := p.try
	p.try = func(ctx context.Context, c claim) (*lease, error) {
		l, err := try(ctx, c)
		if l != nil {
			f(ctx, l)
		}
		return l, err
	}
	return p
}

// grant asks for the lock once; token is 0 for locks that mint none.
type grant func(ctx context.Context, c claim) (token uint64, granted bool, err error)

// release gives the lock back. Its error is lock.ErrNotHeld if the claim did not have it.
type release func(ctx context.Context, c claim) error

// protocol has the requests of a lock to its node.
type protocol struct {
	grant   grant
	release release
	// back is what a request with an unknown outcome is followed by: release, unless its mistake or its count must stay
	// out of that.
	back release
}

// newOnNode returns a lock with a protocol. Its leases end at the end of their validity. A request with an unknown
// outcome is followed by a release, so that its key does not keep its own client out.
func newOnNode(o Options, p protocol) *poller {
	if p.back == nil {
		p.back = p.release
	}
	return newPoller(o, func(ctx context.Context, c claim) (*lease, error) {
		sent := o.Clock.Now()
		token, granted, err := p.grant(ctx, c)
		if err != nil {
			away, cancel := detached(ctx, o.ReleaseTimeout)
			defer cancel()
			_ = p.back(away, c) // it may have been granted; if this fails too, the key expires
			return nil, err
		}
		if !granted {
			return nil, nil
		}
		l := newLease(ctx, o, c, sent.Add(o.TTL), p.release)
		l.token = token
		l.endInTime()
		return l, nil
	})
}
