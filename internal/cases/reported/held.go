package reported

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/scenarios"
)

// ReadBack writes its key if there is none, and reads it back after a while: who finds his own name has the lock
// (marin-community/marin PR 3874).
func ReadBack() scenarios.Lock {
	return onRedis("read-back", func(scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			switch _, err := c.Get(ctx, key).Result(); {
			case err == nil:
				return scenarios.Grant{}, false, nil
			case !errors.Is(err, redis.Nil):
				return scenarios.Grant{}, false, err
			}
			asked, v := time.Now(), rand.Text()
			if err := c.Set(ctx, key, v, ttl).Err(); err != nil {
				_ = unlock(c, key, v)(ctx)
				return scenarios.Grant{}, false, err
			}
			time.Sleep(250 * time.Millisecond)
			has, err := c.Get(ctx, key).Result()
			if errors.Is(err, redis.Nil) {
				err = nil
			}
			if err != nil {
				_ = unlock(c, key, v)(ctx)
			}
			return scenarios.Grant{Unlock: unlock(c, key, v), Until: until(asked)}, err == nil && has == v, err
		}
	})
}

// renewed is a lock that takes its key in the way that is given, renews it every third of a TTL, and tells its holder
// by the next renewal that it has lost it.
func renewed(name string, take func(ctx context.Context, c *redis.Client, key, v string) (bool, error)) scenarios.Lock {
	return onRedis(name, func(e scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			v := rand.Text()
			ok, err := take(ctx, c, key, v)
			if err != nil {
				_ = unlock(c, key, v)(ctx)
			}
			if !ok || err != nil {
				return scenarios.Grant{}, ok, err
			}
			lost, stop := make(chan struct{}), make(chan struct{})
			over := sync.OnceFunc(func() { close(stop) })
			e.OnEnd(over)
			go keep(e, lost, stop, func(ctx context.Context) (int, error) {
				return extendOwn.Run(ctx, c, []string{key}, v, ttl.Milliseconds()).Int()
			})
			free := unlock(c, key, v)
			return scenarios.Grant{Lost: lost, Unlock: func(ctx context.Context) error { over(); return free(ctx) }}, true, nil
		}
	}, held(2*ttl))
}

// keep renews each third of a TTL, and closes lost when the key is another's, or when no renewal was answered for two
// thirds of a TTL.
func keep(e scenarios.Env, lost, stop chan struct{}, renew func(context.Context) (int, error)) {
	for good := time.Now(); ; {
		select {
		case <-stop:
			return
		case <-time.After(ttl / 3):
		}
		asked := time.Now()
		ctx, cancel := context.WithTimeout(e.Context(), ttl/3)
		n, err := renew(ctx)
		cancel()
		if err == nil && n == 1 {
			good = asked
		}
		if err == nil && n == 0 || time.Since(good) > ttl-ttl/3 {
			close(lost)
			return
		}
	}
}

// ReadBackRenewed takes its key by writing it and reading it back: a request that is late takes the key of a holder
// that lives.
func ReadBackRenewed() scenarios.Lock {
	return renewed("read-back-renewed", func(ctx context.Context, c *redis.Client, key, v string) (bool, error) {
		switch _, err := c.Get(ctx, key).Result(); {
		case err == nil:
			return false, nil
		case !errors.Is(err, redis.Nil):
			return false, err
		}
		if err := c.Set(ctx, key, v, ttl).Err(); err != nil {
			return false, err
		}
		time.Sleep(250 * time.Millisecond)
		has, err := c.Get(ctx, key).Result()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return err == nil && has == v, err
	})
}

// Renewed is the same with SET NX, which is right.
func Renewed() scenarios.Lock {
	return renewed("renewed", func(ctx context.Context, c *redis.Client, key, v string) (bool, error) {
		return setNX(ctx, c, key, v, ttl)
	})
}

// ByForce is right but for this: after a request that failed the next one deletes what it may have left, which may be
// the key of a holder that lives.
func ByForce() scenarios.Lock {
	var mu sync.Mutex
	failed := map[*redis.Client]bool{}
	return renewed("by-force", func(ctx context.Context, c *redis.Client, key, v string) (bool, error) {
		mu.Lock()
		again := failed[c]
		mu.Unlock()
		if again {
			if err := c.Del(ctx, key).Err(); err != nil {
				return false, err
			}
		}
		ok, err := setNX(ctx, c, key, v, ttl)
		mu.Lock()
		failed[c] = err != nil
		mu.Unlock()
		return ok, err
	})
}
