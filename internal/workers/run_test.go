package workers_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/workers"
)

type done = workers.Done[job, int]

// run executes the jobs and returns them in their order.
func run(t *testing.T, opt workers.Options, jobs ...job) []done {
	t.Helper()
	if opt.Command == nil {
		opt.Command = command("serve")
	}
	var all []done
	if err := workers.Run(t.Context(), opt, slices.Values(jobs), func(d done) { all = append(all, d) }); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b done) int { return a.ID - b.ID })
	return all
}

// Every job has one answer, its own, whichever child executed it.
func TestManyJobs(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			var jobs []job
			for i := range 300 {
				jobs = append(jobs, job{Do: "square", N: i})
			}
			for i, d := range run(t, workers.Options{Workers: n}, jobs...) {
				if d.ID != i || d.Job.N != i || d.Result != i*i || d.Err != nil {
					t.Errorf("job %d: %+v", i, d)
				}
			}
		})
	}
}

func TestNoJobs(t *testing.T) {
	if all := run(t, workers.Options{}); len(all) != 0 {
		t.Errorf("%v", all)
	}
}

// Step is called for each step, with the number of the job.
func TestSteps(t *testing.T) {
	got := map[int]int{}
	run(t, workers.Options{Workers: 2, Step: func(id int) { got[id]++ }},
		job{Do: "steps", N: 40}, job{Do: "steps"}, job{Do: "steps", N: 3})
	if diff := cmp.Diff(map[int]int{0: 40, 2: 3}, got); diff != "" {
		t.Error(diff)
	}
}

// A child runs on one core, since more threads make runs slower. Its runtime is tuned, but
// values that the user has set are kept.
func TestEnvironment(t *testing.T) {
	for _, tt := range []struct{ collect, debug, want string }{
		{"", "", "1 400 adaptivestackstart=1"},
		{"off", "gctrace=0", "1 off gctrace=0,adaptivestackstart=1"},
	} {
		opt := workers.Options{Command: func() *exec.Cmd {
			cmd := command("serve")()
			cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool {
				return strings.HasPrefix(v, "GOGC=") ||
					strings.HasPrefix(v, "GODEBUG=")
			})
			if tt.collect != "" {
				cmd.Env = append(cmd.Env, "GOGC="+tt.collect, "GODEBUG="+tt.debug)
			}
			return cmd
		}}
		if d := run(t, opt, job{Do: "environment"})[0]; d.Err == nil || d.Err.Error() != tt.want {
			t.Errorf("%v, want %s", d.Err, tt.want)
		}
	}
}

// The stacks of goroutines in a child begin with 8 KB.
func TestStacks(t *testing.T) {
	if d := run(t, workers.Options{}, job{Do: "stack"})[0]; d.Err != nil || d.Result != 8<<10 {
		t.Errorf("%d bytes, %v", d.Result, d.Err)
	}
}

// The error of a job has the way in which it ended its child, and the jobs before and
// after it are executed.
func TestBadJobs(t *testing.T) {
	for name, tt := range map[string]struct {
		job  job
		want []string // parts of the error
	}{
		"error": {job{Do: "error"}, []string{"seven is not allowed"}},
		"panic": {job{Do: "panic"}, []string{"ended during this job", "exit status 2", "panic: the job is cursed",
			"goroutine "}},
		"fatal": {job{Do: "fatal"}, []string{"ended during this job", "exit status 2", "fatal error: sync: unlock of " +
			"unlocked mutex"}},
		"exit":     {job{Do: "exit"}, []string{"ended during this job", "exit status 7"}},
		"quit":     {job{Do: "quit"}, []string{"ended during this job", "exit status 0"}},
		"garbage":  {job{Do: "garbage"}, []string{"ended during this job", "not a line of the protocol", "progress: 50%"}},
		"flood":    {job{Do: "flood"}, []string{"ended during this job", "not a line of the protocol", "longer than"}},
		"impostor": {job{Do: "impostor", N: 99}, []string{"ended during this job", "was sent job 1 and answered job 99"}},
		"cut":      {job{Do: "cut"}, []string{"ended during this job", "exit status 0"}},
		"talk":     {job{Do: "talk"}, []string{"begin blah", "bytes left out", "blah  end"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := run(t, workers.Options{Workers: 1}, job{Do: "square", N: 3}, tt.job, job{Do: "square", N: 4})
			if len(all) != 3 || all[0].Result != 9 || all[2].Result != 16 || all[0].Err != nil || all[2].Err != nil {
				t.Fatalf("the other jobs: %+v", all)
			}
			if all[1].Err == nil {
				t.Fatalf("no error: %+v", all[1])
			}
			for _, part := range tt.want {
				if !strings.Contains(all[1].Err.Error(), part) {
					t.Errorf("no %q in: %v", part, all[1].Err)
				}
			}
			if n := len(all[1].Err.Error()); n > 10<<10 {
				t.Errorf("the error has %d bytes", n)
			}
		})
	}
}

