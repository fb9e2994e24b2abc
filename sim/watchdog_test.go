package sim_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"locksim/sim"
)

// account is code under test that holds a mutex across a simulated sleep.
type account struct {
	mu sync.Mutex
	rw sync.RWMutex
	p  *sim.Process
}

func (a *account) readAcrossSleep() {
	a.rw.RLock()
	defer a.rw.RUnlock()
	_ = a.p.Clock().Sleep(a.p.Context(), time.Second)
}

func (a *account) change() {
	_ = a.p.Clock().Sleep(a.p.Context(), time.Millisecond)
	a.rw.Lock()
	defer a.rw.Unlock()
}

func (a *account) holdAcrossSleep() {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.p.Clock().Sleep(a.p.Context(), time.Second)
}

func (a *account) wantIt() {
	_ = a.p.Clock().Sleep(a.p.Context(), time.Millisecond)
	a.mu.Lock()
	defer a.mu.Unlock()
}

// TestFrozen shows that a mutex which is held across a simulated sleep ends the
// run with an error that names the holder and the waiter, and that the next run
// works.
func TestFrozen(t *testing.T) {
	_, _ = sim.Run(sim.Config{}, func(*sim.World) error { go waitForEver(); return nil })
	for _, c := range []struct {
		holds, waits func(a *account)
		want         []string
	}{
		{(*account).holdAcrossSleep, (*account).wantIt, []string{"(*account).wantIt", "(*account).holdAcrossSleep"}},
		{(*account).readAcrossSleep, (*account).change, []string{"(*account).change", "(*account).readAcrossSleep"}},
	} {
		_, err := sim.Run(sim.Config{Limits: sim.Limits{Frozen: 300 * time.Millisecond}}, func(w *sim.World) error {
			a := &account{p: w.Client(0)}
			a.p.Go(func() { c.holds(a) })
			a.p.Go(func() { c.waits(a) })
			return w.RunUntil(w.Idle)
		})
		var frozen *sim.FrozenError
		if !errors.As(err, &frozen) {
			t.Fatalf("error %v, want a *FrozenError", err)
		}
		for i, want := range []string{"waits for a mutex in locksim/sim_test.", "blocked in locksim/sim_test."} {
			if !strings.Contains(frozen.Reason, want+c.want[i]) {
				t.Errorf("the reason does not say %q:\n%s", want+c.want[i], frozen.Reason)
			}
		}
		if n := strings.Count(frozen.Reason, "likely holds"); n != 1 {
			t.Errorf("%d goroutines are said to hold it, want 1:\n%s", n, frozen.Reason)
		}
		if strings.Contains(frozen.Stacks, "waitForEver") {
			t.Error("the stacks of another run's leak are shown")
		}
	}
	after(t)
}

// TestBusy shows that a goroutine which never blocks ends the run too. The test
// ends that goroutine, to free the processor.
func TestBusy(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	_, err := sim.Run(sim.Config{Limits: sim.Limits{Frozen: 100 * time.Millisecond}}, func(w *sim.World) error {
		w.Client(0).Go(func() { <-release })
		return w.RunUntil(w.Idle)
	})
	var frozen *sim.FrozenError
	if !errors.As(err, &frozen) || !strings.Contains(frozen.Reason, "no goroutine of it waits for a mutex") {
		t.Errorf("error %v", err)
	}
}

// pair is code under test with two mutexes, and one that a failed call leaves locked.
type pair struct {
	a, b sync.Mutex
	p    *sim.Process
}

func (x *pair) aThenB() {
	x.a.Lock()
	_ = x.p.Clock().Sleep(x.p.Context(), time.Second)
	x.b.Lock()
}

func (x *pair) bThenA() {
	x.b.Lock()
	_ = x.p.Clock().Sleep(x.p.Context(), time.Second)
	x.a.Lock()
}

func (x *pair) failing() { x.a.Lock() }

func (x *pair) next() { x.a.Lock() }

// The reason names the process and says that the deadlock may be the code's own: where each of two goroutines waits for
// the mutex of the other, and where a call that returned has left a mutex locked. A goroutine of another process that
// is blocked in the same package is not blamed.
func TestFrozenByItsOwnDeadlock(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(x *pair, w *sim.World)
		want []string
	}{
		"two mutexes": {func(x *pair, _ *sim.World) {
			x.p.Go(x.aThenB)
			x.p.Go(x.bThenA)
		}, []string{"of c0 waits for a mutex in locksim/sim_test.(*pair).aThenB", "which waits for another mutex in " +
			"locksim/sim_test.(*pair).bThenA, likely holds it: a deadlock of the lock's own"}},
		"left locked": {func(x *pair, w *sim.World) {
			other := &account{p: w.Client(1)}
			other.p.Go(other.holdAcrossSleep)
			x.p.Go(x.failing)
			x.p.Go(func() {
				_ = x.p.Clock().Sleep(x.p.Context(), time.Millisecond)
				x.next()
			})
		}, []string{"of c0 waits for a mutex in locksim/sim_test.(*pair).next", "no other goroutine of c0 is blocked in " +
			"that package: probably a call that has returned", "this may be a deadlock of the lock's own"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sim.Run(sim.Config{Clients: 2, Limits: sim.Limits{Frozen: 300 * time.Millisecond}},
				func(w *sim.World) error {
					c.run(&pair{p: w.Client(0)}, w)
					return w.RunUntil(w.Idle)
				})
			var frozen *sim.FrozenError
			if !errors.As(err, &frozen) {
				t.Fatalf("error %v, want a *FrozenError", err)
			}
			for _, want := range c.want {
				if !strings.Contains(frozen.Reason, want) {
					t.Errorf("the reason does not say %q:\n%s", want, frozen.Reason)
				}
			}
			if strings.Contains(frozen.Reason, "of c1") || strings.Contains(frozen.Reason, "across simulated I/O") {
				t.Errorf("it blames the wrong goroutine:\n%s", frozen.Reason)
			}
		})
	}
}
