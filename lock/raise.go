package lock

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strconv"

	"github.com/redis/go-redis/v9"
)

//go:embed raise_counter.lua
var raiseCounterSource string

var raiseCounterScript = redis.NewScript(raiseCounterSource)

// RaiseToken raises the counter at a key from which a lock mints its tokens, such as that of [Fenced.TokenKey], to least if
// it is below that, so that the next token is least + 1 or more. It never lowers it.
//
// It is for a node that has lost its counter, by a failover or without persistence: the lock mints small tokens again then,
// and a store behind a fence refuses rightful holders until the tokens have caught up with the highest that it has seen
// (F09, F40). Ask the store for that one, such as by [locksim/lock/fence/redisguard.Guard.Highest], before the lock is used
// again. It may be called at any time: it changes no lease, and a second call changes nothing.
//
// After an error that wraps [ErrOutcomeUnknown] the counter may be raised; call again.
func RaiseToken(ctx context.Context, client Redis, tokenKey string, least uint64) error {
	if least > math.MaxInt64 {
		return fmt.Errorf("raise the counter %s to %d: a counter of Redis ends at %d", tokenKey, least, math.MaxInt64)
	}
	err := raiseCounterScript.Run(ctx, client, []string{tokenKey}, strconv.FormatUint(least, 10)).Err()
	if err != nil {
		return fmt.Errorf("raise the counter %s to %d: %w", tokenKey, least, outcome(err))
	}
	return nil
}
