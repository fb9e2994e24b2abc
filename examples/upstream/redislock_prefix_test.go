package upstream

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bsm/redislock"
)

// TestShowsRedislockPrefix shows that a client whose token is the beginning of the token of another one takes the lock
// of that one: worker-1 obtains what worker-12 has.
func TestShowsRedislockPrefix(t *testing.T) {
	t.Parallel()
	const key = "order"
	ctx := context.Background()
	client := direct(t, startRedis(t))

	long, err := redislock.Obtain(ctx, client, key, time.Minute, &redislock.Options{Token: "worker-12"})
	if err != nil {
		t.Fatal(err)
	}
	// A token that is none of that kind is refused, as it should be.
	_, err = redislock.Obtain(ctx, client, key, time.Minute, &redislock.Options{Token: "worker-2"})
	if !errors.Is(err, redislock.ErrNotObtained) {
		t.Fatalf("worker-2 gets %v, want ErrNotObtained", err)
	}

	short, err := redislock.Obtain(ctx, client, key, time.Minute, &redislock.Options{Token: "worker-1"})
	if errors.Is(err, redislock.ErrNotObtained) {
		t.Fatal("mended? worker-1 is refused")
	}
	if err != nil {
		t.Fatal(err)
	}
	if ttl, err := short.TTL(ctx); err != nil || ttl <= 0 {
		t.Fatalf("worker-1 has %v, %v", ttl, err)
	}
	if err := long.Release(ctx); !errors.Is(err, redislock.ErrLockNotHeld) {
		t.Fatalf("worker-12, whose minute is not over, releases with %v, want ErrLockNotHeld", err)
	}
}
