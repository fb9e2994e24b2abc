// Package rediscluster has a Redis Cluster for a simulated world.
//
//	sim.Config{Servers: []sim.Kind{rediscluster.Servers{Shards: 3, Replicas: 1, NodeTimeout: 2 * time.Second}}}
//
// The nodes rc0, rc1, … are servers of package [locksim/sim/redis]. The first of them, one for each shard, are
// primaries at the start, and the others replicas: with three shards rc3 follows rc0, rc4 follows rc1, rc5 follows rc2,
// rc6 follows rc0. Each node has a table of its own of who serves which of the 16,384 slots, and goes by the rules of
// Redis 7.0: it answers a command for a key of another node with MOVED or ASK, it pings the others by its own clock and
// tells them what it has heard, it takes a node for failing after the node timeout, and for failed if a majority of the
// primaries says so; a replica is elected by their votes, in an epoch of its own; a primary that hears no majority
// stops serving. All of it goes over links of the world, so that partitions, pauses and crashes act on it.
//
// A client is an unmodified one with a dialer:
//
//	redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{p.Address("rc0")}, Dialer: p.Dial})
//
// Package [locksim/sim/redis/redisclient] has redisclient.Cluster for it. With [Servers].Key, the name [Owner] leads to
// the primary of the slot of that key, for clients and as the target of faults. Faults of the cluster are
// [locksim/faults.ClusterFailover] and [locksim/faults.MoveSlot].
//
// While nothing can happen, the nodes send each other nothing: see calm.go.
//
// What is not modelled is refused with its name: CLUSTER MEET, FORGET, ADDSLOTS, DELSLOTS, REPLICATE, RESET and
// SET-CONFIG-EPOCH (the nodes of a cluster do not change), SSUBSCRIBE and SPUBLISH, migration of replicas to primaries
// without any, and cluster-require-full-coverage no. A message for a channel reaches the subscribers of its own node
// only.
package rediscluster
