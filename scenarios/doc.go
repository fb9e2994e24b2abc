// Package scenarios is the entry point for tests of a lock. It has the names that
// such tests need and no more. The packages below it have the rest: file has
// scenario files, play plays one run, search draws scenarios and examines failures,
// shrink makes them minimal, and explore, sweep, matrix and review are the
// campaigns of the command.
//
// # A lock of your own, under go test
//
// [Check] plays a lock under random schedules, and fails the test with the first
// that breaks the lock's promise. The failure is made minimal, reported with its
// story, and stored in a file that every later run tries first. [Fuzz] does the
// same for go test -fuzz.
//
//	func TestMyLock(t *testing.T) {
//		scenarios.Check(t, scenarios.Lock{
//			Name: "mylock",
//			New: func(e scenarios.Env) (lock.Locker, error) {
//				return adapt(mylock.New(scenarios.RedisClient(e, scenarios.Primary))), nil
//			},
//			Traits: scenarios.Traits{Promise: lock.LeasePromise()},
//		}, scenarios.Options{})
//	}
//
// The lock is judged by its Promise; without one it is judged for everything under
// every fault. lock.LeasePromise and lock.SessionPromise are promises to start from,
// lock.PromiseOf has those of the locks that come with locksim. [NewLease] and [LockerFunc]
// save most of the lines of an adapter.
// [Options] restrict what is tried. The lock may pass
// named points, by Env.Point, at which faults can strike too. A lock whose runs
// differ, because it draws from a source that the seed does not decide, is reported
// as such.
//
// # One scenario
//
// [Run] plays one [Scenario], which [Load] finds in the library or in a file, with
// the lock once for each fencing mode, and returns an [Outcome] with a verdict for
// each: it shows what broke, and whether a fence would have saved the data.
//
// # What a pass means
//
// A run without a violation proves nothing about other runs. A run is evidence only
// if clients contended and faults struck: both are among its figures.
package scenarios
