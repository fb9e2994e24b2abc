package lock

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis is what a lock needs of a go-redis client. *redis.Client, *redis.ClusterClient and
// redis.UniversalClient have it. See the package documentation for the client's options.
type Redis interface {
	redis.Scripter
	SetNX(ctx context.Context, key string, value any, expiration time.Duration) *redis.BoolCmd
}

// engine is what the kinds of lock share: all but the request that asks for the lock.
type engine struct {
	redis Redis
	grant grant
	opt   Options

	mu   sync.Mutex // guards opt.Entropy and dice
	dice *rand.Rand
}

// grant asks the node for the lock once. granted is false while somebody else holds it; token is 0 for
// locks that mint none.
type grant func(ctx context.Context, c claim) (token uint64, granted bool, err error)

// claim is who wants, or has, which lock. The owner id is fresh for each Acquire (F31).
type claim struct {
	resource, key, owner string
}

func newEngine(client Redis, o Options, g grant) (*engine, error) {
	if client == nil {
		return nil, errors.New("no Redis client")
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	if o.Jitter == nil {
		seed, err := readEntropy(o.Entropy)
		if err != nil {
			return nil, fmt.Errorf("seed the jitter: %w", err)
		}
		o.Jitter = newJitter(seed)
	}
	return &engine{redis: client, grant: g, opt: o, dice: rand.New(o.Jitter)}, nil
}

// claim makes a new owner id for a resource.
func (e *engine) claim(resource string) (claim, error) {
	if err := checkResource(resource); err != nil {
		return claim{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	id, err := readEntropy(e.opt.Entropy)
	if err != nil {
		return claim{}, fmt.Errorf("make an owner id: %w", err)
	}
	return claim{resource, lockKey(e.opt.KeyPrefix, resource), hex.EncodeToString(id[:])}, nil
}

// wait sleeps before the nth retry. It returns an error once ctx has ended, be it in the same instant.
func (e *engine) wait(ctx context.Context, n int) error {
	if err := e.opt.Clock.Sleep(ctx, e.delay(n)); err != nil {
		return err
	}
	return ended(ctx)
}

// delay draws the time to wait before the nth retry.
func (e *engine) delay(n int) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.opt.Backoff.delay(n, e.dice)
}

// delete removes the key if it is the claim's. It does not heed the end of ctx (F29).
func (e *engine) delete(ctx context.Context, c claim) (deleted bool, err error) {
	ctx, cancel := detached(ctx, e.opt.ReleaseTimeout)
	defer cancel()
	n, err := releaseScript.Run(ctx, e.redis, []string{c.key}, c.owner).Int64()
	if err != nil {
		return false, outcome(err)
	}
	return n == 1, nil
}
