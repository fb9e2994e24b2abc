// Package sentinel has Redis Sentinels for a simulated world.
//
//	sim.Config{Servers: []sim.Kind{redis.Servers{Replicas: 2}, sentinel.Servers{Count: 3}}}
//
// The Sentinels sen0, sen1, … watch r0 and its replicas, which package [locksim/sim/redis] has. Each of them pings the
// nodes and the other Sentinels, asks the nodes for INFO, and publishes what it knows, at the intervals and by the
// rules of Redis 7.0: a node that does not answer is down subjectively, and objectively if a quorum says so; a Sentinel
// that wants to replace the primary needs the votes of a majority, in an epoch of its own; it chooses a replica by
// priority, offset and run id, makes it the primary, lets the others follow, and tells clients. An old primary that
// comes back is a primary until a Sentinel makes it a replica, after 8 s at the earliest: its writes are lost then.
//
// All of that goes by the clocks of the Sentinels' machines. One whose wall clock jumps back, or by more than 2 s, also
// because its process stood still, does nothing for 30 s (TILT).
//
// Clients ask them by the commands of Sentinel, and subscribe to their events. A client such as redis.NewFailoverClient
// of go-redis needs no change.
package sentinel