// A child that is spent is not used again; one that answers with an error is.
func TestSpent(t *testing.T) {
	for do, same := range map[string]bool{"error": true, "spent": false} {
		all := run(t, workers.Options{Workers: 1}, job{Do: "who"}, job{Do: do}, job{Do: "who"})
		if _, ok := errors.AsType[*workers.JobError](all[1].Err); !ok || all[0].Err != nil || all[2].Err != nil {
			t.Errorf("%s: %+v", do, all)
		}
		if (all[0].Result == all[2].Result) != same {
			t.Errorf("%s: process %d before, %d after", do, all[0].Result, all[2].Result)
		}
	}
}

// A child that answers with a result and says that it is its last one is not used again.
func TestLast(t *testing.T) {
	all := run(t, workers.Options{Workers: 1}, job{Do: "who"}, job{Do: "last"}, job{Do: "who"})
	if all[0].Err != nil || all[1].Err != nil || all[2].Err != nil || all[1].Result != all[0].Result ||
		all[2].Result == all[0].Result {
		t.Errorf("%+v", all)
	}
}

// The error of a job does not have what the child wrote during an earlier job.
func TestStderrIsTheJobsOwn(t *testing.T) {
	all := run(t, workers.Options{Workers: 1}, job{Do: "talk"}, job{Do: "exit"})
	if err := all[1].Err; err == nil || strings.Contains(err.Error(), "blah") {
		t.Errorf("%v", err)
	}
}

// A job whose child exits once is tried again: the cause may lie outside the job.
func TestRetry(t *testing.T) {
	d := run(t, workers.Options{}, job{Do: "once", N: 5, File: filepath.Join(t.TempDir(), "mark")})[0]
	if d.Err != nil || d.Result != 5 {
		t.Errorf("%+v", d)
	}
}

// A child that sends nothing is killed, and the next job gets another one. The limit can
// be short here, since the other job only multiplies.
func TestHang(t *testing.T) {
	all := run(t, workers.Options{Workers: 1, Silence: 2 * time.Second}, job{Do: "hang"}, job{Do: "square", N: 4})
	hang, ok := errors.AsType[*workers.HangError](all[0].Err)
	if !ok || hang.After != 2*time.Second || !strings.Contains(hang.Error(), "sent nothing for 2s") {
		t.Errorf("%v", all[0].Err)
	}
	if all[1].Err != nil || all[1].Result != 16 {
		t.Errorf("%+v", all[1])
	}
}

