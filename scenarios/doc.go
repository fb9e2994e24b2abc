// Package scenarios plays stories about locks: named ones from a library of
// YAML files, your own, or random ones. It is the only place where lock, world,
// faults and checker meet.
//
// # A lock of your own, under go test
//
// [Check] plays a lock under random schedules, and fails the test with the first
// that breaks what the lock promises: made as small as it gets, told as a story,
// and stored in a file that every later run tries first. [Fuzz] does the same
// for go test -fuzz.
//
//	func TestMyLock(t *testing.T) {
//		scenarios.Check(t, scenarios.Lock{
//			Name: "mylock",
//			New: func(e scenarios.Env) (lock.Locker, error) {
//				return adapt(mylock.New(simredis.Client(e, "r0"))), nil
//			},
//		}, scenarios.Options{})
//	}
//
// [Lock] has a Promise, by which it is judged; without one it is judged for
// everything under every fault. [Options] narrow down what is tried. The lock
// may pass named points, by [sim.Process.Point], at which faults strike too. A
// lock whose runs differ, by chance that no seed decides, is reported as such.
//
// # One scenario
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
// # Many scenarios
//
// [Draw] draws a scenario from a [Space], which [Discover] finds out; [Minimize]
// makes one that fails as small as it gets; [Examine] is all that can be said
// about one failure. An [ExplorePlan] cuts the search for violations into jobs
// that any number of processes share, a [SweepPlan] the placing of faults at
// every moment of one run, and a matrix the whole library.
//
// # What a pass is worth
//
// That a run shows no violation says nothing about other runs. A run counts
// for something only when clients contended and faults struck: both are
// among its figures.
package scenarios
