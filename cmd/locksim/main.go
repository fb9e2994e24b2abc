// Command locksim runs distributed locks in a deterministic world full of
// faults and reports whether mutual exclusion held. The command itself is in
// package app, so that a user can build it with their own locks.
//
//go:debug randseednop=0
package main

import (
	"os"
	"slices"

	"locksim/cmd/locksim/app"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/fences"
	"locksim/scenarios/mysqllocks"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks"
)

func main() { os.Exit(app.Main(append(locks(), onTrial()...)...)) }

// locks are those whose servers the kernel does not have.
func locks() []subject.Lock {
	return slices.Concat(redislocks.Unlocked(), etcdlocks.All(), zklocks.All(), sqllocks.All(), mysqllocks.All(),
		sentinellocks.All(), clusterlocks.All())
}

// onTrial are the fences.
func onTrial() []subject.Lock {
	return slices.Concat(fences.Own(), sqllocks.Fences(), mysqllocks.Fences(), etcdlocks.Fences(), zklocks.Fences())
}
