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
