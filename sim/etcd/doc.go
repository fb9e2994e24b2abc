// Package etcd has an etcd cluster for a simulated world, and clients of it.
//
//	sim.Config{Seed: 1, Servers: []sim.Kind{etcd.Servers{Members: 3}}}
//
// The unmodified client, go.etcd.io/etcd/client/v3, speaks gRPC with members that are small servers of this package, on
// the raft of etcd. They have what locks, elections and the usual recipes need of etcd: reads at any revision, writes,
// transactions, leases and watches. Any other call gets the error Unimplemented, and a line in the trace.
//
// # What is as in etcd
//
// Times are its defaults: a heartbeat of 100 ms, elections after 1 to 2 s, requests that time out after 7 s. Leases are
// measured by the leader, with its monotonic clock; every 500 ms it proposes the end of those that are over. A new
// leader gives each lease its whole TTL again, and an election timeout. A leader that is cut off steps down after an
// election timeout, and renews leases until then. The log of a member is on its disk: it survives a crash, also one of
// the machine's power.
//
// # What is not
//
// The members of a cluster change by the fault faults.Leave alone: a client cannot list or change them. The cluster has
// a leader from the beginning. Members have no quotas, no users, and no limits on the size of a request.
// docs/explanation/limits.md has the rest.
//
// # Clients
//
// [Client] makes a client. gRPC has sources of chance that the seed does not reach; [DialOptions] removes them, and
// docs/explanation/determinism.md explains them. A program that imports this package changes one variable of the etcd
// client, so that virtual time can pass while it watches.
package etcd
