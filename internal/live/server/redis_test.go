package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/live/server"
	"locksim/scenarios/file"
)

// client is a client of a Redis.
func client(t *testing.T, s *server.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), Protocol: 2, MaxRetries: -1, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// has reports whether a Redis has a key, and its value.
func has(t *testing.T, ctx context.Context, s *server.Server, key string) (string, bool) {
	t.Helper()
	v, err := client(t, s).Get(ctx, key).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	return v, err == nil
}

// A Redis tells the time of its own clock, and its keys expire by it: early after a jump forward, late after a jump
// back or by a clock that stands still. A replica has a clock of its own.
func TestRedisClock(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.Redis, Replicas: 1, Clock: true})
	r0, r0a := g.Server("r0"), g.Server("r0a")
	c := client(t, r0)
	clockOf(t, r0, func() time.Time {
		now, err := c.Time(ctx).Result()
		must(t, err)
		return now
	})
	there := func(s *server.Server) bool { _, ok := has(t, ctx, s, "lock"); return ok }
	must(t, c.Set(ctx, "lock", "c0", time.Hour).Err())
	must(t, r0.JumpClock(59*time.Minute))
	if !there(r0) {
		t.Error("a jump that is too short ends the lease")
	}
	must(t, r0.JumpClock(time.Minute))
	if there(r0) {
		t.Error("a jump forward does not end the lease")
	}
	must(t, c.Set(ctx, "lock", "c0", 200*time.Millisecond).Err())
	must(t, r0.JumpClock(-time.Hour))
	time.Sleep(300 * time.Millisecond)
	if !there(r0) {
		t.Error("a jump back does not prolong the lease")
	}
	must(t, r0.DriftClock(faults.MinPPM))
	must(t, c.Set(ctx, "lock", "c0", 200*time.Millisecond).Err())
	time.Sleep(300 * time.Millisecond)
	if !there(r0) {
		t.Error("a lease ends while the clock stands still")
	}
	must(t, r0.DriftClock(0))
	eventually(t, "the lease ends", func() bool { return !there(r0) })
	must(t, c.Set(ctx, "lock", "c0", time.Hour).Err())
	eventually(t, "replication", func() bool { return there(r0a) })
	must(t, r0a.JumpClock(2*time.Hour))
	if there(r0a) || !there(r0) {
		t.Error("a jump of the clock of the replica does not hide its key, or its primary's too")
	}
	must(t, r0.Crash(faults.CrashProcess))
	must(t, r0.JumpClock(24*time.Hour))
	must(t, r0.Restart(ctx))
	if now, err := client(t, r0).Time(ctx).Result(); err != nil || now.Before(time.Now().Add(12*time.Hour)) {
		t.Errorf("after a restart the clock is %v, %v: not the one that has jumped", now, err)
	}
}

// Servers of their own, on the loopback interface only; their keys are what was written.
func TestRedis(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.Redis, Count: 2})
	var names []string
	for _, s := range g.Servers() {
		names = append(names, s.Name())
	}
	if !slices.Equal(names, []string{"r0", "r1"}) {
		t.Errorf("the servers are %v", names)
	}
	listensOnLoopbackOnly(t, g)
	r0 := g.Server("r0")
	c := client(t, r0)
	must(t, c.Set(ctx, "lock", "c0", time.Minute).Err())
	must(t, c.HSet(ctx, "hash", "field", "1").Err())
	must(t, c.RPush(ctx, "list", "a", "b").Err())
	must(t, c.ZAdd(ctx, "zset", redis.Z{Score: 1.5, Member: "m"}).Err())
	keys, err := r0.Keys(ctx)
	must(t, err)
	for i, k := range keys {
		if k.Name == "lock" {
			if k.TTL <= 30*time.Second || k.TTL > time.Minute || time.Until(k.Expires) > time.Minute ||
				time.Until(k.Expires) < 30*time.Second {
				t.Errorf("the lock expires in %v, at %v", k.TTL, k.Expires)
			}
			keys[i].TTL, keys[i].Expires = 0, time.Time{}
		}
	}
	want := []server.Key{
		{Name: "hash", Type: "hash", Members: []string{"field", "1"}},
		{Name: "list", Type: "list", Members: []string{"a", "b"}},
		{Name: "lock", Type: "string", Value: "c0"}, {Name: "zset", Type: "zset", Members: []string{"m", "1.5"}},
	}
	if d := cmp.Diff(want, keys); d != "" {
		t.Error(d)
	}
	if _, ok := has(t, ctx, g.Server("r1"), "lock"); ok {
		t.Error("r1 has the key of r0")
	}
}

