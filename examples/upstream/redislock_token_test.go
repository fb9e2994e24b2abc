package upstream

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bsm/redislock"
)

// TestShowsRedislockToken shows that a release which arrives late deletes the lock that the same client has obtained
// again since, if it has a token of its own (Options.Token): both locks have the same value. Another client then gets
// the lock while the first one has it.
func TestShowsRedislockToken(t *testing.T) {
	t.Parallel()
	const key, ttl = "order", time.Minute
	ctx := context.Background()
	addr := startRedis(t)
	see := direct(t, addr)

	// Redis knows the script of a release from an earlier lock.
	earlier, err := redislock.Obtain(ctx, see, "another", ttl, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := earlier.Release(ctx); err != nil {
		t.Fatal(err)
	}

	// The first release is late. It is the second script of this client: the first one obtains.
	late := newGate()
	var scripts atomic.Int32
	network := startProxy(t, addr, func(b []byte) *gate {
		if command(b, "evalsha") && scripts.Add(1) == 2 {
			return late
		}
		return nil
	}, nil)
	client := redislock.New(impatient(t, network.addr))
	options := &redislock.Options{Token: "worker-7"}

	first, err := client.Obtain(ctx, key, ttl, options)
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := first.Release(soon); err == nil {
		t.Fatal("the release that is late has an answer")
	}
	second, err := client.Obtain(ctx, key, ttl, options)
	if err != nil {
		t.Fatal(err)
	}

	before := calls(t, see, "evalsha")
	late.open()
	waitFor(t, "Redis has executed the late release", func() bool { return calls(t, see, "evalsha") > before })
	other, err := redislock.Obtain(ctx, see, key, ttl, &redislock.Options{Token: "worker-8"})
	if errors.Is(err, redislock.ErrNotObtained) {
		t.Fatal("mended? The late release has left the second lock alone")
	}
	if err != nil {
		t.Fatal(err)
	}
	if left, err := second.TTL(ctx); err != nil || left != 0 {
		t.Fatalf("the first client has %v, %v", left, err)
	}
	if left, err := other.TTL(ctx); err != nil || left <= 0 {
		t.Fatalf("the second client has %v, %v", left, err)
	}
}
