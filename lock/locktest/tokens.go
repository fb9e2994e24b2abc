package locktest

// tokens increase with every grant of a resource, whoever it goes to, however the last one ended, and
// whatever happens to other resources. A lock without tokens says 0 each time.
func tokens(s *scene) {
	a, b := s.on(s.resource+":a"), s.on(s.resource+":b")
	last := map[*scene]uint64{}
	see := func(on *scene, g grant) grant {
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
