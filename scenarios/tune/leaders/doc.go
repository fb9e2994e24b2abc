// Package leaders computes what the times of an election mean: the three durations of Kubernetes, the session and the
// lock-delay of Consul, the session timeout of ZooKeeper, the lease of etcd.
//
// It is arithmetic, without a world. Three troubles strike a leader that was elected long ago, while one candidate
// waits:
//
//   - An outage: no server answers anybody for so many seconds. A request fails at once, as when a connection is
//     refused. What the servers had is kept. A leader that could go on and gives up all the same is lost for nothing.
//   - A pause: the leader's process stands still for so many seconds, and the servers do not.
//   - A crash of the leader's process, for good.
//
// The trouble begins at any instant between two renewals. An answer says in which share of these instants the leader is
// lost, and between which two lengths of time two clients lead, or none. Where it is a matter of chance, such as of a
// jitter, whether a leader is lost, the share is an interval too: of the instants in which it surely is, and of those
// in which it may be. Requests take no time, clocks run at one rate, and no other trouble strikes.
//
// Two clients lead where the old one acts that has not been told yet; while it stands still it does not act. None leads
// from when the old one stops, or stands still, until the candidate is elected. A leader that has stopped does not
// campaign again.
package leaders
