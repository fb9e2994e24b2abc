package reported

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios"
)

// losing is right, and closes Lost in its release, as the Done of a session closes when the session is closed.
func losing(name string, first bool) scenarios.Lock {
	return onRedis(name, func(e scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			asked, v := time.Now(), rand.Text()
			ok, err := setNX(ctx, c, key, v, ttl)
			lost := make(chan struct{})
			free, lose := unlock(c, key, v), sync.OnceFunc(func() { close(lost) }) // a release that failed is called again
			return scenarios.Grant{Until: until(asked), Lost: lost, Unlock: func(ctx context.Context) error {
				if first {
					lose()
					return free(ctx)
				}
				err := free(ctx)
				lose()
				return err
			}}, ok, err
		}
	})
}

// LostFirst closes Lost before the key is deleted.
func LostFirst() scenarios.Lock { return losing("lost-first", true) }

// LostLast closes Lost after the key is deleted.
func LostLast() scenarios.Lock { return losing("lost-last", false) }

// Impatient is wrong: it promises to wait until its context ends, and gives up after 30 tries.
func Impatient() scenarios.Lock {
	promised := lock.LeasePromise()
	promised.Duties = append(promised.Duties, promise.DutyWaits)
	return scenarios.Lock{Name: "impatient", Traits: scenarios.Traits{Promise: promised},
		New: func(e scenarios.Env) (lock.Locker, error) {
			c := scenarios.RedisClient(e, scenarios.Primary)
			return scenarios.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
				for range 30 {
					asked, v := time.Now(), rand.Text()
					ok, err := setNX(ctx, c, key, v, e.Spec().TTL)
					if err != nil {
						return nil, scenarios.Unanswered(err)
					}
					if ok {
						return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: unlock(c, key, v),
							Until: func() time.Time { return asked.Add(e.Spec().TTL) }}), nil
					}
					time.Sleep(poll)
				}
				return nil, errTooMany
			}), nil
		}}
}

var errTooMany = errors.New("asked 30 times")

// TriesAMinute is right, and its release tries for a minute, whatever becomes of its context.
func TriesAMinute() scenarios.Lock { return tries("tries-a-minute", 30, 2*time.Second) }

func tries(name string, n int, pause time.Duration) scenarios.Lock {
	return onRedis(name, func(scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			asked, v := time.Now(), rand.Text()
			ok, err := setNX(ctx, c, key, v, ttl)
			free := unlock(c, key, v)
			return scenarios.Grant{Until: until(asked), Unlock: func(ctx context.Context) error {
				err := free(ctx)
				for i := 0; i < n && err != nil && !errors.Is(err, lock.ErrNotHeld); i++ {
					time.Sleep(pause)
					err = free(ctx)
				}
				return err
			}}, ok, err
		}
	})
}

// StopAndTimer is a right lock that renews, with the loop that most people write: a select over its stop, its context
// and a timer, two of which can be ready in the same instant.
func StopAndTimer() scenarios.Lock {
	return onRedis("stop-and-timer", func(e scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			v := rand.Text()
			asked := time.Now()
			ok, err := setNX(ctx, c, key, v, ttl)
			if ok && err == nil && time.Since(asked) > ttl/2 { // too late to be of use
				return scenarios.Grant{}, false, unlock(c, key, v)(ctx)
			}
			if !ok || err != nil {
				return scenarios.Grant{}, ok, err
			}
			lost, stop, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for good := asked; ; {
					select {
					case <-stop:
						return
					case <-e.Context().Done():
						return
					case <-time.After(min(ttl/3, time.Until(good.Add(ttl)))):
					}
					asked := time.Now()
					if !asked.Before(good.Add(ttl)) {
						close(lost)
						return
					}
					ctx, cancel := context.WithDeadline(e.Context(), good.Add(ttl))
					n, err := extendOwn.Run(ctx, c, []string{key}, v, ttl.Milliseconds()).Int()
					cancel()
					if err == nil && n == 0 {
						close(lost)
						return
					}
					if err == nil {
						good = asked
					}
				}
			}()
			free := unlock(c, key, v)
			var once sync.Once
			return scenarios.Grant{Lost: lost, Unlock: func(ctx context.Context) error {
				once.Do(func() { close(stop) })
				<-done
				return free(ctx)
			}}, true, nil
		}
	}, held(ttl))
}
