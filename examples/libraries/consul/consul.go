// Command consul has the Lock and the Semaphore of Consul's Go client, on the servers of locksim/examples/leases.
package main

import (
	"locksim/examples/leases/consul"
	"locksim/examples/libraries"
)

func main() {
	const (
		quote = "Returns a channel that is closed if our lock is lost or an error. [...] It is NOT safe to assume that the lock is held until Unlock() unless the Session is specifically created without any associated health checks."
		where = "doc comment of Lock.Lock"
		fence = "LockIndex or ModifyIndex of the key, which the package does not hand out: its user reads the key."
	)
	documented := consul.Documented()
	documented.Name = "consul-lock"
	libraries.Main(libraries.Library{
		Name: "consul", Module: "github.com/hashicorp/consul/api", Source: "https://github.com/hashicorp/consul/tree/main/api",
		Unproven: "The servers are a model of Consul's, by its documentation; they were not compared with real ones.",
		Findings: []libraries.Finding{
			{
				ID:     "consul-18271",
				Status: libraries.Known,
				Where:  "lock.go, monitorLock",
				Link:   "https://github.com/hashicorp/consul/issues/18271",
				What:   "The monitor waits for a blocking query without a limit, and a renewal that failed is not reported: a holder that is cut off is not told while its successor enters. A search needs some 850 schedules to show it; a cell has 300.",
			},
		},
		Locks: []libraries.Lock{
			{
				Runs:    300,
				Lock:    documented,
				Options: "LockKey with nothing set: a session of its own for each Acquire with a TTL of 15 s, a lock-delay of 15 s, no retries of the monitor. Three servers.",
				Quote:   quote, Where: where, Fence: fence,
			},
			{
				Runs:    300,
				Lock:    consul.Semaphore(),
				Options: "SemaphorePrefix with one slot.",
				Quote:   "On success, a channel is returned that represents our slot. This channel could be closed at any time due to session invalidation, communication errors, operator intervention, etc.",
				Where:   "doc comment of Semaphore.Acquire", Fence: "ModifyIndex of the key.",
			},
		},
	})
}
