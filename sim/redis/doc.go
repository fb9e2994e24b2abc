// Package redis has Redis servers for a simulated world, and go-redis clients that
// speak to them.
//
//	sim.Config{Seed: 1, Servers: []sim.Kind{redis.Servers{Nodes: 3}}}
//
// A [Server] is miniredis behind a loop that does one command at a time, on a
// machine with clocks of its own. Where [Servers].Replicas asks for them, r0 has
// replicas r0a, r0b and r0c. They get the effects of commands, scripts and
// transactions, with expiry at instants of the primary's clock, over links that
// have latency, lag behind and can be cut; nobody waits for them but WAIT. The
// name [Primary] leads to whoever is the primary: a failover moves it. A server
// that crashes comes back with what its [Persistence] has kept. What the servers
// really had, key by key, is in the world's KeyChanges.
//
// Scripts run in a Lua state that is kept from one to the next, and from run to run
// where [Servers].Scripts is set; compiled scripts are kept with it.
//
// [Client] and [ClientWith] make go-redis clients, with the options of [Quiet] or of
// [Stock], on any machine that can dial.
package redis
