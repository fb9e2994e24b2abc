package play

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"locksim/lock"
	"locksim/scenarios/subject"
)

// formed is a lease whose Until is as the form says, the zero time for no end, and which can be extended if the lease
// can. called is the instant of the request on the client's clock, which now tells.
func formed(l subject.Lock, lease lock.Lease, called time.Time, ttl time.Duration, now func() time.Time) lock.Lease {
	timed := &timedLease{Lease: lease}
	switch l.Lease {
	case subject.LeaseCounted:
		timed.ttl = cmp.Or(l.LeaseTTL, ttl)
		timed.count(called)
	case subject.LeaseHeld:
	default:
		return lease
	}
	if extender, ok := lease.(lock.Extender); ok {
		return &timedExtender{timed, extender, now}
	}
	return timed
}

// endless reports whether a lease that should tell its end tells none.
func endless(l subject.Lock, lease lock.Lease) bool {
	return (l.Lease == "" || l.Lease == subject.LeaseUntil) && lease.Until().IsZero()
}

// timedLease is a lease with another end.
type timedLease struct {
	lock.Lease
	ttl   time.Duration             // 0 for no end
	until atomic.Pointer[time.Time] // nil for no end
}

// Until is the end that was counted, or the zero time.
func (l *timedLease) Until() time.Time {
	if until := l.until.Load(); until != nil {
		return *until
	}
	return time.Time{}
}

// count sets the end to a TTL after a request, if there is one.
func (l *timedLease) count(asked time.Time) {
	if l.ttl > 0 {
		until := asked.Add(l.ttl)
		l.until.Store(&until)
	}
}

// timedExtender is a lease with another end that can be extended.
type timedExtender struct {
	*timedLease
	extender lock.Extender
	now      func() time.Time
}

// Extend implements [lock.Extender].
func (l *timedExtender) Extend(ctx context.Context) error {
	asked := l.now()
	err := l.extender.Extend(ctx)
	if err == nil {
		l.count(asked)
	}
	return err
}
