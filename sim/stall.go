package sim

import "time"

// Stall keeps a node, s0 too, from serving anybody, as a slow command does on a
// single-threaded server: for d, or until [World.Heal] where d is 0. Connections
// are still accepted, since the operating system does that, and what arrives
// waits its turn; when the stall is over all of it is served in the order of
// its arrival. So is a blocking command's timeout that has passed meanwhile.
// The node's clock goes on: keys expire. Stalls may overlap: the node serves
// when the last of them is over.
func (w *World) Stall(node string, d time.Duration) error {
	h, err := w.findHost(node)
	if err != nil {
		return err
	}
	if err := checkLength("stall of "+node, d); err != nil {
		return err
	}
	w.record("world", "stall", h.name(), howLong(d))
	s := w.stallOf(h)
	s.left++
	w.lasts(d, func() { w.unstall(s) })
	return nil
}

// stall is a node that serves nobody.
type stall struct {
	host  host
	left  int      // stalls that are not over
	queue []func() // what waits to be served, in the order of its arrival
}

func (w *World) stallOf(h host) *stall {
	s := w.force.stalls[h]
	if s == nil {
		s = &stall{host: h}
		if w.force.stalls == nil {
			w.force.stalls = map[host]*stall{}
		}
		w.force.stalls[h] = s
	}
	return s
}

// unstall ends one stall of a node. What waits is served after the last.
func (w *World) unstall(s *stall) {
	if s.left--; s.left > 0 || w.force.stalls[s.host] != s {
		return
	}
	delete(w.force.stalls, s.host)
	w.record("world", "stall-end", s.host.name(), "")
	for _, serve := range s.queue {
		serve()
	}
}

// dropStall ends the stall of a node that has crashed: what has waited to be
// served is lost, and the node that comes back is not stalled.
func (w *World) dropStall(h host) { delete(w.force.stalls, h) }

// whenServed does something in a node's turn: at once, unless it is stalled.
func (w *World) whenServed(h host, serve func()) {
	if s := w.force.stalls[h]; s != nil {
		s.queue = append(s.queue, serve)
		return
	}
	serve()
}
