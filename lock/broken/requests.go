package broken

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// This file has the right requests of the specimens.

var (
	deleteOwnScript = redis.NewScript(`-- broken: delete the key if it is the owner's
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`)

	extendOwnScript = redis.NewScript(`-- broken: let the key live longer if it is the owner's
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`)
)

// setNX takes the key if it is free, with its TTL, in one command.
func setNX(ctx context.Context, node redis.Cmdable, c claim, ttl time.Duration) (bool, error) {
	return node.SetNX(ctx, c.key, c.owner, ttl).Result()
}

// grantBySetNX is setNX as the grant of a protocol that mints no tokens.
func grantBySetNX(node redis.Cmdable, ttl time.Duration) grant {
	return func(ctx context.Context, c claim) (uint64, bool, error) {
		granted, err := setNX(ctx, node, c, ttl)
		return 0, granted, err
	}
}

// deleteOwn deletes the key if it is the claim's, compare and delete in one step.
func deleteOwn(ctx context.Context, node redis.Cmdable, c claim) error {
	n, err := deleteOwnScript.Run(ctx, node, []string{c.key}, c.owner).Int64()
	return owned(n, err)
}

func releaseOwn(node redis.Cmdable) release {
	return func(ctx context.Context, c claim) error { return deleteOwn(ctx, node, c) }
}

// extendOwn makes the key last for ttl from now on if it is the claim's.
func extendOwn(ctx context.Context, node redis.Cmdable, c claim, ttl time.Duration) (held bool, err error) {
	n, err := extendOwnScript.Run(ctx, node, []string{c.key}, c.owner, ttl.Milliseconds()).Int64()
	return n == 1, err
}

// owned is the error of a release that deleted n keys of its owner.
func owned(n int64, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
	case n == 0:
		return fmt.Errorf("%w: its key was gone or another's", lock.ErrNotHeld)
	}
	return nil
}

func counterKey(c claim) string { return c.key + ":token" }

var grantAndMintScript = redis.NewScript(`-- broken: take the key and mint its token
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
return redis.call('INCR', KEYS[2])`)

// grantAndMint takes the key and mints its token in one step.
func grantAndMint(ctx context.Context, node redis.Cmdable, c claim, ttl time.Duration) (
	token uint64, granted bool, err error,
) {
	keys := []string{c.key, counterKey(c)}
	token, err = grantAndMintScript.Run(ctx, node, keys, c.owner, ttl.Milliseconds()).Uint64()
	return token, token != 0, err
}
