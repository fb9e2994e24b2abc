// Package cases has mistakes that people reported in public trackers, as locks of a few
// lines each, written anew. Each names its source; the tests say what locksim says of it.
package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios"
)

// held is one grant.
type held struct {
	until time.Time
	lost  chan struct{}
	ctx   context.Context
	free  func(context.Context) error
}

func (h *held) Token() uint64                     { return 0 }
func (h *held) Until() time.Time                  { return h.until }
func (h *held) Lost() <-chan struct{}             { return h.lost }
func (h *held) Release(ctx context.Context) error { return h.free(context.WithoutCancel(ctx)) }
func (h *held) Context() context.Context {
	if h.ctx == nil {
		return context.Background()
	}
	return h.ctx
}

// machine is what each client has.
type machine struct {
	scenarios.Env
	redis *redis.Client
	n     int
}

func (m *machine) owner() string { m.n++; return fmt.Sprintf("%s.%d", m.Identity(), m.n) }

// try asks once: nil, nil means that another one has the lock.
type try func(ctx context.Context, m *machine, name string) (lock.Lease, error)

type poller struct {
	*machine
	try try
}

func (p *poller) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	for {
		l, err := p.try(ctx, p.machine, name)
		if l != nil || err != nil {
			return l, err
		}
		if err := p.Clock().Sleep(ctx, p.Spec().Backoff.Max); err != nil {
			return nil, err
		}
	}
}

// own is the promise that most users write: exclusion under the usual faults, and no more.
var own = lock.Promise{Exclusion: []lock.Fault{
	lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultPartition, lock.FaultLatency,
}}

func onRedis(name string, make func() try) scenarios.Lock {
	return scenarios.Lock{Name: name, Traits: scenarios.Traits{FollowsSpec: true, Promise: own},
		New: func(e scenarios.Env) (lock.Locker, error) {
			return &poller{&machine{e, scenarios.RedisClient(e, "r0"), 0}, make()}, nil
		}}
}

var compareAndDelete = redis.NewScript(
	`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// right takes the key and gives it back as it should be.
func right(ctx context.Context, m *machine, name string) (lock.Lease, error) {
	me, until := m.owner(), m.Clock().Now().Add(m.Spec().TTL)
	ok, err := m.redis.SetNX(ctx, name, me, m.Spec().TTL).Result()
	if !ok || err != nil {
		return nil, unknown(err)
	}
	return &held{until: until, free: m.delete(name, me)}, nil
}

func (m *machine) delete(name, me string) func(context.Context) error {
	return func(ctx context.Context) error {
		return compareAndDelete.Run(ctx, m.redis, []string{name}, me).Err()
	}
}

// unknown marks an error after which the request may have been carried out.
func unknown(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
}
