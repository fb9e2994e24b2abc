package sim

// ResetAll breaks every connection to the store.
func (s *Store) ResetAll() {
	for _, l := range s.w.sortedLinks() {
		if l.host == s {
			for _, c := range append([]*conn(nil), l.conns...) {
				c.reset()
			}
		}
	}
}
