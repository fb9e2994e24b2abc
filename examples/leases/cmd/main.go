// Command cmd is locksim with the locks of this module in it: leases of services whose clients are heavy, so that only
// those compile them who want them.
//
//	cd examples/leases
//	go run ./cmd list
//	go run ./cmd explore --lock kube-lease
//
//go:debug randseednop=0
package main

import (
	"os"
	"slices"

	"locksim/cmd/locksim/app"
	"locksim/examples/leases/consul"
	"locksim/examples/leases/kube"
	"locksim/examples/leases/natskv"
	"locksim/scenarios"
)

func main() { os.Exit(app.Main(locks()...)) }

// locks are those of all services.
func locks() []scenarios.Lock {
	return slices.Concat(consul.All(), kube.All(), natskv.All())
}
