package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/faults"
)

// inForce holds the faults that are in force in a world.
type inForce struct {
	w        *World
	active   []*activeFault
	drifts   map[string]*activeFault // by the owner of the clock
	refusals map[*Node]*effects
	readOnly map[*Node]*effects
	stalls   map[*Node]*stall
	errors   map[*Node][]*errorReply
	toxified map[string]int // how often a direction of a link has got toxics of one name
	replaced func()         // during a failover: what to call when an old primary is used
}

func newInForce(w *World) *inForce {
	return &inForce{w: w, drifts: map[string]*activeFault{}, refusals: map[*Node]*effects{},
		readOnly: map[*Node]*effects{},
		stalls:   map[*Node]*stall{}, errors: map[*Node][]*errorReply{}, toxified: map[string]int{}}
}

// activeFault is a fault in force, until its time is up or until [World.Heal].
type activeFault struct {
	force *inForce
	end   func()
	over  bool
}

// endAfter calls end once, on the world's goroutine: after d or at
// [World.Heal], whichever is first; where d is 0, at [World.Heal].
func (f *inForce) endAfter(d time.Duration, end func()) *activeFault {
	s := &activeFault{force: f, end: end}
	f.active = append(f.active, s)
	if d > 0 {
		f.w.time.queue.add(f.w.time.now()+int64(d), s.finish)
	}
	return s
}

// finish ends the fault, once.
func (s *activeFault) finish() {
	if !s.over {
		s.cancel()
		s.end()
	}
}

// cancel drops a fault that another replaces: its end is never called.
func (s *activeFault) cancel() {
	s.over = true
	all := &s.force.active
	*all = slices.DeleteFunc(*all, func(x *activeFault) bool { return x == s })
}

// endAll ends all faults, in the order in which they began.
func (f *inForce) endAll() {
	for _, s := range slices.Clone(f.active) {
		s.finish()
	}
}

// checkLength refuses a negative duration.
func checkLength(what string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s for %v: give a duration, or 0 for until the network is healed", what, d)
	}
	return nil
}

// effectsOn are the faults of one kind in force on a server.
func effectsOn(n *Node, all map[*Node]*effects) *effects {
	e := all[n]
	if e == nil {
		e = new(effects)
		all[n] = e
	}
	return e
}

func (f *inForce) refusalsOf(n *Node) *effects { return effectsOn(n, f.refusals) }

func (f *inForce) readOnlyOf(n *Node) *effects { return effectsOn(n, f.readOnly) }

// refuses reports whether a server refuses a connection at present.
func (f *inForce) refuses(n *Node) bool {
	e := f.refusals[n]
	if e == nil || len(*e) == 0 {
		return false
	}
	e.felt()
	return true
}

// errorReply is a server that answers requests with an error.
type errorReply struct {
	answer faults.ReplyError
	left   int // how many requests; 0 for all
	felt   func()
	end    *activeFault
}

// Refused reports whether a fault makes the server answer a request that it has got with an error,
// which is one of its own, in place of carrying it out. It counts the request.
func (n *Node) Refused(answer faults.ReplyError) bool {
	force := n.w.force
	for _, e := range force.errors[n] {
		if e.answer != answer {
			continue
		}
		e.felt()
		if e.left--; e.left == 0 {
			e.end.finish()
		}
		return true
	}
	return false
}

// stall is the state of a stalled server.
type stall struct {
	node   *Node
	stalls effects   // in force
	queue  []waiting // what waits to be served, in order of arrival
}

// waiting is what waits for the end of a stall.
type waiting struct {
	from  origin
	serve func()
}

// origin is whom a server serves. Their order is that of a [ClientsFirst].
type origin int

const (
	ofClient origin = iota
	ofPeer
	ofItself
)

// serve serves what has waited.
func (s *stall) serve() {
	if _, ok := s.node.server.(ClientsFirst); ok {
		slices.SortStableFunc(s.queue, func(a, b waiting) int { return cmp.Compare(a.from, b.from) })
	}
	for _, w := range s.queue {
		w.serve()
	}
}

func (f *inForce) stallOf(n *Node) *stall {
	s := f.stalls[n]
	if s == nil {
		s = &stall{node: n}
		f.stalls[n] = s
	}
	return s
}

// dropStall ends the stall of a server that has crashed: the requests that wait
// are lost, and the restarted server is not stalled.
func (f *inForce) dropStall(n *Node) { delete(f.stalls, n) }

// whenServed calls serve at once, or when the server's stall is over.
func (f *inForce) whenServed(n *Node, from origin, serve func()) {
	if s := f.stalls[n]; s != nil {
		s.stalls.felt()
		s.queue = append(s.queue, waiting{from, serve})
		return
	}
	serve()
}
