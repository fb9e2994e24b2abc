package app_test

import (
	"os"

	"locksim/cmd/locksim/app"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/sim"
)

// The locksim command with one more lock in it. As a program, it begins with
// the line //go:debug randseednop=0.
func ExampleMain() {
	mylock := scenarios.Lock{
		Name: "mylock",
		New: func(p *sim.Process) (lock.Locker, error) {
			return lock.NewSingle(p.Redis("r0"), lock.Options{Clock: p.Clock(), Entropy: p.Entropy("lock"), Jitter: p.Source("lock")})
		},
	}
	os.Exit(app.Main(mylock))
}
