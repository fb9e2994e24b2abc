// Command zookeeper has the Lock of the Go client of ZooKeeper, as locksim comes with it.
package main

import (
	"locksim/examples/libraries"
	"locksim/scenarios/zklocks"
)

func main() {
	libraries.Main(libraries.Library{
		Name: "zookeeper", Module: "github.com/go-zookeeper/zk", Source: "https://github.com/go-zookeeper/zk",
		Locks: []libraries.Lock{{
			Runs:    100,
			Lock:    zklocks.Library(),
			Options: "NewLock and Lock of a client with a session of the scenario's length, on three servers. Its user watches the session: the Lock does not tell when it is lost.",
			Quote:   "Lock attempts to acquire the lock. [...] It will wait to return until the lock is acquired or an error occurs.",
			Where:   "doc comment of Lock.Lock",
			Fence:   "The czxid of its node, which its user has to ask for.",
		}},
	})
}
