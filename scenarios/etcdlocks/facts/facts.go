// Package facts has what every scenario file knows of the servers and the locks of package etcdlocks, also in a program
// that does not have them.
package facts

import "locksim/scenarios/kinds/server"

// Server is the members of package sim/etcd. Their leases are by monotonic clocks, they never delete a key for lack of
// memory, and no member follows another as a replica of Redis does. A client has one connection to a member.
var Server = server.Kind{
	Facts: server.Facts{
		Name: "etcd", Prefix: "e", Leader: "leader",
		Lacks: []string{"clock_jump", "error_reply", "evict", "exhaust_pool", "failover", "flush", "read_only"},
	},
	Package: "locksim/scenarios/etcdlocks",
	Locks: []server.Lock{
		{Name: "etcd", Tokens: true},
		{Name: "etcd-mutex", Tokens: true},
		{Name: "etcd-election", Tokens: true},
		{Name: "etcd-cas"},
		{Name: "broken/etcd-put-without-compare"},
		{Name: "broken/etcd-never-renewed", Tokens: true},
		{Name: "broken/etcd-until-from-answer"},
		{Name: "broken/etcd-lease-as-token", Tokens: true},
	},
}
