package rediscluster

import "time"

// Nodes that are all well tell each other nothing new, some thirty times a second. So they stop while nothing can
// happen: the bus sleeps. A fault wakes it, and so does an operator. What the nodes would have told each other
// meanwhile, when each has heard which other one last, is then made up for, by the rules by which they would have.

// wakeBus wakes the bus.
func (s *Server) wakeBus() { s.group.wake() }

func (g *group) wake() {
	if g.awake {
		g.awakeSince = g.nodes[0].node.Virtual()
		return
	}
	g.makeUp()
	g.awake, g.awakeSince = true, g.nodes[0].node.Virtual()
	g.wakes++
	for _, s := range g.nodes {
		s.plan()
	}
}

// plan plans the next tick.
func (s *Server) plan() {
	life, wakes := s.life, s.group.wakes
	s.node.After(s.period-s.sinceTick(), func() {
		s.node.WhenServing(func() {
			if s.life != life || s.group.wakes != wakes || !s.group.awake {
				return
			}
			s.cron()
			if s.group.settle(); s.group.awake {
				s.plan()
			}
		})
	})
}

// sinceTick is the time since the latest tick, by the clock of the machine: 0 at one.
func (s *Server) sinceTick() time.Duration {
	return (s.node.Monotonic() - s.phase + s.period) % s.period
}

// awakeAtLeast is how long the bus is awake after a fault has begun or ended.
const awakeAtLeast = time.Second

// settle lets the bus sleep if nothing can happen.
func (g *group) settle() {
	now := g.nodes[0].node.Virtual()
	if now-g.awakeSince < awakeAtLeast || !g.calm() {
		return
	}
	g.awake, g.asleepSince = false, now
}

// calm reports whether nothing can happen before a fault, or an operator, changes something: all that run are connected
// and agree, and those that do not run have failed.
func (g *group) calm() bool {
	for _, s := range g.nodes {
		if s.node.Down() {
			continue
		}
		if s.node.Stalled() || !s.settled() {
			return false
		}
		for i := range s.view {
			if i != s.index && !s.agrees(&s.view[i]) {
				return false
			}
		}
	}
	return true
}

// settled reports whether the node has nothing to do by itself.
func (s *Server) settled() bool {
	if s.todo != (todo{}) || s.manual.end != 0 || s.moving {
		return false
	}
	if would, _ := s.serves(); would != s.ok {
		return false
	}
	me := s.me()
	return !me.slave || !s.view[me.primary].fail || s.view[me.primary].count == 0
}

// agrees reports whether the node is connected with another one, and takes it for what that does.
func (s *Server) agrees(p *peer) bool {
	if p.pfail {
		return false
	}
	if p.of.node.Down() {
		return p.fail
	}
	o := p.of.me()
	if p.fail || !p.linked || s.epoch != p.of.epoch || p.slave != o.slave || p.primary != o.primary ||
		!s.node.Peer(p.of.node).Whole() {
		return false
	}
	if o.slave {
		return true
	}
	mine, its := s.setOf(p), p.of.setOf(o)
	return p.configEpoch == o.configEpoch && (mine == its || *mine == *its)
}

// remembered is how long ago something can be that a node still knows of another one: after that it has pinged it.
func (g *group) remembered() time.Duration { return max(g.config.NodeTimeout, 10*time.Second) }

// makeUp is what the nodes have told each other while the bus slept.
func (g *group) makeUp() {
	ticks := int((g.nodes[0].node.Virtual() - g.asleepSince) / cronPeriod)
	g.asleepSince += time.Duration(ticks) * cronPeriod
	shown := min(ticks, int(g.remembered()/cronPeriod))
	if ticks > shown { // when each had heard which other one by then is drawn
		for _, s := range g.nodes {
			s.iteration += ticks - shown
			for i := range s.view {
				if p := &s.view[i]; !p.of.node.Down() {
					p.pong = s.now() - msOf(time.Duration(shown)*s.period) - ms(s.draw("heard", i, int(s.timeout()/2)))
				}
			}
		}
	}
	for ago := shown; ago > 0; ago-- {
		for _, s := range g.nodes {
			if s.iteration++; !s.node.Down() {
				s.tickBefore(msOf(time.Duration(ago-1)*s.period + s.sinceTick()))
			}
		}
	}
	for _, s := range g.nodes {
		for i := range s.view {
			if p := &s.view[i]; i != s.index && !p.of.node.Down() {
				p.offset = p.of.Offset()
			}
		}
	}
}

// tickBefore is a tick some time ago.
func (s *Server) tickBefore(ago ms) {
	at := s.now() - ago
	if s.iteration%10 == 0 {
		if p := s.oldest(); p != nil {
			s.met(p, ago)
		}
	}
	for i := range s.view {
		if p := &s.view[i]; i != s.index && p.pingSent == 0 && at-p.pong > s.timeout()/2 && !p.of.node.Down() {
			s.met(p, ago)
		}
	}
}

// met is a ping and its answer, some time ago.
func (s *Server) met(p *peer, ago ms) {
	o := p.of
	back := &o.view[s.index]
	p.pong, p.data, back.data = s.now()-ago, s.now()-ago, o.now()-ago
	for _, g := range s.gossipFor(p) {
		o.refresh(g, ago)
	}
	for _, g := range o.gossipFor(back) {
		s.refresh(g, ago)
	}
}

func (s *Server) refresh(g gossip, ago ms) {
	x := &s.view[g.about]
	if g.about != s.index && !g.failing && x.pingSent == 0 && g.pong <= s.now()-ago+500 && g.pong > x.pong {
		x.pong = g.pong
	}
}
