package sim

import "locksim/sim/trace"

// groundTruth is the changes of the watched keys, and what is on the servers after them.
type groundTruth struct {
	changes []trace.KeyChange
	is      map[placedKey]ownedValue
	setters map[keyValue]string // the process whose request has set a value, so that a replica's is known too
}

type placedKey struct{ server, key string }

type keyValue struct{ key, value string }

// ownedValue is the value of a key, and the process that has set it.
type ownedValue struct{ value, of string }

// add adds a change, with what was there before it, as far as the server does not say that.
func (g *groundTruth) add(c trace.KeyChange) {
	if g.is == nil {
		g.is, g.setters = map[placedKey]ownedValue{}, map[keyValue]string{}
	}
	on := placedKey{c.Server, c.Key}
	before, was := g.is[on]
	switch {
	case c.Was != "":
	case was:
		c.Was, c.WasOf = before.value, before.of
		c.Over = c.Over || c.Change == trace.KeySet && c.Value != before.value
	case c.Left.End == trace.EndUnknown:
		c.Left.End = trace.EndNone
	}
	g.changes = append(g.changes, c)
	now := ownedValue{value: c.Value, of: c.By}
	switch {
	case c.Change == trace.KeyProlonged:
		return
	case c.Change == trace.KeySet:
		g.setters[keyValue{c.Key, c.Value}] = c.By
	case c.Value == "" && c.Members == nil:
		delete(g.is, on)
		return
	default: // it came from another server, or from a disk
		now.of = g.setters[keyValue{c.Key, c.Value}]
	}
	g.is[on] = now
}
