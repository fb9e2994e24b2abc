package clusterlocks_test

import (
	"slices"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/file"
)

// asItIs is our lock with fencing tokens over redis.NewClusterClient of go-redis with nothing set but where the nodes
// are, and a Dialer.
func asItIs() scenarios.Lock {
	l := clusterlocks.Lock("fenced")
	l.Name = "cluster-client"
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		c := goredis.NewClusterClient(&goredis.ClusterOptions{
			Addrs: []string{e.Address("rc0"), e.Address("rc1"), e.Address("rc2")}, Dialer: e.Dial,
		})
		e.OnEnd(func() { _ = c.Close() })
		return lock.NewFenced(c, lock.Options{TTL: e.Spec().TTL})
	}
	return l
}

// That lock is held through a failover and through a slot that moves, and no other client gets it meanwhile; its
// release reaches the node that has the key now, which grants it to the next one.
func TestClientWithOnlyADialer(t *testing.T) {
	for _, c := range []struct {
		name, source, before string // what happens before the release
	}{
		{"failover", `name: held-through
world: {cluster: 6, clients: 2, latency: 1ms..5ms, node_timeout: 1s}
lock: {ttl: 100s}
workload: {rounds: 1, hold: 70s, stagger: 10s} # the map of c0 is old after a minute, c1 comes after the switch
faults:
  - when: {client: c0, event: read, nth: 1}
    after: 1s # the replica has the key
    crash: {process: owner}
`, "elected"},
		{"failover by an operator", `name: held-through
world: {cluster: 6, clients: 2, latency: 1ms..5ms, node_timeout: 1s}
lock: {ttl: 20s}
workload: {rounds: 1, hold: 8s, stagger: 5s}
faults:
  - when: {client: c0, event: read, nth: 1}
    after: 1s
    cluster_failover: {on: rc5}
`, "elected"},
		{"moved slot", `name: held-through
world: {cluster: 6, clients: 2, latency: 1ms..5ms, node_timeout: 1s}
lock: {ttl: 20s}
workload: {rounds: 1, hold: 8s, stagger: 5s}
faults:
  - when: {client: c0, event: read, nth: 1}
    after: 1s
    move_slot: {to: rc0}
`, "slot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc, err := file.Parse("held-through.yaml", []byte(c.source))
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(5) {
				opt := scenarios.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Alone: true}
				o, err := scenarios.Run(sc, asItIs(), opt)
				if err != nil {
					t.Fatal(err)
				}
				m := o.Modes[0]
				var steps []string
				for _, e := range m.Trace.Events {
					text := e.Text()
					switch {
					case e.Kind() == "granted", e.Kind() == "released":
						steps = append(steps, e.Actor+" "+e.Kind())
					case e.Kind() == "cluster" && (c.before == "elected" && strings.Contains(text, "ELECTED") ||
						c.before == "slot" && strings.HasPrefix(text, "is told that the slot")):
						steps = append(steps, c.before)
					}
				}
				steps = slices.Compact(steps)
				want := []string{"c0 granted", c.before, "c0 released", "c1 granted", "c1 released"}
				if m.Verdict.Label != checker.Safe || !slices.Equal(steps, want) {
					t.Errorf("seed %d: %s, with %v, want %v", seed, m.Verdict.Label, steps, want)
				}
			}
		})
	}
}
