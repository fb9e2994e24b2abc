package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"locksim/internal/live/server"
	"locksim/lock"
)

// valueBytes is the size of the value of a SET: that of an owner id of package lock.
const valueBytes = 32

// baseline is the SETs of which everything else is a ratio: on a Redis of their own, with a client each, as the locks
// have.
type baseline struct {
	group   *server.Group
	clients []*redis.Client
	tap     tap
}

// newBaseline starts the Redis, and connects so many clients.
func newBaseline(ctx context.Context, clients int) (*baseline, error) {
	g, err := server.Start(ctx, server.Options{Kind: server.Redis})
	if err != nil {
		return nil, err
	}
	b := &baseline{group: g}
	for range clients {
		b.clients = append(b.clients, redis.NewClient(redisOptions(b.addr(), &b.tap)))
	}
	return b, nil
}

func (b *baseline) addr() string { return b.group.Servers()[0].Addr() }

// measure measures SETs by so many clients, each on its own key.
func (b *baseline) measure(ctx context.Context, clients int, t times) (cell, error) {
	var lockers []lock.Locker
	for _, c := range b.clients[:clients] {
		lockers = append(lockers, setter{c})
	}
	t.Window = t.Base
	c, err := load{clients, clients}.run(ctx, lockers, "base", t, &b.tap)
	if err != nil {
		return c, fmt.Errorf("SET: %w", err)
	}
	return c, nil
}

func (b *baseline) close() error {
	var errs []error
	for _, c := range b.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(append(errs, b.group.Stop())...)
}

// setter is a SET in the form of a lock that needs no release.
type setter struct{ client *redis.Client }

// Acquire implements [lock.Locker].
func (s setter) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return noLease{}, s.client.Set(ctx, key, strings.Repeat("x", valueBytes), 0).Err()
}

type noLease struct{ lock.Lease }

// Release implements [lock.Lease].
func (noLease) Release(context.Context) error { return nil }
