// Command redsync has the locks of go-redsync/redsync.
package main

import (
	"context"
	"net"
	"strings"
	"time"

	goredis "github.com/go-redis/redis/v8"
	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	overGoredis "github.com/go-redsync/redsync/v4/redis/goredis/v8"
	overRedigo "github.com/go-redsync/redsync/v4/redis/redigo"
	redigo "github.com/gomodule/redigo/redis"

	"locksim/examples/groundtruth"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	one, three := []string{"r0"}, []string{"r0", "r1", "r2"}
	groundtruth.Main(map[string]scenarios.Lock{
		"redsync-61":      of(use{nodes: one, client: limited, end: counted}),
		"redsync-71":      of(use{nodes: one, client: limited, end: told}),
		"redsync-151":     of(use{nodes: three, client: limited, end: told}),
		"redsync-timeout": of(use{nodes: three, client: unlimited, end: told, limit: time.Second}),
		"redsync-140":     of(use{nodes: three, client: unlimited, end: told}),
		"redsync-late":    of(use{nodes: three, client: limited, end: told, tries: 32}),
		"redsync-156":     of(use{nodes: one, client: limited, end: told, tries: 32, asks: true}),
		"redsync-164":     of(use{nodes: one, client: limited, end: told, tries: 1 << 20, waits: true}),
	})
}

// use is how redsync is used.
type use struct {
	nodes  []string
	client func(e scenarios.Env, node string) pools.Pool
	// end is when a lease ends that was had or extended by a request of an instant.
	end func(m *redsync.Mutex, asked time.Time) time.Time
	// tries are those of a Lock; 0 means one.
	tries int
	// limit is how long a release or a renewal may take; 0 is for ever.
	limit time.Duration
	// waits says that an Acquire is one call of Lock, which waits by itself; else it is called until it succeeds.
	waits bool
	// asks says that all is done by TryLock.
	asks bool
}

const ttl = 8 * time.Second // the default of redsync

// told is what redsync says or, in versions that do not, a TTL after its answer.
func told(m *redsync.Mutex, _ time.Time) time.Time {
	if says, ok := any(m).(interface{ Until() time.Time }); ok {
		return says.Until()
	}
	return time.Now().Add(ttl)
}

// counted is what newer versions say: a TTL after the request, without the drift of clocks.
func counted(_ *redsync.Mutex, asked time.Time) time.Time { return asked.Add(ttl * 99 / 100) }

func of(u use) scenarios.Lock {
	l := scenarios.Lock{Servers: scenarios.Redis(len(u.nodes)), New: func(e scenarios.Env) (lock.Locker, error) {
		var all []pools.Pool
		for _, node := range u.nodes {
			all = append(all, u.client(e, node))
		}
		locks := redsync.New(all...)
		by := func(had call) scenarios.LockerFunc {
			return func(ctx context.Context, name string) (lock.Lease, error) {
				m := locks.NewMutex(name, redsync.WithTries(max(u.tries, 1)))
				asked, err := had(ctx, e, m)
				if err != nil {
					return nil, scenarios.Unanswered(err)
				}
				until := u.end(m, asked)
				return scenarios.NewLease(ctx, e, scenarios.Grant{
					Until:  func() time.Time { return until },
					Unlock: func(ctx context.Context) error { return u.within(ctx, m.UnlockContext) },
					Extend: func(ctx context.Context) error {
						asked := time.Now()
						err := u.within(ctx, m.ExtendContext)
						if err == nil {
							until = u.end(m, asked)
						}
						return err
					},
				}), nil
			}
		}
		if u.asks {
			return trier{by(again(try)), by(try)}, nil
		}
		if u.waits {
			return by(wait), nil
		}
		return by(again(wait)), nil
	}}
	if u.asks {
		l.Taken = []error{lock.ErrTaken}
	}
	return l
}

// call asks for a lock, the last time at an instant.
type call func(ctx context.Context, e scenarios.Env, m *redsync.Mutex) (asked time.Time, err error)

func wait(ctx context.Context, _ scenarios.Env, m *redsync.Mutex) (time.Time, error) {
	asked := time.Now()
	return asked, m.LockContext(ctx)
}

// again is a call that is made until it succeeds.
func again(once call) call {
	return func(ctx context.Context, e scenarios.Env, m *redsync.Mutex) (asked time.Time, err error) {
		err = scenarios.Retry(ctx, e.Clock(), 100*time.Millisecond, func(ctx context.Context) (bool, error) {
			var err error
			asked, err = once(ctx, e, m)
			return err == nil, ctx.Err()
		})
		return asked, err
	}
}

// try calls TryLock, which old versions lack. That a lock is taken it says by the type of its error.
func try(ctx context.Context, _ scenarios.Env, m *redsync.Mutex) (time.Time, error) {
	asked := time.Now()
	err := any(m).(interface {
		TryLockContext(ctx context.Context) error
	}).TryLockContext(ctx)
	if err != nil && strings.Contains(err.Error(), "already taken") {
		err = lock.ErrTaken
	}
	return asked, err
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
	return groundtruth.Done(ok, err, "already taken", "already expired")
}

// limited is a pool of redigo, which all versions know, with a limit on each dial and each request.
func limited(e scenarios.Env, node string) pools.Pool {
	const limit = time.Second
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return e.Dial(ctx, network, addr)
	}
	p := &redigo.Pool{MaxIdle: 4, DialContext: func(ctx context.Context) (redigo.Conn, error) {
		return redigo.DialContext(ctx, "tcp", e.Address(node), redigo.DialContextFunc(dial), redigo.DialReadTimeout(limit), redigo.DialWriteTimeout(limit))
	}}
	e.OnEnd(func() { _ = p.Close() })
	return overRedigo.NewPool(p)
}

// unlimited is a client of go-redis without limits: only a context ends its requests.
func unlimited(e scenarios.Env, node string) pools.Pool {
	c := goredis.NewClient(&goredis.Options{Addr: e.Address(node), Dialer: e.Dial, ReadTimeout: -1, WriteTimeout: -1, MaxRetries: -1, IdleCheckFrequency: -1})
	e.OnEnd(func() { _ = c.Close() })
	return overGoredis.NewPool(c)
}
