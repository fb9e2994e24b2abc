package redis_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
)

// theatre is where a play of commands and disasters is given: r0 and its
// replica r0a, in the world, or as two real servers.
type theatre interface {
	do(node string, args ...any) (any, error)
	caughtUp()                          // waits until r0a has all that r0 has
	isolate()                           // r0a hears no more of r0
	kill(node string)                   // as kill -9 does
	restart(node string)                // and waits until it answers
	promote(old faults.OldPrimary)      // r0a; a demoted r0 is up to date afterwards
	snapshot()                          // of r0, where there are any
	pass(d time.Duration)               // lets time pass for the keys of r0
	evict(policy faults.EvictionPolicy) // one key of r0
	// idle gives r0 a key that nobody has used for so many seconds. Begin with
	// the longest, in steps of 10; a TTL is in ms, 0 for ever.
	idle(key string, seconds, ttl int, v any)
}

// stage is a play that is being given, with a record of what was said.
type stage struct {
	theatre
	said []string
}

// say sends a command, and notes it with its answer. A time that is left is
// rounded up to tens of seconds.
func (s *stage) say(node, line string) {
	s.note(node, line, asArgs(line)...)
}

func (s *stage) note(node, title string, args ...any) {
	v, err := s.do(node, args...)
	if list, ok := v.([]any); ok && (args[0] == "SMEMBERS" || args[0] == "KEYS") {
		slices.SortFunc(list, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	answer := render(v, err)
	if strings.HasPrefix(title, "PTTL") {
		if ms, err := strconv.Atoi(answer); err == nil && ms > 0 {
			answer = fmt.Sprintf("up to %d s", (ms+9_999)/10_000*10)
		}
	}
	answer, _, _ = strings.Cut(answer, " script: ") // which script it was, real servers say too
	s.said = append(s.said, fmt.Sprintf("%s: %s -> %s", node, title, answer))
}

// until sends a command again and again, up to an answer.
func (s *stage) until(node, line, answer string) {
	for range 5000 {
		if render(s.do(node, asArgs(line)...)) == answer {
			s.said = append(s.said, fmt.Sprintf("%s: %s -> %s in the end", node, line, answer))
			return
		}
		s.pass(2 * time.Millisecond)
	}
	s.said = append(s.said, fmt.Sprintf("%s: %s -> never %s", node, line, answer))
}

// dump notes every key of a node: type, value and expiry.
func (s *stage) dump(node string) {
	s.say(node, "KEYS *")
	keys := strings.Fields(strings.Trim(s.said[len(s.said)-1][len(node+": KEYS * -> "):], "[]"))
	for _, key := range keys {
		kind := render(s.do(node, "TYPE", key))
		read := map[string]string{
			"string": "GET %s", "hash": "HGETALL %s", "list": "LRANGE %s 0 -1", "set": "SMEMBERS %s",
			"zset": "ZRANGE %s 0 -1 WITHSCORES", "stream": "XRANGE %s - +",
		}[kind]
		s.say(node, fmt.Sprintf(read, key))
		s.say(node, "PTTL "+key)
	}
}

// compare gives a play in the world and on real servers, and compares what was
// said.
func compare(t *testing.T, servers simredis.Servers, play func(s *stage)) {
	t.Helper()
	servers.Replicas, servers.Snapshot = 1, betweenSnapshots
	var world *stage
	withClient(t, with(servers), func(c *client) {
		world = &stage{theatre: &worldTheatre{c: c, clients: map[string]*redis.Client{}}}
		play(world)
	})
	live := &stage{theatre: newLiveTheatre(t, cmp.Or(servers.Persistence, simredis.PersistNone))}
	play(live)
	if diff := gocmp.Diff(live.said, world.said); diff != "" {
		t.Errorf("what Redis says, and what the world says (-Redis +world):\n%s", diff)
	}
}

// betweenSnapshots is how often the world's nodes take one in these plays.
const betweenSnapshots = 50 * time.Millisecond

// worldTheatre gives a play in the world.
type worldTheatre struct {
	c       *client
	clients map[string]*redis.Client
}

func (w *worldTheatre) do(node string, args ...any) (any, error) {
	if w.clients[node] == nil {
		w.clients[node] = simredis.Client(w.c.p, node)
	}
	return w.clients[node].Do(w.c.ctx, args...).Result()
}

func (w *worldTheatre) caughtUp()            { w.pass(100 * time.Millisecond) }
func (w *worldTheatre) pass(d time.Duration) { time.Sleep(d) }
func (w *worldTheatre) restart(node string)  { w.c.world(restart(node)) }

func (w *worldTheatre) isolate() {
	w.c.world(func(w *sim.World) error {
		return w.Faults().Cut(faults.Partition{Between: []string{"r0"}, And: []string{"r0a"}, Bytes: faults.BytesDrop})
	})
}

func (w *worldTheatre) kill(node string) {
	w.c.world(crash(node, faults.CrashProcess))
	delete(w.clients, node)
}

func (w *worldTheatre) promote(old faults.OldPrimary) {
	w.c.world(promote(faults.Failover{Old: old}))
	delete(w.clients, "r0")
	w.c.world(func(w *sim.World) error { w.Heal(); return nil })
	w.caughtUp()
}

// snapshot waits for the next one.
func (w *worldTheatre) snapshot() { w.pass(betweenSnapshots) }

func (w *worldTheatre) evict(policy faults.EvictionPolicy) {
	w.c.world(func(w *sim.World) error { return w.Faults().Evict("r0", policy, 1) })
}

func (w *worldTheatre) idle(key string, _, ttl int, v any) {
	_, _ = w.do("r0", "SET", key, v)
	if ttl > 0 {
		_, _ = w.do("r0", "PEXPIRE", key, ttl)
	}
	w.pass(10 * time.Second)
}
