package redisclient

import (
	"context"
	"maps"
	"math/rand" //nolint:depguard // go-redis draws from it, and a run seeds it
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Cluster returns a go-redis client of a Redis Cluster, with the caller's options and the machine's dialer. Addrs are
// names of nodes, or addresses from the machine. It is closed at the end of the run. It has a pool for each node, which
// faults do not exhaust.
//
// go-redis reads the map of the cluster anew in a goroutine, beside the command that has found it old: which of the two
// gets a connection first is a race. And after a minute it asks the nodes in the order of a Go map. Both would differ
// from run to run, so this client reads the map anew a nanosecond later, and asks in an order that is drawn. On an
// [Unrepeatable] machine it does as go-redis does.
//
// go-redis asks for the list of commands with a mutex: until it has that, one goroutine at a time may use the client.
// With DisableRoutingPolicies it does not ask.
func Cluster(m Machine, opt *redis.ClusterOptions) *redis.ClusterClient {
	Silence()
	o := *opt
	o.Addrs = nil
	for _, name := range opt.Addrs {
		o.Addrs = append(o.Addrs, m.Address(name))
	}
	o.Dialer = m.Dial
	if _, real := m.(Unrepeatable); real {
		c := redis.NewClusterClient(&o)
		m.OnEnd(func() { _ = c.Close() })
		return c
	}
	l := &mapReader{nodes: map[string]*redis.Client{}, make: opt.NewClient}
	if l.make == nil {
		l.make = redis.NewClient
	}
	o.NewClient = l.newClient
	l.cluster = redis.NewClusterClient(&o)
	m.OnEnd(func() { _ = l.cluster.Close() })
	return l.cluster
}

// Unrepeatable is a [Machine] whose runs cannot be repeated, such as the process of a live run.
type Unrepeatable interface{ Unrepeatable() }

// mapReader reads the map of a cluster, as go-redis does, but for the order: see [Cluster].
type mapReader struct {
	cluster *redis.ClusterClient
	make    func(opt *redis.Options) *redis.Client

	mu    sync.Mutex
	nodes map[string]*redis.Client // by address
}

// newClient makes the client of a node. go-redis has made the first one while it reads the map for the first time.
func (r *mapReader) newClient(opt *redis.Options) *redis.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.nodes) == 0 && r.cluster.Options().ClusterSlots == nil {
		r.cluster.Options().ClusterSlots = r.read
	}
	c := r.make(opt)
	r.nodes[opt.Addr] = c
	return c
}

func (r *mapReader) read(ctx context.Context) (slots []redis.ClusterSlot, err error) {
	if ctx == context.Background() {
		time.Sleep(time.Nanosecond) //nolint:forbidigo // in a world it is in the bubble
	}
	r.mu.Lock()
	addrs := slices.Sorted(maps.Keys(r.nodes))
	nodes := maps.Clone(r.nodes)
	r.mu.Unlock()
	var first error
	for _, i := range rand.Perm(len(addrs)) { //nolint:gosec // as go-redis does
		if slots, err = nodes[addrs[i]].ClusterSlots(ctx).Result(); err == nil { //nolint:staticcheck // as go-redis does
			return slots, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// QuietCluster are the options of [Quiet] for a client of a Redis Cluster, which follows MOVED and ASK, and asks no
// node for its commands. Add addresses.
func QuietCluster() *redis.ClusterOptions {
	q := Quiet()
	opt := &redis.ClusterOptions{PoolSize: q.PoolSize, DialTimeout: q.DialTimeout}
	setQuiet(opt)
	set(opt, "DisableRoutingPolicies", true)
	set(opt, "MaintNotificationsConfig.Mode", "disabled")
	return opt
}

// StockCluster are the default options of a client of a Redis Cluster, as [Stock] has them. Its pools have 5
// connections, the default for one processor.
func StockCluster() *redis.ClusterOptions {
	opt := &redis.ClusterOptions{PoolSize: 5}
	setSmallBuffers(opt)
	return opt
}
