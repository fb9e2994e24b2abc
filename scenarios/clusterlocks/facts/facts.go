// Package facts has what every scenario file knows of the nodes of a Redis Cluster and the locks of package
// clusterlocks, also in a program that does not have them.
package facts

import "locksim/scenarios/kinds/server"

// Server is the nodes of package sim/rediscluster. The cluster makes its primaries by itself, and a client has a pool
// for each node.
var Server = server.Kind{
	Facts: server.Facts{
		Name: "cluster", Prefix: "rc", Leader: "owner", Cluster: true, Shards: 3,
		Lacks: []string{"end_session", "exhaust_pool", "failover", "leave"},
	},
	Package: "locksim/scenarios/clusterlocks",
	Locks: []server.Lock{
		{Name: "cluster-single"},
		{Name: "cluster-fenced", Tokens: true},
		{Name: "cluster-watchdog"},
		{Name: "cluster-watchdog-fenced", Tokens: true},
		{Name: "cluster-reentrant"},
		{Name: "cluster-reentrant-fenced", Tokens: true},
		{Name: "cluster-fair"},
		{Name: "cluster-fair-fenced", Tokens: true},
		{Name: "broken/cluster-redlock"},
		{Name: "broken/cluster-evalsha"},
		{Name: "broken/cluster-two-keys"},
	},
}
