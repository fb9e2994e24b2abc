// Package consul puts the locks of Consul's Go client on trial: Lock and Semaphore of
// github.com/hashicorp/consul/api, unmodified, on a simulated cluster of three servers.
//
//	scenarios.Check(t, consul.Lock(), scenarios.Options{})
//
// One server answers as Consul's own agent does; how three elect a leader is after its documentation: see package
// locksim/sim/consul.
package consul

import (
	"time"

	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios"
	"locksim/scenarios/kinds/server"
	"locksim/sim"
	"locksim/sim/consul"
)

// modelled ends what is said about each lock, so that it is beside each of its results.
const modelled = " A server answers as Consul’s own agent does; how three elect a leader is after its documentation."

// settles is how long the cluster may take to serve all clients again: an election begins after up to 10 s, a request
// waits for 7 s and is asked again, and a session that ended with its server leaves a lock-delay of 15 s.
const settles = 40 * time.Second

// Servers are the three servers of a cluster.
func Servers() []scenarios.Servers {
	return []scenarios.Servers{{Count: 3, Kind: scenarios.ServerKind{
		Facts: server.Facts{
			Name: "consul", Prefix: consul.Prefix, Leader: consul.Leader,
			Lacks: []string{"error_reply", "evict", "exhaust_pool", "failover", "flush", "leave", "read_only"},
		}, Settles: settles,
		Make: func(n int) sim.Kind { return consul.Cluster(n) },
	}}}
}

// All are the locks of this package.
func All() []scenarios.Lock { return append([]scenarios.Lock{Lock(), Semaphore()}, Specimens()...) }

// Lock is api.Lock with the options of LockKey: a session of its own for each Acquire, a lock-delay of 15 s, no
// retries of the monitor, and a TTL of 15 s, whatever that of a scenario is.
//
// A holder has the lock until the channel of Lock is closed. The promise is what it keeps: it is not told of a loss
// while nothing reaches it, or much too late, so it promises nothing under pauses, partitions, latency, stalls, and
// losses of power of servers. [Documented] has what its documentation says.
func Lock() scenarios.Lock {
	return underTest("consul-lock", manner{}, "The Lock of Consul’s Go client: a key that a session acquires, which is "+
		"renewed while the holder works, and ends after twice its TTL without a renewal. Others wait for 15 s more, "+
		"the lock-delay. "+
		"The fencing token is the ModifyIndex of the key.")
}

// Documented is the same with the promise of its documentation: the channel that Lock returns "is closed if our lock
// is lost or an error" (doc comment of Lock), and the lock-delay is to let "the potentially still live leader …
// detect the invalidation and stop" (Sessions and distributed locks). Nothing is said of a leader that is cut off;
// "This case should be covered by TTLs … the client respect this and release itself if its TTL expires" (a maintainer
// in issue 8736).
func Documented() scenarios.Lock {
	l := Lock()
	l.Name = "consul-lock-documented"
	l.Promise.Exclusion = append(l.Promise.Exclusion, lock.FaultPartition)
	return l
}

// Left is the Lock of a user who takes the channel at its word: a lock that it says is lost is not unlocked, and the
// next Acquire makes another one.
func Left() scenarios.Lock {
	return underTest("consul-lock-left", manner{leaves: true}, "The Lock of Consul’s Go client, which its user does not "+
		"unlock when its channel has said that it is lost.")
}

// Semaphore is api.Semaphore with one slot.
func Semaphore() scenarios.Lock {
	m := manner{semaphore: true}
	l := underTest("consul-semaphore", m, "The Semaphore of Consul’s Go client with one slot: a key with the session of "+
		"its holder, changed by comparison of its index, beside a key for each client, which ends with its session. There "+
		"is no lock-delay for the slot. The fencing token is the ModifyIndex of the key.")
	l.Keys = func(resource string) []string { return []string{semaphorePrefix(resource) + consul.SemaphoreKey} }
	l.Settings = []scenarios.Setting{sessionTTL}
	l.ForWhom = "Work by a few clients at once, that may be done by one more now and then."
	return l
}

func underTest(name string, m manner, about string) scenarios.Lock {
	return scenarios.Lock{
		Name: name, Traits: scenarios.Traits{Servers: Servers(), Tokens: true, Messages: 16,
			Settings: []scenarios.Setting{sessionTTL, lockDelay},
			Keys:     func(resource string) []string { return []string{lockKey(resource)} },
			Promise: lock.Promise{
				Exclusion: []lock.Fault{
					lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultReset, lock.FaultWallClock, lock.FaultClockDrift,
				},
				Data: "seal", FreeWithin: lock.TermAnyTime,
				FreeAfter: map[promise.Cause]lock.Term{promise.CauseOther: lock.TermTTLAndCluster},
				Duties:    []promise.Duty{promise.DutyExplains, promise.DutyRenews},
			},
			About: about + modelled,
			ForWhom: "One active process of a service that uses Consul, whose work may be done twice, or in a store that " +
				"compares tokens."},
		New: func(e scenarios.Env) (lock.Locker, error) {
			l, err := open(e, m)
			if err != nil {
				return nil, err
			}
			return l, nil
		},
	}
}
