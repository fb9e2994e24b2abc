package play_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// altered is a lock with another Acquire.
type altered struct {
	lock.Locker
	acquire func(ctx context.Context, resource string) (lock.Lease, error)
}

func (o altered) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return o.acquire(ctx, resource)
}

// keeping is a lease whose release does nothing.
type keeping struct{ lock.Lease }

func (keeping) Release(context.Context) error { return nil }

var errNotNow = errors.New("not now")

// The probe distinguishes a lock that no client can get from one that needs several
// attempts, and from one that leaves its key behind.
func TestProbe(t *testing.T) {
	sc := testruns.Parse(t, "name: quiet\nworkload: {stagger: 5s}\n")
	sound := testruns.Kind(t, "single")
	// after refuses the probe for some time. A release that keeps leaves the key.
	after := func(wait time.Duration, keep bool) func(subject.Env, lock.Locker) altered {
		return func(e subject.Env, l lock.Locker) altered {
			var first time.Time
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				now := e.Clock().Now()
				if first.IsZero() {
					first = now
				}
				if e.Name() == "probe" && now.Sub(first) < wait {
					return nil, errNotNow
				}
				lease, err := l.Acquire(ctx, resource)
				if keep {
					lease = keeping{lease}
				}
				return lease, err
			}}
		}
	}
	for _, c := range []struct {
		name  string
		bend  func(e subject.Env, inner lock.Locker) altered
		want  checker.Liveness
		pause time.Duration // that the lock says
	}{
		{"sound", func(_ subject.Env, l lock.Locker) altered { return altered{l, l.Acquire} }, checker.LivenessOK, 0},
		{"asked again", func(e subject.Env, l lock.Locker) altered {
			tries := 0
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				if tries++; e.Name() == "probe" && tries < 5 {
					return nil, errNotNow
				}
				return l.Acquire(ctx, resource)
			}}
		}, checker.LivenessOK, 0},
		{"never granted", func(e subject.Env, l lock.Locker) altered {
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				if e.Name() == "probe" {
					return nil, errNotNow
				}
				return l.Acquire(ctx, resource)
			}}
		}, checker.LivenessStuck, 0},
		{"granted within the bound, a retry", after(1500*time.Millisecond, false), checker.LivenessOK, 0},
		{"granted later", after(3*time.Second, false), checker.LivenessStuck, 0},
		{"granted within the pause that it says", after(3*time.Second, false), checker.LivenessOK, 4 * time.Second},
		{"granted later than that pause", after(6*time.Second, false), checker.LivenessStuck, 4 * time.Second},
		{"granted within the bound, the TTL of a key and a retry", after(9*time.Second, true), checker.LivenessLeaked, 0},
		{"granted later than that", after(15*time.Second, true), checker.LivenessStuck, 0},
		{"left behind", func(_ subject.Env, l lock.Locker) altered {
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				lease, err := l.Acquire(ctx, resource)
				return keeping{lease}, err
			}}
		}, checker.LivenessLeaked, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := sound
			l.Pause = c.pause
			l.New = func(e subject.Env) (lock.Locker, error) {
				inner, err := sound.New(e)
				return c.bend(e, inner), err
			}
			v := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0].Verdict
			if v.Facts.Liveness != c.want {
				t.Errorf("liveness %s, want %s: %v", v.Facts.Liveness, c.want, v.Reasons)
			}
		})
	}
}

// leaves wraps a lock: an Acquire of some clients first sets a key with a TTL; 0 means
// none.
func leaves(by func(e subject.Env) bool, key string, ttl time.Duration) func(subject.Env, lock.Locker) lock.Locker {
	return func(e subject.Env, l lock.Locker) lock.Locker {
		return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
			if by(e) {
				if err := redisclient.New(e, "r0").Set(ctx, key, 1, ttl).Err(); err != nil {
					return nil, err
				}
			}
			return l.Acquire(ctx, resource)
		}}
	}
}

