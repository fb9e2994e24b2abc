package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

// Server is one Redis server: miniredis, fed one command at a time, with the clock
// of its machine that drives expiry. It speaks RESP2 and RESP3. r0 may have
// replicas, which follow it asynchronously (see [Server.Promote]), and every server
// may keep its keys over a crash (see [Persistence]). Its methods are for the
// world's goroutine.
//
// Where it is not Redis: TTL rounds down to seconds, Redis to the nearest.
// SET with PXAT or EXAT inside MULTI counts from when it was queued. A
// subscriber may send nothing but subscriptions and PING, also in RESP3, and
// gets a message that fits several of its patterns once; messages do not reach
// the subscribers of a replica. EVAL inside MULTI and EVAL_RO run in a fresh
// Lua state each. Scripts have no struct, cmsgpack and bit, and may not call
// blocking commands. Replicas and disks get no HyperLogLogs, and of streams the
// entries only. A snapshot and a full synchronisation take no time.
type Server struct {
	node   *sim.Node
	family *family
	data   *dataset
	lua    *luaEngine
	guard  writeGuard

	sessions []*session
	blocked  blockedCommands
	waits    ackWaits

	ledger *ledger // of what its commands do; nil where nobody wants to know
	repl   role
	disk   disk
}

func newServer(node *sim.Node, f *family) *Server {
	n := &Server{node: node, family: f, data: newDataset(node)}
	n.guard.server = n
	n.blocked.server = n
	n.waits.server = n
	n.lua = newLuaEngine(n, f.config.Scripts)
	n.disk = disk{server: n, mode: f.config.Persistence, every: f.config.Snapshot}
	n.repl.server = n
	return n
}

// On finds a Redis server of a world by its name: r0, r1, …, a replica such as
// r0a, or [Primary]. The error names the servers of the world.
func On(w *sim.World, name string) (*Server, error) {
	node, err := w.Node(name)
	if err != nil {
		return nil, err
	}
	s, ok := node.Server().(*Server)
	if !ok {
		return nil, fmt.Errorf("%s is no Redis server", name)
	}
	return s, nil
}

// Name is r0, r1, …, or r0a, r0b, … for a replica of r0.
func (n *Server) Name() string { return n.node.Name() }

// Node is the machine on which it runs.
func (n *Server) Node() *sim.Node { return n.node }

// tick brings miniredis to the machine's wall time, and expires keys.
func (n *Server) tick() {
	before, now := n.data.tick()
	if n.ledger != nil {
		n.ledger.advance(before, now)
	}
}

// Keys implements [sim.Keyed]: the keys of database 0, what clients see. A server
// that is down has none. The value is a string's value, or the key's type in
// parentheses.
func (n *Server) Keys() []trace.Key {
	if n.node.Down() {
		return nil
	}
	n.tick()
	db := n.data.mini.DB(0)
	var out []trace.Key
	for _, name := range db.Keys() {
		k := trace.Key{Name: name, TTL: db.TTL(name)}
		if v, err := db.Get(name); err == nil {
			k.Value = v
		} else {
			k.Value = "(" + db.Type(name) + ")"
		}
		out = append(out, k)
	}
	return out
}

// ClockChanged implements [sim.ClockFollower]. Redis keeps the instant at which a
// key expires: a jump forward expires keys early, a jump back late (F18, F19).
func (n *Server) ClockChanged() {
	if n.ledger != nil {
		n.ledger.replan()
	}
}

// Crash implements [sim.Crasher]. What the server has kept is settled now: see
// [Persistence].
func (n *Server) Crash(mode faults.CrashMode) {
	n.tick()
	n.disk.crash(mode)
	for _, r := range n.repl.followers {
		r.abandon()
	}
	n.data.mini.FlushAll()
	n.lua.forget()
	if n.ledger != nil {
		n.ledger.forget()
	}
}

// Kept implements [sim.Keeper].
func (n *Server) Kept() string { return strconv.Itoa(len(n.disk.kept)) + " keys kept" }

// Restart implements [sim.Restarter]: with what its persistence has kept and its
// clock has not let expire meanwhile. It knows no scripts, no subscriptions and
// nobody who waits. A replica, and an old primary that was fenced or demoted,
// follows the present primary with a full synchronisation; the replicas of a
// primary that comes back take over what it has now, be it nothing.
func (n *Server) Restart(step int) {
	n.tick()
	if l := n.ledger; l != nil {
		l.replace(n.disk.kept, l.past, origin{step: step, change: trace.KeyRestored})
	}
	if n.repl.leader != nil {
		n.follow(n.repl.leader).resync()
	}
	for _, r := range n.repl.followers {
		r.resync()
	}
}

