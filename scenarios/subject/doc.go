// Package subject has the lock under test, as it is declared, and its environment: what an adapter compiles.
//
// A [Lock] has a name, a function that makes it for one client, and [Traits], what it says of itself: the servers that
// it needs, how its leases end, what it promises. [Env] is all that it can use of its world, the same in the simulated
// world and on real machines. [NewLease] and [LockerFunc] make most of an adapter.
//
// The package plays nothing: locksim/scenarios/play does. Package locksim/scenarios has these names too, beside Check.
package subject