// A lock that is taken in the end while no server has a key is kept outside the
// servers, and gets no verdict. It gets one if something else may keep the probe out:
// a lock that one client alone can have, an error of another kind, a key.
func TestKeptOutside(t *testing.T) {
	crash := testruns.Parse(t, "name: crash\nworkload: {stagger: 5s}\nfaults: [{when: {client: c1, event: granted}, "+
		"crash: {process: c1}}]\n")
	down := testruns.Parse(t, "name: down\nworkload: {stagger: 5s}\nfaults: [{when: {client: c1, event: granted}, "+
		"crash: {process: c1}}, {at: 0s, crash: {process: r0}}]\n")
	quiet := testruns.Parse(t, "name: quiet\nworkload: {stagger: 5s}\n")
	for _, c := range []struct {
		name string
		sc   *file.Scenario
		wrap func(e subject.Env, l lock.Locker) lock.Locker
		want bool
	}{
		{"its holder crashed", crash, func(_ subject.Env, l lock.Locker) lock.Locker { return l }, true},
		{"taken", crash, func(_ subject.Env, l lock.Locker) lock.Locker {
			return altered{l, l.(lock.Trier).TryAcquire}
		}, true},
		{"another error", crash, func(_ subject.Env, l lock.Locker) lock.Locker {
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				lease, err := l.(lock.Trier).TryAcquire(ctx, resource)
				if err != nil {
					err = fmt.Errorf("%w: %w", err, errNotNow)
				}
				return lease, err
			}}
		}, false},
		{"released", quiet, func(_ subject.Env, l lock.Locker) lock.Locker { return l }, false},
		{"one client alone", quiet, func(e subject.Env, l lock.Locker) lock.Locker {
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				if e.Name() == "c0" {
					return l.Acquire(ctx, resource)
				}
				<-ctx.Done()
				return nil, ctx.Err()
			}}
		}, false},
		{"two errors that say only that it is taken", crash, func(_ subject.Env, l lock.Locker) lock.Locker {
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				lease, err := l.(lock.Trier).TryAcquire(ctx, resource)
				if err != nil {
					err = fmt.Errorf("%w: %w", err, context.DeadlineExceeded)
				}
				return lease, err
			}}
		}, true},
		{"released by two clients", quiet, func(e subject.Env, l lock.Locker) lock.Locker {
			return altered{l, func(ctx context.Context, resource string) (lock.Lease, error) {
				if e.Name() == "probe" {
					return nil, lock.ErrTaken
				}
				return l.Acquire(ctx, resource)
			}}
		}, true},
		{"a key", crash, leaves(func(subject.Env) bool { return true }, "anything", 0), false},
		{"a key that expires", crash, leaves(func(e subject.Env) bool { return e.Name() != "probe" }, "other", 2*time.Second),
			false},
		{"a key of the probe", crash, leaves(func(e subject.Env) bool { return e.Name() == "probe" }, "other", 0), false},
		{"a key that comes and goes", crash, leaves(func(e subject.Env) bool { return e.Name() == "probe" }, "anything",
			time.Millisecond), false},
		{"a server is down", down, func(_ subject.Env, l lock.Locker) lock.Locker { return l }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := testlocks.InVariable("variable", c.wrap)
			l.Keys = func(string) []string { return []string{"anything"} }
			_, err := play.Run(c.sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
			if errors.Is(err, play.ErrKeptOutside) != c.want || err != nil && !c.want {
				t.Errorf("kept outside: want %v, got the error %v", c.want, err)
			}
		})
	}
}

// A key that its client has left may be there in the end if a release of that client failed. What became of the
// releases of other clients is no excuse.
func TestLeftBehindByAFailedRelease(t *testing.T) {
	for _, c := range []struct {
		keeps, fails string // the clients whose releases do so
		want         checker.Liveness
	}{
		{"c1", "", checker.LivenessLeaked}, {"c1", "c1", checker.LivenessOK}, {"c1", "c0", checker.LivenessLeaked},
		{"", "c0", checker.LivenessOK},
	} {
		l := testruns.Kind(t, "single")
		inner := l.New
		l.New = func(e subject.Env) (lock.Locker, error) {
			locker, err := inner(e)
			return altered{locker, func(ctx context.Context, resource string) (lock.Lease, error) {
				lease, err := locker.Acquire(ctx, resource)
				return unfaithfulLease{Lease: lease, release: func(ctx context.Context) error {
					var err error
					if e.Name() != c.keeps {
						err = lease.Release(ctx)
					}
					if e.Name() == c.fails {
						err = errNotNow
					}
					return err
				}}, err
			}}, err
		}
		h := historyOf(t, l, "name: left\nworkload: {rounds: 1, hold: 100ms, stagger: 2s}\n")
		if l, why := h.Liveness(); l != c.want {
			t.Errorf("%+v: %s: %s", c, l, why)
		}
	}
}

