package sim

import (
	"slices"

	"locksim/faults"
	"locksim/sim/trace"
)

// condition is whether a server runs, and how its machine responds if it does
// not.
type condition int

const (
	up condition = iota
	// killed: the operating system still runs, closes its connections and
	// refuses new ones.
	killed
	// powerless: the machine does not respond. Dials wait.
	powerless
)

// crashServer ends a server's process, or the power of its machine.
func (f *Faults) crashServer(n *Node, mode faults.CrashMode) {
	if n.Down() {
		return
	}
	n.Strike(trace.Crash{Mode: string(mode)})
	n.used.begin(f.felt)
	if mode == faults.CrashPower {
		n.stop(powerless, mode)
		return
	}
	n.stop(killed, mode)
	for _, c := range n.w.net.connsOf(n) {
		c.finish()
	}
}

// stop ends the server's process and its sessions.
func (n *Node) stop(c condition, mode faults.CrashMode) {
	if s, ok := n.server.(Crasher); ok {
		s.Crash(mode)
	}
	n.state = c
	n.timers = nil
	n.w.force.dropStall(n)
	n.orphanAll()
}

// restartServer starts a crashed server again.
func (f *Faults) restartServer(n *Node) {
	n.state = up
	n.lives++
	var r trace.Restart
	if k, ok := n.server.(Keeper); ok {
		r.Kept = k.Kept()
	}
	step := n.Strike(r)
	n.used.begin(f.felt)
	if s, ok := n.server.(Restarter); ok {
		s.Restart(step)
	} else {
		n.replaceServer()
	}
	n.w.net.bounceStrays(n)
	n.w.net.releaseDials(n)
}

// replaceServer creates the server anew. It has no data, but it is the same
// machine: a fault that makes it refuse writes is still in force, and its watched
// keys are still watched.
func (n *Node) replaceServer() {
	if s, ok := n.server.(Closer); ok {
		s.Close()
	}
	n.server = n.newServer(n)
	if s, ok := n.server.(KeyWatcher); ok && len(n.w.watched) > 0 {
		s.WatchKeys(slices.Clone(n.w.watched))
	}
	if s, ok := n.server.(WriteRefuser); ok && len(*n.w.force.readOnlyOf(n)) > 0 {
		s.RefuseWrites(n.w.force.readOnlyOf(n).felt)
	}
}

// connsOf are the connections of a server, in the order of their links.
func (t *network) connsOf(n *Node) []*conn {
	var out []*conn
	for _, l := range t.sorted() {
		if l.node == n {
			out = append(out, l.conns...)
		}
	}
	return out
}

// Connections are the numbers of connections that the processes have open to the server, by the name of the process;
// nil if none has any. A process that has ended has none.
func (n *Node) Connections() map[string]int {
	var out map[string]int
	for _, c := range n.w.net.connsOf(n) {
		if c.dead || c.flows[Up].ended || c.link.p.Crashed() {
			continue
		}
		if out == nil {
			out = map[string]int{}
		}
		out[c.link.p.name]++
	}
	return out
}

// orphanAll ends every session.
func (n *Node) orphanAll() {
	for _, s := range slices.Clone(n.conns) {
		s.orphan()
	}
	n.conns = nil
}

// bounceStrays resets the connections on which clients have sent bytes while
// the server's machine had no power.
func (t *network) bounceStrays(n *Node) {
	for _, c := range t.connsOf(n) {
		if c.server.orphaned && c.server.strayed {
			c.server.stray()
		}
	}
}

// bounce resets the connection after the latency to the client.
func (c *conn) bounce() {
	k := c.class.Load()
	at := c.w.time.now() + max(c.link.delay(Down, "bounce", k.order), 1)
	c.w.time.queue.join(c.link.where[Down], "bounce "+k.name, at, c.reset)
}

// releaseDials resumes the dials that wait for a server or for its links.
func (t *network) releaseDials(n *Node) {
	for _, l := range t.sorted() {
		if l.node == n && len(l.cuts) == 0 {
			l.releaseDials()
		}
	}
}
