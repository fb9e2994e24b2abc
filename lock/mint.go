package lock

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// mint says where the tokens for a claim come from: the key of a counter, or none.
type mint func(c claim) []string

func noTokens(claim) []string   { return nil }
func tokensOf(c claim) []string { return []string{counterKey(c.key)} }

// ask runs a script that grants the claim. It gets the counter as its last key, if there is one, and
// returns the token, 1 without a counter, or 0 for no grant.
func (m mint) ask(ctx context.Context, client Redis, script *redis.Script, c claim, keys []string, args ...any) (
	token uint64, granted bool, err error,
) {
	counter := m(c)
	token, err = script.Run(ctx, client, append(keys, counter...), args...).Uint64()
	if granted = token != 0; len(counter) == 0 {
		token = 0
	}
	return token, granted, err
}
