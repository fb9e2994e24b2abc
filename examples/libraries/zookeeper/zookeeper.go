// Command zookeeper has the Lock of the Go client of ZooKeeper, as locksim comes with it.
package main

import (
	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/scenarios/zklocks"
)

func main() {
	libraries.Main(libraries.Library{
		Name: "zookeeper", Module: "github.com/go-zookeeper/zk", Source: "https://github.com/go-zookeeper/zk",
		Findings: []libraries.Finding{
			{
				ID:     "zk-void",
				Status: libraries.NotKnown,
				Where:  "lock.go:101, 106, 137; conn.go:497",
				What: "A Lock can return after its session has ended, while another client has the lock. Found by reading: it " +
					"is a race of goroutines.",
				Draft: "zk-void.md",
			},
			{
				ID:     "zk-229",
				Status: libraries.Known,
				Where:  "lock.go:52",
				Link:   "https://github.com/samuel/go-zookeeper/issues/229",
				What:   "A Lock that fails leaves its node, which keeps the others out until its session ends.",
			},
		},
		Locks: []libraries.Lock{{
			Is:   "an ephemeral node in a queue, which lasts as long as a session of ZooKeeper.",
			Why:  map[string][]string{"pause": {"zk-void"}, "network": {"zk-void"}},
			Lock: zklocks.Library(),
			Options: "NewLock and Lock of a client with a session of the scenario's length, on three servers. Its user " +
				"watches the session: the Lock does not tell when it is lost.",
			Says: []libraries.Sentence{{
				Text: "Lock is a mutual exclusion lock.", Where: "doc comment of Lock", File: "lock.go",
			}, {
				Text:  "It will wait to return until the lock is acquired or an error occurs.",
				Where: "doc comment of Lock.LockWithData", File: "lock.go", Labels: []checker.Label{checker.Void},
			}},
			Fence: "The czxid of its node, which its user has to ask for.",
			Untested: "What a Lock returns without a node of its session: its user here looks for that node after each grant, " +
				"to have a token, and takes a grant without it for an error. The cells do not show zk-void therefore. Another " +
				"HostProvider: the client has one server at a time.",
		}},
	})
}
