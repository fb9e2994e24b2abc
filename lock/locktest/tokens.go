package locktest

// tokens increase with every grant of a resource, for any client, after any end of the last grant, and independently of
// other resources. A lock without tokens returns 0 each time.
func tokens(s *trial) {
	a, b := s.on(s.resource+":a"), s.on(s.resource+":b")
	last := map[*trial]uint64{}
	see := func(on *trial, g grant) grant {
		s.Helper()
		switch token := g.Token(); {
		case !s.Tokens && token != 0:
			s.Errorf("token %d from a lock that mints none", token)
		case s.Tokens && token <= last[on]:
			s.Errorf("token %d after token %d", token, last[on])
		default:
			last[on] = token
		}
		return g
	}
	for i := range 2 {
		s.release(see(a, a.acquire(i)))
		held := see(b, b.acquire(i))
		s.release(see(a, a.acquire(i)))
		s.release(held)
		s.release(see(b, b.acquire(1-i)))
	}
	gone := see(a, a.acquire(0))
	a.wantHeld(gone, 1)
	abandon(a, gone)
	s.release(see(a, a.acquire(1)))
}
