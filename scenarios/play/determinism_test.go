package play_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// librarySample is the library, or every sixth scenario of it in a short run.
func librarySample(t testing.TB) []*file.Scenario {
	t.Helper()
	all, err := redislocks.Library(nil)
	if err != nil {
		t.Fatal(err)
	}
	var sample []*file.Scenario
	for i, sc := range all {
		if !testing.Short() || i%6 == 0 {
			sample = append(sample, sc)
		}
	}
	return sample
}

// Every scenario, 20 seeds at full size, each run twice: the same trace and
// the same verdict, at one processor and at two. With one or two seeds it is at one of these, in turns.
func TestDeterministic(t *testing.T) {
	seeds := testruns.Soak(t, 20, 0.1)
	for i, sc := range librarySample(t) {
		_, l := testruns.Load(t, sc.Name)
		t.Run(sc.Name, func(t *testing.T) {
			for _, procs := range []int{1, 2} {
				if seeds <= 2 && i%2 == procs%2 {
					continue
				}
				old := runtime.GOMAXPROCS(procs)
				defer runtime.GOMAXPROCS(old)
				for seed := range uint64((seeds + procs - 1) / 2) {
					testruns.Play(t, sc, l, play.RunOptions{Seed: seed*2 + uint64(procs), Repeat: outcome.Twice})
				}
			}
		})
	}
}

// digest is the hash of all traces of the library for one seed.
func digest(t testing.TB) string {
	h := sha256.New()
	for _, sc := range librarySample(t) {
		_, l := testruns.Load(t, sc.Name)
		for seed := range uint64(1) {
			for _, m := range testruns.Play(t, sc, l, play.RunOptions{Seed: seed}).Modes {
				_, _ = fmt.Fprintln(h, sc.Name, seed, m.Mode, m.TraceHash, m.Verdict.Label)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// The same seeds give the same traces in a fresh process with another number
// of processors.
func TestDeterministicAcrossProcesses(t *testing.T) {
	if os.Getenv("LOCKSIM_DIGEST") != "" {
		fmt.Println("digest " + digest(t))
		return
	}
	testruns.OnlyWhole(t) // TestDigests compares each with that of another machine
	want := "digest " + digest(t)
	for _, procs := range []string{"1", "4"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDeterministicAcrossProcesses$", "-test.count=1",
			fmt.Sprintf("-test.short=%t", testing.Short()))
		cmd.Env = append(os.Environ(), "LOCKSIM_DIGEST=1", "GOMAXPROCS="+procs)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("GOMAXPROCS=%s: %v\n%s", procs, err, out)
		}
		if got := string(out[:min(len(out), len(want))]); got != want {
			t.Errorf("GOMAXPROCS=%s: %s, here %s", procs, got, want)
		}
	}
}

// One draw from the global source of math/rand/v2 is noticed, and the error has the
// first event that differs.
func TestGlobalRandIsNoticed(t *testing.T) {
	sc, l := testruns.Load(t, "calm")
	drawing := l
	drawing.New = func(e subject.Env) (lock.Locker, error) {
		inner, err := l.New(e)
		return testlocks.UnseededDelay(inner, e.Clock()), err
	}
	_, err := play.Run(sc, drawing, play.RunOptions{Seed: 1, Repeat: outcome.Twice})
	nd, ok := errors.AsType[*play.NondeterminismError](err)
	if !ok {
		t.Fatalf("got %v, want a NondeterminismError", err)
	}
	if nd.Divergence == nil || nd.Divergence.A == nil || nd.Divergence.Before == nil {
		t.Fatalf("the error has no divergence: %v", nd)
	}
	if m, ok := nd.Divergence.Before.What.(trace.Mark); !ok || m.Step != trace.Acquire {
		t.Errorf("the event before the first difference is %v, want the acquire whose delay was drawn", nd.Divergence.Before)
	}
	t.Log(nd)
}
