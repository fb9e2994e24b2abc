package redis

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/faults"
	"locksim/sim/rare"
	"locksim/sim/trace"
)

// Promote implements [sim.Promoter]: it makes a replica the primary. The
// replica keeps the effects that it has applied so far, drops what has expired
// by its clock, and the name [Primary] resolves to it, for all clients or for
// those that the fault names. Effects that it has not received from the old
// primary are lost. Scripts are not replicated: the new primary has only those
// that were sent to it.
//
// The old primary is fenced off: its connections are reset, new ones refused,
// as if its process had been killed. Or it goes on serving the clients that are
// connected or still resolve to it. Or it becomes a replica: it closes its
// clients' connections, refuses writes, and copies all keys of the new primary
// as soon as they arrive. Other replicas follow the new primary.
//
// A replica that is down is not promoted, and the current primary stays
// primary: the trace says so. A server other than r0 and its replicas is an
// error.
func (n *Server) Promote(f faults.Failover) error {
	if !slices.Contains(n.family.group, n) {
		return fmt.Errorf("%s is not a replica of r0", n.Name())
	}
	p := &n.family.primary
	old := p.server
	if n.node.Down() || n == old {
		role, _ := n.Role()
		n.node.Strike(trace.NotPromoted{Role: role})
		return nil
	}
	fate := cmp.Or(f.Old, faults.OldFenced)
	n.replaces(old)
	e := trace.Promote{Old: old.Name(), Fate: string(fate), Told: f.Clients}
	if n.repl.leader == old {
		e.Follows, e.Has, e.Of = true, n.ledger.offset, old.ledger.offset
	}
	n.takeOver(n.node.Strike(e))
	p.redirect(n, n.node.Processes(), f.Clients)
	old.stepDown(n, fate)
	for _, s := range n.family.group {
		if s != n && s != old && s.repl.leader != nil {
			s.follow(n).resync()
		}
	}
	return nil
}

// replaces takes note of what the server lacks of an old primary that it takes the place of.
func (n *Server) replaces(old *Server) {
	if n.ledger.offset < old.ledger.offset {
		n.node.Reached(rare.RedisBehind)
	}
}

// takeOver makes a replica a primary.
func (n *Server) takeOver(step int) {
	n.tick()
	n.unfollow()
	n.ledger.replace(n.ledger.data, n.ledger.data, origin{step: step, change: trace.KeyRestored})
}

// stepDown applies its fate to an old primary.
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
	n.repl.leader = to // in case it is restarted
}
