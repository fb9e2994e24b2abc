package fences_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock/broken/fencebroken"
	"locksim/lock/fence"
	"locksim/lock/fence/redisguard"
	"locksim/scenarios"
	"locksim/scenarios/fences"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
	"locksim/sim/redis"
)

// guarded is a store behind one of our guards.
type guarded struct{ guard *redisguard.Guard }

func (g guarded) Read(ctx context.Context, key string, op fence.Op) (string, error) {
	v, err := g.guard.Read(ctx, key, "value", op)
	return v.Text, err
}

func (g guarded) Write(ctx context.Context, key, value string, op fence.Op) error {
	return g.guard.Write(ctx, key, "value", value, op)
}

// right is a fence of package redisguard.
func right(rule fence.Mode) fences.Fence {
	return fences.Fence{Name: "guard-" + string(rule), Rule: rule, Open: func(e play.Env) (fences.Store, error) {
		guard, err := redisguard.New(play.RedisClient(e, "r0"), rule) // which sends no request again
		return guarded{guard}, err
	}}
}

// wrong is a specimen over the servers that it needs.
func wrong(s fencebroken.Specimen) fences.Fence {
	f := fences.Fence{Name: s.Name, Rule: s.Rule, About: s.Mistake, Servers: play.Redis(max(s.Redis, 1)),
		Replicas: s.Replicas}
	f.Open = func(e play.Env) (fences.Store, error) {
		var other goredis.Cmdable
		switch {
		case s.Redis == 2:
			other = play.RedisClient(e, "r1")
		case s.Replicas > 0:
			other = play.RedisClient(e, "r0a")
		}
		first := play.RedisClient(e, "r0")
		if s.Resends {
			opt := redis.Stock()
			opt.Addr = e.Address("r0")
			first = redis.ClientWith(e, opt)
		}
		return s.New(first, other), nil
	}
	return f
}

// runs is the number of runs of a right fence: that of FENCE_RUNS, or the usual one.
func runs(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("FENCE_RUNS")); err == nil {
		return n
	}
	return usual
}

// The guards of package redisguard give no wrong answer.
func TestRightFencesPass(t *testing.T) {
	for _, rule := range []fence.Mode{fence.Check, fence.Seal, fence.Strict} {
		t.Run(string(rule), func(t *testing.T) {
			scenarios.CheckFence(t, right(rule), scenarios.Options{Seed: 1, Runs: runs(100), Dir: t.TempDir()})
		})
	}
}

// Each wrong fence is found within 300 runs from each of three first seeds.
func TestWrongFencesAreFound(t *testing.T) {
	for _, s := range fencebroken.Specimens() {
		t.Run(s.Name, func(t *testing.T) {
			l := wrong(s).Subject()
			space, err := search.Discover(l, search.SpaceOf(l))
			if err != nil {
				t.Fatal(err)
			}
			missed := 0
			for _, first := range []uint64{1, 1001, 2001} {
				n, found := 0, ""
				for trial := range search.Trials(l, search.Drawn(l, space, outcome.Seeds{First: first, Last: first + 299})) {
					n++
					if trial.Err != nil {
						t.Fatal(trial.Err)
					}
					if len(trial.Violations) > 0 {
						found = fmt.Sprint(trial.Violations, trial.Outcome.Modes[0].Verdict.Reasons[0].Text)
						break
					}
				}
				t.Logf("from seed %d: run %d: %s", first, n, found)
				if found == "" {
					missed++
				}
			}
			if missed > 0 && !s.Resends || missed == 3 { // a copy that comes late is rare
				t.Errorf("not found from %d of three first seeds", missed)
			}
		})
	}
}
