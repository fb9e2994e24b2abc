package sim

import (
	"fmt"
	"slices"
	"time"
)

// inForce is what goes wrong in a world at present.
type inForce struct {
	w        *World
	spells   []*spell
	drifts   map[string]*spell // by the name of the clock's owner
	refusals map[*Node]int     // how many are in force
	readOnly map[*Node]int
	stalls   map[*Node]*stall
	toxified map[string]int // how often a direction of a link got toxics of a name
}

func newInForce(w *World) *inForce {
	return &inForce{w: w, drifts: map[string]*spell{}, refusals: map[*Node]int{}, readOnly: map[*Node]int{},
		stalls: map[*Node]*stall{}, toxified: map[string]int{}}
}

// spell is a fault that lasts: until its time is up, or until [World.Heal].
type spell struct {
	force *inForce
	end   func()
	over  bool
}

// lasts calls end once, on the world's goroutine: after d, at [World.Heal] if
// that is sooner, only then where d is 0.
func (f *inForce) lasts(d time.Duration, end func()) *spell {
	s := &spell{force: f, end: end}
	f.spells = append(f.spells, s)
	if d > 0 {
		f.w.time.queue.add(f.w.time.now()+int64(d), s.finish)
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
	all := &s.force.spells
	*all = slices.DeleteFunc(*all, func(x *spell) bool { return x == s })
}

// endAll ends all that lasts, in the order in which it began.
func (f *inForce) endAll() {
	for _, s := range slices.Clone(f.spells) {
		s.finish()
	}
}

// checkLength refuses a length of time that is negative.
func checkLength(what string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s for %v: give a length of time, or 0 for until the network is healed", what, d)
	}
	return nil
}

// refuses reports whether a server refuses connections at present.
func (f *inForce) refuses(n *Node) bool { return f.refusals[n] > 0 }

// stall is a server that serves nobody.
type stall struct {
	node  *Node
	left  int      // stalls that are not over
	queue []func() // what waits to be served, in the order of its arrival
}

func (f *inForce) stallOf(n *Node) *stall {
	s := f.stalls[n]
	if s == nil {
		s = &stall{node: n}
		f.stalls[n] = s
	}
	return s
}

// dropStall ends the stall of a server that has crashed: what has waited to be
// served is lost, and the server that comes back is not stalled.
func (f *inForce) dropStall(n *Node) { delete(f.stalls, n) }

// whenServed does something in a server's turn: at once, unless it is stalled.
func (f *inForce) whenServed(n *Node, serve func()) {
	if s := f.stalls[n]; s != nil {
		s.queue = append(s.queue, serve)
		return
	}
	serve()
}
