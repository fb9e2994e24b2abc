package faults

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/lock/promise"
)

// HalfOpen makes the connections between two sides go dead without a word: a NAT
// gateway or a load balancer has forgotten them, or a machine was replaced by one
// that takes over its address. Each end takes them for open and waits, also for the
// answer to a renewal, while new connections work at once. A pool hands out one dead
// connection after another.
//
// Azure's load balancer drops idle connections so by default ("Load Balancer TCP
// Reset and Idle Timeout", learn.microsoft.com); a Redis client without a timeout of
// its own then hangs until TCP gives up, which takes Linux a quarter of an hour
// (redis/lettuce#2082).
type HalfOpen struct {
	// Between is one side, the processes that have dialled: "c0".
	Between []string
	// And is the other side, the nodes they have dialled: "r0", "s0". Empty means all.
	And []string
	// For is how long it takes both ends to find out, by a keepalive or since TCP gives
	// up; the connections then end. 0 means until the world is healed at the end of
	// the workload.
	For time.Duration
}

// Kind is "half_open".
func (HalfOpen) Kind() string { return "half_open" }

func (h *HalfOpen) form() Form {
	return Form{
		Text:  "connections carry nothing any more, and neither end is told",
		Class: promise.Partition,
		Fields: []Field{
			near(&h.Between, Clients),
			far(&h.And, Servers|Store),
			{"for", Length{To: &h.For}, "how long it takes both ends to find out"},
		},
	}
}

// Apply asks a Toxifier for toxics that lose everything on the connections that are
// there when it returns, and nothing on later ones.
func (h HalfOpen) Apply(world any) error {
	var all []*silence
	err := toxify(h, world, Wire{h.Between, h.And, DirectionBoth}, func(uint64) toxics.Toxic {
		s := new(silence)
		all = append(all, s)
		return s
	}, h.For)
	for _, s := range all {
		s.complete.Store(true)
	}
	return err
}

// String is "silence the connections of c0 to r0 for 15s".
func (h HalfOpen) String() string {
	return fmt.Sprintf("silence the connections of %s to %s %s", strings.Join(h.Between, ", "), orEverything(h.And),
		length(h.For))
}

// silence is a toxic that loses all that is sent over the connections that had it
// before it was complete. When it is removed they end.
type silence struct{ complete atomic.Bool }

var (
	_ toxics.StatefulToxic = (*silence)(nil)
	_ toxics.CleanupToxic  = (*silence)(nil)
)

// silenced is what a silence knows of one connection.
type silenced struct{ dead, ended bool }

// NewState is called as soon as a connection has the toxic.
func (s *silence) NewState() any { return &silenced{dead: !s.complete.Load()} }

// Pipe loses what arrives over a dead connection until it is interrupted.
func (s *silence) Pipe(stub *toxics.ToxicStub) {
	state := stateOf[silenced](s, stub)
	if !state.dead {
		new(toxics.NoopToxic).Pipe(stub)
		return
	}
	for {
		chunk, interrupted := receive(stub, state.ended)
		if interrupted {
			return
		}
		state.ended = state.ended || chunk == nil
	}
}

// Cleanup ends a dead connection.
func (s *silence) Cleanup(stub *toxics.ToxicStub) {
	if stateOf[silenced](s, stub).dead {
		stub.Close()
	}
}
