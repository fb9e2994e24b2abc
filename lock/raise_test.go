package lock_test

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/fence/redisguard"
	"locksim/lock/locktest/redisserver"
)

// The counter is raised, and never lowered.
func TestRaiseToken(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	for _, c := range []struct {
		before string
		least  uint64
		after  string
	}{
		{"", 7, "7"}, {"9", 10, "10"}, {"10", 9, "10"}, {"9007199254740993", 9007199254740992, "9007199254740993"},
		{"9007199254740992", 9007199254740993, "9007199254740993"}, {"5", 5, "5"},
	} {
		server.FlushAll()
		if c.before != "" {
			_ = server.Set("counter", c.before)
		}
		if err := lock.RaiseToken(t.Context(), client, "counter", c.least); err != nil {
			t.Fatal(err)
		}
		if got, _ := server.Get("counter"); got != c.after {
			t.Errorf("%q raised to %d is %q, want %q", c.before, c.least, got, c.after)
		}
	}
	if err := lock.RaiseToken(t.Context(), client, "counter", 1<<63); err == nil || !strings.Contains(err.Error(), "ends at") {
		t.Errorf("beyond what a counter holds: %v", err)
	}
	server.SetError("LOADING")
	if err := lock.RaiseToken(t.Context(), client, "counter", 1); err == nil ||
		!strings.Contains(err.Error(), "raise the counter counter to 1: ") {
		t.Errorf("a server that refuses: %v", err)
	}
}

// A lock whose node has lost its counter gets its holders refused, until the counter is raised to the highest token that
// the store has seen: on miniredis, and on a real Redis.
func TestLostCounter(t *testing.T) {
	t.Run("miniredis", func(t *testing.T) { lostCounter(t, miniredis.RunT(t).Addr(), miniredis.RunT(t).Addr()) })
	t.Run("redis", func(t *testing.T) {
		lostCounter(t, redisserver.Start(t).Addr(), redisserver.Start(t).Addr())
	})
}

func lostCounter(t *testing.T, lockAddr, storeAddr string) {
	t.Helper()
	node := redis.NewClient(&redis.Options{Addr: lockAddr, MaxRetries: -1})
	store := redis.NewClient(&redis.Options{Addr: storeAddr, MaxRetries: -1})
	t.Cleanup(func() { _, _ = node.Close(), store.Close() })
	locks, err := lock.NewFenced(node, lock.Options{TTL: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := redisguard.New(store, fence.Seal)
	if err != nil {
		t.Fatal(err)
	}
	const resource, many = "order:42", 20
	refused := func() (n int) {
		for range many {
			lease, err := locks.Acquire(t.Context(), resource)
			if err != nil {
				t.Fatal(err)
			}
			if guard.Write(t.Context(), resource, "balance", "1", fence.Op{Token: lease.Token()}) != nil {
				n++
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	if n := refused(); n != 0 {
		t.Errorf("%d of %d holders were refused before the counter was lost", n, many)
	}
	if err := node.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if n := refused(); n != many-1 { // the last one has the token of the highest write
		t.Errorf("%d of %d holders were refused after the counter was lost, want all but the last", n, many)
	}
	if err := node.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	highest, err := guard.Highest(t.Context(), resource)
	if err != nil || highest != many {
		t.Fatalf("the highest token of the store is %d (%v), want %d", highest, err, many)
	}
	if err := lock.RaiseToken(t.Context(), node, locks.TokenKey(resource), highest); err != nil {
		t.Fatal(err)
	}
	if n := refused(); n != 0 {
		t.Errorf("%d of %d holders were refused after the counter was raised", n, many)
	}
}
