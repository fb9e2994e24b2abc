package fences

import (
	"context"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock/broken/fencebroken"
	"locksim/lock/fence"
	"locksim/lock/fence/redisguard"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// Own are the fences over Redis that come with locksim, as the command puts them on trial: those of package redisguard,
// and the specimens of package fencebroken. The caller owns the slice.
func Own() []subject.Lock {
	var all []subject.Lock
	for _, rule := range []fence.Mode{fence.Check, fence.Seal, fence.Strict} {
		all = append(all, Guard(rule).Subject())
	}
	for _, s := range fencebroken.Specimens() {
		all = append(all, Wrong(s).Subject())
	}
	return all
}

// Guard is the store of package redisguard under one of the rules check, seal and strict, redis-check and so on. Its
// client sends no request again.
func Guard(rule fence.Mode) Fence {
	return Fence{Name: "redis-" + string(rule), Rule: rule,
		About: "A hash in Redis behind redisguard, rule " + string(rule) + ": the check of the token and the write are one " +
			"script.",
		Open: func(e subject.Env) (Store, error) {
			guard, err := redisguard.New(subject.RedisClient(e, "r0"), rule)
			return Hash(guard), err
		}}
}

// Hash is the store of a guard of package redisguard, with a hash for each key.
func Hash(guard *redisguard.Guard) Store { return guarded{guard} }

type guarded struct{ guard *redisguard.Guard }

// Read implements [Store].
func (g guarded) Read(ctx context.Context, key string, op fence.Op) (string, error) {
	v, err := g.guard.Read(ctx, key, "value", op)
	return v.Text, err
}

// Write implements [Store].
func (g guarded) Write(ctx context.Context, key, value string, op fence.Op) error {
	return g.guard.Write(ctx, key, "value", value, op)
}

// Wrong is a specimen over the servers that it needs.
func Wrong(s fencebroken.Specimen) Fence {
	return Fence{Name: kinds.BrokenPrefix + s.Name, Rule: s.Rule, About: s.Mistake,
		Servers:  subject.Redis(max(s.Redis, 1)),
		Replicas: s.Replicas, Faults: s.Faults,
		Open: func(e subject.Env) (Store, error) {
			var other goredis.Cmdable
			switch {
			case s.Redis == 2:
				other = subject.RedisClient(e, "r1")
			case s.Replicas > 0:
				other = subject.RedisClient(e, "r0a")
			}
			first := subject.RedisClient(e, "r0")
			if s.Resends {
				opt := redisclient.Stock()
				opt.Addr = e.Address("r0")
				first = redisclient.With(e, opt)
			}
			return s.New(first, other), nil
		}}
}
