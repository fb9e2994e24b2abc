package app

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/sim"
)

// unruly makes mylock do something to its process, or to the parent of that, in a
// worker: "kill:N:FILE" is SIGKILL for the process at the N-th client, if there
// is no FILE yet, and "interrupt:N:" is SIGINT for its parent.
const (
	unruly = "LOCKSIM_APP_TEST_UNRULY"
	quiet  = "nothing:0:"
)

// clients counts those of this process.
var clients atomic.Int64

// unrulyLock is mylock with a promise, a short TTL, and a will of its own.
func unrulyLock() scenarios.Lock {
	l := scenarios.Lock{Name: "mylock"}
	l.Promise, _ = lock.PromiseOf("single")
	l.New = func(p *sim.Process) (lock.Locker, error) {
		if os.Args[len(os.Args)-1] == "worker" {
			if err := rebel(os.Getenv(unruly)); err != nil {
				return nil, err
			}
		}
		return lock.NewSingle(p.Redis("r0"), lock.Options{TTL: time.Second, Clock: p.Clock(), Entropy: p.Entropy("lock"), Jitter: p.Source("lock")})
	}
	return l
}

func rebel(how string) error {
	parts := strings.SplitN(how, ":", 3)
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || clients.Add(1) != n {
		return err
	}
	if parts[0] == "interrupt" {
		return syscall.Kill(os.Getppid(), syscall.SIGINT)
	}
	if _, err := os.Stat(parts[2]); err == nil {
		return nil
	}
	if err := os.WriteFile(parts[2], nil, 0o600); err != nil {
		return err
	}
	return syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
