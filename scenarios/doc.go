// Package scenarios plays stories about locks: named ones from a library of
// YAML files, or your own. It is the only place where lock, world, faults and
// checker meet.
//
// A [Scenario] says who takes part, what they do, what goes wrong and how it
// should end. A [Lock] is the lock under test: one that comes with locksim
// ([Kind]), or anybody's behind a lock.Locker. [Run] plays the scenario with
// the lock once for each fencing mode, with the same seed and the same
// schedule, and returns an [Outcome] with a verdict for each: so one sees what
// broke, and whether a fencing token would have saved the data.
//
// A run is repeatable. [Twice] makes each run a second time and compares the
// traces event by event; a [RunFile] stores a run, and replaying it confirms
// every figure. [Inspect] shows the world at any step of a run.
//
// That a run shows no violation says nothing about other runs. A run counts
// for something only when clients contended and every fault struck: both are
// among its figures.
package scenarios
