package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/faults"
	"locksim/sim/trace"
)

// Cut partitions the world as the fault says, until its time is up or
// [World.Heal]. Bytes that are under way when it begins still arrive; a dial
// waits until it ends.
func (f *Faults) Cut(p faults.Partition) error {
	if err := faults.Validate(p); err != nil {
		return fmt.Errorf("cut: %w", err)
	}
	net := f.w.net
	p.Bytes = cmp.Or(p.Bytes, faults.BytesHold)
	p.Direction = cmp.Or(p.Direction, faults.DirectionBoth)
	wanted := len(p.And)
	p.Between, p.And = net.present(p.Between), net.present(p.And)
	// "leader" may be one of them
	p.And = slices.DeleteFunc(p.And, func(name string) bool { return slices.Contains(p.Between, name) })
	if wanted > 0 && len(p.And) == 0 {
		return fmt.Errorf("cut: both sides are %s: give another one", strings.Join(p.Between, ", "))
	}
	paths, err := net.cutPaths(p)
	if err != nil {
		return err
	}
	between := strings.Join(p.Between, ",")
	f.record(between, trace.Cut{Between: p.Between, And: p.And, Bytes: string(p.Bytes), Direction: string(p.Direction)})
	var undo, heals []func()
	for _, x := range paths {
		heal := x.path.begin(f.felt)
		if p.Direction != faults.DirectionBackward {
			undo = append(undo, x.path.cut(x.forward, p.Bytes, f.felt))
		}
		if p.Direction != faults.DirectionForward {
			undo = append(undo, x.path.cut(x.forward.reverse(), p.Bytes, f.felt))
		}
		heals = append(heals, heal)
	}
	f.w.force.endAfter(p.For, func() {
		f.record(between, trace.Heal{Between: p.Between})
		for _, u := range undo {
			u()
		}
		for _, heal := range heals {
			heal()
		}
	})
	return nil
}

// path can be cut by a partition: a link between a process and a server, or
// between two servers.
type path interface {
	// ends are the sender and the receiver of a direction.
	ends(dir Direction) (from, to string)
	// begin begins a cut of either direction. heal is called when all of its
	// directions are undone.
	begin(felt func()) (heal func())
	cut(dir Direction, bytes faults.Bytes, felt func()) (undo func())
}

// cutPath is a path with the direction from the fault's Between to its And.
type cutPath struct {
	path    path
	forward Direction
}

// paths are all paths: links in the order of their names, then links between
// servers.
func (t *network) paths() []path {
	t.complete()
	var out []path
	for _, l := range t.sorted() {
		out = append(out, l)
	}
	for _, l := range t.peers {
		out = append(out, l)
	}
	return out
}

