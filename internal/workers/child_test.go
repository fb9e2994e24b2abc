package workers_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"locksim/internal/child"
	"locksim/internal/workers"
)

// job is what the child of the tests has to do.
type job struct {
	Do   string
	N    int
	File string
}

// A child process of a test is a worker.
func TestMain(m *testing.M) {
	switch os.Getenv("LOCKSIM_WORKERS_TEST") {
	case "":
		goleak.VerifyTestMain(m)
	case "serve":
		if err := workers.Serve(os.Stdin, os.Stdout, do); err != nil && !errors.Is(err, workers.ErrSpent) &&
			!errors.Is(err, workers.ErrLast) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "refuse":
		fmt.Fprintln(os.Stderr, "no such command: worker")
		os.Exit(2)
	case "stranger":
		fmt.Println("Welcome to the shop.")
		select {}
	case "elder":
		fmt.Println(`{"ready":99}`)
		select {}
	}
}

// command makes a child of the tests.
func command(as string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "LOCKSIM_WORKERS_TEST="+as)
		return cmd
	}
}

func do(j job, step func()) (int, error) {
	switch j.Do {
	case "square":
		return j.N * j.N, nil
	case "steps":
		for range j.N {
			step()
		}
		return j.N, nil
	case "error":
		return 0, errors.New("seven is not allowed")
	case "panic":
		panic("the job is cursed")
	case "fatal":
		new(sync.Mutex).Unlock() // a fatal error, not a panic: the runtime ends the process
	case "exit":
		os.Exit(7)
	case "quit":
		os.Exit(0)
	case "garbage":
		fmt.Println("progress: 50%")
		select {}
	case "flood":
		fmt.Print(strings.Repeat("x", child.MaxLine+1<<16))
		select {}
	case "impostor":
		fmt.Printf("{\"id\":%d,\"result\":1}\n", j.N)
		select {}
	case "cut":
		fmt.Printf(`{"id":0,"res`)
		os.Exit(0)
	case "talk":
		fmt.Fprintln(os.Stderr, "begin "+strings.Repeat("blah ", 10_000)+" end")
		os.Exit(1)
	case "once":
		return onlyOnce(j)
	case "pid":
		if err := os.WriteFile(j.File, fmt.Append(nil, os.Getpid()), 0o600); err != nil {
			return 0, err
		}
		step()
		select {}
	case "spent":
		go func() {
			for { //nolint:staticcheck // busy without end, as a run can be
			}
		}()
		return os.Getpid(), fmt.Errorf("%w: a goroutine is busy", workers.ErrSpent)
	case "last":
		return os.Getpid(), workers.ErrLast
	case "who":
		return os.Getpid(), nil
	case "stack":
		sample := []metrics.Sample{{Name: "/gc/stack/starting-size:bytes"}}
		metrics.Read(sample)
		return int(sample[0].Value.Uint64()), nil
	case "environment":
		return 0, errors.New(os.Getenv("GOMAXPROCS") + " " + os.Getenv("GOGC") + " " + os.Getenv("GODEBUG"))
	}
	select {} // "hang"
}

// onlyOnce exits the process the first time.
func onlyOnce(j job) (int, error) {
	if _, err := os.Stat(j.File); err == nil {
		return j.N, nil
	}
	if err := os.WriteFile(j.File, nil, 0o600); err != nil {
		return 0, err
	}
	panic("the first time")
}
