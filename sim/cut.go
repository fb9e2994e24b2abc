package sim

import (
	"cmp"
	"fmt"
	"slices"
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
	f.Between, f.And = w.machines(f.Between), w.machines(f.And)
	paths, err := w.cutPaths(f)
	if err != nil {
		return err
	}
	w.record("world", "cut", strings.Join(f.Between, ","), describeCut(f))
	cut := &cut{w: w, fault: f}
	for _, p := range paths {
		cut.add(p)
	}
	w.lasts(f.For, cut.heal)
	return nil
}

func describeCut(f faults.Partition) string {
	others := "everything else"
	if len(f.And) > 0 {
		others = strings.Join(f.And, ",")
	}
	return fmt.Sprintf("from %s, bytes: %s, direction: %s", others, f.Bytes, f.Direction)
}

// Heal ends every fault that is in force for a time or until it is healed:
// partitions, and whatever else lasts. It brings back nobody who has crashed.
func (w *World) Heal() { w.endSpells() }

// path is what a partition can cut: a link between a process and a node, or
// one between two nodes.
type path interface {
	// ends are the sender and the receiver of a direction.
	ends(dir Direction) (from, to string)
	begin() // of a cut in either direction
	cut(dir Direction, bytes faults.Bytes) (undo func())
	healed() // when all directions of a cut are undone
}

// cutPath is a path with the direction from the fault's Between to its And.
type cutPath struct {
	path    path
	forward Direction
}

// paths are all that can be cut, in the order of their names.
func (w *World) paths() []path {
	w.completeLinks()
	var out []path
	for _, l := range w.sortedLinks() {
		out = append(out, l)
	}
	for _, l := range w.wires {
		out = append(out, l)
	}
	return out
}

// cutPaths finds the paths between the two sides of a partition.
func (w *World) cutPaths(f faults.Partition) ([]cutPath, error) {
	for _, name := range slices.Concat(f.Between, f.And) {
		if _, isHost := w.hosts[name]; !isHost && w.procs[name] == nil {
			return nil, fmt.Errorf("cut %s: there is nothing of that name in this world", name)
		}
	}
	other := func(name string) bool { return len(f.And) == 0 || slices.Contains(f.And, name) }
	var out []cutPath
	for _, p := range w.paths() {
		a, b := p.ends(Up)
		inA, inB := slices.Contains(f.Between, a), slices.Contains(f.Between, b)
		switch {
		case inA && !inB && other(b):
			out = append(out, cutPath{p, Up})
		case inB && !inA && other(a):
			out = append(out, cutPath{p, Down})
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
		for _, n := range w.everyNode() {
			w.linkOf(p, n)
		}
		w.linkOf(p, w.store)
	}
}

// cut is a partition in force.
type cut struct {
	w     *World
	fault faults.Partition
	paths []path
	undo  []func()
}

func (c *cut) add(p cutPath) {
	p.path.begin()
	c.paths = append(c.paths, p.path)
	if c.fault.Direction != faults.DirectionBackward {
		c.undo = append(c.undo, p.path.cut(p.forward, c.fault.Bytes))
	}
	if c.fault.Direction != faults.DirectionForward {
		c.undo = append(c.undo, p.path.cut(p.forward.reverse(), c.fault.Bytes))
	}
}

func (c *cut) heal() {
	c.w.record("world", "heal", strings.Join(c.fault.Between, ","), "")
	for _, f := range c.undo {
		f()
	}
	for _, p := range c.paths {
		p.healed()
	}
}

func (l *link) begin() { l.cuts++ }

func (l *link) cut(dir Direction, bytes faults.Bytes) (undo func()) {
	var toxic toxics.Toxic = &faults.Hold{}
	if bytes == faults.BytesDrop {
		toxic = &faults.Drop{}
	}
	return l.addToxic(dir, toxic)
}

func (l *link) healed() {
	if l.cuts--; l.cuts == 0 {
		l.releaseDials()
	}
}

// releaseDials lets the dials go on that have waited for the link, or for the
// node behind it.
func (l *link) releaseDials() {
	held := l.held
	l.held = nil
	for _, d := range held {
		if !d.abandoned {
			d.start()
		}
	}
}