// What is left after a crash depends on the persistence.
func TestRedisRestart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		persistence file.Persistence
		keeps       bool
	}{{file.PersistNone, false}, {file.PersistRDB, true}, {file.PersistEverysec, true}, {file.PersistAlways, true}} {
		t.Run(string(c.persistence), func(t *testing.T) {
			g, ctx := start(t, server.Options{Kind: server.Redis, Persistence: c.persistence, Snapshot: time.Second})
			r0 := g.Server("r0")
			must(t, client(t, r0).Set(ctx, "k", "v", 0).Err())
			if c.persistence == file.PersistRDB {
				before := client(t, r0).LastSave(ctx).Val()
				eventually(t, "a snapshot", func() bool { return client(t, r0).LastSave(ctx).Val() > before })
				must(t, client(t, r0).Set(ctx, "later", "v", 0).Err())
			}
			addr := r0.Addr()
			must(t, r0.Crash(faults.CrashProcess))
			if c, err := net.Dial("tcp", addr); err == nil {
				_ = c.Close()
				t.Error("a crashed server accepts connections")
			}
			if !r0.Down() || r0.Stall() == nil {
				t.Error("a crashed server is not down")
			}
			must(t, r0.Restart(ctx))
			if _, ok := has(t, ctx, r0, "k"); ok != c.keeps {
				t.Errorf("the key is there: %v, want %v", ok, c.keeps)
			}
			if _, ok := has(t, ctx, r0, "later"); ok {
				t.Error("a write since the last snapshot is there")
			}
			if r0.Addr() != addr || r0.Restart(ctx) == nil {
				t.Error("the server has another address, or restarts although it runs")
			}
			err := r0.Crash(faults.CrashPower)
			if unable := errors.Is(err, faults.ErrUnable); unable != (c.persistence == file.PersistEverysec) || !unable &&
				err != nil {
				t.Errorf("a power failure: %v", err)
			}
		})
	}
}

// A server that is stalled answers nothing, and does afterwards what has arrived.
func TestRedisStall(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.Redis})
	r0 := g.Server("r0")
	c := client(t, r0)
	must(t, c.Set(ctx, "lease", "c0", 50*time.Millisecond).Err())
	must(t, r0.Stall())
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := c.Incr(short, "n").Err(); err == nil {
		t.Error("a stalled server answers")
	}
	must(t, r0.Resume())
	eventually(t, "the command is done", func() bool { v, _ := has(t, ctx, r0, "n"); return v == "1" })
	if _, ok := has(t, ctx, r0, "lease"); ok {
		t.Error("the lease did not go on while the server was stalled")
	}
	must(t, r0.Stall())
	must(t, r0.Crash(faults.CrashProcess)) // also then
	must(t, r0.Restart(ctx))
}

// held is a link between a replica and its primary that can be held.
type held struct {
	mu   sync.Mutex
	free chan struct{} // closed while bytes pass
}

// via makes links that can be held all at once.
func via(t *testing.T) (*held, func(replica, primary, addr string) (string, error)) {
	t.Helper()
	h := &held{free: make(chan struct{})}
	close(h.free)
	return h, func(_, _, addr string) (string, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				replica, err := l.Accept()
				if err != nil {
					return
				}
				primary, err := net.Dial("tcp", addr)
				if err != nil {
					_ = replica.Close()
					continue
				}
				go h.copy(primary, replica)
				go h.copy(replica, primary)
			}
		}()
		return l.Addr().String(), nil
	}
}

