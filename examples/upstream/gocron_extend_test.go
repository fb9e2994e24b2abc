package upstream

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	gocronredis "github.com/go-co-op/gocron-redis-lock/v2"
	"github.com/go-co-op/gocron/v2"
	"github.com/redis/go-redis/v9"
)

const (
	gocronJob    = "order"
	gocronExpiry = 2 * time.Second
	gocronExtend = gocronExpiry / 8
)

// TestShowsGocronExtend shows that one renewal that fails is the last one. The network closes the connection of one
// renewal, with each of its retries, and is well again long before the lock ends. The locker does not renew again, the
// lock ends, and a second scheduler starts the job while the first one runs it. Nothing tells the first run.
func TestShowsGocronExtend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		retries int // 0 is the default of go-redis: 3.
		cuts    int32
	}{
		{name: "one request is lost", retries: -1, cuts: 1},
		{name: "a request and its three retries are lost", retries: 0, cuts: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			showGocronExtend(t, c.retries, c.cuts)
		})
	}
}

func showGocronExtend(t *testing.T, retries int, cuts int32) {
	t.Helper()
	addr := startRedis(t)
	see := direct(t, addr)

	// The first renewal succeeds. The connections end when the next ones are sent, as often as cuts says.
	var network *proxy
	var cutting atomic.Bool
	var cut atomic.Int32
	network = startProxy(t, addr, func(b []byte) *gate {
		if cutting.Load() && command(b, "evalsha") && cut.Load() < cuts { // The retries come one after the other.
			cut.Add(1)
			network.closeAll()
		}
		return nil
	}, nil)
	client := redis.NewClient(&redis.Options{Addr: network.addr, MaxRetries: retries})
	t.Cleanup(func() { _ = client.Close() })
	renewals := &renewals{}
	client.AddHook(renewals)

	runs := startGocron(t, client)
	var ofA context.Context
	select {
	case ofA = <-runs:
	case <-time.After(patience):
		t.Fatal("the first scheduler does not start the job")
	}
	waitFor(t, "a renewal has succeeded", func() bool { return renewals.succeeded.Load() > 0 })
	cutting.Store(true)
	waitFor(t, "a renewal has failed", func() bool { return renewals.failed.Load() > 0 })
	if n := cut.Load(); n != cuts {
		t.Fatalf("the network has lost %d requests, want %d", n, cuts)
	}
	if get(t, see, gocronJob) == "" {
		t.Fatal("this machine is too slow: the lock has ended before the renewal failed")
	}
	succeeded := renewals.succeeded.Load()

	select {
	case <-startGocron(t, see):
	case <-waitUntil(t, func() bool { return renewals.succeeded.Load() > succeeded }):
		t.Fatal("mended? The locker has renewed after a renewal that failed")
	case <-time.After(patience):
		t.Fatal("mended? The second scheduler does not start the job")
	}
	if n := renewals.failed.Load() + renewals.succeeded.Load() - succeeded; n != 1 {
		t.Fatalf("mended? The locker has tried %d renewals, the one that failed included", n)
	}
	if err := ofA.Err(); err != nil {
		t.Fatalf("mended? The first run is told: %v", err)
	}
	t.Log("both schedulers run the job, and the first run is not told")
}

// waitUntil is closed when cond is true. It asks every few milliseconds until the end of the test.
func waitUntil(t *testing.T, cond func() bool) <-chan struct{} {
	t.Helper()
	c := make(chan struct{})
	go func() {
		for !cond() {
			select {
			case <-t.Context().Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
		close(c)
	}()
	return c
}

// startGocron starts a scheduler that tries again and again to run the job, which lasts until the end of the test. It
// returns the context of the run.
func startGocron(t *testing.T, client redis.UniversalClient) <-chan context.Context {
	t.Helper()
	locker, err := gocronredis.NewRedisLockerWithOptions(client, gocronredis.WithAutoExtendDuration(gocronExtend),
		gocronredis.WithRedsyncOptions(gocronredis.WithExpiry(gocronExpiry), gocronredis.WithTries(1)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		t.Fatal(err)
	}
	runs, end := make(chan context.Context, 1), make(chan struct{})
	if _, err := s.NewJob(gocron.DurationJob(50*time.Millisecond), gocron.NewTask(func(ctx context.Context) {
		runs <- ctx
		<-end
	}), gocron.WithName(gocronJob), gocron.WithSingletonMode(gocron.LimitModeReschedule)); err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		close(end)
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return runs
}

// renewals counts the renewals of the only lock of a client, by their outcome after all retries of go-redis.
type renewals struct{ succeeded, failed atomic.Int32 }

func (*renewals) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (r *renewals) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		switch name := cmd.Name(); {
		case name != "evalsha" && name != "eval", err != nil && redis.HasErrorPrefix(err, "NOSCRIPT"):
		case err != nil:
			r.failed.Add(1)
		default:
			r.succeeded.Add(1)
		}
		return err
	}
}

func (*renewals) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestShowsGocronExtendUnlockTwice shows that Unlock panics when it is called again, even after it returned an error.
func TestShowsGocronExtendUnlockTwice(t *testing.T) {
	t.Parallel()
	client := direct(t, startRedis(t))
	locker, err := gocronredis.NewRedisLocker(client)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	lock, err := locker.Lock(ctx, gocronJob)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := lock.Unlock(ctx); err == nil {
		t.Fatal("Unlock has succeeded with a context that has ended")
	}
	panicked := func() (r any) {
		defer func() { r = recover() }()
		_ = lock.Unlock(context.Background())
		return nil
	}()
	if fmt.Sprint(panicked) != "close of closed channel" {
		t.Fatalf("mended? The second Unlock panics with %v", panicked)
	}
}
