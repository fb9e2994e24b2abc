// Package rare has names for rare paths of the simulated world: places of the models of servers, and of the kernel,
// that only some schedules reach. A world notes which of them its run has reached, beside the trace, so that a search
// can say how often it came there, and a test can say that no search does any more.
package rare

import (
	"iter"
	"math/bits"
)

// Path is a rare path.
type Path uint8

// The paths of the kernel.
const (
	// LateRequest and the next ones are about bytes under way when their connection ends.
	LateRequest Path = iota
	LateAnswer
	OrphanedRequest
	ResetRequest
	ResetAnswer
	StalledAway
	DeadAnswer

	// RedisHidden and the next ones are those of Redis.
	RedisHidden
	RedisRevealed
	RedisBehind
	RedisAhead
	RedisUnsynced
	RedisUnsaved
	RedisShortWait
	RedisUnsent
	RedisTooFewReplicas

	// SentinelTilt and the next ones are those of Sentinels.
	SentinelTilt
	SentinelNotElected
	SentinelNoReplica
	SentinelVoted
	SentinelTakenBack
	SentinelConverted

	// ClusterUnbound and the next ones are those of a Redis Cluster.
	ClusterUnbound
	ClusterDown
	ClusterTryAgain
	ClusterAsk
	ClusterScript
	ClusterCollision
	ClusterUpdate
	ClusterDemoted
	ClusterRejoin
	ClusterTooOld
	ClusterRank
	ClusterNoVote
	ClusterManualOver

	// RaftReplaced is of etcd and ZooKeeper.
	RaftReplaced

	// EtcdLengthened and the next ones are those of etcd.
	EtcdLengthened
	EtcdLateRenewal
	EtcdHeld
	EtcdPausedLeader
	EtcdReadFailed
	EtcdLeaderFailed
	EtcdAskedAgain

	// ZooKeeperProlonged and the next ones are those of ZooKeeper.
	ZooKeeperProlonged
	ZooKeeperMoved
	ZooKeeperClosing
	ZooKeeperUnheard
	ZooKeeperAlone

	number
)

