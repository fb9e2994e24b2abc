package redis_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/lock/locktest/redisserver"
	simredis "locksim/sim/redis"
)

// livePair has two real servers.
type livePair struct {
	t       *testing.T
	servers map[string]*redisserver.Server
	args    map[string][]string
	clients map[string]*redis.Client
	rdb     bool
}

func newLivePair(t *testing.T, persistence simredis.Persistence) *livePair {
	l := &livePair{
		t: t, servers: map[string]*redisserver.Server{}, args: map[string][]string{}, clients: map[string]*redis.Client{},
		rdb: persistence == simredis.PersistRDB,
	}
	options := map[simredis.Persistence][]string{
		simredis.PersistRDB:      {"--save", "3600 1"},
		simredis.PersistEverysec: {"--appendonly", "yes", "--appendfsync", "everysec"},
		simredis.PersistAlways:   {"--appendonly", "yes", "--appendfsync", "always"},
	}[persistence]
	for _, node := range []string{"r0", "r0a"} {
		l.args[node] = append([]string{"--dir", t.TempDir(), "--repl-diskless-sync-delay", "0"}, options...)
		l.start(node)
	}
	l.command("r0a", "REPLICAOF "+strings.Replace(l.servers["r0"].Addr(), ":", " ", 1))
	l.caughtUp()
	return l
}

func (l *livePair) start(node string) {
	l.servers[node] = redisserver.Start(l.t, l.args[node]...)
	c := redis.NewClient(&redis.Options{Addr: l.servers[node].Addr(), Protocol: 2, DisableIdentity: true, MaxRetries: -1})
	l.t.Cleanup(func() { _ = c.Close() })
	l.clients[node] = c
}

func (l *livePair) do(node string, args ...any) (any, error) {
	return l.clients[node].Do(context.Background(), args...).Result()
}

// command is one that must succeed.
func (l *livePair) command(node, line string) string {
	l.t.Helper()
	v, err := l.do(node, asArgs(line)...)
	if err != nil && !errors.Is(err, redis.Nil) {
		l.t.Fatalf("%s: %s: %v", node, line, err)
	}
	return render(v, err)
}

// poll waits until done reports true.
func (l *livePair) poll(what string, done func() bool) {
	l.t.Helper()
	for end := time.Now().Add(15 * time.Second); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatalf("after 15 s it is not the case that %s", what)
		}
	}
}

// info is a field of INFO.
func (l *livePair) info(node, section, field string) string {
	for line := range strings.Lines(l.command(node, "INFO "+section)) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func (l *livePair) follows(replica, primary string) {
	l.poll(replica+" has all that "+primary+" has", func() bool {
		return l.info(replica, "replication", "master_link_status") == "up" &&
			l.info(replica, "replication", "slave_repl_offset") == l.info(primary, "replication", "master_repl_offset")
	})
}

func (l *livePair) caughtUp()            { l.follows("r0a", "r0") }
func (l *livePair) pass(d time.Duration) { time.Sleep(min(d, 5*time.Millisecond)) }
func (l *livePair) restart(node string)  { l.start(node) }

// kill waits until all writes have left the process: during a long fsync Redis
// keeps them in memory.
func (l *livePair) kill(node string) {
	l.poll("the log is written", func() bool {
		length := l.info(node, "persistence", "aof_buffer_length")
		return length == "" || length == "0"
	})
	l.servers[node].Stop()
}

// isolate makes the replica follow an address without a server.
func (l *livePair) isolate() { l.command("r0a", "REPLICAOF 127.0.0.1 1") }

func (l *livePair) promote(old faults.OldPrimary) {
	l.command("r0a", "REPLICAOF NO ONE")
	if old == faults.OldDemoted {
		l.command("r0", "REPLICAOF "+strings.Replace(l.servers["r0a"].Addr(), ":", " ", 1))
		l.follows("r0", "r0a")
	}
}

func (l *livePair) snapshot() {
	if l.rdb {
		l.poll("a snapshot was taken", func() bool { return render(l.do("r0", "SAVE")) == "OK" })
	}
}

// evict lowers the limit until a key is evicted. The keys are far larger than a
// step.
func (l *livePair) evict(policy faults.EvictionPolicy) {
	l.command("r0", "CONFIG SET maxmemory-samples 64 maxmemory-policy "+string(policy))
	limit, _ := strconv.Atoi(l.info("r0", "memory", "used_memory"))
	l.poll("a key was evicted", func() bool {
		limit -= 20_000
		l.command("r0", "CONFIG SET maxmemory "+strconv.Itoa(limit))
		return l.info("r0", "stats", "evicted_keys") != "0" // each command evicts first
	})
	l.command("r0", "CONFIG SET maxmemory 0")
}

func (l *livePair) idle(key string, seconds, ttl int, v any) {
	ctx := context.Background()
	c := l.clients["r0"]
	if err := c.Set(ctx, "template", v, 0).Err(); err != nil {
		l.t.Fatal(err)
	}
	dump := c.Dump(ctx, "template").Val()
	if err := c.Do(ctx, "RESTORE", key, ttl, dump, "IDLETIME", seconds).Err(); err != nil {
		l.t.Fatal(err)
	}
	c.Del(ctx, "template")
}
