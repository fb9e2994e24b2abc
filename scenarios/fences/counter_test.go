package fences_test

import (
	"context"
	"errors"
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/fence/redisguard"
	"locksim/scenarios/fences"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// counterLost has a node that forgets its keys, with the counter of the tokens, while clients go on.
const counterLost = `
name: counter-lost
world: {redis: 2, clients: 3, latency: 1ms..5ms}
lock: {kind: fenced, ttl: 2s}
store: guard-elsewhere
workload: {rounds: 30, hold: 20ms, think: 50ms}
faults:
  - at: 1s
    flush: {node: r0, what: keys}
  - at: 2s
    flush: {node: r0, what: keys}
`

// raised is a lock that looks after each grant whether the store has seen a token that is as high, raises the counter
// to it, and asks again.
type raised struct {
	*lock.Fenced
	node  lock.Redis
	guard *redisguard.Guard
}

func (r raised) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	for {
		l, err := r.Fenced.Acquire(ctx, resource)
		if err != nil {
			return nil, err
		}
		highest, err := r.guard.Highest(ctx, resource+":balance")
		if err == nil && l.Token() > highest {
			return l, nil
		}
		if err == nil {
			err = lock.RaiseToken(ctx, r.node, r.TokenKey(resource), highest)
		}
		if err = errors.Join(err, l.Release(ctx)); err != nil {
			return nil, err
		}
	}
}

// refusals counts the operations of holders that were rightful, and those of them that were refused: nobody else had
// been granted the lock, and the lease had not ended.
func refusals(h checker.History) (rightful, refused int) {
	for _, o := range h.Ops {
		var mine checker.Grant
		later := false
		for _, g := range h.Grants {
			if g.ID == o.Grant {
				mine = g
			}
		}
		for _, g := range h.Grants {
			later = later || g.Resource == o.Resource && g.Granted > mine.Granted && g.Granted < o.Returned
		}
		if later || o.Returned == 0 || mine.Until > 0 && mine.Until < o.Returned || mine.Released > 0 &&
			mine.Released < o.Invoked {
			continue
		}
		if rightful++; o.Outcome == checker.OutcomeRefused {
			refused++
		}
	}
	return rightful, refused
}

// When Redis has lost the counter, a store refuses rightful holders until the tokens have caught up. A lock that raises
// the counter to the store's highest token has none refused.
func TestCounterLost(t *testing.T) {
	elsewhere := fences.Fence{Name: "guard-elsewhere", Rule: fence.Seal, Servers: subject.Redis(2),
		Open: func(e subject.Env) (fences.Store, error) {
			guard, err := redisguard.New(subject.RedisClient(e, "r1"), fence.Seal)
			return fences.Hash(guard), err
		}}
	plain, err := redislocks.Find("fenced", nil)
	if err != nil {
		t.Fatal(err)
	}
	plain.Promise.Exclusion = append(plain.Promise.Exclusion, lock.FaultFlush)
	mended := plain
	mended.New = func(e subject.Env) (lock.Locker, error) {
		node := subject.RedisClient(e, "r0")
		inner, err := lock.NewFenced(node, lock.Options{TTL: e.Spec().TTL, Clock: e.Clock()})
		if err != nil {
			return nil, err
		}
		guard, err := redisguard.New(subject.RedisClient(e, "r1"), fence.Seal)
		return raised{inner, node, guard}, err
	}
	count := func(l subject.Lock) (rightful, refused int) {
		subject, err := l.Fenced(elsewhere.Subject())
		if err != nil {
			t.Fatal(err)
		}
		sc, err := file.Parse("counter-lost.yaml", []byte(counterLost))
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(20) {
			o, err := play.Run(sc, subject, play.RunOptions{Seed: seed + 1})
			if err != nil {
				t.Fatal(err)
			}
			a, b := refusals(o.Modes[0].History)
			rightful, refused = rightful+a, refused+b
			if v := o.Modes[0].Verdict; v.Facts.Data != checker.DataRight {
				t.Errorf("seed %d: %s", seed+1, v.Reasons[0].Text)
			}
		}
		return rightful, refused
	}
	all, without := count(plain)
	allMended, with := count(mended)
	t.Logf("refused were %d of %d operations of rightful holders, and %d of %d with the counter raised", without, all,
		with,
		allMended)
	if without == 0 || all < 1000 || with != 0 || allMended < 1000 {
		t.Errorf("want some without the recipe, and none with it")
	}
}
