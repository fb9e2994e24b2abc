package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"locksim/faults"
)

// Promote makes a replica the primary: it goes on with the effects that it has
// applied by now, drops what has expired by its clock, and the name [Primary]
// leads to it, for everybody or for the clients that the fault names. What the
// old primary had not got through to it is lost. Scripts are not replicated:
// the new primary knows none but those that were sent to it.
//
// The old primary is fenced off: its connections are reset, new ones refused,
// as if its process had been killed. Or it goes on serving whoever is connected
// or still led there. Or it becomes a replica: it closes its clients'
// connections, refuses writes, and takes over all that the new primary has as
// soon as that gets there. Other replicas follow the new primary.
//
// A replica that is down cannot be promoted, and who is the primary already
// stays it: the trace says so. An unknown node or client is an error.
func (w *World) Promote(f faults.Failover) error {
	to, err := w.Node(cmp.Or(f.To, faults.FirstReplica))
	if err == nil && !slices.Contains(w.family, to) {
		err = fmt.Errorf("%s is not a replica of r0", to.id)
	}
	for _, c := range f.Clients {
		_, unknown := w.Process(c)
		err = cmp.Or(err, unknown)
	}
	if err != nil {
		return fmt.Errorf("fail over: %w", err)
	}
	old := w.primary.node
	if to.Down() || to == old {
		w.record("world", "no-promote", to.id, "it is "+to.Role())
		return nil
	}
	fate := cmp.Or(f.Old, faults.OldFenced)
	step := w.record("world", "promote", to.id, describePromotion(old, to, fate, f.Clients))
	to.takeOver(step)
	w.primary.move(w, to, f.Clients)
	old.stepDown(to, fate)
	w.regroup(to, old)
	return nil
}

func describePromotion(old, to *RedisNode, fate faults.OldPrimary, clients []string) string {
	text := fmt.Sprintf("old primary %s %s", old.id, fate)
	if len(clients) > 0 {
		text += ", for " + strings.Join(clients, ",")
	}
	if to.leader == old {
		text += fmt.Sprintf(", with %d of its %d effects", to.ledger.offset, old.ledger.offset)
	}
	return text
}

// takeOver makes a replica a primary.
func (n *RedisNode) takeOver(step int) {
	n.tick()
	n.unfollow()
	n.ledger.replace(n.ledger.data, n.ledger.data, origin{step: step, kind: KeyRestored})
}

// move lets the name lead to another node, for everybody or for some.
func (p *primary) move(w *World, to *RedisNode, told []string) {
	before := p.stale
	p.stale = map[string]*RedisNode{}
	for name := range w.procs {
		if len(told) > 0 && !slices.Contains(told, name) {
			p.stale[name] = cmp.Or(before[name], p.node)
		}
	}
	p.node = to
}

// stepDown is what becomes of an old primary.
func (n *RedisNode) stepDown(to *RedisNode, fate faults.OldPrimary) {
	if fate == faults.OldServing {
		return
	}
	n.unfollow()
	switch {
	case n.Down():
	case fate == faults.OldFenced:
		n.stop(killed)
		n.resetAll()
	default:
		for _, c := range n.conns() {
			c.finish()
		}
		n.orphanAll()
		n.follow(to).resync()
		return
	}
	n.leader = to // should it ever come back
	n.guardWrites()
}

// regroup lets all other replicas follow the new primary.
func (w *World) regroup(to, old *RedisNode) {
	for _, n := range w.family {
		if n != to && n != old && n.leader != nil {
			n.follow(to).resync()
		}
	}
}