// cutPaths finds the paths between the two sides of a partition.
func (t *network) cutPaths(f faults.Partition) ([]cutPath, error) {
	if err := t.known(slices.Concat(f.Between, f.And)...); err != nil {
		return nil, fmt.Errorf("cut: %w", err)
	}
	other := func(name string) bool { return len(f.And) == 0 || slices.Contains(f.And, name) }
	var out []cutPath
	for _, p := range t.paths() {
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

func (l *link) begin(felt func()) (heal func()) {
	end := l.cuts.begin(felt)
	return func() {
		if end(); len(l.cuts) == 0 {
			l.releaseDials()
		}
	}
}

func (l *link) cut(dir Direction, bytes faults.Bytes, felt func()) (undo func()) {
	var toxic toxics.Toxic = &faults.Hold{}
	if bytes == faults.BytesDrop {
		toxic = &faults.Drop{}
	}
	return l.addToxic(dir, toxic, felt)
}

// releaseDials resumes the dials that have waited for the link, or for its
// server.
func (l *link) releaseDials() {
	held := l.held
	l.held = nil
	for _, d := range held {
		if !d.abandoned {
			d.start()
		}
	}
}

// Reset breaks every connection between a process and a server, as a middlebox
// does that has lost its state: both ends get ECONNRESET, and bytes unread or
// under way are lost. New connections can be opened at once. On a link without
// connections it does nothing.
func (f *Faults) Reset(process, server string) error {
	p, err := f.w.Process(process)
	if err != nil {
		return fmt.Errorf("reset %s to %s: %w", process, server, err)
	}
	h, ok := f.w.net.hosts[server]
	if !ok {
		return fmt.Errorf("reset %s to %s: %w", process, server, f.w.net.unknownHost(server))
	}
	for _, c := range slices.Clone(f.w.net.link(p, h.resolve(process)).conns) {
		if c.inFlight() > 0 {
			f.felt()
		}
		c.client.whenReset = f.felt
		c.reset()
	}
	return nil
}

// Toxify adds a toxic to each direction of each link between the two sides of a
// wire, at the end of its chain, for present and future connections. newToxic
// is called for each direction, with its own seed; the trace shows the name.
// The toxics are removed after d, or at [World.Heal] where d is 0.
//
// Only links between clients and servers carry toxics; a link between two
// servers can only be partitioned. A wire that has only such links is an error,
// as is an unknown name.
func (f *Faults) Toxify(wire faults.Wire, name string, newToxic func(seed uint64) toxics.Toxic, d time.Duration) error {
	net := f.w.net
	wire.Between, wire.And = net.present(wire.Between), net.present(wire.And)
	wire.Direction = cmp.Or(wire.Direction, faults.DirectionBoth)
	ways, err := net.ways(wire)
	if err != nil {
		return err
	}
	if err := checkLength(name, d); err != nil {
		return err
	}
	between := strings.Join(wire.Between, ",")
	f.record(between, trace.Toxic{Name: name, Between: wire.Between, And: wire.And, Direction: string(wire.Direction),
		For: d})
	var undo []func()
	for _, way := range ways {
		undo = append(undo, way.link.addToxic(way.dir, newToxic(f.w.force.toxicSeed(way, name)), f.felt))
	}
	f.w.force.endAfter(d, func() {
		f.record(between, trace.ToxicEnd{Name: name, Between: wire.Between})
		for _, u := range undo {
			u()
		}
	})
	return nil
}

// way is one direction of a link.
type way struct {
	link *link
	dir  Direction
}

// ways finds the directions of links between clients and servers that a wire
// covers.
func (t *network) ways(wire faults.Wire) ([]way, error) {
	if err := t.known(slices.Concat(wire.Between, wire.And)...); err != nil {
		return nil, err
	}
	t.complete()
	var out []way
	for _, l := range t.sorted() {
		p, h := l.ends(Up)
		switch {
		case joins(wire, p, h):
			out = append(out, waysForward(wire.Direction, l, Up)...)
		case joins(wire, h, p):
			out = append(out, waysForward(wire.Direction, l, Down)...)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%v: no link there carries toxics: give clients on one side and servers on the other; "+
			"between servers there are only partitions", wire)
	}
	return out, nil
}

// joins reports whether a wire has one name on its first side and the other on
// its second.
func joins(wire faults.Wire, one, other string) bool {
	return slices.Contains(wire.Between, one) && !slices.Contains(wire.Between, other) &&
		(len(wire.And) == 0 || slices.Contains(wire.And, other))
}

// waysForward are the directions of one link that a wire covers; forward goes
// from the wire's first side to its second.
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

// toxicSeed draws the seed of a toxic: a different one for each direction of a
// link, and for each toxic of that name on it.
func (f *inForce) toxicSeed(way way, name string) uint64 {
	where := way.link.where[way.dir]
	f.toxified[where+" "+name]++
	return f.w.chance.draw("toxic").Str(where).Str(name).Num(int64(f.toxified[where+" "+name])).Value()
}

// AddToxic adds a toxic to one direction of the link between a process and a
// server, at the end of the chain, for present and future connections. Any
// toxiproxy toxic works; its toxicity is 1. Attributes that draw from the
// global random source (jitter, size variation) should be 0. The returned
// function removes the toxic.
func (f *Faults) AddToxic(process, server string, dir Direction, toxic toxics.Toxic) (remove func(), err error) {
	p, err := f.w.Process(process)
	if err != nil {
		return nil, err
	}
	h, ok := f.w.net.hosts[server]
	if !ok {
		return nil, f.w.net.unknownHost(server)
	}
	return f.w.net.link(p, h.resolve("")).addToxic(dir, toxic, f.felt), nil
}