// Of keys that were learnt, those on a minority of the servers keep no client out: they may be left there until they
// end.
func TestLeftBehindOnAMinority(t *testing.T) {
	for _, c := range []struct {
		nodes int
		names bool
		want  checker.Liveness
	}{
		{0, false, checker.LivenessOK}, {2, false, checker.LivenessOK}, {3, false, checker.LivenessLeaked},
		{2, true, checker.LivenessLeaked},
	} {
		l := testruns.Kind(t, "redlock")
		if !c.names {
			l.Keys = nil
		}
		inner := l.New
		l.New = func(e subject.Env) (lock.Locker, error) {
			var nodes []*goredis.Client
			for i := range c.nodes {
				nodes = append(nodes, redisclient.New(e, fmt.Sprint("r", i)))
			}
			locker, err := inner(e)
			return altered{locker, func(ctx context.Context, resource string) (lock.Lease, error) {
				lease, err := locker.Acquire(ctx, resource)
				return unfaithfulLease{Lease: lease, release: func(ctx context.Context) error {
					err := lease.Release(ctx)
					for _, node := range nodes {
						err = errors.Join(err, node.Set(ctx, lock.DefaultKeyPrefix+"{"+resource+"}", "late", 3*time.Second).Err())
					}
					return err
				}}, err
			}}, err
		}
		h := historyOf(t, l, "name: left\nworld: {clients: 1}\nworkload: {rounds: 1, hold: 100ms}\n")
		if l, why := h.Liveness(); l != c.want {
			t.Errorf("%+v: %s: %s", c, l, why)
		}
	}
}

// The probe asks for each resource.
func TestProbeAsksForEachResource(t *testing.T) {
	for denied, want := range map[string]checker.Liveness{
		"": checker.LivenessOK, "a": checker.LivenessStuck, "b": checker.LivenessStuck, "c": checker.LivenessStuck,
	} {
		l := testruns.Kind(t, "single")
		inner := l.New
		l.New = func(e subject.Env) (lock.Locker, error) {
			locker, err := inner(e)
			return altered{locker, func(ctx context.Context, resource string) (lock.Lease, error) {
				if e.Name() == "probe" && resource == denied {
					return nil, errNotNow
				}
				return locker.Acquire(ctx, resource)
			}}, err
		}
		h := historyOf(t, l, "name: each\nworkload: {rounds: 1, hold: 100ms, resources: [a, b, c]}\n")
		if l, why := h.Liveness(); l != want {
			t.Errorf("denied %q: %s: %s", denied, l, why)
		}
	}
}

// A crash excuses a key that ends by itself, and none without a TTL.
func TestKeyWithoutTTLIsLeftBehind(t *testing.T) {
	for ttl, want := range map[time.Duration]checker.Liveness{time.Minute: checker.LivenessOK, 0: checker.LivenessLeaked} {
		l := testruns.Kind(t, "single")
		inner := l.New
		set := leaves(func(e subject.Env) bool { return e.Name() == "c0" }, "mark", ttl)
		l.New = func(e subject.Env) (lock.Locker, error) {
			locker, err := inner(e)
			return set(e, locker), err
		}
		keys := l.Keys
		l.Keys = func(resource string) []string { return append(keys(resource), "mark") }
		h := historyOf(t, l, "name: ttl\nlock: {ttl: 2s}\nworkload: {rounds: 1, hold: 100ms, stagger: 5s}\n"+
			"faults: [{when: {client: c0, event: granted}, crash: {process: c0}}]\n")
		if l, why := h.Liveness(); l != want {
			t.Errorf("TTL %v: %s: %s", ttl, l, why)
		}
	}
}

// A key that a client has left may be there in the end if that client crashed, and not since another one did.
func TestLeftBehindByAnotherThanCrashed(t *testing.T) {
	for crashed, want := range map[string]checker.Liveness{"c0": checker.LivenessLeaked, "c1": checker.LivenessOK} {
		l := testruns.Kind(t, "single")
		inner := l.New
		l.New = func(e subject.Env) (lock.Locker, error) {
			locker, err := inner(e)
			return altered{locker, func(ctx context.Context, resource string) (lock.Lease, error) {
				lease, err := locker.Acquire(ctx, resource)
				if e.Name() == "c1" && err == nil {
					lease = keeping{lease}
				}
				return lease, err
			}}, err
		}
		h := historyOf(t, l, "name: crashed\nlock: {ttl: 5s}\nworkload: {rounds: 1, hold: 100ms, stagger: 7s}\n"+
			"faults: [{when: {client: "+crashed+", event: granted}, crash: {process: "+crashed+"}}]\n")
		if l, why := h.Liveness(); l != want {
			t.Errorf("%s crashed: %s: %s", crashed, l, why)
		}
	}
}
