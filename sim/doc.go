// Package sim is the virtual world in which real lock code runs: processes
// with clocks of their own, a network, Redis nodes, and a store that the
// locks are meant to protect.
//
// A run is a function of its seed. [Run] opens a bubble of virtual time
// (testing/synctest), builds a [World], and hands it to a body that starts
// the clients; the same seed gives the same trace, byte for byte, on any
// machine and at any GOMAXPROCS.
//
//	res, err := sim.Run(sim.Config{Seed: 1, Redis: 1, Clients: 2}, func(w *sim.World) error {
//		c0 := w.Client(0)
//		c0.Go(func() { _ = c0.Redis("r0").Set(c0.Context(), "k", "v", 0).Err() })
//		return w.RunUntil(w.Idle)
//	})
//
// # How it is deterministic
//
// Virtual time alone does not make a run repeatable: timers of one instant
// fire in any order, and so do goroutines. The world therefore does one thing
// at a time. Sends, dials and sleeps go to an outbox; when every goroutine is
// blocked, the world sorts the outbox by content, draws each request's delay
// from the seed, and gives it an instant of its own. Then it lets the next
// event happen, waits until everything is blocked again, and so on.
//
// What remains a race inside the code under test (a draw from a source that
// two goroutines share, map order, a select with two ready cases) is found by
// running twice and comparing traces.
//
// # Processes and pauses
//
// A [Process] is a client machine. Everything it does passes a seam: reads,
// writes, dials, closes, clock readings, sleeps and named points. While it is
// paused nothing passes; bytes pile up in its sockets and its timers are late.
// A crashed process gets [ErrCrashed] at every seam and touches nothing more.
//
// # Redis nodes
//
// A [RedisNode] is miniredis behind a loop that does one command at a time, with
// a wall clock of its own. Where [Config.Replicas] asks for them, r0 has
// replicas r0a, r0b and r0c. They get the effects of commands, scripts and
// transactions, with expiry at instants of the primary's clock, over links that
// have latency, lag behind and can be cut; nobody waits for them but WAIT. The
// name [Primary] leads to whoever is the primary: [World.Promote] moves it.
// [World.Crash] ends a node's process or takes its power, [World.Restart] brings
// it back with what its [Persistence] has kept. What the nodes really had, key
// by key, is in [World.KeyChanges].
//
// The package knows nothing of locks. It is not safe to start two runs at
// once in one process: they share the global random sources of other people's
// code, so [Run] serialises them.
package sim
