// Package oracle compares the small servers of package [locksim/sim/etcd] with etcd itself: programs of random requests
// have the same answers on both. It has only tests, in a module of its own, since they compile the server of etcd.
//
// The real server runs in a bubble of testing/synctest, in which leases end without any waiting; and as three processes
// of Debian's etcd-server on the loopback interface.
package oracle
