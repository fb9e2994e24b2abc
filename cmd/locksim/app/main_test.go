package app

import (
	"os"
	"syscall"
	"testing"

	"locksim/lock"
	"locksim/scenarios/play"
)

// Variables that make a child of this program, and say what mylock does there.
const (
	asChild     = "LOCKSIM_APP_TEST_CHILD"
	misbehaving = "LOCKSIM_APP_TEST_MISBEHAVING"
)

// In a child of a matrix, this program is a locksim with mylock in it.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asChild) == "":
		os.Exit(m.Run())
	case os.Getenv(asPromising) != "":
		os.Exit(Main(promising()))
	case os.Getenv(misbehaving) == "":
		os.Exit(Main(mylock()))
	case os.Getenv(sabotage) != "":
		os.Exit(Main(unrulyLock()))
	}
	os.Exit(Main(play.Lock{Name: "mylock", New: misbehave}))
}

// misbehave is a lock that ends its process, or tells the parent that the user
// has pressed Ctrl-C, and never comes back.
func misbehave(play.Env) (lock.Locker, error) {
	if os.Getenv(misbehaving) == "exit" {
		os.Exit(9)
	}
	if err := syscall.Kill(os.Getppid(), syscall.SIGINT); err != nil {
		return nil, err
	}
	silent, _, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = silent.Read(make([]byte, 1))
	return nil, err
}