// Close implements [sim.Closer].
func (n *Server) Close() {
	for len(n.sessions) > 0 {
		n.sessions[0].leave()
	}
	n.lua.close()
	n.data.mini.Close()
}

// WatchKeys implements [sim.KeyWatcher], for keys of database 0.
func (n *Server) WatchKeys(keys []string) {
	n.family.watch(keys)
	if n.ledger == nil && len(keys) > 0 {
		n.ledger = newLedger(n)
		n.ledger.only = n.family.watched
	}
}

// settle is for servers with or without a ledger.
func (n *Server) settle(why origin) {
	if n.ledger != nil {
		n.ledger.settle(why)
	}
}

// touch notes the keys that a client's command may change: any of its arguments
// may be one. On a replica it changes nothing.
func (n *Server) touch(db int, args []string) {
	if n.ledger != nil && n.repl.leader == nil {
		n.ledger.touch(db, args)
	}
}

// record adds a command to the trace, and returns the event's number. Without an
// answer the client has to wait for it.
func (n *Server) record(s *session, args []string, answer []byte) int {
	e := trace.Exec{Conn: s.conn.Name(), Request: n.request(args)}
	if answer != nil {
		e.Answer = RESP(answer)
	}
	return n.node.Record(s.conn.Client(), e)
}

// request is a command as the trace shows it; a script goes by its title.
func (n *Server) request(args []string) Request {
	r := Request{args: args}
	if len(args) > 1 && runsScript(args[0]) {
		r.script = n.lua.title(args[0], args[1])
	}
	return r
}

// Describe implements [sim.Describer].
func (n *Server) Describe(_ sim.Direction, b []byte) trace.Content { return RESP(b) }

// Role implements [sim.Ranked]: "primary", "replica of r0", or "down". The offset
// counts the effects of commands that the server has done or, as a replica, has
// got from its primary. It is 0 in a world without replicas and persistence.
func (n *Server) Role() (role string, offset int64) {
	if n.ledger != nil && n.ledger.only == nil {
		offset = n.ledger.offset
	}
	switch {
	case n.node.Down():
		return "down", offset
	case n.repl.leader != nil:
		return "replica of " + n.repl.leader.Name(), offset
	}
	return "primary", offset
}

// runsScript reports whether a command's first argument is a script or its
// SHA-1.
func runsScript(command string) bool {
	return len(command) >= len("EVAL") && strings.EqualFold(command[:4], "EVAL")
}

// dataset is miniredis with the time that it knows.
type dataset struct {
	node     *sim.Node
	mini     *miniredis.Miniredis
	shown    time.Duration // the machine's wall time that miniredis knows
	aside    *server.Peer  // for commands of the server's own
	answered bytes.Buffer  // what they answered
}

func newDataset(node *sim.Node) *dataset {
	d := &dataset{node: node, mini: miniredis.NewMiniRedis()}
	if err := start(d.mini); err != nil {
		panic("redis: " + err.Error()) // it cannot fail in memory
	}
	d.mini.SetTime(node.Now())
	d.mini.Seed(int(node.Draw("miniredis").Value() >> 33))
	d.aside = server.NewPeer(bufio.NewWriterSize(&d.answered, 512))
	return d
}

// tick brings miniredis to the machine's wall time, and returns it with the one
// before. miniredis keeps how long a key has left where Redis keeps until when: a
// clock that goes back makes every key live longer, which FastForward does with a
// negative duration.
//
// A key is gone when its TTL has passed, to the nanosecond, counted from the
// instant of the command. Redis counts whole milliseconds of its clock on both
// ends and expires a key when the present one is past the last one: a key
// lives up to 1 ms longer there, and never shorter.
func (d *dataset) tick() (before, now time.Duration) {
	before, now = d.shown, d.node.Wall()
	d.mini.FastForward(now - before) // also by nothing: what was set to the past goes
	if now != before {
		d.mini.SetTime(d.node.Now())
		d.shown = now
	}
	return before, now
}

// ask runs a command of the server's own in one of its databases. The reply is
// valid until the next call.
func (d *dataset) ask(db int, args ...string) []byte {
	if connStateOf(d.aside).db != db {
		d.mini.Server().Dispatch(d.aside, []string{"SELECT", strconv.Itoa(db)})
		d.aside.Flush()
	}
	d.answered.Reset()
	d.mini.Server().Dispatch(d.aside, args)
	d.aside.Flush()
	return d.answered.Bytes()
}
