package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"locksim/lock"
	"locksim/scenarios"
)

// Specimens are locks that use a Lease wrongly on purpose: each has one mistake, and the rest is right. Never use one.
func Specimens() []scenarios.Lock {
	wrong := func(name, what string, m manner) scenarios.Lock {
		return specimen(underTest(name, m), what)
	}
	wall := underTest("broken/kube-renew-time", manner{})
	wall.New = func(e scenarios.Env) (lock.Locker, error) {
		l, err := open(e, manner{})
		if err != nil {
			return nil, err
		}
		return byWallClock{l}, nil
	}
	return []scenarios.Lock{
		wrong("broken/kube-goes-on", "its controllers go on when OnStoppedLeading is called.", manner{deaf: true}),
		wrong("broken/kube-cached", "when it could not renew the lease, it looks whether the record still names it, and "+
			"takes an answer from the cache of an API server (resourceVersion=0) for the truth.",
			manner{keeps: true, cached: true}),
		wrong("broken/kube-same-identity", "all replicas campaign under one identity.", manner{same: true}),
		wrong("broken/kube-short", "its LeaseDuration may be a second, and electors see a renewal when renewTime, to the "+
			"second, has changed.", manner{keeps: true, short: true}),
		specimen(wall, "it compares renewTime, by the clock of the holder, with its own clock, in place of its own "+
			"observations."),
	}
}

// specimen is a lock with a mistake. It has the promise of the right one, which it breaks.
func specimen(l scenarios.Lock, what string) scenarios.Lock {
	l.About, l.ForWhom = "A lock that is wrong on purpose: "+what, "Tests: it is wrong on purpose."
	return l
}

// byWallClock is an election that goes by the times in the record.
type byWallClock struct{ *locker }

// Acquire implements [lock.Locker].
func (l byWallClock) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	id, err := l.identity()
	if err != nil {
		return nil, err
	}
	clock := l.env.Clock()
	var held *v1.Lease
	err = scenarios.Retry(ctx, clock, l.times.RetryPeriod, func(ctx context.Context) (bool, error) {
		held = l.take(ctx, resource, id)
		return held != nil, ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("campaign for %s: %w: %w", resource, lock.ErrOutcomeUnknown, err)
	}
	life, resign := context.WithCancel(l.env.Context())
	lost, stopped := make(chan struct{}), make(chan struct{})
	token := uint64(*held.Spec.LeaseTransitions) + 1
	go func() {
		defer close(stopped)
		held = l.renew(life, held, clock)
		if life.Err() == nil {
			close(lost)
		}
	}()
	return scenarios.NewLease(ctx, l.env, scenarios.Grant{
		Until: l.untold(), Token: token, Lost: lost,
		Unlock: func(ctx context.Context) error {
			resign()
			<-stopped
			none := ""
			held.Spec.HolderIdentity = &none
			_, err := l.client.Leases(namespace).Update(context.WithoutCancel(ctx), held, meta.UpdateOptions{})
			if apierrors.IsConflict(err) {
				return lock.ErrNotHeld
			}
			return scenarios.Unanswered(err)
		},
	}), nil
}

// take asks once. It returns nil if another client has the lease, or nothing is known.
func (l byWallClock) take(ctx context.Context, resource, id string) *v1.Lease {
	leases := l.client.Leases(namespace)
	now, terms := meta.MicroTime{Time: l.env.WallClock().Now()}, int32(0)
	seconds := int32(l.times.LeaseDuration / time.Second)
	found, err := leases.Get(ctx, Name(resource), meta.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		found = &v1.Lease{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: Name(resource)}}
	case err != nil:
		return nil
	default:
		until := found.Spec.RenewTime.Add(time.Duration(*found.Spec.LeaseDurationSeconds) * time.Second)
		if *found.Spec.HolderIdentity != "" && now.Time.Before(until) { // the mistake: renewTime is by another clock
			return nil
		}
		terms = *found.Spec.LeaseTransitions + 1
	}
	found.Spec = v1.LeaseSpec{
		HolderIdentity: &id, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now, LeaseTransitions: &terms,
	}
	if found.ResourceVersion == "" {
		found, err = leases.Create(ctx, found, meta.CreateOptions{})
	} else {
		found, err = leases.Update(ctx, found, meta.UpdateOptions{})
	}
	if err != nil {
		return nil
	}
	return found
}

// renew renews a lease until ctx ends, another client has it, or it could not be renewed within the deadline.
func (l byWallClock) renew(ctx context.Context, held *v1.Lease, clock lock.Clock) *v1.Lease {
	renewed, times := clock.Now(), l.times
	for clock.Sleep(ctx, times.RetryPeriod) == nil && clock.Now().Sub(renewed) < times.RenewDeadline {
		began, next := clock.Now(), held.DeepCopy()
		next.Spec.RenewTime = &meta.MicroTime{Time: l.env.WallClock().Now()}
		next, err := l.client.Leases(namespace).Update(ctx, next, meta.UpdateOptions{})
		switch {
		case err == nil:
			held, renewed = next, began
		case apierrors.IsConflict(err) && !errors.Is(ctx.Err(), context.Canceled):
			return held
		}
	}
	return held
}
