// Command locksim is the command of the same name without the locks that come in packages of their own, such as those
// on etcd: no mutant of package lock concerns them, and each would be compiled with every mutant.
//
//go:debug randseednop=0
package main

import (
	"os"

	"locksim/cmd/locksim/app"
)

func main() { os.Exit(app.Main()) }
