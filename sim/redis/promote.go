package redis

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/faults"
	"locksim/sim/trace"
)

// Promote implements [sim.Promoter]: it makes a replica the primary. It goes on
// with the effects that it has applied by now, drops what has expired by its clock,
// and the name [Primary] leads to it, for everybody or for the clients that the
// fault names. What the old primary had not got through to it is lost. Scripts are
// not replicated: the new primary knows none but those that were sent to it.
//
// The old primary is fenced off: its connections are reset, new ones refused,
// as if its process had been killed. Or it goes on serving whoever is connected
// or still led there. Or it becomes a replica: it closes its clients'
// connections, refuses writes, and takes over all that the new primary has as
// soon as that gets there. Other replicas follow the new primary.
//
// A replica that is down cannot be promoted, and who is the primary already
// stays it: the trace says so. A server outside r0's family is an error.
func (n *Server) Promote(f faults.Failover) error {
	if !slices.Contains(n.family.kin, n) {
		return fmt.Errorf("%s is not a replica of r0", n.Name())
	}
	p := &n.family.primary
	old := p.at
	if n.node.Down() || n == old {
		role, _ := n.Role()
		n.node.Strike(trace.NotPromoted{Role: role})
		return nil
	}
	fate := cmp.Or(f.Old, faults.OldFenced)
	e := trace.Promote{Old: old.Name(), Fate: string(fate), Told: f.Clients}
	if n.repl.leader == old {
		e.Follows, e.Has, e.Of = true, n.ledger.offset, old.ledger.offset
	}
	n.takeOver(n.node.Strike(e))
	p.move(n, n.node.Processes(), f.Clients)
	old.stepDown(n, fate)
	for _, s := range n.family.kin {
		if s != n && s != old && s.repl.leader != nil {
			s.follow(n).resync()
		}
	}
	return nil
}

// takeOver makes a replica a primary.
func (n *Server) takeOver(step int) {
	n.tick()
	n.unfollow()
	n.ledger.replace(n.ledger.data, n.ledger.data, origin{step: step, change: trace.KeyRestored})
}

// stepDown is what becomes of an old primary.
func (n *Server) stepDown(to *Server, fate faults.OldPrimary) {
	if fate == faults.OldServing {
		return
	}
	n.unfollow()
	switch {
	case n.node.Down():
	case fate == faults.OldFenced:
		n.node.Fence()
	default:
		n.node.HangUp()
		n.follow(to).resync()
		return
	}
	n.repl.leader = to // should it ever come back
	n.guard.set()
}
