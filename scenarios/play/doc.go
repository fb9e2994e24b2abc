// Package play plays stories about locks: named ones from a library of YAML files,
// your own, or random ones. It is the only place where lock, world, faults and
// checker meet. Tests of a lock begin with package [locksim/scenarios], which has
// Check and Fuzz.
//
// # One scenario
//
// A [file.Scenario] says who takes part, what they do, what goes wrong and how it
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
// # Many scenarios
//
// [search.Draw] draws a scenario from a [search.Space], which [search.Discover] finds out; [shrink.Minimize]
// makes one that fails as small as it gets; [search.Examine] is all that can be said
// about one failure. An [explore.Plan] cuts the search for violations into jobs
// that any number of processes share, a [sweep.Plan] the placing of faults at
// every moment of one run, and a matrix the whole library.
//
// # What a pass is worth
//
// That a run shows no violation says nothing about other runs. A run counts
// for something only when clients contended and faults struck: both are
// among its figures.
package play
