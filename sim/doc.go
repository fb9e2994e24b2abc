// Package sim is the kernel of a simulated world: processes that pause, crash
// and restart, machines with clocks of their own, a network, servers that plug
// in, and a trace of every event.
//
// A run is a function of its seed. [Run] opens a bubble of virtual time
// (testing/synctest), builds a [World], and hands it to a body that starts
// the clients; the same seed gives the same trace, byte for byte, on any
// machine and at any GOMAXPROCS.
//
//	cfg := sim.Config{Seed: 1, Clients: 2, Servers: []sim.Kind{redis.Servers{}}}
//	res, err := sim.Run(cfg, func(w *sim.World) error {
//		c0 := w.Client(0)
//		c0.Go(func() { _ = redis.Client(c0, "r0").Set(c0.Context(), "k", "v", 0).Err() })
//		return w.RunUntil(w.Idle)
//	})
//
// # How it is deterministic
//
// Virtual time alone does not make a run repeatable: timers of one instant fire
// in any order, and so do goroutines. The world therefore does one thing at a
// time. Sends, dials and sleeps go to an outbox; when every goroutine is
// blocked, the world sorts the outbox by content, draws each request's delay
// from the seed, and gives it an instant of its own. Then it delivers the next
// event, waits until everything is blocked again, and so on.
//
// A race that remains inside the code under test (a draw from a source that two
// goroutines share, map order, a select with two ready cases) shows when two
// runs of one seed are compared.
//
// # Processes and pauses
//
// A [Process] is a client machine. Everything it does passes a seam: reads,
// writes, dials, closes, clock readings, sleeps and named points. While it is
// paused nothing passes: bytes accumulate in its sockets and its timers are
// late. A crashed process gets [ErrCrashed] at every seam and has no further
// effect.
//
// # Servers
//
// The kernel contains no server. A [Kind] builds servers through a [Builder]:
// each is a [Server], a program that accepts connections as [Session]s, on a
// [Node], the machine that gives it clocks, timers, random numbers, links to
// its peers ([Node.Peer]), the trace ([Node.Record]) and the ground truth
// ([Node.KeyChanged]). It runs on the world's goroutine, one event at a time,
// and needs no goroutines of its own.
//
// Crashes, stalls, clock faults, partitions and resets work on every server.
// Every other fault needs an ability, an interface of one method that the
// server may implement: [Crasher], [Promoter], [WriteRefuser] and others. Packages
// sim/redis and sim/store use this seam; examples/register adds a server of its
// own.
//
// # Faults
//
// [World.Faults] applies faults to a world: it has the abilities that package
// faults asks for.
//
// The package does not depend on locks. Two runs cannot proceed at once in one
// process, since they share the global random sources of third-party code:
// [Run] serialises them.
package sim
