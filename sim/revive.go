package sim

import (
	"fmt"
	"slices"
)

// Revive starts a crashed process again: a new one of the same name, on the
// same machine. Its memory, its sockets and its random streams are new; its
// links are the old ones, and its clock has gone on. Whoever asks for the name
// finds the new one. Goroutines of the old one stay silenced, and it stays
// crashed. A process that has not crashed is an error.
func (w *World) Revive(process string) (*Process, error) {
	old, err := w.Process(process)
	if err != nil {
		return nil, err
	}
	if !old.Crashed() {
		return nil, fmt.Errorf("%s has not crashed", process)
	}
	w.record("world", "restart", process, "")
	p := w.launch(process, old.incarnation+1, old.clock)
	w.former = append(w.former, old)
	if i := slices.Index(w.clients, old); i >= 0 {
		w.clients[i] = p
	}
	for _, l := range w.links {
		if l.p == old {
			l.p = p
		}
	}
	return p, nil
}

// Incarnation is 1, and one more after each restart.
func (p *Process) Incarnation() int { return p.incarnation }

// streamName names a random stream of the process. Those of each incarnation
// are its own.
func (p *Process) streamName(use string) string {
	if p.incarnation == 1 {
		return p.name + "/" + use
	}
	return fmt.Sprintf("%s/%d/%s", p.name, p.incarnation, use)
}
