package sim

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/faults"
)

// Cut partitions the world as the fault says, until its time is up or
// [World.Heal]. Bytes that are under way when it begins still arrive; a dial
// waits for the end.
func (w *World) Cut(f faults.Partition) error {
	if err := f.Validate(); err != nil {
		return fmt.Errorf("cut: %w", err)
	}
	f.Bytes = cmp.Or(f.Bytes, faults.BytesHold)
	f.Direction = cmp.Or(f.Direction, faults.DirectionBoth)
	links, err := w.cutLinks(f)
	if err != nil {
		return err
	}
	w.record("world", "cut", strings.Join(f.Between, ","), describeCut(f))
	cut := &cut{w: w, fault: f}
	for _, c := range links {
		cut.add(c)
	}
	w.cuts = append(w.cuts, cut)
	if f.For > 0 {
		w.queue.add(w.now()+int64(f.For), cut.heal)
	}
	return nil
}

func describeCut(f faults.Partition) string {
	others := "everything else"
	if len(f.And) > 0 {
		others = strings.Join(f.And, ",")
	}
	return fmt.Sprintf("from %s, bytes: %s, direction: %s", others, f.Bytes, f.Direction)
}

// Heal ends every partition that is in force.
func (w *World) Heal() {
	for _, c := range w.cuts {
		c.heal()
	}
	w.cuts = nil
}

// cutLink is a link with the side on which the fault's Between stands.
type cutLink struct {
	link    *link
	forward Direction // from Between to And
}

// cutLinks finds the links between the two sides of a partition.
func (w *World) cutLinks(f faults.Partition) ([]cutLink, error) {
	side := map[string]bool{}
	for _, name := range f.Between {
		side[name] = true
	}
	other := map[string]bool{}
	for _, name := range f.And {
		other[name] = true
	}
	for _, name := range append(append([]string(nil), f.Between...), f.And...) {
		if _, isHost := w.hosts[name]; !isHost && w.procs[name] == nil {
			return nil, fmt.Errorf("cut %s: there is nothing of that name in this world", name)
		}
	}
	w.completeLinks()
	var out []cutLink
	for _, l := range w.sortedLinks() {
		p, h := l.p.name, l.host.name()
		switch {
		case side[p] && !side[h] && (len(other) == 0 || other[h]):
			out = append(out, cutLink{l, Up})
		case side[h] && !side[p] && (len(other) == 0 || other[p]):
			out = append(out, cutLink{l, Down})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("cut %v from %v: there is no link between them", f.Between, f.And)
	}
	return out, nil
}

// completeLinks makes the links that have not been used yet, so that a cut
// finds them all.
func (w *World) completeLinks() {
	for _, p := range w.procs {
		for _, n := range w.nodes {
			w.linkOf(p, n)
		}
		w.linkOf(p, w.store)
	}
}

// cut is a partition in force.
type cut struct {
	w      *World
	fault  faults.Partition
	links  []*link
	undo   []func()
	healed bool
}

func (c *cut) add(l cutLink) {
	l.link.cuts++
	c.links = append(c.links, l.link)
	forward, backward := l.forward, Up
	if forward == Up {
		backward = Down
	}
	if c.fault.Direction != faults.DirectionBackward {
		c.undo = append(c.undo, l.link.addToxic(forward, c.toxic()))
	}
	if c.fault.Direction != faults.DirectionForward {
		c.undo = append(c.undo, l.link.addToxic(backward, c.toxic()))
	}
}

func (c *cut) toxic() toxics.Toxic {
	if c.fault.Bytes == faults.BytesDrop {
		return &faults.Drop{}
	}
	return &faults.Hold{}
}

func (c *cut) heal() {
	if c.healed {
		return
	}
	c.healed = true
	c.w.record("world", "heal", strings.Join(c.fault.Between, ","), "")
	for _, f := range c.undo {
		f()
	}
	for _, l := range c.links {
		l.healed()
	}
}

// healed lets the dials go on that have waited for the link.
func (l *link) healed() {
	if l.cuts--; l.cuts > 0 {
		return
	}
	held := l.held
	l.held = nil
	for _, d := range held {
		if !d.abandoned {
			d.start()
		}
	}
}
