// Package reported has mistakes that people reported, and right locks that are judged wrong, as locks of a few lines.
package reported

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios"
)

// All are the locks, for app.Main and for tests.
func All() []scenarios.Lock {
	return []scenarios.Lock{Control(), ReadBack(), ReadBackRenewed(), ByForce(), Renewed(), LostFirst(), LostLast(),
		StopAndTimer(),
		TriesAMinute(), ClaimOnly(), RenewedEveryTTL(), Orphan(), TakesOver(), OwnerOne(), Notified(), Impatient(), Beat(),
		BeatTold(), BeatHasty(), Getset()}
}

// Control is right, as far as one server goes.
func Control() scenarios.Lock {
	return onRedis("control", func(scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			asked, v := time.Now(), rand.Text()
			ok, err := setNX(ctx, c, key, v, ttl)
			return scenarios.Grant{Unlock: unlock(c, key, v), Until: until(asked)}, ok, err
		}
	})
}

const (
	ttl  = 2 * time.Second
	poll = 100 * time.Millisecond
)

var errNotHeld = errors.New("not held")

// deleteOwn deletes the key if it has this value.
var deleteOwn = redis.NewScript(
	`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// extendOwn makes the key last longer if it has this value.
var extendOwn = redis.NewScript(
	`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`)

// try asks once.
type try func(ctx context.Context, e scenarios.Env, c *redis.Client, key string) (g scenarios.Grant, ok bool, err error)

// onRedis is a lock whose state of a process begins with the try that begin makes.
func onRedis(name string, begin func(e scenarios.Env) try, change ...func(*scenarios.Lock)) scenarios.Lock {
	l := scenarios.Lock{Name: name, Traits: scenarios.Traits{Promise: lock.LeasePromise()},
		New: func(e scenarios.Env) (lock.Locker, error) {
			c := scenarios.RedisClient(e, scenarios.Primary)
			t := begin(e)
			return scenarios.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
				for {
					g, ok, err := t(ctx, e, c, key)
					if err != nil {
						return nil, scenarios.Unanswered(err)
					}
					if ok {
						return scenarios.NewLease(ctx, e, g), nil
					}
					select {
					case <-ctx.Done():
						return nil, ctx.Err()
					case <-time.After(poll):
					}
				}
			}), nil
		}}
	for _, f := range change {
		f(&l)
	}
	return l
}

// held is the change of a lock that renews itself.
func held(d time.Duration) func(*scenarios.Lock) {
	return func(l *scenarios.Lock) { l.Lease, l.Detection = scenarios.LeaseHeld, d }
}

func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), ttl)
}

// setNX is the right beginning: a value of its own for each try, taken back if there was no answer.
func setNX(ctx context.Context, c *redis.Client, key, value string, d time.Duration) (bool, error) {
	has, err := c.SetArgs(ctx, key, value, redis.SetArgs{Mode: "NX", Get: true, TTL: d}).Result()
	if errors.Is(err, redis.Nil) || err == nil && has == value {
		return true, nil
	}
	if err != nil {
		ctx, cancel := patient(ctx)
		defer cancel()
		_ = deleteOwn.Run(ctx, c, []string{key}, value).Err()
	}
	return false, err
}

// unlock is the right end.
func unlock(c *redis.Client, key, value string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := patient(ctx)
		defer cancel()
		n, err := deleteOwn.Run(ctx, c, []string{key}, value).Int()
		if err == nil && n == 0 {
			err = errNotHeld
		}
		return scenarios.NotHeld(err, errNotHeld)
	}
}

func until(from time.Time) func() time.Time { return func() time.Time { return from.Add(ttl) } }
