package app

import (
	"os"
	"testing"

	"locksim/internal/live"
	"locksim/lock"
	"locksim/scenarios/subject"
)

// Environment variables that make the test program run as locksim, and that select what
// mylock does there.
const (
	asChild     = "LOCKSIM_APP_TEST_CHILD"
	misbehaving = "LOCKSIM_APP_TEST_MISBEHAVING"
)

// A child process of a test is the locksim command, with mylock, or a client of a live run.
func TestMain(m *testing.M) {
	if live.Child(twoFaced(true)) {
		return
	}
	switch {
	case os.Getenv(asChild) == "":
		os.Exit(m.Run())
	case os.Getenv(asPromising) != "":
		os.Exit(Main(promising()))
	case os.Getenv(misbehaving) == "":
		os.Exit(Main(append(ownLocks(), mylock())...))
	case os.Getenv(sabotage) != "":
		os.Exit(Main(sabotagedLock()))
	}
	os.Exit(Main(subject.Lock{Name: "mylock", New: misbehave}))
}

// misbehave makes no lock: it exits the process, or sends SIGINT to the parent, as Ctrl-C
// does, and never returns.
func misbehave(subject.Env) (lock.Locker, error) {
	if os.Getenv(misbehaving) == "exit" {
		os.Exit(9)
	}
	if err := signalTo(os.Getppid(), os.Interrupt); err != nil {
		return nil, err
	}
	silent, _, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = silent.Read(make([]byte, 1))
	return nil, err
}
