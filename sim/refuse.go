package sim

import "time"

// Refuse makes a node, s0 too, refuse new connections with ECONNREFUSED, for d
// or until [World.Heal] where d is 0. Connections that exist live on.
func (w *World) Refuse(node string, d time.Duration) error {
	h, err := w.findHost(node)
	if err != nil {
		return err
	}
	if err := checkLength("refusal of "+node, d); err != nil {
		return err
	}
	w.record("world", "refuse", h.name(), howLong(d))
	if w.force.refusals == nil {
		w.force.refusals = map[host]int{}
	}
	w.force.refusals[h]++
	w.lasts(d, func() {
		w.force.refusals[h]--
		w.record("world", "refuse-end", h.name(), "")
	})
	return nil
}

// refuses reports whether a node refuses connections at present.
func (w *World) refuses(h host) bool { return w.force.refusals[h] > 0 }
