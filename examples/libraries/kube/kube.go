// Command kube has the leader election of client-go, on the API servers of locksim/examples/leases.
package main

import (
	"locksim/examples/leases/kube"
	"locksim/examples/libraries"
)

func main() {
	const (
		quote = "This implementation does not guarantee that only one client is acting as a leader (a.k.a. fencing). [...] the implementation is tolerant to arbitrary clock skew, but is not tolerant to arbitrary clock skew rate."
		where = "doc comment of package leaderelection"
		fence = "leaseTransitions, and one more: it grows from leader to leader, but the package does not hand it out: its user reads the Lease."
	)
	libraries.Main(libraries.Library{
		Name: "kube", Module: "k8s.io/client-go", Source: "https://github.com/kubernetes/client-go/tree/master/tools/leaderelection",
		Unproven: "The API servers are a model of those of Kubernetes, by its documentation; they were not compared with real ones.",
		Findings: []libraries.Finding{
			{
				ID:     "kube-successor-released",
				Status: libraries.NotKnown,
				Where:  "tools/leaderelection/leaderelection.go:314",
				What:   "With ReleaseOnCancel, a leader that could not renew reads the lease again when it gives up, and empties the record of its successor. Since v0.34.0. The scenario kube-successor-released shows it; the schedules of the cells do not.",
				Draft:  "kube-successor-released.md",
			},
			{
				ID:     "kube-told-late",
				Status: libraries.NotKnown,
				Where:  "tools/leaderelection/leaderelection.go:213, 219, 309",
				What:   "With ReleaseOnCancel, a leader that could not renew first tries to give the lease back, for up to another RenewDeadline, and is told only then. With the usual settings that is up to 22 s after its last renewal, and another one may lead after 15 s. A partition does the same: the scenario kube-partition of examples/leases.",
				Draft:  "kube-told-late.md",
			},
		},
		Locks: []libraries.Lock{
			{
				Runs:    300,
				Lock:    kube.Lease(),
				Why:     map[string][]string{"refusals": {"kube-told-late"}},
				Options: "LeaseDuration of the scenario, RenewDeadline two thirds and RetryPeriod a fifth of it, as the defaults of client-go are; ReleaseOnCancel.",
				Quote:   quote, Where: where, Fence: fence,
			},
			{
				Runs:    300,
				Lock:    kube.Kept(),
				Options: "The same without ReleaseOnCancel: a lease that its holder gives up has to run out.",
				Quote:   quote, Where: where, Fence: fence,
			},
		},
	})
}
