package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/faults"
)

// Toxify puts a toxic on each direction of each link between the two sides of a
// wire, at the end of its chain, on the connections that are there and on those
// to come. newToxic is called for each of them, with a seed of its own; the
// name says in the trace what they are. They are taken off after d, or at
// [World.Heal] where d is 0.
//
// Links between clients and nodes, s0 too, carry toxics. Between two Redis nodes
// there are none: a partition cuts that link, and [Config.Lag] slows it down. A
// wire that has only such links is an error, as is a name that nobody has.
func (w *World) Toxify(wire faults.Wire, name string, newToxic func(seed uint64) toxics.Toxic, d time.Duration) error {
	wire.Between, wire.And = w.atPresent(wire.Between), w.atPresent(wire.And)
	ways, err := w.waysOf(wire)
	if err != nil {
		return err
	}
	if err := checkLength(name, d); err != nil {
		return err
	}
	between := strings.Join(wire.Between, ",")
	w.record("world", "toxic", between, fmt.Sprintf("%s, %s %s", name, describeWire(wire), howLong(d)))
	var undo []func()
	for _, way := range ways {
		undo = append(undo, way.link.addToxic(way.dir, newToxic(w.toxicSeed(way, name))))
	}
	w.lasts(d, func() {
		w.record("world", "toxic-end", between, name)
		for _, f := range undo {
			f()
		}
	})
	return nil
}

// atPresent are names of the wire's ends, with that of the node to which it leads
// at present in place of [Primary].
func (w *World) atPresent(names []string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		if name == Primary {
			out[i] = w.primary.node.id
		}
	}
	return out
}

// way is one direction of a link.
type way struct {
	link *link
	dir  Direction
}

// waysOf finds the directions of the links between clients and nodes that a
// wire means.
func (w *World) waysOf(wire faults.Wire) ([]way, error) {
	for _, name := range slices.Concat(wire.Between, wire.And) {
		if _, isHost := w.hosts[name]; !isHost && w.procs[name] == nil {
			return nil, fmt.Errorf("there is nothing named %q in this world", name)
		}
	}
	w.completeLinks()
	var out []way
	for _, l := range w.sortedLinks() {
		p, h := l.p.name, l.host.name()
		switch {
		case joins(wire, p, h):
			out = append(out, waysForward(wire.Direction, l, Up)...)
		case joins(wire, h, p):
			out = append(out, waysForward(wire.Direction, l, Down)...)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no link there carries toxics: give clients on one side and nodes on the other; between Redis nodes there are only partitions and lag", describeWire(wire))
	}
	return out, nil
}

// joins reports whether a wire has one name on its first side and the other on
// its second.
func joins(wire faults.Wire, one, other string) bool {
	return slices.Contains(wire.Between, one) && !slices.Contains(wire.Between, other) &&
		(len(wire.And) == 0 || slices.Contains(wire.And, other))
}

// waysForward are the directions of one link that a wire means, where forward
// leads from the wire's first side to its second.
func waysForward(d faults.Direction, l *link, forward Direction) []way {
	backward := forward.reverse()
	switch d {
	case faults.DirectionForward:
		return []way{{l, forward}}
	case faults.DirectionBackward:
		return []way{{l, backward}}
	}
	return []way{{l, forward}, {l, backward}}
}

// toxicSeed draws the seed of a toxic: another one for each direction of each
// link, and for each time that it gets a toxic of that name.
func (w *World) toxicSeed(way way, name string) uint64 {
	where := way.link.where[way.dir]
	if w.force.toxified == nil {
		w.force.toxified = map[string]int{}
	}
	w.force.toxified[where+" "+name]++
	return w.draw("toxic").str(where).str(name).num(int64(w.force.toxified[where+" "+name])).value()
}

func describeWire(wire faults.Wire) string {
	others := "everything else"
	if len(wire.And) > 0 {
		others = strings.Join(wire.And, ",")
	}
	return fmt.Sprintf("between %s and %s (%s)", strings.Join(wire.Between, ","), others, cmp.Or(wire.Direction, faults.DirectionBoth))
}
