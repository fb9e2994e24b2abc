// Package redis has Redis servers for a simulated world, and go-redis clients
// for them.
//
//	sim.Config{Seed: 1, Servers: []sim.Kind{redis.Servers{Nodes: 3}}}
//
// A [Server] is miniredis behind a loop that runs one command at a time, on a
// machine with clocks of its own. With [Servers].Replicas, r0 has replicas r0a,
// r0b and r0c. They get the effects of commands, scripts and transactions, with
// expiry at instants of the primary's clock, over links that have latency and
// lag and can be cut; only WAIT waits for them. The name [Primary] resolves to
// the current primary: a failover moves it. A server that crashes restarts with
// what its [Persistence] has kept. The world's KeyChanges have the keys that
// the servers really had, and the time that each had left when it changed.
//
// Scripts run in a Lua state that is reused from script to script, and from run
// to run if [Servers].Scripts is set; so are compiled scripts.
//
// Package [locksim/sim/redis/redisclient] makes go-redis clients on any machine that can dial.
package redis
