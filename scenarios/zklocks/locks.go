// Package zklocks puts locks on ZooKeeper on trial: the one of package [locksim/lock/zklock], and that of the Go
// client, as its documentation uses it.
//
//	scenarios.Check(t, zklocks.Lock(), scenarios.Options{})
//
// Each runs on an ensemble of three servers of package [locksim/sim/zookeeper]. A program that imports this package
// compiles the client of ZooKeeper, and raft.
package zklocks

import (
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/lock"
	"locksim/lock/broken/zkbroken"
	"locksim/lock/promise"
	"locksim/lock/zklock"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks/facts"
	"locksim/sim/zookeeper"
)

// servers is the number of servers of an ensemble.
const servers = 3

// settles is how long the ensemble may take to serve all clients again: five ticks until a server misses another one,
// an election, and what a client needs to notice a broken connection, and to find a server.
const settles = 25 * time.Second

// confirms is how long the lock may take to be sure of its session: it gives up to be sure of more than it needs after
// 2.2 s, with ticks of two seconds, and a last renewal is a quarter of a second later.
const confirms = 2500 * time.Millisecond

// Kind is the kind of server: ZooKeeper, with z0, z1 and z2.
func Kind() subject.ServerKind {
	return subject.ServerKind{Facts: facts.Server.Facts, Make: zookeeper.Ensemble,
		Settles: settles}
}

func needs() []subject.Servers { return []subject.Servers{{Kind: Kind(), Count: servers}} }

// All are the locks of this package, the specimens last.
func All() []subject.Lock { return append([]subject.Lock{Lock(), Library()}, Specimens()...) }

// Specimens are the locks of package zkbroken.
func Specimens() []subject.Lock {
	var all []subject.Lock
	for _, s := range zkbroken.All() {
		all = append(all, Specimen(s))
	}
	return all
}

// Specimen is one of them.
func Specimen(s zkbroken.Specimen) subject.Lock {
	l := subject.Lock{
		Name: kinds.BrokenPrefix + s.Name, Traits: subject.Traits{Servers: needs(), Tokens: true, FollowsSpec: true,
			Keys: func(resource string) []string {
				if s.Fixed {
					return []string{zkbroken.Node(resource)}
				}
				return []string{zkbroken.Node(resource) + "/"}
			},
			About: "A lock that is wrong on purpose: " + s.Wrong, ForWhom: "Tests: it is wrong on purpose."},
		New: func(e subject.Env) (lock.Locker, error) {
			c, err := connect(e, zookeeper.Dialer(e), nil)
			if err != nil {
				return nil, err
			}
			timeout := timeout(e.Spec().TTL)
			return s.New(c, zkbroken.Options{SessionTimeout: timeout, Retry: timeout / 10, Name: e.Identity(), Clock: e.Clock(),
				Entropy: e.Entropy("lock")})
		},
	}
	if s.Held {
		l.Lease, l.Detection = subject.LeaseHeld, time.Second
	}
	return l
}

// Lock is that of package zklock.
func Lock() subject.Lock {
	return subject.Lock{
		Name: "zookeeper", Traits: subject.Traits{Servers: needs(), Tokens: true, FollowsSpec: true, GrantTime: confirms,
			TTLIs: "SessionTimeout",
			Keys:  func(resource string) []string { return []string{zklock.Options{}.Queue(resource) + "/"} },
			Queue: func(resource string) string { return zklock.Options{}.Queue(resource) + "/*" },
			Promise: lock.Promise{
				Exclusion: []lock.Fault{
					lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultSlow, lock.FaultPartition,
					lock.FaultLatency, lock.FaultReset, lock.FaultStall, lock.FaultWallClock, lock.FaultClockDrift,
					lock.FaultNodeCrash,
					lock.FaultNodePower,
				},
				Data: "seal", FreeWithin: lock.TermSession, Order: lock.FIFO,
				Duties: []promise.Duty{promise.DutyEnds, promise.DutyWaits, promise.DutyReports, promise.DutyRenews},
			},
			About: "An ephemeral node joins a queue on an ensemble of ZooKeeper, the first in the queue has the lock, and it " +
				"stays for as long as the client’s session. The fencing token is the id of the transaction that has created " +
				"the node.",
			ForWhom: "Work of unknown length on data that must stay right, in a store that compares tokens, where ZooKeeper " +
				"is at hand."},
		New: func(e subject.Env) (lock.Locker, error) {
			dialer := zklock.NewDialer(timeout(e.Spec().TTL), zookeeper.Dialer(e), e.Clock())
			c, err := connect(e, dialer.Dial, nil)
			if err != nil {
				return nil, err
			}
			return zklock.New(c, zklock.Options{SessionTimeout: timeout(e.Spec().TTL), Dialer: dialer, Clock: e.Clock(),
				Entropy: e.Entropy("lock")})
		},
	}
}

// timeout is a TTL as a session timeout that the servers grant: 2 to 20 of their ticks.
func timeout(ttl time.Duration) time.Duration { return min(max(ttl, 4*time.Second), 40*time.Second) }

// connect connects a machine to all servers, each machine to another one first.
func connect(e subject.Env, dial zk.Dialer, observe zk.EventCallback) (*zk.Conn, error) {
	first := index(e)
	var names []string
	for i := range servers {
		names = append(names, fmt.Sprintf("z%d", (first+i)%servers))
	}
	return zookeeper.ConnectBy(dial, e, timeout(e.Spec().TTL), observe, names...)
}

// index is the number of a client, 0 for the probe.
func index(e subject.Env) int {
	n := 0
	if _, err := fmt.Sscanf(e.Name(), "c%d", &n); err != nil {
		return 0
	}
	return n
}
