package lock

import (
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

// owned is the answer of a script that acts on a key only if it is the owner's, and returns 1 then. No
// answer is [ErrOutcomeUnknown], unless it is known that nothing was done.
func owned(reply *redis.Cmd) (bool, error) {
	n, err := reply.Int64()
	if err != nil {
		return false, outcome(err)
	}
	return n == 1, nil
}
