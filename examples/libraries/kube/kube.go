// Command kube has the leader election of client-go, on the API servers of locksim/sim/kube.
package main

import (
	"locksim/examples/leases/kube"
	"locksim/examples/libraries"
	"locksim/lock"
	"locksim/scenarios"
)

func main() {
	const (
		is = "a Lease of Kubernetes, a lease by the clocks of its observers: others take it when they have seen no " +
			"renewal for its length."
		fence = "leaseTransitions, and one more: it grows from leader to leader, but the package does not hand it out: its " +
			"user reads the Lease."
	)
	// It says that it guarantees no single leader: only what it says of clocks can be broken.
	says := []libraries.Sentence{{
		Text: "Thus the implementation is tolerant to arbitrary clock skew, but is not tolerant to arbitrary clock " +
			"skew rate.",
		Where: "doc comment of package leaderelection", File: "tools/leaderelection/leaderelection.go",
		Under: []lock.Fault{lock.FaultWallClock, lock.FaultNodeClock},
	}}
	why := map[string][]string{"network": {"kube-told-late", "kube-successor-released"}, "refusals": {"kube-told-late"}}
	libraries.Main(libraries.Library{
		Name: "kube", Module: "k8s.io/client-go",
		Source: "https://github.com/kubernetes/client-go/tree/master/tools/leaderelection",
		Findings: []libraries.Finding{
			{
				ID:     "kube-successor-released",
				Status: libraries.NotKnown,
				Where:  "tools/leaderelection/leaderelection.go:314",
				What: "With ReleaseOnCancel, a leader that could not renew reads the lease again when it gives up, and empties " +
					"the record of its successor. Since v0.34.0. The scenario kube-successor-released of examples/leases shows it.",
				Draft: "kube-successor-released.md",
			},
			{
				ID:     "kube-told-late",
				Status: libraries.NotKnown,
				Where:  "tools/leaderelection/leaderelection.go:213, 219, 309",
				What: "With ReleaseOnCancel, a leader that could not renew first tries to give the lease back, for up to " +
					"another RenewDeadline, and is told only then. With the usual settings that is up to 17 s after its last " +
					"renewal with the client of NewFromKubeconfig, whose requests end after half a RenewDeadline, and up to 22 s " +
					"with one whose requests have no limit; another one may lead after 15 s. A partition does the same: the " +
					"scenario kube-partition of examples/leases.",
				Draft: "kube-told-late.md",
			},
		},
		Locks: []libraries.Lock{
			{
				Lock: onlyClocks(kube.Lease()),
				Is:   is,
				Why:  why,
				Options: "LeaseDuration of the scenario, RenewDeadline two thirds and RetryPeriod two fifteenths of it, as the " +
					"defaults of client-go are; ReleaseOnCancel.",
				Says: says, Fence: fence,
			},
			{
				Lock:    onlyClocks(kube.Kept()),
				Is:      is,
				Options: "The same without ReleaseOnCancel: a lease that its holder gives up has to run out.",
				Says:    says, Fence: fence,
			},
		},
	})
}

// onlyClocks is a lock that promises what its documentation does: that one client leads where clocks jump. Elsewhere it
// guarantees that not.
func onlyClocks(l scenarios.Lock) scenarios.Lock {
	l.Promise.Exclusion = []lock.Fault{lock.FaultWallClock, lock.FaultNodeClock}
	return l
}
