// Package facts has what every scenario file knows of the servers and the locks of package zklocks, also in a program
// that does not have them.
package facts

import "locksim/scenarios/kinds/server"

// Server is the servers of package sim/zookeeper. Their sessions are by monotonic clocks, they never delete a node for
// lack of memory, and no server follows another as a replica of Redis does. A client has one connection to a server.
var Server = server.Kind{
	Facts: server.Facts{
		Name: "zookeeper", Prefix: "z", Leader: "leader",
		Lacks: []string{"clock_jump", "error_reply", "evict", "exhaust_pool", "failover", "flush", "read_only"},
	},
	Package: "locksim/scenarios/zklocks",
	Locks: []server.Lock{
		{Name: "zookeeper", Tokens: true},
		{Name: "zk-lock", Tokens: true},
		{Name: "broken/zk-herd", Tokens: true},
		{Name: "broken/zk-persistent", Tokens: true},
		{Name: "broken/zk-believes", Tokens: true},
		{Name: "broken/zk-fixed-path", Tokens: true},
		{Name: "broken/zk-adopts", Tokens: true},
	},
}
