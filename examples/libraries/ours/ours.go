// Command ours has the locks of locksim, beside those of others.
package main

import (
	"fmt"
	"os"

	"locksim/examples/libraries"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/play"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/zklocks"
)

func main() {
	l := libraries.Library{Name: "ours", Module: "locksim", Source: "../../docs/locks.md"}
	others := append(sqllocks.All(), etcdlocks.Lock(), zklocks.Lock())
	for _, name := range []string{"single", "fenced", "watchdog-fenced", "redlock", "etcd", "zookeeper", "sql-table"} {
		found, err := play.FindLock(name, others)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		l.Locks = append(l.Locks, entry(found))
	}
	libraries.Main(l)
}

func entry(found scenarios.Lock) libraries.Lock {
	x := libraries.Lock{
		Lock: found, Options: "As it comes.", Quote: found.About, Where: "docs/locks.md", Fence: "Its token, which grows from grant to grant.", Runs: 100,
	}
	if !found.Tokens {
		x.Fence = "None."
	}
	return x
}
