package sentinellocks

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
	"locksim/sim/sentinel"
)

// Specimens are locks that use Sentinels wrongly. Each is the lock "single" over a client with one mistake.
func Specimens() []subject.Lock {
	var all []subject.Lock
	for _, s := range []struct {
		name, wrong string
		over        func(e subject.Env) lock.Redis
	}{
		{"sentinel-reads-replica", "It looks on a replica whether the lock is free, as a client does that routes reads to " +
			"the nearest node (RouteByLatency, ReplicaOnly), and then writes its key to the primary.", readsReplica},
		{"sentinel-asks-once", "It asks a Sentinel for the primary when it starts, and stays with that address.", asksOnce},
		{"sentinel-old-release", "It sends the release to the address that the primary had when the client started.",
			oldRelease},
		{"sentinel-wait", "It takes one confirmation by WAIT for safety: the replica that has confirmed need not be the " +
			"one that takes over, and a primary that is cut off from the Sentinels may still have one.", waits},
	} {
		all = append(all, subject.Lock{
			Name: kinds.BrokenPrefix + s.name, Traits: subject.Traits{Servers: Servers(), FollowsSpec: true,
				Keys:  func(resource string) []string { return []string{lock.DefaultKeyPrefix + "{" + resource + "}"} },
				About: "A lock that is wrong on purpose: " + s.wrong, ForWhom: "Tests: it is wrong on purpose."},
			New: func(e subject.Env) (lock.Locker, error) {
				spec := e.Spec()
				return lock.NewSingle(s.over(e), lock.Options{
					TTL: spec.TTL, Backoff: lock.Backoff{Min: spec.Backoff.Min, Max: spec.Backoff.Max},
					Clock: e.Clock(), Entropy: e.Entropy("lock"), Jitter: e.Source("lock"),
				})
			},
		})
	}
	return all
}

// mixed is a client with a part of its own.
type mixed struct {
	lock.Redis
	setNX func(ctx context.Context, key string, value any, ttl time.Duration) (bool, error)
}

// SetNX implements [lock.Redis].
func (m mixed) SetNX(ctx context.Context, key string, value any, ttl time.Duration) *goredis.BoolCmd {
	cmd := goredis.NewBoolCmd(ctx)
	ok, err := m.setNX(ctx, key, value, ttl)
	cmd.SetVal(ok)
	if err != nil {
		cmd.SetErr(err)
	}
	return cmd
}

func readsReplica(e subject.Env) lock.Redis {
	primary := client(e)
	opt := options(e)
	opt.ReplicaOnly = true
	replica := Client(e, opt)
	return mixed{primary, func(ctx context.Context, key string, value any, ttl time.Duration) (bool, error) {
		switch err := replica.Get(ctx, key).Err(); {
		case err == nil:
			return false, nil
		case !errors.Is(err, goredis.Nil):
			return false, err
		}
		err := primary.Set(ctx, key, value, ttl).Err()
		return err == nil, err
	}}
}

// first is a client of the primary that the first Sentinel named when it was asked first.
func first(e subject.Env) func(ctx context.Context) (*goredis.Client, error) {
	var mu sync.Mutex // not kept over a request
	var found *goredis.Client
	return func(ctx context.Context) (*goredis.Client, error) {
		mu.Lock()
		known := found
		mu.Unlock()
		if known != nil {
			return known, nil
		}
		quiet := redisclient.Quiet()
		asks := goredis.NewSentinelClient(&goredis.Options{Addr: e.Address("sen0"), Dialer: e.Dial, MaxRetries: -1,
			Protocol: 2, PoolSize: 1,
			DialTimeout: quiet.DialTimeout, ContextTimeoutEnabled: true})
		defer func() { _ = asks.Close() }()
		at, err := asks.GetMasterAddrByName(ctx, sentinel.MasterName).Result()
		if err != nil {
			return nil, err
		}
		quiet.Addr, quiet.ContextTimeoutEnabled = net.JoinHostPort(at[0], at[1]), true
		c := redisclient.With(e, quiet)
		mu.Lock()
		defer mu.Unlock()
		found = c
		return c, nil
	}
}

// once is a client that asks for the primary once.
type once struct {
	goredis.Scripter
	find func(ctx context.Context) (*goredis.Client, error)
}

// scripted runs a script on the primary that was found.
func (o once) scripted(ctx context.Context, run func(c *goredis.Client) *goredis.Cmd) *goredis.Cmd {
	c, err := o.find(ctx)
	if err != nil {
		cmd := goredis.NewCmd(ctx)
		cmd.SetErr(err)
		return cmd
	}
	return run(c)
}

// Eval implements [goredis.Scripter].
func (o once) Eval(ctx context.Context, script string, keys []string, args ...any) *goredis.Cmd {
	return o.scripted(ctx, func(c *goredis.Client) *goredis.Cmd { return c.Eval(ctx, script, keys, args...) })
}

// EvalSha implements [goredis.Scripter].
func (o once) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *goredis.Cmd {
	return o.scripted(ctx, func(c *goredis.Client) *goredis.Cmd { return c.EvalSha(ctx, sha, keys, args...) })
}

// SetNX implements [lock.Redis].
func (o once) SetNX(ctx context.Context, key string, value any, ttl time.Duration) *goredis.BoolCmd {
	c, err := o.find(ctx)
	if err != nil {
		cmd := goredis.NewBoolCmd(ctx)
		cmd.SetErr(err)
		return cmd
	}
	return c.SetNX(ctx, key, value, ttl)
}

func asksOnce(e subject.Env) lock.Redis { return once{find: first(e)} }

func oldRelease(e subject.Env) lock.Redis {
	primary, find := client(e), first(e)
	return mixed{once{find: find}, func(ctx context.Context, key string, value any, ttl time.Duration) (bool, error) {
		if _, err := find(ctx); err != nil {
			return false, err
		}
		return primary.SetNX(ctx, key, value, ttl).Result()
	}}
}

// confirmWithin is how long it waits for a replica.
const confirmWithin = time.Second

func waits(e subject.Env) lock.Redis {
	primary := client(e)
	return mixed{primary, func(ctx context.Context, key string, value any, ttl time.Duration) (bool, error) {
		var set *goredis.BoolCmd
		var wait *goredis.IntCmd
		_, err := primary.Pipelined(ctx, func(p goredis.Pipeliner) error { // on one connection
			set = p.SetNX(ctx, key, value, ttl)
			wait = goredis.NewIntCmd(ctx, "wait", 1, confirmWithin.Milliseconds())
			return p.Process(ctx, wait)
		})
		if err != nil || !set.Val() || wait.Val() > 0 {
			return set.Val() && err == nil, err
		}
		primary.Del(ctx, key)
		return false, errors.New("no replica has confirmed the lock")
	}}
}
