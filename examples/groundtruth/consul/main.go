//go:build ignore

// Command consul has the Lock of Consul's Go client, on the servers of locksim/sim/consul.
package main

import (
	"locksim/examples/groundtruth"
	"locksim/examples/leases/consul"
	"locksim/scenarios"
)

func main() {
	groundtruth.Main(map[string]scenarios.Lock{"consul-18271": consul.Lock(), "consul-4935": consul.Left()})
}
