package app

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"locksim/lock"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// sabotage is an environment variable with which mylock sends a signal in a worker:
// "kill:N:FILE" sends SIGKILL to the worker at its N-th client, if FILE does not exist,
// "interrupt:N:" sends SIGINT to its parent, and "kill-parent:N:" SIGKILL.
// "late-kill:N:FILE" and "late-interrupt:N:FILE" do the same at every client after the
// N-th of all workers, which they count in FILE. quiet sends nothing.
const (
	sabotage = "LOCKSIM_APP_TEST_SABOTAGE"
	quiet    = "nothing:0:"
)

// clients counts the clients of this process.
var clients atomic.Int64

// sabotagedLock is mylock with a promise, a short TTL, and the sabotage.
func sabotagedLock() subject.Lock {
	l := subject.Lock{Name: "mylock", Traits: subject.Traits{Keys: func(string) []string { return nil }}}
	l.Promise, _ = lock.PromiseOf("single")
	l.Promise.Duties = nil
	l.New = func(e subject.Env) (lock.Locker, error) {
		if os.Args[len(os.Args)-1] == "worker" {
			if err := sendSignal(os.Getenv(sabotage)); err != nil {
				return nil, err
			}
		}
		return lock.NewSingle(redisclient.New(e, "r0"), lock.Options{TTL: time.Second, Clock: e.Clock(),
			Entropy: e.Entropy("lock"), Jitter: e.Source("lock")})
	}
	return l
}

func sendSignal(how string) error {
	parts := strings.SplitN(how, ":", 3)
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if late, ok := strings.CutPrefix(parts[0], "late-"); ok && err == nil {
		return sendLate(late, n, parts[2])
	}
	if err != nil || clients.Add(1) != n {
		return err
	}
	switch parts[0] {
	case "interrupt":
		return signalTo(os.Getppid(), os.Interrupt)
	case "kill-parent":
		return signalTo(os.Getppid(), os.Kill)
	}
	if _, err := os.Stat(parts[2]); err == nil {
		return nil
	}
	if err := os.WriteFile(parts[2], nil, 0o600); err != nil {
		return err
	}
	return signalTo(os.Getpid(), os.Kill)
}

// sendLate adds a byte to the file for each client, and sends the signal after the n-th.
func sendLate(how string, n int64, file string) error {
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
		return signalTo(os.Getpid(), os.Kill)
	}
	return blockAfter(signalTo(os.Getppid(), os.Interrupt))
}

// blockAfter returns only if there was an error; otherwise it blocks until the process
// ends.
func blockAfter(err error) error {
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

// signalTo sends a signal to a process.
func signalTo(pid int, signal os.Signal) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Signal(signal)
}
