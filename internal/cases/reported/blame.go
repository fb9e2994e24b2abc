package reported

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios"
)

// ClaimOnly has a key that guards only the claim of a job: it is deleted again before the job begins.
func ClaimOnly() scenarios.Lock {
	return onRedis("claim-only", func(scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			v := rand.Text()
			ok, err := setNX(ctx, c, key, v, ttl)
			if !ok || err != nil {
				return scenarios.Grant{}, ok, err
			}
			err = unlock(c, key, v)(ctx)
			return scenarios.Grant{Unlock: func(context.Context) error { return nil }}, err == nil, err
		}
	}, held(ttl))
}

// RenewedEveryTTL is a leader that renews every TTL, so that it loses its lease in every run, also in a calm one.
func RenewedEveryTTL() scenarios.Lock {
	return onRedis("renewed-every-ttl", func(e scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			v := rand.Text()
			ok, err := setNX(ctx, c, key, v, ttl)
			if !ok || err != nil {
				return scenarios.Grant{}, ok, err
			}
			lost, stop := make(chan struct{}), make(chan struct{})
			over := sync.OnceFunc(func() { close(stop) })
			e.OnEnd(over)
			go func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(ttl):
					}
					ctx, cancel := context.WithTimeout(e.Context(), ttl/3)
					n, err := extendOwn.Run(ctx, c, []string{key}, v, ttl.Milliseconds()).Int()
					cancel()
					if err != nil || n == 0 {
						close(lost)
						return
					}
				}
			}()
			free := unlock(c, key, v)
			return scenarios.Grant{Lost: lost, Unlock: func(ctx context.Context) error { over(); return free(ctx) }}, true, nil
		}
	}, held(ttl+ttl/3))
}

// Orphan is plain SET NX: its key stays when its reply is lost, and keeps its own client out.
func Orphan() scenarios.Lock {
	return onRedis("orphan", func(scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			asked, v := time.Now(), rand.Text()
			ok, err := c.SetNX(ctx, key, v, ttl).Result()
			return scenarios.Grant{Unlock: unlock(c, key, v), Until: until(asked)}, ok, err
		}
	})
}

// TakesOver extends with SET XX, which takes the lock from whoever has it.
func TakesOver() scenarios.Lock {
	return onRedis("takes-over", func(scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			end, v := time.Now().Add(ttl), rand.Text()
			ok, err := setNX(ctx, c, key, v, ttl)
			return scenarios.Grant{Unlock: unlock(c, key, v), Until: func() time.Time { return end },
				Extend: func(ctx context.Context) error {
					asked := time.Now()
					ok, err := c.SetXX(ctx, key, v, ttl).Result()
					if err == nil && !ok {
						return lock.ErrNotHeld
					}
					if err == nil {
						end = asked.Add(ttl)
					}
					return err
				}}, ok, err
		}
	})
}

// OwnerOne has one value for all owners, as a process id in a container is, so a late release deletes the key of
// another.
func OwnerOne() scenarios.Lock {
	return onRedis("owner-one", func(scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			asked := time.Now()
			ok, err := c.SetNX(ctx, key, "1", ttl).Result()
			return scenarios.Grant{Unlock: unlock(c, key, "1"), Until: until(asked)}, ok, err
		}
	})
}
