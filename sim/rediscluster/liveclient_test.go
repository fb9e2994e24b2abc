package rediscluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	goredis "github.com/redis/go-redis/v9"

	"locksim/internal/soak"
	"locksim/internal/testworld"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/rediscluster"
)

// operations are what locks ask of a client of go-redis, and what operators do. Their results are on a line each.
func operations(ctx context.Context, c *goredis.ClusterClient) (out []string) {
	note := func(what string, result any, err error) {
		text := fmt.Sprintf("%s: %v", what, result)
		if err != nil {
			text = fmt.Sprintf("%s: error %v", what, err)
		}
		out = append(out, text)
	}
	keys := []string{"lock", "{lock}:queue"}
	for i := range 2 {
		ok, err := c.SetNX(ctx, "lock", "c0", time.Minute).Result()
		note(fmt.Sprint("SetNX ", i), ok, err)
	}
	note("owner", c.Get(ctx, "lock").Val(), nil)
	n, err := c.Del(ctx, keys...).Result()
	note("Del of two keys of a slot", n, err)
	n, err = c.Del(ctx, "lock", "{3}").Result()
	note("Del of keys of two slots", n, err)
	s, err := goredis.NewScript(`return {redis.call("SET", KEYS[1], ARGV[1], "PX", 60000),
		redis.call("RPUSH", KEYS[2], "a")}`).Run(ctx, c, keys, "c0").Result()
	note("script", s, err)
	s, err = goredis.NewScript(`return redis.call("GET", KEYS[2])`).Run(ctx, c, []string{"lock", "{3}"}).Result()
	note("script of two slots", s, err)
	s, err = c.Eval(ctx, `return redis.call("SET", ARGV[1], "1")`, []string{"lock"}, "{3}").Result()
	note("script with a key that it does not declare", s, err)
	s, err = c.EvalSha(ctx, strings.Repeat("0", 40), keys).Result()
	note("unknown script", s, err)
	for i := range 2 {
		n, err = release.Run(ctx, c, []string{"lock"}, "c0").Int64()
		note(fmt.Sprint("release ", i), n, err)
	}
	cmds, err := c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		p.Set(ctx, "lock", "1", 0)
		p.Incr(ctx, "lock")
		p.Set(ctx, "{3}", "3", time.Minute)
		p.Get(ctx, "{0}")
		return nil
	})
	note("pipeline over slots", plainCmds(cmds), err)
	cmds, err = c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
		p.Incr(ctx, "lock")
		p.PExpire(ctx, "lock", time.Minute)
		return nil
	})
	note("transaction", plainCmds(cmds), err)
	cmds, err = c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
		p.Incr(ctx, "lock")
		p.Incr(ctx, "{3}")
		return nil
	})
	note("transaction over slots", plainCmds(cmds), err)
	err = c.Watch(ctx, func(tx *goredis.Tx) error {
		v, err := tx.Get(ctx, "lock").Int()
		if err != nil {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p goredis.Pipeliner) error { p.Set(ctx, "lock", v+1, 0); return nil })
		return err
	}, "lock")
	note("watch", c.Get(ctx, "lock").Val(), err)
	note("persisted", c.PTTL(ctx, "lock").Val(), nil)
	n, err = c.ClusterKeySlot(ctx, "{lock}x").Result()
	note("slot", n, err)
	count := 0
	err = c.ForEachMaster(ctx, func(ctx context.Context, m *goredis.Client) error { return m.Ping(ctx).Err() })
	note("each master", count, err)
	sha, err := c.ScriptLoad(ctx, "return 1").Result()
	note("script load", sha, err)
	exists, err := c.ScriptExists(ctx, sha).Result()
	note("script exists", exists, err)
	err = c.Get(ctx, "nothing").Err()
	note("no key", errors.Is(err, goredis.Nil), nil)
	slots, err := c.ClusterSlots(ctx).Result() //nolint:staticcheck // clients ask for it
	for i := range slots {
		for j := range slots[i].Nodes {
			slots[i].Nodes[j].ID = ""
		}
	}
	slices.SortFunc(slots, func(a, b goredis.ClusterSlot) int { return a.Start - b.Start })
	note("slots", slots, err)
	shards, err := c.ClusterShards(ctx).Result()
	var text []string
	for _, s := range shards {
		for i := range s.Nodes {
			s.Nodes[i].ID, s.Nodes[i].ReplicationOffset = "", 0
		}
		slices.SortFunc(s.Nodes, func(a, b goredis.Node) int { return strings.Compare(a.Role, b.Role) })
		text = append(text, fmt.Sprintf("%+v", s))
	}
	slices.Sort(text)
	note("shards", text, err)
	note("deleted", c.Del(ctx, "lock").Val()+c.Del(ctx, "{3}").Val()+c.Del(ctx, keys[1]).Val(), nil)
	return out
}

