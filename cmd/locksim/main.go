// Command locksim runs distributed locks in a deterministic world full of
// faults and says whether mutual exclusion held. Everything it does is in
// package app, so that anybody can build it with their own locks in it.
//
//go:debug randseednop=0
package main

import (
	"os"

	"locksim/cmd/locksim/app"
)

func main() { os.Exit(app.Main()) }
