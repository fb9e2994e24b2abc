// Package clusterlocks puts our locks on one Redis node on trial in a Redis Cluster: their client is that of
// redis.NewClusterClient of go-redis, which finds the node of a key, and follows a failover and a slot that moves.
//
//	scenarios.Check(t, clusterlocks.Lock("fenced"), scenarios.Options{})
//
// Each world has six nodes or nine of package [locksim/sim/rediscluster]: rc0, rc1 and rc2 are primaries at the start,
// rc3, rc4 and rc5 their replicas, and so on.
package clusterlocks

import (
	"cmp"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios/clusterlocks/facts"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/rediscluster"
)

// count is the least number of nodes: three primaries, each with a replica.
const count = 6

// Prefix begins the names of the locks, before that of the kind.
const Prefix = "cluster-"

// ownKey is the key of the locks of this package for the resource of most scenarios.
const ownKey = lock.DefaultKeyPrefix + "{order}"

// reload is how soon a quiet client reads the map of the cluster anew, also where nothing tells it that it is old: as
// go-redis did by default until 9.22. A stock one does it after staleMap.
const (
	reload   = 10 * time.Second
	staleMap = time.Minute
)

// Kind is the kind of server: a Redis Cluster, with rc0 to rc5. The name "owner" leads to the primary of the slot of
// the key, as a target of faults; "" is for that of the locks of this package.
func Kind(key string) subject.ServerKind {
	return kindIn(file.Defaults().World, cmp.Or(key, ownKey), new(redis.Reuse))
}

// kindIn is the kind with the settings of a world. A failover takes twice the node timeout and some seconds more, and a
// client may ask a dead primary until it reads its map anew.
func kindIn(w file.World, key string, reuse *redis.Reuse) subject.ServerKind {
	w.NodeTimeout = cmp.Or(w.NodeTimeout, file.Defaults().World.NodeTimeout)
	return subject.ServerKind{
		Facts:   facts.Server.Facts,
		In:      func(w file.World) subject.ServerKind { return kindIn(w, key, reuse) },
		Settles: 2*w.NodeTimeout + staleMap + 10*time.Second,
		Make: func(n int) sim.Kind {
			shards := facts.Server.Shards
			replicas := n/shards - 1
			if replicas == 0 {
				replicas = -1 // none
			}
			return rediscluster.Servers{Shards: shards, Replicas: replicas, NodeTimeout: w.NodeTimeout, Key: key,
				Lag: sim.Latency(w.Lag), Persistence: redis.Persistence(w.Persistence), Snapshot: w.Snapshot, Reuse: reuse}
		},
	}
}

// Servers are those of a lock whose key for the resource "order" is given, such as "lock:order": see [Kind].
func Servers(key string) []subject.Servers { return []subject.Servers{{Kind: Kind(key), Count: count}} }

// Client is a client of the cluster, for a lock of yours. The options are yours, but for Addrs and Dialer, which are
// those of the world; nil is for the defaults.
func Client(e subject.Env, opt *goredis.ClusterOptions) *goredis.ClusterClient {
	var o goredis.ClusterOptions
	if opt != nil {
		o = *opt
	}
	o.Addrs = file.Numbered(facts.Server.Prefix, facts.Server.Shards)
	return redisclient.Cluster(e, &o)
}

// Promise is [lock.LeasePromise] as far as a lock can keep it in a Redis Cluster: see [Lock].
func Promise() lock.Promise { return withoutStalls(lock.LeasePromise()) }

// withoutStalls is a promise without the stall of a node.
func withoutStalls(p lock.Promise) lock.Promise {
	p.Exclusion = slices.DeleteFunc(slices.Clone(p.Exclusion), func(f lock.Fault) bool { return f == lock.FaultStall })
	return p
}

// All are the locks of this package, the specimens last.
func All() []subject.Lock {
	var all []subject.Lock
	for _, name := range kinds.Names() {
		if n, _ := kinds.RedisOf(name); n == 1 {
			all = append(all, Lock(name))
		}
	}
	return append(all, Specimens()...)
}

// Lock is a kind of package lock on one node, such as "fenced", under the name "cluster-fenced". The keys of each have
// a hash tag, so that one node has all of them. Its promise is that of the kind, without the stall of a node: one that
// lasts for longer than world.node_timeout is a failover, under which none of them keeps exclusion, since nodes
// replicate afterwards. Whatever else starts a failover is not in the promise either: the crash of a node, and the loss
// of links between nodes. It panics for the name of no such kind.
func Lock(kind string) subject.Lock {
	l, err := redislocks.KindOver(kind, client)
	if err != nil {
		panic(err)
	}
	l.Name, l.Servers, l.Promise = Prefix+kind, Servers(""), withoutStalls(l.Promise)
	// A ClusterClient sends a request again by itself also where it is quiet: see [redisclient.QuietCluster].
	l.Promise.SelfExcludes = l.Promise.SelfExcludes || l.Promise.ResendExcludes
	l.About += " It is in a Redis Cluster, and the client finds the node of the key."
	return l
}

// client is one with the profile of the scenario.
func client(e subject.Env) goredis.UniversalClient { return Client(e, options(e)) }

// options are those of the profile of the scenario.
func options(e subject.Env) *goredis.ClusterOptions {
	opt := redisclient.StockCluster()
	if e.Spec().Client != file.ClientStock {
		opt = redisclient.QuietCluster()
		opt.ContextTimeoutEnabled, opt.ClusterStateReloadInterval = true, reload
	}
	return opt
}
