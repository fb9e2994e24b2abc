// Package raftgroup lets servers of the world agree on a log: a [Group] of members, each of which runs the raft of etcd
// on its node, over the links of the world. It has what the clusters of locksim share, and [Truth], what the world
// knows of the keys of such a cluster.
//
// All of it is for the world's goroutine.
package raftgroup
