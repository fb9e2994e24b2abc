package lock

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed release.lua
	releaseSource string
	//go:embed grant_fenced.lua
	grantFencedSource string

	releaseScript     = redis.NewScript(releaseSource)
	grantFencedScript = redis.NewScript(grantFencedSource)
)
