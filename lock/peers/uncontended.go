package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"

	"locksim/lock"
)

const ttl = 10 * time.Second

// Every contender has its own resource.

// oneNode is acquire and release on one node, without contention.
func (r *rig) oneNode(o options) (contest, error) {
	single, err := lock.NewSingle(r.clients[0], lock.Options{TTL: ttl})
	if err != nil {
		return contest{}, err
	}
	fenced, err := lock.NewFenced(r.clients[0], lock.Options{TTL: ttl})
	if err != nil {
		return contest{}, err
	}
	return contest{
		title:  "One node: acquire and release",
		about:  "Nobody else wants the lock. Both answers of the server are waited for.",
		rounds: o.Rounds,
		teams: []contender{
			{name: "`lock.Single`", turn: repeat(o.Sections, section(single, "single"))},
			{name: "`lock.Fenced`", turn: repeat(o.Sections, section(fenced, "fenced"))},
			{name: "`bsm/redislock`", peer: "github.com/bsm/redislock", turn: repeat(o.Sections, r.redislockSection())},
			{name: "`go-redsync/redsync`, one node", peer: "github.com/go-redsync/redsync/v4",
				turn: repeat(o.Sections, redsyncSection(r.redsync(r.clients[0]), "redsync:one"))},
		},
	}, nil
}

// fiveNodes is the same for Redlock.
func (r *rig) fiveNodes(o options) (contest, error) {
	redlock, err := lock.NewRedlock(r.all(), lock.RedlockOptions{Options: lock.Options{TTL: ttl}, NodeTimeout: ttl / 20})
	if err != nil {
		return contest{}, err
	}
	return contest{
		title: "Redlock over five nodes: acquire and release",
		about: "Five servers on the one machine. Both wait for all five answers, and for each at most a twentieth of the " +
			"TTL, which is\n" +
			"what redsync does by default.",
		rounds: o.Rounds,
		teams: []contender{
			{name: "`lock.Redlock`", turn: repeat(o.Sections, section(redlock, "redlock"))},
			{name: "`go-redsync/redsync`, five nodes", peer: "github.com/go-redsync/redsync/v4",
				turn: repeat(o.Sections, redsyncSection(r.redsync(r.clients...), "redsync:five"))},
		},
	}, nil
}

// section is one acquire with its release.
func section(l lock.Locker, resource string) func(context.Context) error {
	return func(ctx context.Context) error {
		lease, err := l.Acquire(ctx, resource)
		if err != nil {
			return err
		}
		return lease.Release(ctx)
	}
}

func (r *rig) redislockSection() func(context.Context) error {
	locks := redislock.New(r.clients[0])
	return func(ctx context.Context) error {
		held, err := locks.Obtain(ctx, "redislock", ttl, nil)
		if err != nil {
			return err
		}
		return held.Release(ctx)
	}
}

func redsyncSection(locks *redsync.Redsync, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		mutex := locks.NewMutex(name, redsync.WithExpiry(ttl))
		if err := mutex.LockContext(ctx); err != nil {
			return err
		}
		_, err := mutex.UnlockContext(ctx)
		return err
	}
}
