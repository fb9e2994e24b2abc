package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

// Server is one Redis server: miniredis, which runs one command at a time and
// expires keys by the clock of the server's machine. It speaks RESP2 and RESP3.
// r0 may have replicas, which follow it asynchronously (see [Server.Promote]),
// and every server may keep its keys over a crash (see [Persistence]). Its
// methods are for the world's goroutine.
//
// Differences from Redis: a subscriber may send only subscriptions and PING, also
// in RESP3, and gets a message that matches several of its patterns once;
// messages do not reach the subscribers of a replica. EVAL inside MULTI and
// EVAL_RO each run in a new Lua state. Scripts have no struct, cmsgpack and bit,
// and may not call blocking commands. Replicas and disks get no HyperLogLogs, and
// only the entries of streams. A snapshot and a full synchronisation take no
// time. docs/explanation/limits.md has smaller ones.
type Server struct {
	node   *sim.Node
	family *family
	data   *dataset
	lua    *luaEngine
	guard  writeGuard
	expiry *expiryCommands

	sessions []*session
	blocked  blockedCommands
	waits    ackWaits

	subscribed bool // it has had subscribers: see [Server.Still]

	runID string    // of the process, in a group with replicas
	ids   io.Reader // its run ids
	ended []func()  // see [Server.WhenEnds]

	cluster  Cluster  // nil for a server that is no node of a cluster
	running  *session // whose command is being carried out, in a cluster
	scripted bool     // the cluster is asked about a command of a script

	ledger *ledger // of its commands' effects; nil if not needed
	repl   role
	disk   disk
}

func newServer(node *sim.Node, f *family) *Server {
	n := &Server{node: node, family: f, data: newDataset(node, f.config.Reuse)}
	n.guard.server = n
	n.expiry = newExpiryCommands(n.data)
	n.data.mini.Server().SetPreHook(n.before)
	n.blocked.server = n
	n.waits.server = n
	n.lua = newLuaEngine(n, f.config.Reuse)
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

// before is called before each command of miniredis, also those of scripts. It
// reports whether it has replied.
func (n *Server) before(c *server.Peer, command string, args ...string) bool {
	if c == n.data.own || c == n.expiry.peer {
		return false
	}
	if n.cluster == nil && refuseCluster(c, command, args) || n.refuseInScript(c, command, args) ||
		n.guard.refuse(c, command) || n.correct(c, command, args) ||
		n.expiry.run(c, command, args) {
		return true
	}
	if connStateOf(c).inMulti && n.data.mistaken(command, args) {
		queueAsScript(c, n.data, command, args)
		return true
	}
	return false
}

// refuseCluster refuses the commands of Redis Cluster, which miniredis answers: a client
// would ask for slots, and find an address that leads nowhere.
func refuseCluster(c *server.Peer, command string, args []string) bool {
	switch {
	case command == "CLUSTER" && len(args) == 0:
		return false
	case command == "CLUSTER", command == "READONLY", command == "READWRITE", command == "ASKING":
		c.WriteError("ERR This instance has cluster support disabled")
		return true
	}
	return false
}

// tick sets miniredis to the machine's wall time, and expires keys.
func (n *Server) tick() {
	before, now := n.data.tick()
	if n.ledger != nil {
		n.ledger.advance(before, now)
	}
}

// Keys implements [sim.Keyed]: the keys of database 0 that clients see. A
// server that is down has none. The value is a string's value, or the key's
// type in parentheses.
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

// Crash implements [sim.Crasher]. What the server keeps is decided now: see
// [Persistence].
func (n *Server) Crash(mode faults.CrashMode) {
	n.tick()
	n.disk.crash(mode)
	n.repl.parted = nil
	for _, r := range n.repl.followers {
		r.abandon()
	}
	if mode == faults.CrashProcess {
		for _, f := range n.ended {
			f()
		}
	}
	n.data.mini.FlushAll()
	n.lua.flush()
	n.running = nil
	if n.ledger != nil {
		n.ledger.forget()
	}
}

// Kept implements [sim.Keeper].
func (n *Server) Kept() string { return strconv.Itoa(len(n.disk.kept)) + " keys kept" }

// Restart implements [sim.Restarter]: with the keys that its persistence has
// kept and that have not expired by its clock. Scripts, subscriptions and
// blocked commands are lost. A replica, and an old primary that was fenced or
// demoted, follows the current primary with a full synchronisation; the
// replicas of a restarted primary copy its keys, even if it has none.
func (n *Server) Restart(step int) {
	n.tick()
	n.renewRunID()
	n.replicationCron()
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
		n.sessions[0].close()
	}
	n.lua.close()
	n.family.config.Reuse.keepMini(n.data.mini)
}