// copy passes on bytes while the link is not held.
func (h *held) copy(to, from net.Conn) {
	defer to.Close()   //nolint:errcheck // the link is over
	defer from.Close() //nolint:errcheck // the link is over
	b := make([]byte, 1<<12)
	for {
		n, err := from.Read(b)
		h.mu.Lock()
		free := h.free
		h.mu.Unlock()
		<-free
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (h *held) hold()    { h.mu.Lock(); h.free = make(chan struct{}); h.mu.Unlock() }
func (h *held) release() { h.mu.Lock(); close(h.free); h.mu.Unlock() }

// A failover before the replication loses what the replica has not received, and the fate of the former primary is as
// asked.
func TestPromote(t *testing.T) {
	t.Parallel()
	for _, old := range faults.OldPrimaries() {
		t.Run(string(old), func(t *testing.T) {
			link, via := via(t)
			g, ctx := start(t, server.Options{Kind: server.Redis, Replicas: 2, Via: via})
			r0, r0a, r0b := g.Server("r0"), g.Server("r0a"), g.Server("r0b")
			c := client(t, r0)
			must(t, c.Set(ctx, "early", "v", 0).Err())
			eventually(t, "replication", func() bool { _, ok := has(t, ctx, r0a, "early"); return ok })
			if err := client(t, r0a).Set(ctx, "k", "v", 0).Err(); err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
				t.Errorf("a write to a replica: %v", err)
			}
			link.hold()
			must(t, c.Set(ctx, "late", "v", 0).Err())
			open := client(t, r0)
			p, err := g.Promote(ctx, faults.Failover{To: "r0a", Old: old})
			must(t, err)
			link.release()
			if p.Old != "r0" || p.Has >= p.Of || g.Primary() != r0a {
				t.Errorf("promotion %+v, the primary is %s", p, g.Primary().Name())
			}
			if _, ok := has(t, ctx, r0a, "late"); ok {
				t.Error("the new primary has a write that was under way")
			}
			must(t, client(t, r0a).Set(ctx, "new", "v", 0).Err())
			eventually(t, "the other replica follows", func() bool { _, ok := has(t, ctx, r0b, "new"); return ok })
			if _, ok := has(t, ctx, r0b, "late"); ok {
				t.Error("the other replica has a write that was under way")
			}
			switch old {
			case faults.OldFenced:
				if open.Ping(ctx).Err() == nil || !r0.Down() {
					t.Error("the former primary is not fenced")
				}
				must(t, r0.Restart(ctx))
				eventually(t, "the former primary follows", func() bool { _, ok := has(t, ctx, r0, "new"); return ok })
			case faults.OldServing:
				must(t, c.Set(ctx, "split", "brain", 0).Err())
				if _, ok := has(t, ctx, r0, "new"); ok {
					t.Error("the former primary follows the new one")
				}
			case faults.OldDemoted:
				eventually(t, "the former primary follows", func() bool { _, ok := has(t, ctx, r0, "new"); return ok })
				if _, ok := has(t, ctx, r0, "late"); ok {
					t.Error("the former primary still has a write that the new one does not have")
				}
			}
			if _, err := g.Promote(ctx, faults.Failover{To: "r0a", Old: old}); err == nil {
				t.Error("the primary is promoted")
			}
			must(t, r0b.Crash(faults.CrashProcess))
			if _, err := g.Promote(ctx, faults.Failover{To: "r0b", Old: old}); err == nil || g.Primary() != r0a {
				t.Errorf("a replica that is down is promoted: %v", err)
			}
		})
	}
}

// A Redis deletes the keys that the policy names first.
func TestEvict(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.Redis, Replicas: 1})
	r0, r0a := g.Server("r0"), g.Server("r0a")
	c := client(t, r0)
	fill := func() {
		must(t, c.FlushAll(ctx).Err())
		must(t, c.Set(ctx, "forever", "v", 0).Err())
		must(t, c.Set(ctx, "long", "v", time.Hour).Err())
		must(t, c.Set(ctx, "short", "v", time.Minute).Err())
	}
	for _, k := range []struct {
		policy faults.EvictionPolicy
		keys   int
		want   []string // sorted
	}{
		{faults.EvictVolatileTTL, 1, []string{"short"}},
		{faults.EvictVolatileRandom, 9, []string{"long", "short"}},
		{faults.EvictVolatileLRU, 9, []string{"long", "short"}},
		{faults.EvictAllKeysRandom, 9, []string{"forever", "long", "short"}},
	} {
		fill()
		deleted, err := r0.Evict(ctx, k.policy, k.keys)
		must(t, err)
		slices.Sort(deleted)
		if !slices.Equal(deleted, k.want) {
			t.Errorf("%s, %d keys: %v are deleted, want %v", k.policy, k.keys, deleted, k.want)
		}
	}
	fill()
	time.Sleep(2100 * time.Millisecond) // Redis counts the time since the last use in whole seconds
	must(t, c.Get(ctx, "forever").Err())
	must(t, c.Get(ctx, "short").Err())
	if deleted, err := r0.Evict(ctx, faults.EvictAllKeysLRU, 1); err != nil || !slices.Equal(deleted, []string{"long"}) {
		t.Errorf("%v, %v are deleted, want the key that was used longest ago", deleted, err)
	}
	eventually(t, "the replica deletes it too", func() bool { _, ok := has(t, ctx, r0a, "long"); return !ok })
	if deleted, err := r0a.Evict(ctx, faults.EvictAllKeysLRU, 1); err != nil || len(deleted) > 0 {
		t.Errorf("a replica deletes %v, %v", deleted, err)
	}
}

