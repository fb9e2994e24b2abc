package rulestest

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"locksim/lock"
	"locksim/lock/metrics"
)

// service uses the lock: each of its sections has prescribed results.
type service struct {
	locks lock.Locker
	clock *clock
	next  section
}

// section has the results of one use of the lock.
type section struct {
	refused error // the result of Acquire; nil: the lock is granted
	wait    time.Duration
	token   uint64
	hold    time.Duration
	release error
}

const validity = 10 * time.Second

// clock advances by the durations of the sections.
type clock struct {
	lock.Clock
	now time.Time
}

func (c *clock) Now() time.Time { return c.now }

func newService(r prometheus.Registerer, o metrics.Options) (*service, error) {
	s := &service{clock: &clock{now: time.Unix(0, 0)}}
	o.Clock = s.clock
	m, err := metrics.New(r, o)
	if err != nil {
		return nil, err
	}
	s.locks = m.Measure(s)
	return s, nil
}

// do runs n equal sections.
func (s *service) do(n int, how section) {
	for range n {
		s.next = how
		if lease, err := s.locks.Acquire(context.Background(), "order:42"); err == nil {
			s.clock.now = s.clock.now.Add(how.hold)
			_ = lease.Release(context.Background())
		}
	}
}

// Acquire implements [lock.Locker], the measured lock.
func (s *service) Acquire(context.Context, string) (lock.Lease, error) {
	s.clock.now = s.clock.now.Add(s.next.wait)
	if s.next.refused != nil {
		return nil, s.next.refused
	}
	return lease{s.next, s.clock.now.Add(validity)}, nil
}

type lease struct {
	section
	until time.Time
}

func (l lease) Token() uint64                 { return l.token }
func (l lease) Until() time.Time              { return l.until }
func (lease) Lost() <-chan struct{}           { return nil }
func (lease) Context() context.Context        { return context.Background() }
func (l lease) Release(context.Context) error { return l.release }
