package sim

import (
	"testing"
	"time"
)

// A run with a long step is not frozen while one of its goroutines can run. One that never ends is, later.
func TestLongStep(t *testing.T) {
	const patience = 4 * time.Millisecond
	var p pulse
	for _, c := range []struct {
		name string
		ends int // the step has ended when the run is looked at for this time; 0 for never
		busy bool
		want bool
	}{
		{"blocked", 0, false, false},
		{"a long step", 2, true, true},
		{"a loop without end", 0, true, false},
	} {
		done, looked := make(chan struct{}), 0
		alive := awaitDone(&p, patience, done, func() bool {
			if looked++; looked == c.ends {
				close(done)
			}
			return c.busy
		}, func() bool { return false })
		if alive != c.want {
			t.Errorf("%s: alive %v after %d looks", c.name, alive, looked)
		}
	}
	for state, want := range map[string]bool{"running": true, "runnable": true, "syscall": true,
		"chan receive (durable)": false,
		"sync.Mutex.Lock":        false, "sync.Cond.Wait (durable)": false, "select": false} {
		if got := canRun(goroutine{state: state}); got != want {
			t.Errorf("a goroutine in state %q can run: %v", state, got)
		}
	}
}
