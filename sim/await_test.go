package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"locksim/sim"
	"locksim/sim/trace"
)

// crowded is a pool of two connections, at which the process makes commands wait.
type crowded struct{ waits int64 }

func (*crowded) Size() int                  { return 2 }
func (*crowded) Take(context.Context) error { return nil }
func (c *crowded) Asked() int64             { return c.waits }
func (c *crowded) Waits() int64             { return c.waits }
func (*crowded) Dirty() bool                { return false }

// TestAwaitIsInTheTrace shows that each command that waits for a connection is in the trace, at the
// instant in which it begins to wait, also of a process that was started again.
func TestAwaitIsInTheTrace(t *testing.T) {
	tr := run(t, sim.Config{Clients: 2}, func(w *sim.World) error {
		wait := func(p *sim.Process, commands ...int64) {
			pool := new(crowded)
			p.AddPool(pool)
			p.Go(func() {
				for _, n := range commands {
					_ = p.Clock().Sleep(context.Background(), time.Second)
					pool.waits += n
				}
			})
		}
		wait(w.Client(0), 1, 0, 2)
		wait(w.Client(1), 0, 1)
		w.At(5*time.Second, func() {
			must(t, w.Faults().Crash("c1", "process"))
			p, err := w.Faults().Revive("c1")
			must(t, err)
			wait(p, 1)
		})
		return w.RunFor(10 * time.Second)
	}).Trace
	var got string
	for _, e := range tr.Events {
		if _, ok := e.What.(trace.Await); ok {
			got += fmt.Sprintf("%v %s %s; ", e.At.Round(time.Second), e.Actor, e.Text())
		}
	}
	const text = "a connection: all 2 of its pool are in use; "
	if want := "1s c0 " + text + "2s c1 " + text + "3s c0 " + text + "3s c0 " + text + "6s c1 " + text; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
