package app

import (
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"locksim/scenarios/explore"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
)

// BenchmarkExplore is an exploration with one worker process beside the same runs in a plain loop, in turns:
// of-plain-loop is the part of the loop's speed that is left by the processes, their messages and the counting.
func BenchmarkExplore(b *testing.B) {
	const runs = 200
	l, err := redislocks.Kind("single")
	if err != nil {
		b.Fatal(err)
	}
	plan, err := explore.NewPlan(l, explore.Options{Runs: runs, FirstSeed: 1, Judge: explorations.JudgePromise,
		Collect: explorations.CollectAll})
	if err != nil {
		b.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as a worker has it
	var loop, explored time.Duration
	n := 0
	for b.Loop() {
		began := time.Now()
		for t := range search.Trials(explore.Judged(l, plan.Judge),
			search.Drawn(l, plan.Space, outcome.Seeds{First: 1, Last: runs})) {
			if t.Err != nil {
				b.Fatal(t.Err)
			}
		}
		loop += time.Since(began)
		began = time.Now()
		cmd := exec.Command(os.Args[0], "explore", "--lock", "single", "--promise", "--all", "--runs", strconv.Itoa(runs),
			"--workers", "1", "--quiet")
		cmd.Env = append(os.Environ(), asChild+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		explored += time.Since(began)
		n++
	}
	b.ReportMetric(float64(n*runs)/explored.Seconds(), "runs/s")
	b.ReportMetric(loop.Seconds()/explored.Seconds(), "of-plain-loop")
}
