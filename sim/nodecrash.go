package sim

import "locksim/faults"

// condition is whether a node runs, and what its peers notice where it does
// not.
type condition int

const (
	up condition = iota
	// killed: its operating system lives on, closes its connections and refuses
	// new ones.
	killed
	// powerless: nobody hears of it. Dials wait.
	powerless
)

// dark reports whether a host answers nothing, not even a dial.
func dark(h host) bool {
	n, ok := h.(*RedisNode)
	return ok && n.condition == powerless
}

// Down reports whether the node has crashed or was fenced off, and has not
// come back.
func (n *RedisNode) Down() bool { return n.condition != up }

// crash ends the node's process, or the power of its machine. What it has kept
// is settled now: see [Persistence].
func (n *RedisNode) crash(mode faults.CrashMode) {
	if n.Down() {
		return
	}
	n.w.record("world", "crash", n.id, string(mode))
	if mode == faults.CrashPower {
		n.stop(powerless)
		return
	}
	n.stop(killed)
	for _, c := range n.conns() {
		c.finish()
	}
}

// stop takes the node out of the world: its memory is gone, and so is what it
// had not sent.
func (n *RedisNode) stop(c condition) {
	n.tick()
	n.condition = c
	n.disk.crash(c)
	n.w.dropStall(n)
	n.orphanAll()
	for _, r := range n.followers {
		r.abandon()
	}
	n.mini.FlushAll()
	n.ask(0, "SCRIPT", "FLUSH")
	if n.ledger != nil {
		n.ledger.forget()
	}
}

// conns are the node's connections, in the order of their links.
func (n *RedisNode) conns() []*conn {
	var out []*conn
	for _, l := range n.w.sortedLinks() {
		if l.host == host(n) {
			out = append(out, l.conns...)
		}
	}
	return out
}

// resetAll breaks every connection of the node.
func (n *RedisNode) resetAll() {
	for _, c := range n.conns() {
		c.reset()
	}
}

// orphanAll ends every session.
func (n *RedisNode) orphanAll() {
	for len(n.sessions) > 0 {
		n.sessions[0].orphan()
	}
}

// orphan ends a session whose server is no more. Its connection may live on for
// the client.
func (s *redisSession) orphan() {
	s.leave()
	s.orphaned = true
}

// stray is what becomes of what a client sends to a server that has gone: the
// machine resets the connection. One without power says nothing before it is
// back, when the client's machine sends again.
func (s *redisSession) stray() {
	s.strayed = true
	if s.node.condition != powerless && !s.bounced {
		s.bounced = true
		s.conn.bounce()
	}
}

// bounceStrays resets the connections over which clients have sent something
// while the machine had no power.
func (n *RedisNode) bounceStrays() {
	for _, c := range n.conns() {
		if s, ok := c.server.(*redisSession); ok && s.orphaned && s.strayed {
			s.stray()
		}
	}
}

// bounce resets the connection as soon as the client can hear of it.
func (c *conn) bounce() {
	k := c.class.Load()
	at := c.w.now() + max(c.link.delay(Down, "bounce", k.order), 1)
	c.w.queue.join(c.link.where[Down], "bounce "+k.name, at, c.reset)
}

// releaseDials lets the dials go on that wait for a node or for its links.
func (n *RedisNode) releaseDials() {
	for _, l := range n.w.sortedLinks() {
		if l.host == host(n) && l.cuts == 0 {
			l.releaseDials()
		}
	}
}
