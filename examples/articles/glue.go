package articles

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/sim/redis/redisclient"
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
	kept  map[string]mutex
}

// once makes one lock object of a process for each key.
func once(make func(p process, key string) mutex) func(p process, key string) mutex {
	return func(p process, key string) mutex {
		if p.kept[key] == nil {
			p.kept[key] = make(p, key)
		}
		return p.kept[key]
	}
}

func (p process) setNX(key string) setNX {
	return setNX{ctx: p.Context(), now: p.WallClock().Now, client: p.redis, key: key, id: newID(), ttl: ttl}
}

// locker makes a locker of a recipe on Redis. Its leases last for a TTL from before the request by which it was
// granted the lock, or until they are released if nothing but a loss ends them.
func locker(held bool, make func(p process, key string) mutex) func(e scenarios.Env) (lock.Locker, error) {
	return func(e scenarios.Env) (lock.Locker, error) {
		p := process{Env: e, redis: client(e, scenarios.Primary), asked: &asked{by: e.Clock()}, kept: map[string]mutex{}}
		p.redis.AddHook(p.asked)
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			m := make(p, name)
			if err := acquire(ctx, e, m); err != nil {
				return nil, err
			}
			g := scenarios.Grant{Unlock: unlock(m)}
			if end := p.asked.last().Add(ttl); !held {
				g.Until = func() time.Time { return end }
			}
			return scenarios.NewLease(ctx, e, g), nil
		}), nil
	}
}

// redlocks makes a locker of recipe A4 over some nodes.
func redlocks(nodes int) func(e scenarios.Env) (lock.Locker, error) {
	return func(e scenarios.Env) (lock.Locker, error) {
		var all []*redis.Client
		for i := range nodes {
			all = append(all, client(e, fmt.Sprintf("r%d", i)))
		}
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			m := &redlock{ctx: e.Context(), now: e.Clock().Now, nodes: all, key: name, id: newID(), ttl: ttl}
			if err := acquire(ctx, e, m); err != nil {
				return nil, err
			}
			until := func() time.Time { return m.until }
			return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: unlock(m), Until: until}), nil
		}), nil
	}
}

// managed makes a locker of recipe A14.
func managed(e scenarios.Env) (lock.Locker, error) {
	m := &manager{ctx: e.Context(), now: e.Clock().Now, client: client(e, scenarios.Primary), ttl: ttl}
	return withToken(e, func(name string) (*grantWithToken, error) {
		l, err := m.Acquire(name, 5)
		if l == nil {
			return nil, err
		}
		return &grantWithToken{l.token, l.acquiredAt, l.Release}, err
	}), nil
}

// mints makes a locker of recipe A14 with one flaw alone.
func mints(e scenarios.Env) (lock.Locker, error) {
	m := &minting{ctx: e.Context(), now: e.Clock().Now, client: client(e, scenarios.Primary), ttl: ttl}
	return withToken(e, func(name string) (*grantWithToken, error) {
		l, err := m.Acquire(name, 5)
		if l == nil {
			return nil, err
		}
		return &grantWithToken{l.token, l.asked, l.Release}, err
	}), nil
}

// grantWithToken is what the managers of fencing tokens grant.
type grantWithToken struct {
	token   int64
	from    time.Time // the lease counts from it
	release func() error
}

// withToken makes a locker that asks a manager of fencing tokens until it has granted something.
func withToken(e scenarios.Env, acquire func(name string) (*grantWithToken, error)) lock.Locker {
	return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
		var g *grantWithToken
		if err := scenarios.Retry(ctx, e.Clock(), poll, func(context.Context) (ok bool, err error) {
			g, err = acquire(name)
			return g != nil, scenarios.Unanswered(err)
		}); err != nil {
			return nil, err
		}
		return scenarios.NewLease(ctx, e, scenarios.Grant{
			Token:  uint64(g.token),
			Until:  func() time.Time { return g.from.Add(ttl) },
			Unlock: func(context.Context) error { return scenarios.NotHeld(g.release(), errNotOwner) },
		}), nil
	})
}

// limited makes a locker of recipe A23: its lease ends with the context of the work, which looks at it before each step
// if the client does.
func limited(fromAnswer bool) func(e scenarios.Env) (lock.Locker, error) {
	return func(e scenarios.Env) (lock.Locker, error) {
		p := process{Env: e, redis: client(e, scenarios.Primary)}
		return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
			l := &business{setNX: p.setNX(name), limit: ttl * 8 / 10, fromAnswer: fromAnswer}
			l.now = e.Clock().Now // of which a context has its end
			if err := acquire(ctx, e, l); err != nil {
				return nil, err
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: unlock(l), Until: l.Deadline}), nil
		}), nil
	}
}

// acquire asks again as long as the client waits.
func acquire(ctx context.Context, e scenarios.Env, m mutex) error {
	return scenarios.Retry(ctx, e.Clock(), poll, func(context.Context) (bool, error) {
		ok, err := m.Lock(wait)
		return ok, scenarios.Unanswered(err)
	})
}

func unlock(m mutex) func(context.Context) error {
	return func(context.Context) error { return scenarios.NotHeld(m.Unlock(), errNotOwner) }
}

// client is redis.NewClient(&redis.Options{Addr: …}), in the world.
func client(e scenarios.Env, server string) *redis.Client {
	options := redisclient.Stock()
	options.Addr = e.Address(server)
	return redisclient.With(e, options)
}

// asked is a hook that remembers when a client began its last command that may take a lock. Commands that are sent
// again count from the first.
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
		if takes(cmd) {
			now := a.by.Now()
			a.mu.Lock()
			a.at = now
			a.mu.Unlock()
		}
		return next(ctx, cmd)
	}
}

// takes says whether a command may take a lock of a recipe.
func takes(cmd redis.Cmder) bool {
	switch cmd.Name() {
	case "setnx", "getset", "eval", "evalsha", "expire": // A11 enters again by EXPIRE
		return true
	case "set":
		return slices.Contains(cmd.Args(), any("nx"))
	}
	return false
}

// ProcessPipelineHook implements [redis.Hook].
func (*asked) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
