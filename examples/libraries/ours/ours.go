// Command ours has the locks of locksim, beside those of others.
package main

import (
	"fmt"
	"os"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/zklocks"
)

func main() {
	l := libraries.Library{Name: "ours", Module: "locksim", Source: "../../docs/reference/locks.md"}
	others := append(sqllocks.All(), etcdlocks.Lock(), zklocks.Lock())
	for _, name := range []string{"single", "fenced", "watchdog-fenced", "redlock", "etcd", "zookeeper", "sql-table"} {
		found, err := redislocks.Find(name, others)
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
		Lock: found, Is: found.About, Options: "As it comes.", Fence: "Its token, which grows from grant to grant.", Runs: 30,
		Says: []libraries.Sentence{{
			Text:   "`locksim list` prints the promises of the locks that come with locksim.",
			Where:  "docs/explanation/concepts.md",
			File:   "docs/explanation/concepts.md",
			Labels: checker.Labels(),
		}},
	}
	if !found.Tokens {
		x.Fence = "None."
	}
	return x
}
