package sim

import (
	"fmt"
	"time"

	"locksim/faults"
	"locksim/sim/trace"
)

// Leaver is a member of a cluster that can leave it, and join it again.
type Leaver interface {
	// Belongs reports whether it is a member, as far as whoever leads the cluster knows.
	Belongs() bool
	// Leave asks the cluster to agree that it leaves, Join that it joins. Without a leader nothing comes of that.
	// Leave returns an error if no member would be left.
	Leave() error
	Join()
}

// How often an operator looks whether a cluster has agreed, and asks it again.
const (
	lookAgain = 20 * time.Millisecond
	asks      = 25 // looks between two requests
	looks     = 50_000
)

// Remove lets a server leave its cluster, and ends its process once the others have agreed: for d, or until
// [World.Heal] where d is 0. Then it is started again, and joins the cluster.
func (f *Faults) Remove(server string, d time.Duration) error {
	n, err := f.w.Node(server)
	if err != nil {
		return err
	}
	if err := checkLength("absence of "+server, d); err != nil {
		return err
	}
	l, ok := n.server.(Leaver)
	if !ok {
		return unable(n, "leave a cluster")
	}
	if err := l.Leave(); err != nil {
		return fmt.Errorf("%s cannot leave its cluster: %w", server, err)
	}
	n.Strike(trace.Depart{For: d})
	over := false
	f.agree(func() bool { return over || !l.Belongs() }, func() { _ = l.Leave() }, func() {
		if !over {
			f.felt()
			f.crashServer(n, faults.CrashProcess)
		}
	})
	f.w.force.endAfter(d, func() {
		over = true
		n.Strike(trace.DepartEnd{})
		if n.Down() {
			f.restartServer(n)
		}
		l.Join()
		f.agree(l.Belongs, l.Join, func() {})
	})
	return nil
}

// agree calls then when a cluster has agreed, and asks it again until it has.
func (f *Faults) agree(agreed func() bool, ask, then func()) {
	left := looks
	var look func()
	look = func() {
		if agreed() {
			then()
			return
		}
		if left--; left == 0 {
			return
		}
		if left%asks == 0 {
			ask()
		}
		f.w.time.queue.add(f.w.time.now()+int64(lookAgain), look)
	}
	f.w.time.queue.add(f.w.time.now()+int64(lookAgain), look)
}
