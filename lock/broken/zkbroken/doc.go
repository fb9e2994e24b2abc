// Package zkbroken has locks on ZooKeeper that are wrong on purpose, as package [locksim/lock/broken] has them for
// Redis: each has one mistake that is easily made with sessions and their nodes, and the rest is right. The harness
// must catch them. Never use one to guard anything.
//
//	for _, s := range zkbroken.All() {
//		fmt.Println(s.Name, s.ID, s.Wrong)
//	}
//
// All of them queue with sequential nodes, as the recipe of ZooKeeper's documentation has it, except for the one that
// puts its node under one fixed path. Nothing renews their leases. The lock that is right, and better, is that of
// package [locksim/lock/zklock].
package zkbroken
