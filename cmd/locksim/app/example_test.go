package app_test

import (
	"os"

	"locksim/cmd/locksim/app"
	"locksim/lock"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// The locksim command with one more lock. The file of a real program begins with the line
// //go:debug randseednop=0.
func ExampleMain() {
	mylock := subject.Lock{
		Name: "mylock",
		New: func(e subject.Env) (lock.Locker, error) {
			return lock.NewSingle(redisclient.New(e, "r0"), lock.Options{Clock: e.Clock(), Entropy: e.Entropy("lock"),
				Jitter: e.Source("lock")})
		},
		Traits: subject.Traits{
			Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultPartition}},
		},
	}
	os.Exit(app.Main(mylock))
}
