package upstream

import (
	"sync/atomic"
	"testing"

	gozero "github.com/zeromicro/go-zero/core/stores/redis"
)

// TestShowsGoZeroLate shows that a release which arrives late deletes the key that the same RedisLock has acquired
// again since: all keys of one object have the same value. All calls of the first client succeed, since go-redis sends
// a release that is late once more; then another client gets the lock while the first one has it.
func TestShowsGoZeroLate(t *testing.T) {
	t.Parallel()
	const key, seconds = "order", 60
	addr := startRedis(t)
	see := direct(t, addr)
	acquire := func(l *gozero.RedisLock) {
		t.Helper()
		l.SetExpire(seconds)
		if ok, err := l.Acquire(); !ok || err != nil {
			t.Fatalf("Acquire: %v, %v", ok, err)
		}
	}
	release := func(l *gozero.RedisLock) {
		t.Helper()
		if ok, err := l.Release(); !ok || err != nil {
			t.Fatalf("Release: %v, %v", ok, err)
		}
	}

	// Redis knows both scripts from earlier locks.
	another := gozero.NewRedisLock(gozero.New(addr), "another")
	acquire(another)
	release(another)

	// The first release is late. It is the second script of this client: the first one acquires.
	late := newGate()
	var scripts atomic.Int32
	network := startProxy(t, addr, func(b []byte) *gate {
		if command(b, "evalsha") && scripts.Add(1) == 2 {
			return late
		}
		return nil
	}, nil)
	first := gozero.NewRedisLock(gozero.New(network.addr), key)
	acquire(first)
	// It is sent twice: the first one is given up after the read timeout of go-redis, the second one is answered.
	release(first)
	acquire(first)
	if n := scripts.Load(); n != 4 {
		t.Fatalf("%d scripts, want 4: acquire, release, release again, acquire", n)
	}

	before := calls(t, see, "evalsha")
	late.open()
	waitFor(t, "Redis has executed the late release", func() bool { return calls(t, see, "evalsha") > before })
	if get(t, see, key) != "" {
		t.Fatal("mended? The late release has left the second lock alone")
	}
	acquire(gozero.NewRedisLock(gozero.New(addr), key))
	if ok, err := first.Release(); ok || err != nil {
		t.Fatalf("the first client, whose minute is not over, releases with %v, %v, want false", ok, err)
	}
}
