// Package etcdbroken has locks on etcd that are wrong on purpose, as package [locksim/lock/broken] has them for Redis:
// each has one mistake that is easily made with etcd's leases, and the rest is right. The harness must catch them.
// Never use one to guard anything.
//
//	for _, s := range etcdbroken.All() {
//		fmt.Println(s.Name, s.ID, s.Wrong)
//	}
//
// All of them put one key with a lease under the name of the resource, ask again after a random time while it is there,
// and revoke the lease to release. The lock that is right, and better, is that of package [locksim/lock/etcdlock].
package etcdbroken
