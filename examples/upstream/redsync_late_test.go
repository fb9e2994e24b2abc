package upstream

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
)

// TestShowsRedsyncLate shows that the clean-up of a try of Mutex.Lock that failed can delete the key of a later try of
// the same Lock, since all tries have one value. The network holds the first try and its clean-up for longer than
// redsync waits for them, the second try succeeds, and then the clean-up arrives: another client gets the lock while
// the first one has it.
func TestShowsRedsyncLate(t *testing.T) {
	t.Parallel()
	const name, expiry = "order", 8 * time.Second // The default of redsync.
	addr := startRedis(t)
	see := direct(t, addr)

	// Redis knows the script of a release from earlier locks.
	earlier := redsync.New(goredis.NewPool(see)).NewMutex("another")
	if err := earlier.Lock(); err != nil {
		t.Fatal(err)
	}
	if _, err := earlier.Unlock(); err != nil {
		t.Fatal(err)
	}

	// The first SET and the first release are late; all else passes at once.
	lateSet, lateRelease := newGate(), newGate()
	var sets, releases atomic.Int32
	network := startProxy(t, addr, func(b []byte) *gate {
		switch {
		case command(b, "set") && sets.Add(1) == 1:
			return lateSet
		case command(b, "evalsha") && releases.Add(1) == 1:
			return lateRelease
		}
		return nil
	}, nil)

	a := redsync.New(goredis.NewPool(impatient(t, network.addr))).NewMutex(name, redsync.WithExpiry(expiry))
	if err := a.Lock(); err != nil {
		t.Fatal(err)
	}
	if s, r := sets.Load(), releases.Load(); s != 2 || r != 1 {
		t.Fatalf("%d SET and %d releases, want 2 and 1", s, r)
	}
	if get(t, see, name) != a.Value() {
		t.Fatal("the first client has the lock, but not the key")
	}

	before := calls(t, see, "set")
	lateSet.open()
	waitFor(t, "Redis has executed the late SET", func() bool { return calls(t, see, "set") > before })
	if get(t, see, name) != a.Value() {
		t.Fatal("the late SET, which has NX, has changed the key")
	}
	before = calls(t, see, "evalsha")
	lateRelease.open()
	waitFor(t, "Redis has executed the late release", func() bool { return calls(t, see, "evalsha") > before })
	if get(t, see, name) != "" {
		t.Fatal("mended? The late release has left the key of the second try alone")
	}

	b := redsync.New(goredis.NewPool(see)).NewMutex(name, redsync.WithExpiry(expiry))
	if err := b.TryLockContext(context.Background()); err != nil {
		t.Fatalf("mended? The second client does not get the lock: %v", err)
	}
	if !time.Now().Before(a.Until()) {
		t.Fatal("this machine is too slow: the lock of the first client has ended meanwhile")
	}
	t.Logf("two clients have the lock, the first one for another %v", time.Until(a.Until()).Round(time.Millisecond))
}
