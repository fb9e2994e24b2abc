package sim

import (
	"fmt"
	"slices"
	"time"
)

// inForce is what goes wrong in a world at present. Its zero value is a world
// in which nothing does, and costs nothing.
type inForce struct {
	spells   []*spell
	drifts   map[string]*spell // by the name of the clock's owner
	refusals map[host]int      // how many are in force
	stalls   map[host]*stall
	toxified map[string]int // how often a direction of a link got toxics of a name
}

// spell is a fault that lasts: until its time is up, or until [World.Heal].
type spell struct {
	w    *World
	end  func()
	over bool
}

// lasts calls end once, on the world's goroutine: after d, at [World.Heal] if
// that is sooner, only then where d is 0.
func (w *World) lasts(d time.Duration, end func()) *spell {
	s := &spell{w: w, end: end}
	w.force.spells = append(w.force.spells, s)
	if d > 0 {
		w.queue.add(w.now()+int64(d), s.finish)
	}
	return s
}

// finish ends the spell, once.
func (s *spell) finish() {
	if !s.over {
		s.forget()
		s.end()
	}
}

// forget drops a spell that another replaces: it never ends by itself.
func (s *spell) forget() {
	s.over = true
	all := &s.w.force.spells
	*all = slices.DeleteFunc(*all, func(x *spell) bool { return x == s })
}

// endSpells ends all that lasts, in the order in which it began.
func (w *World) endSpells() {
	for _, s := range slices.Clone(w.force.spells) {
		s.finish()
	}
}

// howLong is how long a spell lasts, for the trace.
func howLong(d time.Duration) string {
	if d == 0 {
		return "until healed"
	}
	return "for " + d.String()
}

// checkLength refuses a length of time that is negative.
func checkLength(what string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s for %v: give a length of time, or 0 for until the network is healed", what, d)
	}
	return nil
}

// findHost finds a node by its name. The name [Primary] means the node to which
// it leads at present.
func (w *World) findHost(name string) (host, error) {
	h, ok := w.hosts[name]
	switch {
	case !ok:
		return nil, w.noHost(name)
	case h == host(&w.primary):
		return w.primary.node, nil
	}
	return h, nil
}
