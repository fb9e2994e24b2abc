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
// wall clock of its own that drives expiry. It speaks RESP2 and RESP3. r0 may
// have replicas, which follow it asynchronously (see [World.Promote]), and every
// node may keep its keys over a crash (see [Persistence] and [World.Restart]).
// Its methods are for the world's goroutine.
//
// Where it is not Redis: TTL rounds down to seconds, Redis to the nearest.
// SET with PXAT or EXAT inside MULTI counts from when it was queued. A
// subscriber may send nothing but subscriptions and PING, also in RESP3, and
// gets a message that fits several of its patterns once; messages do not reach
// the subscribers of a replica. EVAL inside MULTI and EVAL_RO run in a fresh
// Lua state each. Scripts have no struct, cmsgpack and bit, and may not call
// blocking commands. Replicas and disks get no HyperLogLogs, and of streams the
// entries only. A snapshot and a full synchronisation take no time.
type RedisNode struct {
	w     *World
	id    string
	addr  string
	clock clock
	mini  *miniredis.Miniredis
	shown time.Duration // the node's wall time that miniredis knows
	lua   *luaEngine

	condition condition
	readOnly  int  // spells in which it refuses writes
	refused   bool // the command at hand, or one that it called, was refused as a write

	sessions []*redisSession
	blocked  []*blockedCommand // longest waiting first
	waits    []*ackWait
	aside    *server.Peer // for commands of the node's own
	answered bytes.Buffer // what they answered

	ledger    *ledger      // of what its commands do; nil where nobody wants to know
	leader    *RedisNode   // whom it is a replica of, nil for a primary
	source    *replication // from there, unless the node is down
	followers []*replication
	disk      disk
}

func newRedisNode(w *World, i int) *RedisNode {
	return makeRedisNode(w, "r"+strconv.Itoa(i), net.IPv4(10, 0, 0, byte(10+i)))
}

// newReplica makes r0a, r0b, …
func newReplica(w *World, i int) *RedisNode {
	return makeRedisNode(w, "r0"+string(rune('a'+i)), net.IPv4(10, 0, 0, byte(100+i)))
}

func makeRedisNode(w *World, id string, ip net.IP) *RedisNode {
	n := &RedisNode{w: w, id: id, mini: miniredis.NewMiniRedis()}
	n.addr = w.addHost(n, ip.String(), redisPort)
	if err := start(n.mini); err != nil {
		panic("sim: " + err.Error()) // it cannot fail in memory
	}
	n.mini.SetTime(w.start)
	n.mini.Seed(int(w.draw("miniredis").str(n.id).value() >> 33))
	n.aside = server.NewPeer(bufio.NewWriterSize(&n.answered, 512))
	n.lua = newLuaEngine(n)
	n.disk = disk{node: n, mode: w.cfg.Persistence, every: w.cfg.Snapshot}
	return n
}

func (n *RedisNode) name() string { return n.id }

// Name is r0, r1, …, or r0a, r0b, … for a replica of r0.
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
	n.clockChanged()
}

// DriftClock makes the node's clock run faster by so many parts per million,
// or slower where ppm is negative (F20); at -1,000,000 it stands still. It
// panics below that, and above 9,000,000.
func (n *RedisNode) DriftClock(ppm int64) {
	n.w.record("world", "clock-drift", n.id, strconv.FormatInt(ppm, 10)+" ppm")
	n.clock.drift(n.w.Now(), ppm)
	n.clockChanged()
}

// clockChanged plans anew what the node does at an instant of its clock.
func (n *RedisNode) clockChanged() {
	if n.ledger != nil && !n.Down() {
		n.ledger.replan()
	}
}

// tick brings miniredis to the node's wall time, and expires keys. miniredis
// keeps how long a key has left where Redis keeps until when: a clock that
// goes back makes every key live longer, which FastForward does with a
// negative duration.
//
// A key is gone when its TTL has passed, to the nanosecond, counted from the
// instant of the command. Redis counts whole milliseconds of its clock on both
// ends and expires a key when the present one is past the last one: a key
// lives up to 1 ms longer there, and never shorter.
func (n *RedisNode) tick() {
	now, before := n.clock.wall(n.w.Now()), n.shown
	n.mini.FastForward(now - before) // also by nothing: what was set to the past goes
	if now != before {
		n.mini.SetTime(n.w.start.Add(now))
		n.shown = now
	}
	if n.ledger != nil {
		n.ledger.advance(before, now)
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

// Keys are the keys of the node's database 0 now, in the order of their names:
// what clients see. A node that is down has none.
func (n *RedisNode) Keys() []Key {
	if n.Down() {
		return nil
	}
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

// ask runs a command of the node's own in one of its databases. The reply is
// valid until the next call.
func (n *RedisNode) ask(db int, args ...string) []byte {
	if connStateOf(n.aside).db != db {
		n.mini.Server().Dispatch(n.aside, []string{"SELECT", strconv.Itoa(db)})
		n.aside.Flush()
	}
	n.answered.Reset()
	n.mini.Server().Dispatch(n.aside, args)
	n.aside.Flush()
	return n.answered.Bytes()
}

// record adds a command to the trace, and returns the event's number.
func (n *RedisNode) record(client string, args []string, answer string) int {
	if n.w.cfg.Untraced {
		return 0
	}
	return n.w.record(n.id, "exec", client, n.describe(args)+" -> "+answer)
}

// describe is the command as the trace shows it; a script goes by its title.
func (n *RedisNode) describe(args []string) string {
	var s shown
	for i, a := range args {
		if i == 1 && runsScript(args[0]) {
			a = n.lua.title(args[0], a)
		}
		s.add([]byte(a))
	}
	return s.String()
}

// runsScript reports whether a command's first argument is a script or its
// SHA-1.
func runsScript(command string) bool {
	return len(command) >= len("EVAL") && strings.EqualFold(command[:4], "EVAL")
}

// close ends what clients have left behind, so that no goroutine is left.
func (n *RedisNode) close() {
	for len(n.sessions) > 0 {
		n.sessions[0].leave()
	}
	n.lua.close()
	n.mini.Close()
}
