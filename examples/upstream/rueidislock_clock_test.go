package upstream

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
	"github.com/valkey-io/valkey-go"
	"github.com/valkey-io/valkey-go/valkeylock"
)

// locker is what rueidislock and valkeylock have in common.
type locker interface {
	TryWithContext(ctx context.Context, name string) (context.Context, context.CancelFunc, error)
	Close()
}

// openLocker makes the locker of a client. Without client-side caching the server does not tell it of changed keys.
type openLocker func(addr string, cached bool) (locker, error)

// rueidisLocker has the options of the README for one server.
func rueidisLocker(o rueidislock.LockerOption) openLocker {
	return func(addr string, cached bool) (locker, error) {
		o.ClientOption = rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: !cached}
		o.KeyMajority, o.NoLoopTracking, o.TryNextAfter = 1, cached, patience
		return rueidislock.NewLocker(o)
	}
}

func valkeyLocker(addr string, cached bool) (locker, error) {
	return valkeylock.NewLocker(valkeylock.LockerOption{
		ClientOption: valkey.ClientOption{InitAddress: []string{addr}, DisableCache: !cached},
		KeyMajority:  1, NoLoopTracking: cached, TryNextAfter: patience,
	})
}

// TestShowsRueidislockClock shows that a lock of rueidislock whose client's wall clock is behind that of the server by
// more than KeyValidity excludes no other client: the end of its key is sent as an instant of the client's clock, which
// is past for the server. The clock of the server is ahead here, which is the same. The acquisition succeeds, there is
// no key, and a second client acquires the lock at once. With client-side caching the first one is told of that;
// without it both have the lock until the first one renews it.
func TestShowsRueidislockClock(t *testing.T) {
	t.Parallel()
	testClock(t, "rueidislock:0:order", rueidisLocker(rueidislock.LockerOption{}))
}

// TestShowsValkeylockClock shows the same of valkeylock, whose code is the same.
func TestShowsValkeylockClock(t *testing.T) {
	t.Parallel()
	testClock(t, "valkeylock:0:order", valkeyLocker)
}

func testClock(t *testing.T, key string, open openLocker) {
	const validity, ahead = 5 * time.Second, 10 * time.Second // The default of the library, and a wrong clock.
	ctx := context.Background()

	// Where the clocks agree, the second client is refused.
	right := startRedis(t)
	first, second := clients(t, open, right, true)
	_, release := try(t, first)
	if _, _, err := second.TryWithContext(ctx, "order"); err == nil {
		t.Fatal("two clients have the lock where the clocks agree")
	}
	if left, err := direct(t, right).PTTL(ctx, key).Result(); err != nil || left <= 0 || left > validity {
		t.Fatalf("the key lives for %v, %v", left, err)
	}
	release()

	wrong := startRedis(t, aheadBy(t, ahead)...)
	see := direct(t, wrong)
	if says, err := see.Time(ctx).Result(); err != nil || time.Until(says) < ahead/2 {
		t.Fatalf("the clock of the server is at %v, %v", says, err)
	}
	for _, cached := range []bool{true, false} {
		first, second = clients(t, open, wrong, cached)
		held, release := try(t, first)
		if get(t, see, key) != "" {
			t.Fatal("mended? There is a key on the server")
		}
		_, releaseSecond := try(t, second)
		if cached {
			wait(t, "the first client is told of the second one", held.Done())
		} else if held.Err() != nil {
			t.Fatal("mended? The context of the first client has ended")
		}
		releaseSecond()
		release()
	}
}

// TestShowsRueidislockClockFallback shows that with FallbackSETPX the key is made for the right time, and that the
// first renewal deletes it: PEXPIREAT with a past instant deletes a key, and has the answer 1, which the library takes
// for success. So the context of the holder lives until the next renewal, while a second client has the lock.
func TestShowsRueidislockClockFallback(t *testing.T) {
	t.Parallel()
	const key = "rueidislock:0:order"
	addr := startRedis(t, aheadBy(t, 10*time.Second)...)
	see := direct(t, addr)
	open := rueidisLocker(rueidislock.LockerOption{FallbackSETPX: true, ExtendInterval: time.Second})
	first, second := clients(t, open, addr, false)
	held, release := try(t, first)
	defer release()
	if get(t, see, key) == "" {
		t.Fatal("there is no key on the server")
	}
	renewed := calls(t, see, "pexpireat")
	waitFor(t, "the first client has renewed the lock", func() bool { return calls(t, see, "pexpireat") > renewed })
	if get(t, see, key) != "" {
		t.Fatal("mended? The renewal has left the key")
	}
	_, releaseSecond := try(t, second)
	defer releaseSecond()
	if held.Err() != nil {
		t.Fatal("mended? The context of the first client has ended")
	}
}

// clients are two clients of a server. They are closed at the end of the test.
func clients(t *testing.T, open openLocker, addr string, cached bool) (first, second locker) {
	t.Helper()
	for _, l := range []*locker{&first, &second} {
		var err error
		if *l, err = open(addr, cached); err != nil {
			t.Fatal(err)
		}
		t.Cleanup((*l).Close)
	}
	return first, second
}

// try acquires the lock of a client, which must succeed.
func try(t *testing.T, l locker) (held context.Context, release context.CancelFunc) {
	t.Helper()
	held, release, err := l.TryWithContext(context.Background(), "order")
	if err != nil {
		t.Fatalf("mended? The client does not get the lock: %v", err)
	}
	return held, release
}

// aheadBy is the environment of a server whose wall clock is ahead.
func aheadBy(t *testing.T, d time.Duration) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		missing(t, "libraries are preloaded on Linux only")
	}
	library := filepath.Join(t.TempDir(), "clock.so")
	cc := exec.Command(program(t, "cc", "install a C compiler"), "-shared", "-fPIC", "-O1", "-o", library, "shim/clock.c")
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("compile shim/clock.c: %v\n%s", err, out)
	}
	return []string{"LD_PRELOAD=" + library, fmt.Sprintf("AHEAD_SECONDS=%d", int(d.Seconds()))}
}
