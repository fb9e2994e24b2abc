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
	"locksim/sim/redis/redisclient"
)

// pair is r0 and its replica r0a, in the world or as two real servers, for a
// script of commands and faults.
type pair interface {
	do(node string, args ...any) (any, error)
	caughtUp()                          // waits until r0a has all keys of r0
	isolate()                           // r0a receives nothing more from r0
	kill(node string)                   // like kill -9
	restart(node string)                // and waits until it replies
	promote(old faults.OldPrimary)      // r0a; a demoted r0 is up to date afterwards
	snapshot()                          // of r0, if it takes any
	pass(d time.Duration)               // lets time pass for r0's keys
	evict(policy faults.EvictionPolicy) // one key of r0
	// idle sets a key of r0 that has not been used for that many seconds. Begin
	// with the longest, in steps of 10; the TTL is in ms, 0 means none.
	idle(key string, seconds, ttl int, v any)
}

// transcript runs a script and records commands and replies.
type transcript struct {
	pair
	said []string
}

// say sends a command, and records it with its reply. A remaining TTL is
// rounded up to tens of seconds.
func (s *transcript) say(node, line string) {
	s.note(node, line, asArgs(line)...)
}

func (s *transcript) note(node, title string, args ...any) {
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
	answer, _, _ = strings.Cut(answer, " script: ") // real servers also name the script
	s.said = append(s.said, fmt.Sprintf("%s: %s -> %s", node, title, answer))
}

// until sends a command repeatedly, until it gets a certain reply.
func (s *transcript) until(node, line, answer string) {
	for range 5000 {
		if render(s.do(node, asArgs(line)...)) == answer {
			s.said = append(s.said, fmt.Sprintf("%s: %s -> %s in the end", node, line, answer))
			return
		}
		s.pass(2 * time.Millisecond)
	}
	s.said = append(s.said, fmt.Sprintf("%s: %s -> never %s", node, line, answer))
}

// dump records every key of a node: type, value and expiry.
func (s *transcript) dump(node string) {
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

// compare runs a script in the world and on real servers, and compares the
// transcripts.
func compare(t *testing.T, servers simredis.Servers, script func(s *transcript)) {
	t.Helper()
	servers.Replicas, servers.Snapshot = 1, betweenSnapshots
	var world *transcript
	withClient(t, with(servers), func(c *client) {
		world = &transcript{pair: &worldPair{c: c, clients: map[string]*redis.Client{}}}
		script(world)
	})
	live := &transcript{pair: newLivePair(t, cmp.Or(servers.Persistence, simredis.PersistNone))}
	script(live)
	if diff := gocmp.Diff(live.said, world.said); diff != "" {
		t.Errorf("transcripts of Redis and of the world (-Redis +world):\n%s", diff)
	}
}

// betweenSnapshots is the interval of snapshots of the world's nodes.
const betweenSnapshots = 50 * time.Millisecond

// worldPair has servers in the world.
type worldPair struct {
	c       *client
	clients map[string]*redis.Client
}

func (w *worldPair) do(node string, args ...any) (any, error) {
	if w.clients[node] == nil {
		w.clients[node] = redisclient.New(w.c.p, node)
	}
	return w.clients[node].Do(w.c.ctx, args...).Result()
}

func (w *worldPair) caughtUp()            { w.pass(100 * time.Millisecond) }
func (w *worldPair) pass(d time.Duration) { time.Sleep(d) }
func (w *worldPair) restart(node string)  { w.c.world(restart(node)) }

func (w *worldPair) isolate() {
	w.c.world(func(w *sim.World) error {
		return w.Faults().Cut(faults.Partition{Between: []string{"r0"}, And: []string{"r0a"}, Bytes: faults.BytesDrop})
	})
}

func (w *worldPair) kill(node string) {
	w.c.world(crash(node, faults.CrashProcess))
	delete(w.clients, node)
}

func (w *worldPair) promote(old faults.OldPrimary) {
	w.c.world(promote(faults.Failover{Old: old}))
	delete(w.clients, "r0")
	w.c.world(func(w *sim.World) error { w.Heal(); return nil })
	w.caughtUp()
}

// snapshot waits for the next one.
func (w *worldPair) snapshot() { w.pass(betweenSnapshots) }

func (w *worldPair) evict(policy faults.EvictionPolicy) {
	w.c.world(func(w *sim.World) error { return faults.Evict{Node: "r0", Policy: policy, Keys: 1}.Apply(w.Faults()) })
}

func (w *worldPair) idle(key string, _, ttl int, v any) {
	_, _ = w.do("r0", "SET", key, v)
	if ttl > 0 {
		_, _ = w.do("r0", "PEXPIRE", key, ttl)
	}
	w.pass(10 * time.Second)
}
