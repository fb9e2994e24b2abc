// Command etcd has the locks of etcd's package concurrency, as locksim comes with them.
package main

import (
	"locksim/examples/groundtruth"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
)

func main() {
	groundtruth.Main(map[string]scenarios.Lock{
		"etcd-22123": etcdlocks.Election(), "etcd-19597": etcdlocks.Mutex(),
		"etcd-11007": etcdlocks.Election(), "etcd-21128": etcdlocks.Election()})
}
