// Command ours has the locks of locksim, beside those of others.
package main

import (
	"fmt"
	"os"

	"locksim/examples/libraries"
	"locksim/scenarios/play"
)

func main() {
	l := libraries.Library{Name: "ours", Module: "locksim", Source: "../lock", Runs: 100}
	for _, name := range []string{"single", "fenced", "watchdog-fenced", "redlock", "etcd", "zookeeper", "sql-table"} {
		found, err := play.FindLock(name, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		fence := "Its token, which grows from grant to grant."
		if !found.Tokens {
			fence = "None."
		}
		l.Locks = append(l.Locks, libraries.Lock{
			Lock: found, Options: "As it comes.", Quote: found.About, Where: "docs/locks.md", Fence: fence,
		})
	}
	libraries.Main(l)
}
