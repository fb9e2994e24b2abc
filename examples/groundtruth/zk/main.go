// Command zk has the lock of the Go client of ZooKeeper, as locksim comes with it.
package main

import (
	"locksim/examples/groundtruth"
	"locksim/scenarios"
	"locksim/scenarios/zklocks"
)

func main() { groundtruth.Main(map[string]scenarios.Lock{"zk-229": zklocks.Library()}) }
