package sim

import (
	"bufio"
	"bytes"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// maintenanceOff keeps go-redis from asking the server for maintenance
// notifications, which would look names up.
func maintenanceOff() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// RedisNode is one Redis server: miniredis, fed one command at a time, with a
// wall clock of its own that drives expiry. Lua scripts run in a state that
// the node keeps. Its methods are for the world's goroutine.
type RedisNode struct {
	w     *World
	id    string
	addr  string
	clock clock
	mini  *miniredis.Miniredis
	shown time.Duration // the node's wall time that miniredis knows
	lua   *luaEngine
	down  bool
}

func newRedisNode(w *World, i int) *RedisNode {
	n := &RedisNode{w: w, id: "r" + strconv.Itoa(i), mini: miniredis.NewMiniRedis()}
	n.addr = w.addHost(n, net.IPv4(10, 0, 0, byte(10+i)).String(), redisPort)
	if c, err := n.mini.Dial(); err == nil { // starts it without a listener; it cannot fail
		_ = c.Close()
	}
	n.mini.SetTime(w.start)
	n.mini.Seed(int(w.draw("miniredis").str(n.id).value() >> 33))
	n.lua = newLuaEngine(n)
	return n
}

func (n *RedisNode) name() string { return n.id }

// Name is r0, r1, …
func (n *RedisNode) Name() string { return n.id }

// Address is where it is dialled.
func (n *RedisNode) Address() string { return n.addr }

// Now is the node's wall time.
func (n *RedisNode) Now() time.Time { return n.w.start.Round(0).Add(n.clock.wall(n.w.Now())) }

// JumpClock moves the node's wall clock forward, or back where d is negative.
// Redis keeps the instant at which a key expires: a jump forward expires keys
// early, a jump back late (F18, F19).
func (n *RedisNode) JumpClock(d time.Duration) {
	n.w.record("world", "clock-jump", n.id, d.String())
	n.clock.jump(d)
}

// DriftClock makes the node's clock run faster by so many parts per million,
// or slower where ppm is negative (F20).
func (n *RedisNode) DriftClock(ppm int64) {
	n.w.record("world", "clock-drift", n.id, strconv.FormatInt(ppm, 10)+" ppm")
	n.clock.drift(n.w.Now(), ppm)
}

// JumpClock moves the process's wall clock; its monotonic time is not
// touched, and neither is the lock that measures by it.
func (p *Process) JumpClock(d time.Duration) {
	p.w.record("world", "clock-jump", p.name, d.String())
	p.clock.jump(d)
}

// DriftClock makes both of the process's clocks run faster by so many parts
// per million, or slower where ppm is negative.
func (p *Process) DriftClock(ppm int64) {
	p.w.record("world", "clock-drift", p.name, strconv.FormatInt(ppm, 10)+" ppm")
	p.clock.drift(p.w.Now(), ppm)
}

// tick brings miniredis to the node's wall time. miniredis keeps how long a
// key has left where Redis keeps until when: a clock that goes back makes
// every key live longer, which FastForward does with a negative duration.
func (n *RedisNode) tick() {
	now := n.clock.wall(n.w.Now())
	if d := now - n.shown; d != 0 {
		n.mini.FastForward(d)
		n.mini.SetTime(n.w.start.Add(now))
		n.shown = now
	}
}

// Key is one key of a node.
type Key struct {
	Name string
	// TTL is what it has left on the node's clock; 0 means for ever.
	TTL time.Duration
	// Value is a string's value, or the key's type in parentheses.
	Value string
}

// Keys are the keys of the node's database 0 now, in the order of their names.
func (n *RedisNode) Keys() []Key {
	n.tick()
	db := n.mini.DB(0)
	var out []Key
	for _, name := range db.Keys() {
		k := Key{Name: name, TTL: db.TTL(name)}
		if v, err := db.Get(name); err == nil {
			k.Value = v
		} else {
			k.Value = "(" + db.Type(name) + ")"
		}
		out = append(out, k)
	}
	return out
}

func (n *RedisNode) close() { n.mini.Close() }

func (n *RedisNode) accept(c *conn) session {
	if n.down {
		return nil
	}
	s := &redisSession{node: n, conn: c}
	s.peer = server.NewPeer(bufio.NewWriter(s))
	return s
}

// redisSession is one client's connection to a node.
type redisSession struct {
	node       *RedisNode
	conn       *conn
	peer       *server.Peer
	in         []byte
	reply      bytes.Buffer // what the command at hand has answered
	replying   bool
	inMulti    bool
	subscribed bool
	busy       bool // a blocking command is waiting
	gone       bool
}

// Write takes what miniredis answers: into the reply of the command at hand,
// or at once, when a message is published to a subscriber.
func (s *redisSession) Write(b []byte) (int, error) {
	if s.replying {
		return s.reply.Write(b)
	}
	s.conn.send(b)
	return len(b), nil
}

func (s *redisSession) data(b []byte) {
	s.in = append(s.in, b...)
	s.serve()
}

// serve runs the commands that have arrived, one after another.
func (s *redisSession) serve() {
	for !s.busy && !s.gone {
		args, n, err := parseCommand(s.in)
		if err != nil {
			s.peer.WriteError(err.Error())
			s.peer.Flush()
			s.conn.finish()
			s.gone = true
			return
		}
		if n == 0 {
			return
		}
		s.in = s.in[n:]
		if len(args) > 0 {
			s.run(args)
		}
	}
}

func (s *redisSession) run(args []string) {
	s.node.tick()
	if blocks(args) && !s.inMulti {
		s.runBlocking(args)
		return
	}
	s.replying = true
	s.dispatch(args)
	s.peer.Flush()
	s.replying = false
	s.answer(args)
	if s.peer.Closed() {
		s.conn.finish()
		s.gone = true
	}
}

func (s *redisSession) answer(args []string) {
	if s.reply.Len() == 0 {
		return
	}
	reply := s.reply.Bytes()
	if !s.node.w.cfg.Untraced {
		s.node.w.record(s.node.id, "exec", s.conn.link.p.name, s.node.describe(args)+" -> "+readable(reply))
	}
	s.conn.send(reply)
	s.reply.Reset()
}

// dispatch gives a command to whoever runs it.
func (s *redisSession) dispatch(args []string) {
	name := strings.ToUpper(args[0])
	switch {
	case s.inMulti:
	case s.node.lua.handles(name):
		s.node.lua.run(s.peer, name, args[1:])
		return
	case name == "SCRIPT":
		s.node.lua.follow(args[1:])
	}
	s.remember(name)
	s.node.mini.Server().Dispatch(s.peer, args)
}

func (s *redisSession) remember(name string) {
	switch name {
	case "MULTI":
		s.inMulti = true
	case "EXEC", "DISCARD":
		s.inMulti = false
	case "SUBSCRIBE", "PSUBSCRIBE":
		s.subscribed = true
	}
}

// runBlocking runs a command that may wait without keeping the node from
// other clients; this client's further commands wait.
func (s *redisSession) runBlocking(args []string) {
	s.busy, s.replying = true, true
	go func() {
		s.node.mini.Server().Dispatch(s.peer, args)
		s.peer.Flush()
		s.node.w.out.post(entry{where: s.node.id, rank: rankNode, conn: s.conn, commit: func() {
			s.busy, s.replying = false, false
			s.answer(args)
			s.serve()
		}})
	}()
}

// blocks reports whether a command may wait for data.
func blocks(args []string) bool {
	switch strings.ToUpper(args[0]) {
	case "BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP":
		return true
	case "XREAD", "XREADGROUP":
		for _, a := range args {
			if strings.EqualFold(a, "BLOCK") {
				return true
			}
		}
	}
	return false
}

// describe is the command as the trace shows it; a script goes by the title
// in its first line, if it has one.
func (n *RedisNode) describe(args []string) string {
	shown := args
	if len(args) > 2 && n.lua.handles(strings.ToUpper(args[0])) {
		shown = append([]string{args[0], n.lua.title(args[1])}, args[2:]...)
	}
	s := strings.Join(shown, " ")
	if len(s) > shownBytes {
		s = s[:shownBytes] + "…"
	}
	return strings.ReplaceAll(s, "\n", " ")
}

func (s *redisSession) eof() {
	s.leave()
	s.conn.finish()
}

func (s *redisSession) reset() { s.leave() }

// leave ends what the client has left behind in miniredis: its subscriptions
// and a blocking command.
func (s *redisSession) leave() {
	s.gone = true
	s.peer.Close()
	if s.subscribed {
		s.replying = true
		s.node.mini.Server().Dispatch(s.peer, []string{"UNSUBSCRIBE"})
		s.node.mini.Server().Dispatch(s.peer, []string{"PUNSUBSCRIBE"})
	}
}
