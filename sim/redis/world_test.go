package redis_test

import (
	"locksim/internal/testworld"
	"locksim/sim"
	simredis "locksim/sim/redis"
)

var (
	run, served, onProcessors, seeds, must = testworld.Run, testworld.Served, testworld.RunOn, testworld.Seeds,
		testworld.Must
	redisOf, mark, count               = testworld.Redis, testworld.Mark, testworld.Count
	dial, mustWrite, readErr, writeErr = testworld.Dial, testworld.MustWrite, testworld.ReadError, testworld.WriteError
)

// with is a world of these servers.
func with(s simredis.Servers) sim.Config { return sim.Config{Servers: []sim.Kind{s}} }
