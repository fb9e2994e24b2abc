// Package play plays a scenario with a lock: [Run] takes a scenario, a lock and a
// seed, and returns an [Outcome]. It is the only place where lock, world, faults and
// checker meet. Tests of a lock begin with package [locksim/scenarios], which has
// Check and Fuzz.
//
// A [Lock] is the lock under test: one that comes with locksim ([Kind]), or
// anybody's behind a lock.Locker. Run plays the scenario once for each fencing mode,
// with the same seed and the same schedule, and each run has a verdict: so one sees
// what broke, and whether a fencing token would have saved the data. A lock gets all
// that it may know of where it runs from its [Env].
//
// The way of one run: client.go makes the rounds of a client, section.go what it does
// under the lock, schedule.go lets faults strike, probe.go asks for the lock when all
// is over, history.go collects what the clients saw, and story.go tells it. They know a
// [Stage], which simulated.go makes of a simulated world; [On] plays on any other.
//
// A run is repeatable. [Twice] makes each run a second time, and [Differ] compares two
// event by event; a [RunFile] stores a run, and replaying it confirms every figure.
// [Inspect] shows the world at any step of a run.
//
// # What a pass is worth
//
// That a run shows no violation says nothing about other runs. A run counts for
// something only when clients contended and faults struck: [Vacuous] says why one does
// not.
package play
