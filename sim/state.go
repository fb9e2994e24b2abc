package sim

// Flight is what is under way on one direction of a link.
type Flight struct {
	// From and To are the link's ends.
	From, To string
	// Bytes counts what was sent and has not arrived.
	Bytes int
}

// Flights are the directions with bytes under way, in the order of the links'
// names. For the world's goroutine.
func (w *World) Flights() []Flight {
	var out []Flight
	for _, l := range w.sortedLinks() {
		for _, dir := range []Direction{Up, Down} {
			f := Flight{}
			f.From, f.To = l.ends(dir)
			for _, c := range l.conns {
				f.Bytes += c.flows[dir].bytes
			}
			if f.Bytes > 0 {
				out = append(out, f)
			}
		}
	}
	return out
}

// Highest is the highest token that the fence of a resource remembers. For
// the world's goroutine.
func (s *Store) Highest(resource string) uint64 {
	if r := s.resources[resource]; r != nil {
		return r.fence.Highest
	}
	return 0
}

// Standing is what a Redis node is, and how far it is.
type Standing struct {
	// Node is its name.
	Node string
	// Role is "primary", "replica of r0" or "down".
	Role string
	// Offset is [RedisNode.Offset].
	Offset int64
}

// Standings are those of all Redis nodes, r0 and its replicas first. For the
// world's goroutine.
func (w *World) Standings() []Standing {
	var out []Standing
	for _, n := range w.everyNode() {
		out = append(out, Standing{n.id, n.Role(), n.Offset()})
	}
	return out
}

// Role is what the node is: "primary", "replica of r0", or "down".
func (n *RedisNode) Role() string {
	switch {
	case n.Down():
		return "down"
	case n.leader != nil:
		return "replica of " + n.leader.id
	}
	return "primary"
}

// Offset counts the effects of commands that the node has done or, as a
// replica, has got from its primary. It is 0 in a world without replicas and
// persistence.
func (n *RedisNode) Offset() int64 {
	if n.ledger == nil || n.ledger.only != nil {
		return 0
	}
	return n.ledger.offset
}
