package app_test

import (
	"os"

	"locksim/cmd/locksim/app"
	"locksim/lock"
	"locksim/scenarios/play"
	simredis "locksim/sim/redis"
)

// The locksim command with one more lock. The file of a real program begins with the line
// //go:debug randseednop=0.
func ExampleMain() {
	mylock := play.Lock{
		Name: "mylock",
		New: func(e play.Env) (lock.Locker, error) {
			return lock.NewSingle(simredis.Client(e, "r0"), lock.Options{Clock: e.Clock(), Entropy: e.Entropy("lock"),
				Jitter: e.Source("lock")})
		},
		Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultPartition}},
	}
	os.Exit(app.Main(mylock))
}
