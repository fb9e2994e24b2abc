package etcdbroken

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"locksim/lock"
	"locksim/lock/broken/polling"
	"locksim/lock/broken/untold"
)

// poller is the right part of the specimens.
type poller struct {
	Specimen

	mistake mistake
	client  *clientv3.Client
	opt     Options
	polling *polling.Poller
}

// Key is the key of a resource.
func Key(resource string) string { return "broken/" + url.PathEscape(resource) }

// Acquire implements [lock.Locker]. A request that fails ends it; its outcome counts as unknown, and its lease ends by
// itself.
func (p *poller) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return p.polling.Acquire(ctx, resource, func() (lock.Lease, error) { return p.try(ctx, resource) })
}

// try asks once. The lease is nil if another client has the lock.
func (p *poller) try(ctx context.Context, resource string) (lock.Lease, error) {
	sent := p.opt.Clock.Now()
	r, err := p.client.Grant(ctx, int64(p.opt.TTL/time.Second))
	if err != nil {
		return nil, err
	}
	p.opt.Point("leased")
	g := grant{p.client, r.ID}
	revision, granted, err := p.mistake.enter(ctx, p.client, Key(resource), r.ID)
	if err != nil {
		return nil, err
	}
	if !granted {
		_, err := g.Delete(ctx)
		return nil, err
	}
	token := uint64(0)
	if p.Tokens {
		token = p.mistake.token(r.ID, revision)
	}
	until := p.mistake.until(sent, p.opt.Clock.Now(), p.opt.TTL)
	if p.Held {
		return untold.New(ctx, g, token), nil
	}
	return lock.NewLease(ctx, p.opt.Clock, g, resource, token, until), nil
}

// grant is a lease of etcd, with the key.
type grant struct {
	client *clientv3.Client
	id     clientv3.LeaseID
}

// Extend implements [lock.Grant]. No specimen has a user that extends.
func (grant) Extend(context.Context) (until time.Time, held bool, err error) {
	return time.Time{}, false, fmt.Errorf("this lock cannot be extended: %w", errors.ErrUnsupported)
}

// Delete implements [lock.Grant].
func (g grant) Delete(ctx context.Context) (deleted bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lock.DefaultReleaseTimeout)
	defer cancel()
	switch _, err = g.client.Revoke(ctx, g.id); {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
	}
	return true, nil
}
