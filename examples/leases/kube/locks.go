// Package kube puts the leader election of Kubernetes on trial: package leaderelection of client-go, unmodified, on a
// Lease of a simulated control plane.
//
//	scenarios.Check(t, kube.Lease(), scenarios.Options{})
//
// Each world has two API servers, the store behind them, and an admission webhook: see package locksim/sim/kube.
package kube

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios"
	"locksim/scenarios/kinds/server"
	"locksim/sim"
	"locksim/sim/kube"
)

// client-go logs what it does through a logger of the whole program, also where a context has another one.
func init() { klog.SetLogger(logr.Discard()) }

// settles is how long the cluster may take to serve all clients again: a request ends after a third of a lease, and the
// next one begins two retry periods later.
const settles = 20 * time.Second

// Servers are two API servers, their store and their webhook.
func Servers() []scenarios.Servers {
	lacks := []string{"evict", "exhaust_pool", "failover", "flush", "read_only"}
	behind := append([]string{"edit_key", "error_reply"}, lacks...)
	return []scenarios.Servers{
		{Count: 2, Kind: scenarios.ServerKind{Facts: server.Facts{Name: "kube", Prefix: kube.APIPrefix, Lacks: lacks},
			Settles: settles,
			Make:    func(n int) sim.Kind { return kube.APIServers(n) }}},
		{Count: 1, Kind: scenarios.ServerKind{Facts: server.Facts{Name: "kube-store", Prefix: kube.StorePrefix,
			Lacks: behind, Behind: true},
			Make: func(n int) sim.Kind { return kube.Stores(n) }}},
		{Count: 1, Kind: scenarios.ServerKind{Facts: server.Facts{Name: "kube-webhook", Prefix: kube.WebhookPrefix,
			Lacks:  behind,
			Behind: true},
			Make: func(n int) sim.Kind { return kube.Webhooks(n) }}},
	}
}

// tries is how long a candidate may wait between two tries: 2.2 retry periods of a lease of 15 s.
const tries = 5 * time.Second

// Name is the name of the lease of a resource: what Kubernetes allows in one.
func Name(resource string) string {
	var b strings.Builder
	for _, c := range []byte(resource) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "-%02x", c)
		}
	}
	return "lease-" + b.String() + "-lock"
}

// All are the locks of this package.
func All() []scenarios.Lock {
	return append([]scenarios.Lock{Lease(), Kept()}, Specimens()...)
}

// Lease is the LeaderElector of client-go with ReleaseOnCancel.
//
// A holder has the lock until OnStoppedLeading is called. The documentation of the package promises no exclusion where
// a leader is paused, and where clocks run at rates that differ by more than LeaseDuration and RenewDeadline do.
func Lease() scenarios.Lock {
	return underTest("kube-lease", manner{})
}

// Kept is the same without ReleaseOnCancel: a lease that its holder gives up has to run out.
func Kept() scenarios.Lock {
	l := underTest("kube-lease-kept", manner{keeps: true})
	l.About += " No holder gives it up: it runs out."
	return l
}

// Timed is Kept with times of its own, whatever the TTL of a scenario is. It returns an error if no elector takes them.
func Timed(name string, t Times) (scenarios.Lock, error) {
	if err := t.Validate(); err != nil {
		return scenarios.Lock{}, fmt.Errorf("make lock %s: %w", name, err)
	}
	l := underTest(name, manner{keeps: true, times: t})
	l.FollowsSpec, l.Settings = false, nil
	l.GrantTime = 3 * t.RetryPeriod
	return l, nil
}

// Example is an election as the example of client-go has it, with a client whose requests have no time limit of their
// own. Its holder has the lease until it is told otherwise: one that is cut off cannot be told.
func Example(name string) scenarios.Lock {
	l := underTest(name, manner{waits: true})
	l.Lease = scenarios.LeaseHeld
	return l
}

func underTest(name string, m manner) scenarios.Lock {
	l := scenarios.Lock{
		Name: name, Traits: scenarios.Traits{Servers: Servers(), Tokens: true, FollowsSpec: true, Messages: 16,
			GrantTime: tries, TTLIs: "LeaseDuration", TTLUnit: time.Second, Tuned: tuned,
			Settings: []scenarios.Setting{renewDeadline, retryPeriod},
			Keys:     func(resource string) []string { return []string{kube.Key(namespace, Name(resource))} },
			Promise: lock.Promise{
				Exclusion: []lock.Fault{
					lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultPartition, lock.FaultLatency,
					lock.FaultReset, lock.FaultStall, lock.FaultReadOnly, lock.FaultWallClock, lock.FaultClockDrift,
					lock.FaultNodeCrash, lock.FaultNodePower, lock.FaultNodeClock,
				},
				Data: "seal", FreeWithin: lock.TermAnyTime, ReturnsWithin: lock.TermTTLAndCluster,
				FreeAfter: map[promise.Cause]lock.Term{promise.CauseOther: lock.TermTTLAndCluster},
				Duties: []promise.Duty{
					promise.DutyWaits, promise.DutyRenews, promise.DutyExplains, promise.DutyReturns, promise.DutyKeeps,
				},
			},
			About: "The LeaderElector of client-go: a Lease on the API servers of Kubernetes, which its holder renews. Others " +
				"take it when they have seen no renewal for its duration, by their own clocks. The fencing token is " +
				"leaseTransitions, and one more.",
			ForWhom: "One active replica of a controller in Kubernetes, whose work may be done twice, or in a store that " +
				"compares tokens."},
		New: func(e scenarios.Env) (lock.Locker, error) {
			l, err := open(e, m)
			if err != nil {
				return nil, err
			}
			return l, nil
		},
	}
	if m.keeps || m.waits { // a key may stay after a release: elsewhere that would be a mistake
		l.Keys = func(string) []string { return []string{} }
		l.Promise.FreeAfter = map[promise.Cause]lock.Term{promise.CauseOther: lock.TermAnyTime}
	}
	return l
}
