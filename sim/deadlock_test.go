package sim_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"locksim/sim"
)

// sharedMutex is a mutex of the program, which processes of a world share.
var sharedMutex sync.Mutex

// tangle is code that may wait for itself for ever.
type tangle struct {
	a, b sync.Mutex
	done chan struct{}
	p    *sim.Process
}

func (c *tangle) rest() { _ = c.p.Clock().Sleep(c.p.Context(), time.Second) }

func (c *tangle) both(first, second *sync.Mutex) {
	first.Lock()
	defer first.Unlock()
	c.rest()
	second.Lock()
	defer second.Unlock()
}

func (c *tangle) stop() {
	c.a.Lock()
	defer c.a.Unlock()
	<-c.done
}

func (c *tangle) loop() {
	defer close(c.done)
	c.rest()
	c.a.Lock()
	defer c.a.Unlock()
}

func (c *tangle) twice() {
	c.a.Lock()
	c.a.Lock()
}

func (c *tangle) ask() {
	c.a.Lock()
	defer c.a.Unlock()
	slept := make(chan struct{})
	go func() {
		defer close(slept)
		_ = c.p.Clock().Sleep(c.p.Context(), 3*time.Second)
	}()
	<-slept
}

func (c *tangle) ofAll() {
	sharedMutex.Lock()
	defer sharedMutex.Unlock()
	c.rest()
}

// A run is in a deadlock of the code's own if nothing but that code could end its wait: that is known at once, and the
// error says where. A mutex that is held across simulated time, also by way of a channel, is none: real code goes on.
func TestDeadlockOfTheCodesOwn(t *testing.T) {
	for _, c := range []struct {
		name string
		work func(w *sim.World)
		says string // "" for no deadlock of its own
	}{
		{"two mutexes", func(w *sim.World) {
			x := &tangle{p: w.Client(0)}
			x.p.Go(func() { x.both(&x.a, &x.b) })
			x.p.Go(func() { x.both(&x.b, &x.a) })
		}, "c0 is in a deadlock of the lock's own: a goroutine waits for ever for a mutex in " +
			"locksim/sim_test.(*tangle).both, and one in locksim/sim_test.(*tangle).both waits for another mutex meanwhile."},
		{"a mutex and a channel", func(w *sim.World) {
			x := &tangle{p: w.Client(0), done: make(chan struct{})}
			x.p.Go(x.loop)
			x.p.Go(x.stop)
		}, "in locksim/sim_test.(*tangle).loop, and one in locksim/sim_test.(*tangle).stop waits for a channel meanwhile"},
		{"the same mutex twice", func(w *sim.World) {
			x := &tangle{p: w.Client(0)}
			x.p.Go(x.twice)
		}, "in locksim/sim_test.(*tangle).twice, and a call that has returned has left it locked, or this one locks " +
			"it twice"},
		{"across time, by a channel", func(w *sim.World) {
			x := &tangle{p: w.Client(0)}
			x.p.Go(x.ask)
			x.p.Go(func() { x.rest(); x.ask() })
		}, ""},
		{"of all processes", func(w *sim.World) {
			for i := range 2 {
				x := &tangle{p: w.Client(i)}
				x.p.Go(x.ofAll)
			}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			cfg := sim.Config{Clients: 2, Limits: sim.Limits{Frozen: 2 * time.Second}}
			_, err := sim.Run(cfg, func(w *sim.World) error {
				c.work(w)
				return w.RunUntil(w.Idle)
			})
			var frozen *sim.FrozenError
			if !errors.As(err, &frozen) || !strings.Contains(frozen.Deadlock, c.says) || c.says == "" && frozen.Deadlock != "" {
				t.Fatalf("%v\nwant %q", err, c.says)
			}
			if took := time.Since(began); c.says != "" && took > time.Second {
				t.Errorf("it was known after %v", took)
			}
		})
	}
}
