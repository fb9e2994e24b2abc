package articles

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/sim/redis/redisclient"
)

// checked is a storage as A15 and A16 have it.
type checked interface {
	Read(ctx context.Context, key string) (string, error)
	Write(ctx context.Context, key, data string, token int64) error
}

// store is a recipe of a storage as a store under test, in one client of a run.
type store struct{ checked }

// Read implements [scenarios.Store]. No recipe looks at the token of a read.
func (s store) Read(ctx context.Context, key string, _ fence.Op) (string, error) {
	return s.checked.Read(ctx, key)
}

// Write implements [scenarios.Store].
func (s store) Write(ctx context.Context, key, value string, op fence.Op) error {
	return s.checked.Write(ctx, key, value, int64(op.Token))
}

// storing is a fence of a recipe on Redis, over a client with its default options.
func storing(id, idea string, make func(c *redis.Client) checked) scenarios.Lock {
	return fenceOf(id, idea, func(e scenarios.Env) checked { return make(client(e, scenarios.Primary)) })
}

// storingOnce is the same over a client that sends no command again.
func storingOnce(id, idea string, make func(c *redis.Client) checked) scenarios.Lock {
	return fenceOf(id, idea, func(e scenarios.Env) checked {
		options := redisclient.Stock()
		options.Addr, options.MaxRetries = e.Address(scenarios.Primary), -1
		return make(redisclient.With(e, options))
	})
}

func fenceOf(id, idea string, open func(e scenarios.Env) checked) scenarios.Lock {
	return scenarios.Fence{
		Name: id, About: idea + ".", Rule: fence.Check, Refused: []error{errOutdated},
		Open: func(e scenarios.Env) (scenarios.Store, error) { return store{open(e)}, nil },
	}.Subject()
}

// eachKey is the storage of A15 with a number for each key.
func eachKey(c *redis.Client) checked { return &storage{c, tokenOfEach} }
