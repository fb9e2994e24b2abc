package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/sim"
)

// process is a server that a restart creates anew. It logs what the world calls.
type process struct {
	Sink
	name string
	log  *[]string
}

func (p *process) call(what string) { *p.log = append(*p.log, p.name+" "+what) }

// RefuseWrites implements [sim.WriteRefuser].
func (p *process) RefuseWrites(refused func()) {
	if refused != nil {
		p.call("refuses writes")
		return
	}
	p.call("accepts writes")
}

// WatchKeys implements [sim.KeyWatcher].
func (p *process) WatchKeys(keys []string) {
	for _, k := range keys {
		p.call("watches " + k)
	}
}

// Close implements [sim.Closer].
func (p *process) Close() { p.call("closes") }

// TestRestartOfNewServer shows what a server that is no [sim.Restarter] is told
// when a restart creates it anew: the watched keys, and a fault that makes it
// refuse writes, unless it has ended meanwhile. The old server is closed.
func TestRestartOfNewServer(t *testing.T) {
	var log []string
	names := []string{"first", "second", "third"}
	create := func(n *sim.Node) sim.Server {
		p := &process{Sink: Sink{node: n}, name: names[0], log: &log}
		names = slices.Delete(names, 0, 1)
		return p
	}
	restart := func(w *sim.World) error {
		if err := w.Faults().Crash("s", faults.CrashProcess); err != nil {
			return err
		}
		return w.Faults().Restart("s")
	}
	_, err := sim.Run(one(create), func(w *sim.World) error {
		w.WatchKeys("k", "l")
		if err := w.Faults().RefuseWrites("s", time.Second); err != nil {
			return err
		}
		if err := restart(w); err != nil {
			return err
		}
		if err := w.RunFor(2 * time.Second); err != nil {
			return err
		}
		return restart(w)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"first watches k", "first watches l", "first refuses writes", "first closes",
		"second watches k", "second watches l", "second refuses writes", "second accepts writes", "second closes",
		"third watches k", "third watches l", "third closes",
	}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
