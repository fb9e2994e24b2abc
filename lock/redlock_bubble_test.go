package lock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// quorumKind is a kind of Redlock, for tests that apply to both.
type quorumKind struct {
	name string
	make func([]lock.Redis, lock.RedlockOptions) (redlocker, error)
	ask  string // the command of a first Acquire
}

type redlocker interface {
	locker
	lock.Trier
}

var quorumKinds = []quorumKind{
	{"redlock", func(r []lock.Redis, o lock.RedlockOptions) (redlocker, error) { return lock.NewRedlock(r, o) }, "set"},
	{"redlock-fenced", func(r []lock.Redis, o lock.RedlockOptions) (redlocker, error) {
		return lock.NewRedlockFenced(r,
			o)
	}, "eval"},
}

// grid is five Redis nodes in a bubble of virtual time, with a kind of Redlock under test.
type grid struct {
	*testing.T
	kind  quorumKind
	nodes []*miniredis.Miniredis
}

func everyRedlock(t *testing.T, test func(g *grid)) {
	for _, k := range quorumKinds {
		t.Run(k.name, func(t *testing.T) { gridOf(t, k, test) })
	}
}

func gridOf(t *testing.T, k quorumKind, test func(g *grid)) {
	synctest.Test(t, func(t *testing.T) {
		g := &grid{T: t, kind: k}
		for range 5 {
			node := miniredis.NewMiniRedis()
			node.ClockTTL(true)
			g.nodes = append(g.nodes, node)
		}
		t.Cleanup(func() {
			for _, node := range g.nodes {
				node.Close()
			}
			time.Sleep(2 * time.Second) // go-redis probes for a second after failed dials
		})
		test(g)
	})
}

// wires are the connections of one lock to the nodes.
type wires []*wire

// each calls do with the wires of some nodes.
func (w wires) each(do func(*wire), nodes ...int) {
	for _, i := range nodes {
		do(w[i])
	}
}

// lock returns a lock of the kind under test on new clients.
func (g *grid) lock(o lock.RedlockOptions) (redlocker, wires) {
	g.Helper()
	var clients []lock.Redis
	var lines wires
	for _, node := range g.nodes {
		line := &wire{node: node}
		c := redis.NewClient(quiet(line))
		g.Cleanup(func() { _ = c.Close() })
		clients, lines = append(clients, c), append(lines, line)
	}
	l, err := g.kind.make(clients, o)
	if err != nil {
		g.Fatal(err)
	}
	return l, lines
}

func (g *grid) acquire(l lock.Locker) lock.Lease {
	g.Helper()
	ctx, cancel := context.WithTimeout(g.Context(), time.Minute)
	defer cancel()
	lease, err := l.Acquire(ctx, resource)
	if err != nil {
		g.Fatal(err)
	}
	return lease
}

func (g *grid) release(l lock.Lease) {
	g.Helper()
	if err := l.Release(g.Context()); err != nil {
		g.Fatal(err)
	}
}

// warm takes and releases the lock, so that all nodes have the scripts and all wires are open.
func (g *grid) warm(l lock.Locker) {
	g.Helper()
	lease := g.acquire(l)
	if err := extend(g.Context(), lease); err != nil {
		g.Fatal(err)
	}
	g.release(lease)
}

// take makes another owner hold the lock on some nodes.
func (g *grid) take(l locker, nodes ...int) {
	g.Helper()
	for _, i := range nodes {
		if err := g.nodes[i].Set(l.Key(resource), "somebody else"); err != nil {
			g.Fatal(err)
		}
	}
}

// forget deletes the lock's key on some nodes.
func (g *grid) forget(l locker, nodes ...int) {
	for _, i := range nodes {
		g.nodes[i].Del(l.Key(resource))
	}
}

// holding returns the nodes that have the lock's key, with an owner of the lock.
func (g *grid) holding(l locker) []int {
	var all []int
	for i, node := range g.nodes {
		if owner, err := node.Get(l.Key(resource)); err == nil && owner != "somebody else" {
			all = append(all, i)
		}
	}
	return all
}

func (g *grid) wantHolding(l locker, want ...int) {
	g.Helper()
	if got := g.holding(l); !slices.Equal(got, want) {
		g.Errorf("the key is on %v, want %v", got, want)
	}
}

func (g *grid) want(err error, targets ...error) {
	g.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			g.Errorf("error %v does not wrap %v", err, target)
		}
	}
}

// wantNodes fails unless the error lists these nodes, in this order.
func (g *grid) wantNodes(err error, want ...int) {
	g.Helper()
	var nodes lock.NodeErrors
	errors.As(err, &nodes)
	var got []int
	for _, node := range nodes {
		got = append(got, node.Node)
	}
	if !slices.Equal(got, want) {
		g.Errorf("error %v speaks of the nodes %v, want %v", err, got, want)
	}
}

// silent loses the answer to a request of a certain command: the node carries it out.
func silent(command string) func(*wire) {
	return func(w *wire) { w.arm(fault{command: command, loseReply: true}) }
}

// choose calls f with every combination of n of the five nodes.
func choose(n int, f func(name string, nodes []int)) {
	for bits := range 1 << 5 {
		var nodes []int
		for i := range 5 {
			if bits>>i&1 == 1 {
				nodes = append(nodes, i)
			}
		}
		if len(nodes) == n {
			f(fmt.Sprint(nodes), nodes)
		}
	}
}

// others returns the nodes that are not among these.
func others(nodes []int) []int {
	var all []int
	for i := range 5 {
		if !slices.Contains(nodes, i) {
			all = append(all, i)
		}
	}
	return all
}
