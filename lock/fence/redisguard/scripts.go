package redisguard

import (
	_ "embed"

	"github.com/redis/go-redis/v9"

	"locksim/lock/fence"
)

var (
	//go:embed common.lua
	commonSource string
	//go:embed check.lua
	checkSource string
	//go:embed seal.lua
	sealSource string
	//go:embed strict.lua
	strictSource string
	//go:embed claim.lua
	claimSource string
	//go:embed cas.lua
	casSource string
)

// scripts are the rules, each with what all of them begin with.
var scripts = map[fence.Mode]*redis.Script{
	fence.Check:  redis.NewScript(commonSource + checkSource),
	fence.Seal:   redis.NewScript(commonSource + sealSource),
	fence.Strict: redis.NewScript(commonSource + strictSource),
	fence.Claim:  redis.NewScript(commonSource + claimSource),
	fence.CAS:    redis.NewScript(commonSource + casSource),
}
