package lock

import (
	"context"
	_ "embed"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed release.lua
	releaseSource string
	//go:embed extend.lua
	extendSource string
	//go:embed grant_fenced.lua
	grantFencedSource string
	//go:embed grant_quorum_fenced.lua
	grantQuorumFencedSource string
	//go:embed raise_token.lua
	raiseTokenSource string

	releaseScript           = redis.NewScript(releaseSource)
	extendScript            = redis.NewScript(extendSource)
	grantFencedScript       = redis.NewScript(grantFencedSource)
	grantQuorumFencedScript = redis.NewScript(grantQuorumFencedSource)
	raiseTokenScript        = redis.NewScript(raiseTokenSource)
)

var (
	//go:embed grant_reentrant.lua
	grantReentrantSource string
	//go:embed release_reentrant.lua
	releaseReentrantSource string
	//go:embed extend_reentrant.lua
	extendReentrantSource string
	//go:embed grant_fair.lua
	grantFairSource string
	//go:embed release_fair.lua
	releaseFairSource string

	grantReentrantScript   = redis.NewScript(grantReentrantSource)
	releaseReentrantScript = redis.NewScript(releaseReentrantSource)
	extendReentrantScript  = redis.NewScript(extendReentrantSource)
	grantFairScript        = redis.NewScript(grantFairSource)
	releaseFairScript      = redis.NewScript(releaseFairSource)
)

// owned is the result of a script that acts on a key only if it is the owner's, and returns 1 then. A missing answer is
// [ErrOutcomeUnknown], unless it is known that nothing was done.
func owned(reply *redis.Cmd) (bool, error) {
	n, err := reply.Int64()
	if err != nil {
		return false, outcome(err)
	}
	return n == 1, nil
}

// mint returns the key of the counter for a claim's tokens, or none.
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
