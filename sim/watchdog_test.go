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
	p  *sim.Process
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
	_, err := sim.Run(sim.Config{Limits: sim.Limits{Frozen: 300 * time.Millisecond}}, func(w *sim.World) error {
		a := &account{p: w.Client(0)}
		a.p.Go(a.holdAcrossSleep)
		a.p.Go(a.wantIt)
		return w.RunUntil(w.Idle)
	})
	var frozen *sim.FrozenError
	if !errors.As(err, &frozen) {
		t.Fatalf("error %v, want a *FrozenError", err)
	}
	for _, want := range []string{
		"waits for a mutex in locksim/sim_test.(*account).wantIt",
		"blocked in locksim/sim_test.(*account).holdAcrossSleep",
	} {
		if !strings.Contains(frozen.Reason, want) {
			t.Errorf("the reason does not say %q:\n%s", want, frozen.Reason)
		}
	}
	if n := strings.Count(frozen.Reason, "likely holds"); n != 1 {
		t.Errorf("%d goroutines are said to hold it, want 1:\n%s", n, frozen.Reason)
	}
	if strings.Contains(frozen.Stacks, "waitForEver") {
		t.Error("the stacks of another run's leak are shown")
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
