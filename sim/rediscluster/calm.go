package rediscluster

// wakeBus lets the nodes tick and tell each other what they know.
func (s *Server) wakeBus() { s.group.wake() }

func (g *group) wake() {
	if g.awake {
		return
	}
	g.awake = true
	for _, s := range g.nodes {
		s.plan()
	}
}

// plan plans the next tick.
func (s *Server) plan() {
	life := s.life
	wait := cronPeriod - (s.node.Monotonic()-s.phase+cronPeriod)%cronPeriod
	s.node.After(wait, func() {
		s.node.WhenServing(func() {
			if s.life == life {
				s.cron()
				s.plan()
			}
		})
	})
}
