// Command redsync is locksim with one more lock in it: go-redsync/redsync,
// unmodified, over three Redis nodes.
//
//	go run . run gc-pause --lock redsync
//	go run . explore --lock redsync
//
//go:debug randseednop=0
package main

import (
	"os"

	"locksim/cmd/locksim/app"
)

func main() { os.Exit(app.Main(underTest())) }
