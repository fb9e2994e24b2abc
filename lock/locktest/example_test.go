package locktest_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/locktest"
	"locksim/lock/locktest/redisserver"
)

// TestFencedLock is what a test of your own lock looks like; put it in the place of lock.NewFenced.
func TestFencedLock(t *testing.T) {
	server := redisserver.Start(t)
	locktest.Run(t, locktest.Harness{
		TTL:      time.Second,
		Tokens:   true,
		Together: 8,
		World: locktest.World{New: func(t testing.TB, _ int) locktest.Client {
			wire := locktest.NewWire(nil)
			client := redis.NewClient(&redis.Options{
				Addr: server.Addr(), Dialer: wire.Dial, MaxRetries: -1, ContextTimeoutEnabled: true,
			})
			t.Cleanup(func() { _ = client.Close() })
			locks, err := lock.NewFenced(client, lock.Options{TTL: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			return locktest.Client{Locker: locks, Wire: wire}
		}},
	})
}
