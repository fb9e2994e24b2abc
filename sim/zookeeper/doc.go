// Package zookeeper has a ZooKeeper for a simulated world, one server or an ensemble, and connections to it.
//
//	sim.Config{Seed: 1, Servers: []sim.Kind{zookeeper.Servers{Count: 3}}}
//
// The unmodified client, github.com/go-zookeeper/zk, speaks its protocol with servers that are written for this
// package. They have all requests that this client sends: sessions, the nodes of all kinds, watches, transactions. Any
// other gets ZooKeeper's own error for requests that it does not know, and a line in the trace.
//
// # What is as in ZooKeeper
//
// Times are its defaults: a tick of 2 s, session timeouts of 2 to 20 ticks, and 5 ticks after which a server gives up
// one that it does not hear. Writes go to the leader, and are answered when the connected server has executed them;
// reads are answered by the connected server alone, so that they may be stale. Sessions are measured by the leader,
// with its monotonic clock, in whole ticks. A follower reports to the leader which sessions it has heard of when the
// leader asks, twice a tick: a session whose server is cut off from the leader ends, although that server still answers
// it. A new leader gives every session its whole timeout again. A session may move to another server; the server that
// it has left closes a connection on which it writes. A server that has lost the leader, or a leader that has lost the
// majority, closes all connections, and takes part in an election. The log is on the disk before it is acknowledged, so
// that it survives a loss of power.
//
// # What is not
//
// The servers agree by raft, in place of ZooKeeper's own protocol: an election takes about as long. Access control
// lists are kept, and not enforced. There are no observers, no reconfiguration, no nodes with a TTL, no quotas, and no
// persistent watches. docs/explanation/limits.md has the rest.
//
// # Clients
//
// [Connect] makes a connection. docs/explanation/determinism.md says what a client needs to be repeatable.
package zookeeper
