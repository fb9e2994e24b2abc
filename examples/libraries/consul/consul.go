// Command consul has the Lock and the Semaphore of Consul's Go client, on the servers of locksim/sim/consul.
package main

import (
	"locksim/examples/leases/consul"
	"locksim/examples/libraries"
)

func main() {
	const (
		fence = "LockIndex or ModifyIndex of the key, which the package does not hand out: its user reads the key."
	)
	documented := consul.Documented()
	documented.Name = "consul-lock"
	libraries.Main(libraries.Library{
		Name: "consul", Module: "github.com/hashicorp/consul/api",
		Source: "https://github.com/hashicorp/consul/tree/main/api",
		Findings: []libraries.Finding{
			{
				ID:     "consul-18271",
				Status: libraries.Known,
				Where:  "lock.go, monitorLock",
				Link:   "https://github.com/hashicorp/consul/issues/18271",
				What: "The monitor waits for a blocking query without a limit, and a renewal that failed is not reported: a " +
					"holder that is cut off is not told while its successor enters.",
			},
		},
		Locks: []libraries.Lock{
			{
				Lock: documented,
				Is:   "a session of Consul, which has a key while it is renewed; others wait for a lock-delay after its end.",
				Why:  map[string][]string{"network": {"consul-18271"}},
				Options: "LockKey with nothing set: a session of its own for each Acquire with a TTL of 15 s, a lock-delay of 15 " +
					"s, no retries of the monitor. Three servers.",
				Says: []libraries.Sentence{{
					Text: "Lock attempts to acquire the lock and blocks while doing so. […] Returns a channel that is closed if " +
						"our lock is lost or an error.",
					Where: "doc comment of Lock.Lock", File: "lock.go",
				}},
				Fence: fence,
			},
			{
				Lock:    consul.Semaphore(),
				Is:      "a session of Consul, named in a key that lists the holders; no lock-delay.",
				Options: "SemaphorePrefix with one slot.",
				Says: []libraries.Sentence{{
					Text: "Acquire attempts to reserve a slot in the semaphore, blocking until success, interrupted via the stopCh " +
						"or an error is encountered. […] On success, a channel is returned that represents our slot.",
					Where: "doc comment of Semaphore.Acquire", File: "semaphore.go",
				}},
				Fence: "ModifyIndex of the key.",
			},
		},
	})
}
