// Package play plays a scenario with a lock: [Run] takes a scenario, a lock and a
// seed, and returns an [outcome.Outcome]. It is the only package in which lock, world,
// faults and checker meet. Tests of a lock begin with package [locksim/scenarios],
// which has Check and Fuzz.
//
// A [subject.Lock] is the lock under test: one that comes with locksim, or any
// other behind a lock.Locker. Run plays the scenario once for each fencing mode,
// with the same seed and the same schedule, and each run has a verdict: they show
// what broke, and whether a fence would have saved the data. A lock uses
// the world only through its [subject.Env].
//
// The files of one run: client.go makes the rounds of a client, section.go has its
// steps under the lock, schedule.go strikes the faults, probe.go asks for the lock
// after the workload, history.go collects what the clients saw, and story.go writes
// it down. They use a [Stage], which simulated.go makes of a simulated world; [On]
// plays on any other.
//
// A run is repeatable. [outcome.Twice] makes each run a second time, and [Differ] compares two
// event by event; a [outcome.RunFile] stores a run, and replaying it confirms every figure.
// [Inspect] shows the world at any step of a run.
//
// # What a pass means
//
// A run without a violation proves nothing about other runs. A run is evidence only
// if clients contended and faults struck: [outcome.Vacuous] says why one is not.
package play