// pid is the process that executes the job and has just reported its id.
func pid(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A child is killed from outside, as the kernel does when memory is short: after the
// second time, the job has a CrashError.
func TestKilledFromOutside(t *testing.T) {
	j := job{Do: "pid", File: filepath.Join(t.TempDir(), "pid")}
	var killed []int
	d := run(t, workers.Options{Step: func(int) {
		killed = append(killed, pid(t, j.File))
		if err := syscall.Kill(killed[len(killed)-1], syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}}, j)[0]
	crash, ok := errors.AsType[*workers.CrashError](d.Err)
	if !ok || !strings.Contains(crash.How, "signal: killed") {
		t.Errorf("%v", d.Err)
	}
	if len(killed) != 2 || killed[0] == killed[1] {
		t.Errorf("the children were %v", killed)
	}
}

// When the context ends, all children end, and Run returns after that.
func TestCancel(t *testing.T) {
	dir := t.TempDir()
	var jobs []job
	for i := range 5 {
		jobs = append(jobs, job{Do: "pid", File: filepath.Join(dir, strconv.Itoa(i))})
	}
	ctx, cancel := context.WithCancel(t.Context())
	var children []int
	err := workers.Run(ctx, workers.Options{Command: command("serve"), Workers: 3, Step: func(id int) {
		if children = append(children, pid(t, jobs[id].File)); len(children) == 3 {
			cancel()
		}
	}}, slices.Values(jobs), func(d done) { t.Errorf("done: %+v", d) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, n := range children {
		if err := syscall.Kill(n, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d still exists: %v", n, err)
		}
	}
}

// A result that is known when the context ends is not lost.
func TestCancelKeepsResults(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	jobs := []job{{Do: "square", N: 2}, {Do: "hang"}}
	var all []done
	err := workers.Run(ctx, workers.Options{Command: command("serve"), Workers: 2}, slices.Values(jobs), func(d done) {
		all = append(all, d)
		cancel()
	})
	if !errors.Is(err, context.Canceled) || len(all) != 1 || all[0].Result != 4 {
		t.Errorf("%v: %+v", err, all)
	}
}

// A program that is no worker ends all jobs: another try would fail too.
func TestNoWorker(t *testing.T) {
	for as, want := range map[string]string{
		"refuse":   "exit status 2\nit wrote:\nno such command: worker",
		"stranger": `not a line of the protocol: "Welcome to the shop.`,
		"elder":    "of another version",
	} {
		t.Run(as, func(t *testing.T) {
			err := workers.Run(t.Context(), workers.Options{Command: command(as)},
				slices.Values([]job{{Do: "square"}, {Do: "square"}}),
				func(d done) { t.Errorf("done: %+v", d) })
			if _, ok := errors.AsType[*workers.StartError](err); !ok || !strings.Contains(err.Error(), want) {
				t.Errorf("want %q in: %v", want, err)
			}
		})
	}
}

func TestNoProgram(t *testing.T) {
	missing := command("serve")()
	missing.Path = filepath.Join(t.TempDir(), "missing")
	err := workers.Run(t.Context(), workers.Options{Command: func() *cmd { return missing }, Workers: 1},
		slices.Values([]job{{}}), func(done) {})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestOptions(t *testing.T) {
	for name, opt := range map[string]workers.Options{
		"no command":       {},
		"negative workers": {Command: command("serve"), Workers: -1},
		"negative silence": {Command: command("serve"), Silence: -1},
	} {
		if err := workers.Run(t.Context(), opt, slices.Values([]job{}), func(done) {}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A panic of the caller's function passes through Run, and no child remains.
func TestPanicInDone(t *testing.T) {
	defer func() {
		if r := recover(); r != "enough" {
			t.Errorf("recovered %v", r)
		}
	}()
	jobs := []job{{Do: "square"}, {Do: "square"}, {Do: "hang"}}
	_ = workers.Run(t.Context(), workers.Options{Command: command("serve"), Workers: 2}, slices.Values(jobs),
		func(done) { panic("enough") })
	t.Error("no panic")
}

// Run takes jobs from the sequence only when a child is free, so the sequence may be
// infinite.
func TestEndlessJobs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	handed := 0
	endless := func(yield func(job) bool) {
		for yield(job{Do: "square", N: handed}) {
			handed++
		}
	}
	count := 0
	err := workers.Run(ctx, workers.Options{Command: command("serve"), Workers: 2}, endless, func(done) {
		if count++; count == 20 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || handed > count+4 {
		t.Errorf("%v: %d jobs were taken, %d done", err, handed, count)
	}
}