// rows has each path, with what happens there.
var rows = [number]struct{ name, means string }{
	LateRequest:     {"late-request", "a request arrives at a server after its client has closed the connection"},
	LateAnswer:      {"late-answer", "an answer arrives at a client after it has closed the connection"},
	OrphanedRequest: {"orphaned-request", "a request arrives at a server after its client's process has crashed"},
	ResetRequest:    {"reset-request", "a connection breaks with a request under way"},
	ResetAnswer:     {"reset-answer", "a connection breaks with an answer under way"},
	StalledAway:     {"stalled-away", "a request waits for a stalled server until its connection is gone"},
	DeadAnswer:      {"dead-answer", "an answer arrives at a machine that has lost its power"},

	RedisHidden:   {"redis-hidden", "a replica hides a key that its primary has not deleted yet"},
	RedisRevealed: {"redis-revealed", "a replica shows a key again that it has hidden while its clock was ahead"},
	RedisBehind:   {"redis-behind", "a replica becomes the primary without all that the old primary had acknowledged"},
	RedisAhead:    {"redis-ahead", "a synchronisation takes writes away that only this server had"},
	RedisUnsynced: {"redis-unsynced", "a power loss takes writes away that were not synced to the disk"},
	RedisUnsaved:  {"redis-unsaved", "a crash takes writes away that were made since the last snapshot"},
	RedisShortWait: {"redis-short-wait",
		"a WAIT ends by its timeout, with fewer replicas than it asked for"},
	RedisUnsent:         {"redis-unsent", "a primary crashes before a replica has all of its writes"},
	RedisTooFewReplicas: {"redis-too-few-replicas", "a primary refuses a write, since too few replicas have answered"},

	SentinelTilt:       {"sentinel-tilt", "a Sentinel stops trusting its clock"},
	SentinelNotElected: {"sentinel-not-elected", "a failover ends since its Sentinel does not get the votes"},
	SentinelNoReplica:  {"sentinel-no-replica", "a failover ends since no replica can take over"},
	SentinelVoted:      {"sentinel-voted", "a Sentinel refuses its vote, since it has voted for another one in the epoch"},
	SentinelTakenBack:  {"sentinel-taken-back", "Sentinels agree that the primary is down, and then that it is not"},
	SentinelConverted:  {"sentinel-converted", "a Sentinel makes an old primary, which came back, a replica"},

	ClusterUnbound:    {"cluster-unbound", "a node of a Redis Cluster is asked for a slot without an owner"},
	ClusterDown:       {"cluster-down", "a node of a Redis Cluster refuses a command, since the cluster is down"},
	ClusterTryAgain:   {"cluster-try-again", "a command finds some of its keys moved to another node, and others not"},
	ClusterAsk:        {"cluster-ask", "a client is sent to the node to which a slot is being moved"},
	ClusterScript:     {"cluster-script", "a script uses a key of another node, which it has not declared"},
	ClusterCollision:  {"cluster-collision", "two primaries of a Redis Cluster have one epoch"},
	ClusterUpdate:     {"cluster-update", "a node of a Redis Cluster is told that its slots are another one's"},
	ClusterDemoted:    {"cluster-demoted", "a primary of a Redis Cluster loses its last slot, and becomes a replica"},
	ClusterRejoin:     {"cluster-rejoin", "a primary that was in a minority waits before it serves again"},
	ClusterTooOld:     {"cluster-too-old", "a replica is not elected, since it was without its primary for too long"},
	ClusterRank:       {"cluster-rank", "a replica lets another one go first, which has more"},
	ClusterNoVote:     {"cluster-no-vote", "a primary of a Redis Cluster refuses its vote"},
	ClusterManualOver: {"cluster-manual-over", "an operator's failover of a Redis Cluster runs out of time"},

	RaftReplaced: {"raft-replaced", "a new leader replaces entries of a log that the old one had written"},

	EtcdLengthened: {"etcd-lengthened", "a change of the leader lengthens a lease"},
	EtcdLateRenewal: {"etcd-late-renewal",
		"a renewal arrives after the lease was over, and before the cluster has ended it"},
	EtcdHeld:         {"etcd-held", "a member holds a request until there is a leader"},
	EtcdPausedLeader: {"etcd-paused-leader", "a leader that stood still asks the others before it renews a lease"},
	EtcdReadFailed:   {"etcd-read-failed", "a read fails since the leader changed while it waited"},
	EtcdLeaderFailed: {"etcd-leader-failed", "a request times out since the leader failed"},
	EtcdAskedAgain:   {"etcd-asked-again", "a renewal meets a member that does not lead any more, and asks again"},

	ZooKeeperProlonged: {"zookeeper-prolonged", "a change of the leader lengthens a session"},
	ZooKeeperMoved:     {"zookeeper-moved", "a server refuses a write, since the session has moved to another server"},
	ZooKeeperClosing:   {"zookeeper-closing", "a session is heard of while its end is being agreed on"},
	ZooKeeperUnheard:   {"zookeeper-unheard", "a follower leaves a leader that it has not heard for five ticks"},
	ZooKeeperAlone:     {"zookeeper-alone", "a leader resigns, since it has not heard a majority for five ticks"},
}

// String is the name of the path.
func (p Path) String() string { return rows[p].name }

// Means says what happens on the path, in a sentence without its point.
func (p Path) Means() string { return rows[p].means }

// Paths are all paths, in order.
func Paths() []Path {
	all := make([]Path, number)
	for p := range number {
		all[p] = p
	}
	return all
}

// Set is the paths that a run has reached. Its zero value is empty.
type Set uint64

// Add adds a path.
func (s *Set) Add(p Path) { *s |= 1 << p }

// Has reports whether the set has a path.
func (s Set) Has(p Path) bool { return s&(1<<p) != 0 }

// All are the paths of the set, in order.
func (s Set) All() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(Path(bits.TrailingZeros64(uint64(s)))) {
				return
			}
		}
	}
}
