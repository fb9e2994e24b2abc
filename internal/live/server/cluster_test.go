package server_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/live/server"
	"locksim/sim/trace"
)

// Six nodes of a Redis Cluster hand the slot of the key over, as an operator orders and after a crash, with the key.
func TestCluster(t *testing.T) {
	t.Parallel()
	const key = "lock:{order}" // its slot is that of rc2
	g, ctx := start(t, server.Options{Kind: server.Cluster, Count: 6, Shards: 3, NodeTimeout: time.Second, Key: key})
	if got := names(g); !slices.Equal(got, []string{"rc0", "rc1", "rc2", "rc3", "rc4", "rc5"}) {
		t.Errorf("the nodes are %v", got)
	}
	listensOnLoopbackOnly(t, g)
	var mu sync.Mutex
	var said []string
	g.Hear(func(s *server.Server, what trace.What) {
		mu.Lock()
		defer mu.Unlock()
		text, _ := what.(interface{ AppendText(b []byte) []byte })
		said = append(said, s.Name()+" "+string(text.AppendText(nil)))
	})
	owned := func(name string) {
		t.Helper()
		if s, err := g.Leader(ctx); err != nil || s.Name() != name {
			t.Fatalf("the slot is that of %v (%v), not of %s", s, err, name)
		}
	}
	has := func(name string, want ...string) {
		t.Helper()
		eventually(t, fmt.Sprint(name, " has ", want), func() bool {
			keys, err := g.Server(name).Keys(ctx)
			var got []string
			for _, k := range keys {
				got = append(got, k.Name+"="+k.Value)
			}
			return err == nil && slices.Equal(got, want)
		})
	}
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{g.Server("rc0").Addr()}})
	t.Cleanup(func() { _ = c.Close() })
	must(t, c.Set(ctx, key, "c0", time.Minute).Err())
	owned("rc2")
	has("rc2", key+"=c0")
	has("rc5", key+"=c0")
	has("rc0")

	rc0, rc2, rc3, rc5 := g.Server("rc0"), g.Server("rc2"), g.Server("rc3"), g.Server("rc5")
	must(t, rc0.TakeSlot(ctx, rc2, faults.MoveStarts))
	has("rc2", key+"=c0")
	must(t, rc0.TakeSlot(ctx, rc2, faults.MoveKeys))
	has("rc2")
	owned("rc2")
	must(t, rc0.TakeSlot(ctx, rc2, faults.MoveEnds))
	owned("rc0")
	has("rc3", key+"=c0")
	if err := rc5.TakeSlot(ctx, rc0, faults.MoveEnds); err == nil {
		t.Error("a replica takes a slot")
	}

	err := rc0.ReplacePrimary(ctx, faults.FailoverAgreed)
	if err == nil || !strings.Contains(err.Error(), "to a replica") {
		t.Errorf("a primary that is ordered to replace its primary says %v", err)
	}
	must(t, rc3.ReplacePrimary(ctx, faults.FailoverAgreed))
	eventually(t, "rc3 has the slot", func() bool { s, err := g.Leader(ctx); return err == nil && s == rc3 })
	eventually(t, "rc0 follows it", func() bool { return g.Follows(ctx)["rc0"] == "replica of rc3" })
	has("rc0", key+"=c0")

	must(t, rc3.Crash(faults.CrashProcess))
	owned("rc3") // as long as the others know no other
	if got := g.Follows(ctx)["rc3"]; got != "primary" {
		t.Errorf("a primary that has crashed is %q", got)
	}
	eventually(t, "rc0 has the slot", func() bool { s, err := g.Leader(ctx); return err == nil && s == rc0 })
	must(t, rc3.Restart(ctx))
	eventually(t, "rc3 follows it", func() bool { return g.Follows(ctx)["rc3"] == "replica of rc0" })
	has("rc3", key+"=c0")
	eventually(t, "all call the cluster up", func() bool { return c.Get(ctx, key).Val() == "c0" })
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{
		"rc0 holds writes back, to hand over to rc3", "rc3 WAS ELECTED, to replace rc0", "rc0 replica of rc3",
		"takes rc3 for failed, as a majority of the primaries does", "is told that rc3 has failed",
		"rc0 asks the primaries for votes, to replace rc3 in epoch", "votes for rc0 in epoch",
		"rc0 WAS ELECTED, to replace rc3 in epoch", "rc3 replica of rc0", "CALLS THE CLUSTER DOWN",
		"not all slots have a primary", "calls the cluster up",
	} {
		if !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("they have not said %q but\n%s", want, strings.Join(said, "\n"))
		}
	}
	if err := rc0.RefuseWrites(ctx); !errors.Is(err, faults.ErrUnable) {
		t.Errorf("a node that is to refuse writes: %v", err)
	}
}

// A Redis Cluster has shards and a node timeout, and nothing else has them.
func TestClusterOptions(t *testing.T) {
	need(t, server.Cluster)
	for _, o := range []server.Options{
		{Kind: server.Cluster, Count: 6, NodeTimeout: time.Second}, {Kind: server.Cluster, Count: 6, Shards: 3},
		{Kind: server.Cluster, Count: 2, Shards: 3, NodeTimeout: time.Second}, {Kind: server.Redis, Shards: 3},
	} {
		if g, err := server.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "shards") {
			t.Errorf("%+v: %v", o, err)
			if g != nil {
				must(t, g.Stop())
			}
		}
	}
}
