package cases

import (
	"context"
	"crypto/rand" //nolint:depguard // as users write it; the world seeds it
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios"
)

// Renewing is a right lock as many teams have it: a goroutine renews it, and Unlock waits for that goroutine. It is
// written with package time alone, and knows nothing of locksim. In scenarios/renewal-answered-late.yaml the
// answer of a renewal arrives after the end of its lease.
func Renewing() scenarios.Lock {
	return scenarios.Lock{Name: "mine", Traits: scenarios.Traits{Promise: own}, New: func(e scenarios.Env) (lock.Locker,
		error) {
		return renewing{scenarios.RedisClient(e, "r0")}, nil
	}}
}

// NoRelease is the same with an Unlock that sends nothing.
func NoRelease() scenarios.Lock {
	return scenarios.Lock{Name: "no-release", Traits: scenarios.Traits{Promise: own},
		New: func(e scenarios.Env) (lock.Locker, error) {
			return noRelease{renewing{scenarios.RedisClient(e, "r0")}}, nil
		}}
}

type renewing struct{ client *redis.Client }

func (r renewing) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	m := &mutex{client: r.client, key: "lock:" + name, owner: rand.Text(), ttl: 2 * time.Second,
		stop: make(chan struct{}), done: make(chan struct{}), lost: make(chan struct{})}
	if err := m.Lock(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
	}
	return lease{m}, nil
}

type noRelease struct{ renewing }

func (r noRelease) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l, err := r.renewing.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	return idle{l.(lease)}, nil
}

type idle struct{ lease }

func (l idle) Release(context.Context) error {
	l.once.Do(func() { close(l.stop) })
	<-l.done
	return nil
}

type lease struct{ *mutex }

func (l lease) Token() uint64            { return 0 }
func (l lease) Lost() <-chan struct{}    { return l.lost }
func (l lease) Context() context.Context { return context.Background() }
func (l lease) Until() time.Time         { l.mu.Lock(); defer l.mu.Unlock(); return l.until }
func (l lease) Release(ctx context.Context) error {
	err := l.Unlock(ctx)
	if errors.Is(err, errGone) {
		return fmt.Errorf("%w: %w", lock.ErrNotHeld, err)
	}
	return err
}

var errGone = errors.New("the key is gone, or another's")

type mutex struct {
	client           *redis.Client
	key, owner       string
	ttl              time.Duration
	mu               sync.Mutex
	until            time.Time
	stop, done, lost chan struct{}
	once             sync.Once
}

func (m *mutex) Lock(ctx context.Context) error {
	for {
		sent := time.Now()
		ok, err := m.client.SetNX(ctx, m.key, m.owner, m.ttl).Result()
		if err != nil {
			return err
		}
		if ok {
			m.until = sent.Add(m.ttl)
			go m.renew()
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (m *mutex) renew() {
	defer close(m.done)
	for {
		select {
		case <-m.stop:
			return
		case <-time.After(m.ttl / 3):
		}
		m.mu.Lock()
		until := m.until
		m.mu.Unlock()
		sent := time.Now()
		if !sent.Before(until) {
			close(m.lost)
			return
		}
		ctx, cancel := context.WithDeadline(context.Background(), until)
		n, err := extend.Run(ctx, m.client, []string{m.key}, m.owner, m.ttl.Milliseconds()).Int()
		cancel()
		if err == nil && n == 0 {
			close(m.lost)
			return
		}
		if err == nil {
			m.mu.Lock()
			m.until = sent.Add(m.ttl)
			m.mu.Unlock()
		}
	}
}

func (m *mutex) Unlock(ctx context.Context) error {
	m.once.Do(func() { close(m.stop) })
	<-m.done
	n, err := compareAndDelete.Run(ctx, m.client, []string{m.key}, m.owner).Int()
	if err == nil && n == 0 {
		return errGone
	}
	return err
}
