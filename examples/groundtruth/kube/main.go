//go:build ignore

// Command kube has the leader election of client-go, on the API servers of locksim/sim/kube.
package main

import (
	"locksim/examples/groundtruth"
	"locksim/examples/leases/kube"
	"locksim/scenarios"
)

func main() {
	groundtruth.Main(map[string]scenarios.Lock{
		"kube-124588":             kube.Example("kube-124588"),
		"kube-successor-released": kube.Example("kube-successor-released"),
		"kube-80954":              kube.Lease(),
		"kube-131867":             kube.Lease(),
		"kube-137988":             kube.Lease(),
	})
}
