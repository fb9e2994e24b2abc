// Package app is the locksim command: it reads flags and returns an exit code.
//
// It is importable, so that a user can build the same command with their own locks.
// A whole program:
//
//	//go:debug randseednop=0
//	package main
//
//	func main() {
//		os.Exit(app.Main(scenarios.Lock{
//			Name: "mylock",
//			New: func(e scenarios.Env) (lock.Locker, error) {
//				return adapt(mylock.New(scenarios.RedisClient(e, scenarios.Primary))), nil
//			},
//			Traits: scenarios.Traits{
//				Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultPartition}},
//			},
//		}))
//	}
//
// The lock is then listed, compared, run, explored and swept under that name, like the
// built-in locks. The first line lets the world seed math/rand, for locks that draw
// from it. Call [Main] first: the commands that make many runs start the same program
// again as worker processes.
//
// # Exit codes
//
//	0  as expected
//	1  a label that is worse than the scenario expects, or of a live run that
//	   no simulated one has; in a matrix also a cell that is milder than
//	   expected with seeds 1 to 20, or that proves nothing; in an exploration or
//	   a sweep a violation
//	2  bad usage or bad input: the message names the position and the remedy
//	3  the harness failed, a run was not deterministic, or the work was
//	   interrupted (--resume continues it); of a merge also: results are missing
package app
