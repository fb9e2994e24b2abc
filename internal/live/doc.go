// Package live plays scenarios on real machines: real servers, real processes, a real Toxiproxy between them, real
// time.
//
// [Run] plays a scenario as play.Run does, but each client is a process of its own, a server is the real one, and the
// same checker judges. The durations of the scenario are multiplied by a scale, so that a run takes seconds.
//
// # Who does what
//
// A client's process is the same program once more: [Child] makes it one. It has the lock, the connections, the clock
// and the sleep of the client, and does one thing after another that its parent tells it: ask for the lock, sleep,
// write, release. What the client does next, package play decides in the parent, as in a simulated world: so the
// history survives the client, and a client waits at each mark until the parent goes on. A fault that strikes when c0
// has read strikes after the read and before the write.
//
// A pause is a SIGSTOP of the process, a crash a SIGKILL. Every connection of a client to a server leads through a
// Toxiproxy of its own pair, which runs in the parent; a fault of the network is a toxic there. The clock of a client
// is the one that its lock is given, [lock.Clock]; the parent sets it. Servers have faults of their own, see package
// server.
//
// # Instants
//
// All processes of a machine have one monotonic clock, and every instant is by it. What a client has done lies between
// the instant at which its process says that it was done, and the one at which the parent has heard of it: the position
// of the event is that interval. If two orders are possible within the intervals, and the verdict depends on it, the
// label is unknown.
//
// # What the files hold
//
// world.go is the stage that package play plays on, machine.go a client as the parent sees it, remote.go its lock,
// child.go the process itself, overlaid.go the dials of code that dials by itself, link.go what both say to each other.
// proxies.go is the network, faults.go has the abilities that faults ask for, run.go the modes of a run, scale.go the
// durations.
package live
