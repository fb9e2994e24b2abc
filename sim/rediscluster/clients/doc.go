// Package clients compares real nodes of a Redis Cluster with those of package [locksim/sim/rediscluster], as the
// clients go-redis, rueidis and redigo with redisc meet them: what they send when they connect, what they are answered,
// and what their callers get through a slot that moves, a failover and a crash. It has only tests, in a module of its
// own, since locksim needs two of these clients for nothing else.
package clients