// WatchKeys implements [sim.KeyWatcher], for keys of database 0.
func (n *Server) WatchKeys(keys []string) {
	n.family.watchKeys(keys)
	if n.ledger == nil && len(keys) > 0 {
		n.ledger = newLedger(n)
		n.ledger.only = n.family.watched
	}
}

// commit is for servers with or without a ledger.
func (n *Server) commit(why origin) {
	if n.ledger != nil {
		n.ledger.commit(why)
	}
}

// touch records the keys that a client's command may change: any of its
// arguments may be one. On a replica it changes none.
func (n *Server) touch(db int, args []string) {
	if n.ledger != nil && n.repl.leader == nil {
		n.ledger.touch(db, args)
	}
}

// record adds a command to the trace, and returns the event's number. A nil
// answer means that the client waits for it.
func (n *Server) record(s *session, request Request, answer []byte) int {
	e := trace.Exec{Conn: s.conn.Name(), Request: request}
	if answer != nil {
		e.Answer = RESP(answer)
	}
	return n.node.Record(s.conn.Client(), e)
}

// request is a command for the trace, with the title of its script.
func (n *Server) request(args []string) Request {
	r := Request{args: args}
	if len(args) > 1 && runsScript(args[0]) {
		r.script = n.lua.title(args[0], args[1])
	}
	return r
}

// noteSubscriber notes that a client subscribes, now or in a transaction.
func (n *Server) noteSubscriber(command string) {
	n.subscribed = n.subscribed || strings.EqualFold(command, "SUBSCRIBE") || strings.EqualFold(command, "PSUBSCRIBE")
}

// Still implements [sim.Still]: only subscribers have goroutines, which belong to miniredis.
func (n *Server) Still() bool { return !n.subscribed }

// Describe implements [sim.Describer].
func (n *Server) Describe(_ sim.Direction, b []byte) trace.Content { return RESP(b) }

// Role implements [sim.Ranked]: "primary", "replica of r0", or "down". The
// offset counts the effects of commands that the server has executed or, as a
// replica, has got from its primary. It is 0 in a world without replicas and
// persistence.
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

// namesScript reports whether a command's first argument is the SHA-1 of a script.
func namesScript(command string) bool {
	return strings.EqualFold(command, "EVALSHA") || strings.EqualFold(command, "EVALSHA_RO")
}

// dataset is miniredis with its time.
type dataset struct {
	node     *sim.Node
	mini     *miniredis.Miniredis
	shown    time.Duration // the machine's wall time at the last tick
	own      *server.Peer  // for the server's own commands
	ownReply bytes.Buffer  // replies to the server's own commands

	nested      *server.Peer // for those that it carries out while a script runs
	nestedReply bytes.Buffer
}

func newDataset(node *sim.Node, reuse *Reuse) *dataset {
	d := &dataset{node: node, mini: reuse.mini()}
	d.mini.SetTime(node.Now())
	d.mini.Seed(int(node.Draw("miniredis").Value() >> 33))
	d.own = server.NewPeer(bufio.NewWriterSize(&d.ownReply, 512))
	return d
}

// tick sets miniredis to the machine's wall time, and returns it with the
// previous one. miniredis stores the remaining TTL of a key, Redis the instant
// of its expiry: a clock that jumps back makes every key live longer, which
// FastForward does with a negative duration.
//
// A key expires when its TTL has passed, to the nanosecond, counted from the
// instant of the command. Redis counts whole milliseconds of its clock at both
// ends and expires a key when the current one is past the last one: a key lives
// up to 1 ms longer there, and never shorter.
func (d *dataset) tick() (before, now time.Duration) {
	before, now = d.shown, d.node.Wall()
	d.mini.FastForward(now - before) // also by 0: it drops keys that were set to expire in the past
	if now != before {
		d.mini.SetTime(d.node.Now())
		d.shown = now
	}
	return before, now
}

// ask runs one of the server's own commands in a database. The reply is valid
// until the next call.
func (d *dataset) ask(db int, args ...string) []byte {
	if connStateOf(d.own).db != db {
		d.mini.Server().Dispatch(d.own, []string{"SELECT", strconv.Itoa(db)})
		d.own.Flush()
	}
	d.ownReply.Reset()
	d.mini.Server().Dispatch(d.own, args)
	d.own.Flush()
	return d.ownReply.Bytes()
}
