// Command redsync has the locks of go-redsync/redsync.
package main

import (
	"context"
	"strings"
	"time"

	goredis "github.com/go-redis/redis/v8"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	overGoredis "github.com/go-redsync/redsync/v4/redis/goredis/v8"
	overRedigo "github.com/go-redsync/redsync/v4/redis/redigo"

	"locksim/examples/groundtruth"
	"locksim/examples/groundtruth/pools"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	one, three := []string{"r0"}, []string{"r0", "r1", "r2"}
	groundtruth.Main(map[string]scenarios.Lock{
		"redsync-61":      of(use{nodes: one, client: limited}),
		"redsync-71":      of(use{nodes: one, client: limited, answered: true}),
		"redsync-68":      of(use{nodes: one, client: limited, tries: 1 << 20, waits: true, pause: 5 * time.Second}),
		"redsync-151":     of(use{nodes: three, client: limited}),
		"redsync-timeout": of(use{nodes: three, client: unlimited, limit: time.Second}),
		"redsync-140":     of(use{nodes: three, client: unlimited}),
		"redsync-late":    of(use{nodes: three, client: limited, tries: 32}),
		"redsync-156":     of(use{nodes: one, client: limited, tries: 32, asks: true}),
		"redsync-164":     of(use{nodes: one, client: limited, tries: 1 << 20, waits: true}),
	})
}

// use is how redsync is used.
type use struct {
	nodes    []string
	client   func(e scenarios.Env, node string) redis.Pool
	tries    int           // of a Lock; 0 means one
	limit    time.Duration // of a release or a renewal; 0 is for ever
	waits    bool          // an Acquire is one call of Lock, which waits by itself; else it is called until it succeeds
	asks     bool          // all is done by TryLock
	pause    time.Duration // between two tries of a Lock; 0 is the default of redsync
	answered bool          // a lease counts from the answer, where the version does not tell its end
}

func of(u use) scenarios.Lock {
	l := scenarios.Lock{Traits: scenarios.Traits{Servers: scenarios.Redis(len(u.nodes))},
		New: func(e scenarios.Env) (lock.Locker, error) {
			var all []redis.Pool
			for _, node := range u.nodes {
				all = append(all, u.client(e, node))
			}
			locks := redsync.New(all...)
			by := func(how glue.Way, call func(m *redsync.Mutex, ctx context.Context) error) scenarios.LockerFunc {
				return func(ctx context.Context, name string) (lock.Lease, error) {
					options := []redsync.Option{redsync.WithTries(max(u.tries, 1))}
					if u.pause > 0 {
						options = append(options, redsync.WithRetryDelay(u.pause))
					}
					m := locks.NewMutex(name, options...)
					asked, err := how(ctx, e, func(ctx context.Context) error { return call(m, ctx) })
					if err != nil {
						return nil, err
					}
					return scenarios.NewLease(ctx, e, u.grant(m, asked)), nil
				}
			}
			switch {
			case u.asks:
				return trier{by(glue.Tried, try), by(glue.Once, try)}, nil
			case u.waits:
				return by(glue.Once, (*redsync.Mutex).LockContext), nil
			}
			return by(glue.Tried, (*redsync.Mutex).LockContext), nil
		}}
	l.Pause = u.pause
	if u.asks {
		l.Taken = []error{lock.ErrTaken}
	}
	return l
}

// grant is that of a mutex that was asked for at an instant.
func (u use) grant(m *redsync.Mutex, asked time.Time) scenarios.Grant {
	const ttl = 8 * time.Second // the default of redsync
	answered := time.Now()
	g := scenarios.Grant{
		TTL: ttl * 99 / 100, Asked: asked, // less the drift of clocks, as redsync counts
		Unlock: func(ctx context.Context) error { return u.within(ctx, m.UnlockContext) },
		Extend: func(ctx context.Context) error {
			err := u.within(ctx, m.ExtendContext)
			if err == nil {
				answered = time.Now()
			}
			return err
		},
	}
	if tells, ok := any(m).(interface{ Until() time.Time }); ok {
		g.Until = tells.Until
	} else if u.answered {
		g.Until = func() time.Time { return answered.Add(ttl) }
	}
	return g
}

// try calls TryLock, which old versions lack. That a lock is taken it says by the type of its error.
func try(m *redsync.Mutex, ctx context.Context) error {
	err := any(m).(interface {
		TryLockContext(ctx context.Context) error
	}).TryLockContext(ctx)
	if err != nil && strings.Contains(err.Error(), "already taken") {
		err = lock.ErrTaken
	}
	return err
}

// trier can also ask without waiting.
type trier struct {
	scenarios.LockerFunc
	try scenarios.LockerFunc
}

func (t trier) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return t.try(ctx, name)
}

// within calls a release or a renewal, not under a context that has ended: its documentation has no context there.
func (u use) within(ctx context.Context, call func(ctx context.Context) (bool, error)) error {
	ctx = context.WithoutCancel(ctx)
	if u.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, u.limit)
		defer cancel()
	}
	ok, err := call(ctx)
	return glue.Done(ok, err, "already taken", "already expired")
}

// limited is a client of redigo, which all versions know.
func limited(e scenarios.Env, node string) redis.Pool {
	return overRedigo.NewPool(pools.Redigo(e, node))
}

// unlimited is a client of go-redis without limits: only a context ends its requests.
func unlimited(e scenarios.Env, node string) redis.Pool {
	c := goredis.NewClient(&goredis.Options{Addr: e.Address(node), Dialer: e.Dial, ReadTimeout: -1, WriteTimeout: -1,
		MaxRetries: -1, IdleCheckFrequency: -1})
	e.OnEnd(func() { _ = c.Close() })
	return overGoredis.NewPool(c)
}
