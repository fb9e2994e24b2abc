package play_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	simredis "locksim/sim/redis"
)

// redsyncLock is redsync as it comes, behind a lock.Locker.
type redsyncLock struct{ *redsync.Redsync }

type redsyncLease struct {
	*redsync.Mutex
	ctx context.Context
}

func (l redsyncLock) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	m := l.NewMutex(resource, redsync.WithExpiry(10*time.Second), redsync.WithTries(1000))
	return redsyncLease{m, ctx}, m.LockContext(ctx)
}
func (redsyncLease) Token() uint64                       { return 0 }
func (redsyncLease) Lost() <-chan struct{}               { return nil } // redsync does not tell
func (l redsyncLease) Context() context.Context          { return l.ctx }
func (l redsyncLease) Release(ctx context.Context) error { _, err := l.UnlockContext(ctx); return err }

func redsyncOverThree() play.Lock {
	return play.Lock{Name: "redsync", Servers: play.Redis(3), New: func(e play.Env) (lock.Locker, error) {
		var pools []redsyncredis.Pool
		for _, node := range []string{"r0", "r1", "r2"} {
			pools = append(pools, goredis.NewPool(simredis.Client(e, node)))
		}
		return redsyncLock{redsync.New(pools...)}, nil
	}}
}

// redsync over three nodes, unmodified, with its draws from the global
// sources: calm is safe, a pause corrupts, and every run is repeatable.
func TestRedsyncUnmodified(t *testing.T) {
	for name, want := range map[string]checker.Label{"calm": checker.Safe, "gc-pause": checker.Corrupted} {
		sc, _ := load(t, name)
		worst := checker.Label("")
		for seed := uint64(1); seed <= uint64(soak(t, 100, 0.1)); seed++ {
			m := playOf(t, sc, redsyncOverThree(), play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Repeat: play.Twice}).Modes[0]
			worst = checker.Worse(worst, m.Verdict.Label)
			if m.Verdict.Facts.Contended == 0 {
				t.Errorf("%s seed %d: nobody contended", name, seed)
			}
		}
		if worst != want {
			t.Errorf("%s: the worst label is %s, want %s", name, worst, want)
		}
	}
}
