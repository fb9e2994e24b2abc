package app

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"locksim/lock"
	"locksim/scenarios/play"
	simredis "locksim/sim/redis"
)

// sabotage makes mylock do something to its process, or to the parent of that, in a
// worker: "kill:N:FILE" is SIGKILL for the process at the N-th client, if there
// is no FILE yet, "interrupt:N:" is SIGINT for its parent, and "kill-parent:N:"
// SIGKILL. "late-kill:N:FILE"
// and "late-interrupt:N:FILE" are the same at every client of all processes after
// the N-th, which FILE counts.
const (
	sabotage = "LOCKSIM_APP_TEST_UNRULY"
	quiet    = "nothing:0:"
)

// clients counts those of this process.
var clients atomic.Int64

// unrulyLock is mylock with a promise, a short TTL, and a will of its own.
func unrulyLock() play.Lock {
	l := play.Lock{Name: "mylock"}
	l.Promise, _ = lock.PromiseOf("single")
	l.New = func(e play.Env) (lock.Locker, error) {
		if os.Args[len(os.Args)-1] == "worker" {
			if err := rebel(os.Getenv(sabotage)); err != nil {
				return nil, err
			}
		}
		return lock.NewSingle(simredis.Client(e, "r0"), lock.Options{TTL: time.Second, Clock: e.Clock(), Entropy: e.Entropy("lock"), Jitter: e.Source("lock")})
	}
	return l
}

func rebel(how string) error {
	parts := strings.SplitN(how, ":", 3)
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if late, ok := strings.CutPrefix(parts[0], "late-"); ok && err == nil {
		return rebelLate(late, n, parts[2])
	}
	if err != nil || clients.Add(1) != n {
		return err
	}
	switch parts[0] {
	case "interrupt":
		return syscall.Kill(os.Getppid(), syscall.SIGINT)
	case "kill-parent":
		return syscall.Kill(os.Getppid(), syscall.SIGKILL)
	}
	if _, err := os.Stat(parts[2]); err == nil {
		return nil
	}
	if err := os.WriteFile(parts[2], nil, 0o600); err != nil {
		return err
	}
	return syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// rebelLate counts a client by a byte of the file, and rebels after the n-th.
func rebelLate(how string, n int64, file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Write([]byte{'.'}); err != nil {
		return err
	}
	if info, err := f.Stat(); err != nil || info.Size() <= n {
		return err
	}
	if how == "kill" {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return misbehaveAfter(syscall.Kill(os.Getppid(), syscall.SIGINT))
}

// misbehaveAfter never comes back, unless there was an error.
func misbehaveAfter(err error) error {
	if err != nil {
		return err
	}
	silent, _, err := os.Pipe()
	if err != nil {
		return err
	}
	_, err = silent.Read(make([]byte, 1))
	return err
}
