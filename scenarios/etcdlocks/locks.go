// Package etcdlocks puts locks on etcd on trial: the one of package [locksim/lock/etcdlock], and those of etcd's own
// package concurrency, as its documentation uses them.
//
//	scenarios.Check(t, etcdlocks.Lock(), scenarios.Options{})
//
// Each runs on a cluster of three members of package [locksim/sim/etcd]. A program that imports this package compiles
// the client of etcd, gRPC and raft.
package etcdlocks

import (
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locksim/lock"
	"locksim/lock/broken/etcdbroken"
	"locksim/lock/etcdlock"
	"locksim/lock/promise"
	"locksim/scenarios/etcdlocks/facts"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
	"locksim/sim/etcd"
)

// members is the number of members of a cluster.
const members = 3

// settles is how long the cluster may take to serve all clients again: two elections, and what gRPC needs to notice a
// broken connection.
const settles = 15 * time.Second

// Kind is the kind of server: etcd, with e0, e1 and e2.
func Kind() subject.ServerKind {
	return subject.ServerKind{Facts: facts.Server.Facts, Make: etcd.Cluster,
		Settles: settles, Late: etcd.Late,
		Advice: etcd.Advice}
}

func servers() []subject.Servers { return []subject.Servers{{Kind: Kind(), Count: members}} }

// All are the locks of this package, the specimens last.
func All() []subject.Lock {
	return append([]subject.Lock{Lock(), Mutex(), Election(), CompareAndSet()}, Specimens()...)
}

// Specimens are the locks of package etcdbroken.
func Specimens() []subject.Lock {
	var all []subject.Lock
	for _, s := range etcdbroken.All() {
		all = append(all, Specimen(s))
	}
	return all
}

// Specimen is one of them.
func Specimen(s etcdbroken.Specimen) subject.Lock {
	l := subject.Lock{
		Name: kinds.BrokenPrefix + s.Name, Traits: subject.Traits{Servers: servers(), Tokens: s.Tokens, FollowsSpec: true,
			Keys:  func(resource string) []string { return []string{etcdbroken.Key(resource)} },
			About: "A lock that is wrong on purpose: " + s.Wrong, ForWhom: "Tests: it is wrong on purpose."},
		New: func(e subject.Env) (lock.Locker, error) {
			c, err := client(e)
			if err != nil {
				return nil, err
			}
			spec := e.Spec()
			return s.New(c, etcdbroken.Options{
				TTL: seconds(spec.TTL), Backoff: lock.Backoff{Min: spec.Backoff.Min, Max: spec.Backoff.Max},
				Clock: e.Clock(), Jitter: e.Source("lock"), Point: func(label string) { _ = e.Point(label) },
			})
		},
	}
	if s.Held {
		l.Lease, l.Detection = subject.LeaseHeld, time.Second
	}
	return l
}

// Lock is that of package etcdlock.
func Lock() subject.Lock {
	return subject.Lock{
		Name: "etcd", Traits: subject.Traits{Servers: servers(), Tokens: true, FollowsSpec: true, TTLIs: "TTL",
			Keys: func(resource string) []string { return []string{etcdlock.Options{}.Queue(resource)} },
			Promise: lock.Promise{
				Exclusion: []lock.Fault{
					lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultSlow, lock.FaultPartition,
					lock.FaultLatency, lock.FaultReset, lock.FaultStall, lock.FaultWallClock, lock.FaultClockDrift,
					lock.FaultNodeCrash,
					lock.FaultNodePower,
				},
				Data: "seal", FreeWithin: lock.TermTTLAndCluster,
				Duties: []promise.Duty{promise.DutyEnds, promise.DutyWaits, promise.DutyReports, promise.DutyTries,
					promise.DutyRenews},
			},
			About: "A key with a lease joins a queue on a cluster of etcd, the first in the queue has the lock, and the " +
				"client keeps the lease alive. The fencing token is the creation revision of the key.",
			ForWhom: "Work of unknown length on data that must stay right, in a store that compares tokens, where etcd is " +
				"at hand."},
		New: func(e subject.Env) (lock.Locker, error) {
			c, err := client(e)
			if err != nil {
				return nil, err
			}
			return etcdlock.New(c, etcdlock.Options{TTL: seconds(e.Spec().TTL), Clock: e.Clock()})
		},
	}
}

// seconds is a TTL as etcd has it: in whole seconds, two at least.
func seconds(ttl time.Duration) time.Duration {
	return max((ttl + time.Second - 1).Truncate(time.Second), 2*time.Second)
}

// client is a client of all members, that of each machine's first.
func client(e subject.Env) (*clientv3.Client, error) {
	first := 0
	if _, err := fmt.Sscanf(e.Name(), "c%d", &first); err != nil {
		first = 0 // the probe
	}
	var names []string
	for i := range members {
		names = append(names, fmt.Sprintf("e%d", (first+i)%members))
	}
	return etcd.ClientWith(e, clientv3.Config{
		DialOptions: etcd.DialOptions(), DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
	}, names...)
}