func TestFlush(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.Redis, Replicas: 1})
	r0, r0a := g.Server("r0"), g.Server("r0a")
	c := client(t, r0)
	hash, err := c.ScriptLoad(ctx, "return 1").Result()
	must(t, err)
	must(t, c.Set(ctx, "k", "v", 0).Err())
	must(t, r0.Flush(ctx, faults.FlushScripts))
	if err := c.EvalSha(ctx, hash, nil).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOSCRIPT") {
		t.Errorf("after the flush of scripts: %v", err)
	}
	if _, ok := has(t, ctx, r0, "k"); !ok {
		t.Error("the flush of scripts deletes keys")
	}
	eventually(t, "replication", func() bool { _, ok := has(t, ctx, r0a, "k"); return ok })
	if err := r0a.Flush(ctx, faults.FlushKeys); err == nil {
		t.Error("a replica is flushed")
	}
	must(t, r0.Flush(ctx, faults.FlushKeys))
	for _, s := range g.Servers() {
		eventually(t, s.Name()+" is empty", func() bool { _, ok := has(t, ctx, s, "k"); return !ok })
	}
}

// A Redis that refuses writes serves reads and hides what has expired, and has its keys afterwards.
func TestRefuseWrites(t *testing.T) {
	t.Parallel()
	g, ctx := start(t, server.Options{Kind: server.Redis})
	r0 := g.Server("r0")
	c := client(t, r0)
	must(t, c.Set(ctx, "k", "v", 0).Err())
	must(t, c.Set(ctx, "lease", "v", 100*time.Millisecond).Err())
	must(t, r0.RefuseWrites(ctx))
	for name, err := range map[string]error{
		"a write":             c.Set(ctx, "k", "w", 0).Err(),
		"a write of a script": c.Eval(ctx, "return redis.call('SET', KEYS[1], 'w')", []string{"k"}).Err(),
	} {
		if err == nil || !strings.Contains(err.Error(), "READONLY You can't write against a read only replica.") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v, _ := has(t, ctx, r0, "k"); v != "v" {
		t.Errorf("the key is %q", v)
	}
	eventually(t, "the lease expires", func() bool { _, ok := has(t, ctx, r0, "lease"); return !ok })
	must(t, r0.AcceptWrites(ctx))
	must(t, c.Set(ctx, "k", "w", 0).Err())
}

// A server that does not start says why.
func TestRedisThatDoesNotStart(t *testing.T) {
	t.Parallel()
	if err := server.Missing(server.Redis); err != nil {
		t.Skip(err)
	}
	for _, o := range []server.Options{
		{Kind: "mysql"}, {Kind: server.Postgres, Count: 2}, {Kind: server.MariaDB, Count: 2},
		{Kind: server.Etcd, Replicas: 1},
		{Kind: server.Redis, Persistence: file.PersistRDB, Snapshot: 1500 * time.Millisecond},
		{Kind: server.Redis, Replicas: 1, Via: func(_, _, _ string) (string, error) { return "", io.ErrUnexpectedEOF }},
	} {
		if g, err := server.Start(t.Context(), o); err == nil || g != nil {
			t.Errorf("%+v: started", o)
		}
	}
}

// A replica has what its primary writes right after the start, and not after its first acknowledgement only: it sends
// one a second, whose moment another clock moves.
func TestReplicaFollowsAtOnce(t *testing.T) {
	t.Parallel()
	for range 3 {
		g, ctx := start(t, server.Options{Kind: server.Redis, Count: 1, Replicas: 1})
		r0, r0a := g.Server("r0"), g.Server("r0a")
		c := redis.NewClient(&redis.Options{Addr: r0.Addr()})
		t.Cleanup(func() { _ = c.Close() })
		must(t, c.Set(ctx, "k", "v", 0).Err())
		began, all := time.Now(), int64(-1)
		for ; time.Since(began) < 300*time.Millisecond; time.Sleep(5 * time.Millisecond) {
			of, err := r0.Replication(ctx)
			must(t, err)
			has, err := r0a.Replication(ctx)
			must(t, err)
			if all = of.Offset - has.Offset; all == 0 {
				break
			}
		}
		if all != 0 {
			t.Errorf("after %v the replica lacks %d bytes", time.Since(began), all)
		}
	}
}