func plainCmds(cmds []goredis.Cmder) (out []string) {
	for _, c := range cmds {
		out = append(out, c.String())
	}
	return out
}

var pointers = regexp.MustCompile(`0x[0-9a-f]+`)

// A client of go-redis gets the same of real nodes, and of those of the world.
func TestLiveClient(t *testing.T) {
	g := newLiveCluster(t)
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{g.addrs["rc0"]}})
	defer c.Close() //nolint:errcheck // the test is over
	plain := func(lines []string, addrs map[string]string) []string {
		var pairs []string
		for name, addr := range addrs {
			host, port, _ := net.SplitHostPort(addr)
			pairs = append(pairs, addr, name, fmt.Sprintf("Endpoint:%s IP:%[1]s Hostname: Port:%s", host, port), name)
		}
		var out []string
		for _, l := range lines {
			out = append(out, scriptSuffix.ReplaceAllString(pointers.ReplaceAllString(strings.NewReplacer(pairs...).Replace(l),
				"POINTER"), ""))
		}
		return out
	}
	real := plain(operations(context.Background(), c), g.addrs)
	var simulated []string
	testworld.Run(t, world(1, quick), func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			addrs := map[string]string{}
			for i := range 6 {
				addrs[fmt.Sprint("rc", i)] = p.Address(fmt.Sprint("rc", i))
			}
			opt := redisclient.StockCluster()
			opt.Addrs = []string{"rc0"}
			simulated = plain(operations(context.Background(), redisclient.Cluster(p, opt)), addrs)
		})
		return w.RunUntil(w.Idle)
	})
	if diff := cmp.Diff(real, simulated); diff != "" {
		t.Errorf("-real +simulated:\n%s", diff)
	}
}

// The table of commands is what a real node answers, for the commands that it has; and slots are as it counts them.
func TestLiveCommandsAndSlots(t *testing.T) {
	g := newLiveCluster(t)
	dial := dialing(func(name string) (net.Conn, error) { return net.Dial("tcp", g.addrs[name]) })
	k, err := talkTo(dial, "rc0")
	if err != nil {
		t.Fatal(err)
	}
	defer k.c.Close() //nolint:errcheck // it has answered
	k.ask("HELLO", "3")
	sorted := func(s string) string { // subcommands have no order
		words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" []", r) })
		slices.Sort(words)
		return strings.Join(words, " ")
	}
	for name, table := range rediscluster.CommandAnswers() {
		real := k.ask("COMMAND", "INFO", name)
		if real = strings.TrimSuffix(strings.TrimPrefix(real, "*["), "]"); sorted(real) != sorted(table) {
			t.Errorf("the table has %.300s, and a real node %.300s", table, real)
		}
	}
	for _, key := range []string{"", "a", "{}", "{}a", "{a}b", "a{b}c", "a{b", "a}b{c}", "{{a}}", "a{}{b}", "{a}{b}", "}{",
		"\x00\xff", "lock:{order}", "{\n}", strings.Repeat("x", 1000)} {
		if got := k.ask("CLUSTER", "KEYSLOT", key); got != fmt.Sprint(":", rediscluster.Slot(key)) {
			t.Errorf("%q is of slot %s, and not of %d", key, got, rediscluster.Slot(key))
		}
	}
}

// A client of go-redis, as it comes, dials a primary that has crashed until its map is a minute old.
func TestLiveDeadPrimary(t *testing.T) {
	soak.RealTime(t)
	g := newLiveCluster(t)
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{g.addrs["rc0"]}})
	defer c.Close() //nolint:errcheck // the test is over
	ctx := context.Background()
	if err := c.Set(ctx, "lock", "c0", 0).Err(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_ = g.cmds["rc1"].Process.Kill()
	for time.Since(began) < 2*time.Minute {
		if c.Get(ctx, "lock").Err() == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if d := time.Since(began); d < 55*time.Second || d > 70*time.Second {
		t.Errorf("it finds the new primary after %v", d)
	}
}
