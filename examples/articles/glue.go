package articles

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios"
	simredis "locksim/sim/redis"
)

// wait is how long the reader of a recipe waits for the lock, before it asks again.
const wait = 5 * time.Second

// mutex is a lock as most recipes have it.
type mutex interface {
	Lock(timeout time.Duration) (bool, error)
	Unlock() error
}

// process is what a recipe is given: one client of a run.
type process struct {
	scenarios.Env
	redis *redis.Client
	asked *asked
	kept  map[string]*setNX
}

// same is the one lock object of this process for a key.
func (p process) same(key string) mutex {
	if p.kept[key] == nil {
		l := p.setNX(key)
		p.kept[key] = &l
	}
	return p.kept[key]
}

func (p process) setNX(key string) setNX {
	return setNX{ctx: p.Context(), now: p.WallClock().Now, client: p.redis, key: key, id: newID(), ttl: ttl}
}

// locker makes a locker of a recipe on Redis. Its leases last for a TTL from before the last of the requests by which it may have
// been granted the lock, or until they are released if nothing but a loss ends them.
func locker(held bool, make func(p process, key string) mutex) func(e scenarios.Env) (lock.Locker, error) {
	return func(e scenarios.Env) (lock.Locker, error) {
		p := process{Env: e, redis: client(e, scenarios.Primary), asked: &asked{by: e.Clock()}, kept: map[string]*setNX{}}
		p.redis.AddHook(p.asked)
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			m := make(p, name)
			if err := acquire(ctx, m); err != nil {
				return nil, err
			}
			g := scenarios.Grant{Unlock: func(context.Context) error { return release(m) }}
			if end := p.asked.last().Add(ttl); !held {
				g.Until = func() time.Time { return end }
			}
			return scenarios.NewLease(ctx, e, g), nil
		}), nil
	}
}

// acquire asks again as long as the reader waits.
func acquire(ctx context.Context, m mutex) error {
	for {
		ok, err := m.Lock(wait)
		if ok || err != nil {
			return scenarios.Unanswered(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func release(m mutex) error { return scenarios.NotHeld(m.Unlock(), errNotOwner) }

// client is redis.NewClient(&redis.Options{Addr: …}), in the world.
func client(e scenarios.Env, server string) *redis.Client {
	options := simredis.Stock()
	options.Addr = e.Address(server)
	return simredis.ClientWith(e, options)
}

// asked is a hook that remembers when a client began its last command that may take a lock. Commands that are sent again count
// from the first.
type asked struct {
	by lock.Clock
	mu sync.Mutex
	at time.Time
}

func (a *asked) last() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at
}

// DialHook implements [redis.Hook].
func (*asked) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements [redis.Hook].
func (a *asked) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		switch cmd.Name() {
		case "set", "setnx":
			now := a.by.Now()
			a.mu.Lock()
			a.at = now
			a.mu.Unlock()
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (*asked) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
