package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/replay"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
)

// renewing is a lock that renews its key in a goroutine of its own.
type renewing struct {
	lock.Locker
	env  scenarios.Env
	kind string // of its mistake
	run  uint64 // a number of the run
}

type renewed struct {
	lock.Lease
	stop func()
	lost chan struct{}
}

func (l renewed) Lost() <-chan struct{} { return l.lost }

func (l renewed) Release(ctx context.Context) error {
	l.stop()
	return l.Lease.Release(ctx)
}

func (l renewing) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(l.env.Context())
	r := renewed{lease, stop, make(chan struct{})}
	go l.renew(ctx, r.lost, "lock:{"+resource+"}")
	return r, nil
}

// renew has the mistake of its kind: each failure of a renewal closes lost, and only the first one may; or a worse one.
func (l renewing) renew(ctx context.Context, lost chan struct{}, key string) {
	client, period := redisclient.New(l.env, scenarios.Primary), testlocks.TTL/20
	switch l.kind {
	case "soon":
		period = time.Millisecond
	case "close":
		<-l.env.Context().Done()
		panic(l.env.Context().Err())
	}
	for {
		if err := l.env.Clock().Sleep(ctx, period); err != nil {
			if err := l.env.Clock().Sleep(context.Background(), 0); l.kind == "crash" && errors.Is(err, sim.ErrCrashed) {
				panic(err)
			}
			return
		}
		within, cancel := context.WithTimeout(ctx, testlocks.TTL/20)
		err := client.PExpire(within, key, testlocks.TTL).Err()
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		// which is held for long only after the learning
		case l.kind == "soon" || l.kind == "always" && key == "lock:{order}":
			panic("it always does")
		case l.kind == "exit" && l.run%20 == 7: // in a run without faults
			os.Exit(3)
		case err != nil && l.kind == "kill":
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
		case err != nil && l.kind == "twice":
			close(lost)
		}
	}
}

// crashing is a lock with a mistake.
func crashing(kind string) scenarios.Lock {
	l := testlocks.UserLock("theirs", func(e scenarios.Env, l lock.Locker) lock.Locker {
		return renewing{l, e, kind, e.Source("run").Uint64()}
	})
	l.Promise = lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultPartition, lock.FaultCrash}}
	return l
}

// TestOfACrash is the test in the processes of the tests below.
func TestOfACrash(t *testing.T) {
	dir := os.Getenv("LOCKSIM_TEST_CRASH_DIR")
	if dir == "" {
		t.Skip("it is a part of TestCheckAfterACrash")
	}
	scenarios.Check(t, crashing(os.Getenv("LOCKSIM_TEST_CRASH")), scenarios.Options{Seed: 1, Runs: 100, Dir: dir,
		Page: func(w io.Writer, o *scenarios.Outcome, replay string) error {
			for _, line := range o.Modes[0].Story {
				if _, err := fmt.Fprintln(w, line.Text); err != nil {
					return err
				}
			}
			_, err := fmt.Fprintln(w, replay)
			return err
		}})
}

// crashes makes processes of TestOfACrash with one folder.
type crashes struct {
	t   *testing.T
	dir string
}

func newCrashes(t *testing.T) crashes {
	t.Helper()
	if testing.Short() {
		t.Skip("makes hundreds of runs in many processes")
	}
	t.Parallel()
	return crashes{t, filepath.Join(t.TempDir(), "testdata", "locksim")}
}

// process is one of them, whose lock has a mistake.
func (c crashes) process(kind string) (output string, ok bool) {
	// blocks, of one run
	cmd := exec.CommandContext(c.t.Context(), os.Args[0], "-test.run=^TestOfACrash$", "-rapid.checks=40")
	cmd.Env = append(os.Environ(), "LOCKSIM_TEST_CRASH_DIR="+c.dir, "LOCKSIM_TEST_CRASH="+kind)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// has checks that an output has a line for each pattern, and that its process failed, but did not end by a panic.
func (c crashes) fails(output string, ok bool, patterns ...string) {
	c.t.Helper()
	if ok || strings.Contains(output, "\npanic: ") || !strings.Contains(output, "--- FAIL: TestOfACrash") {
		c.t.Fatalf("ok %v:\n%s", ok, output)
	}
	for _, p := range patterns {
		if !regexp.MustCompile(`(?m)^ *` + p).MatchString(output) {
			c.t.Errorf("nothing matches %q in:\n%s", p, output)
		}
	}
}

// files are the names in the folder that match a pattern.
func (c crashes) files(pattern string) []string {
	c.t.Helper()
	names, err := filepath.Glob(filepath.Join(c.dir, pattern))
	if err != nil {
		c.t.Fatal(err)
	}
	return names
}

// replays makes the stored run again in this process, up to the panic, twice.
func (c crashes) replays(kind string) {
	c.t.Helper()
	name := c.files("theirs-panicked-*.json")[0]
	data, err := os.ReadFile(name)
	if err != nil {
		c.t.Fatal(err)
	}
	f, err := outcome.ReadRunFile(name, data)
	if err != nil {
		c.t.Fatal(err)
	}
	o, err := replay.Run(f, []scenarios.Lock{crashing(kind)}, scenarios.Twice)
	if err != nil || len(o.Modes) != 1 || o.Modes[0].Verdict.Label != checker.Panicked ||
		o.Modes[0].Verdict.Facts.Panics != 1 {
		c.t.Errorf("the replay: %+v, %v", o, err)
	}
}

const notice = `TestOfACrash: the last process of this test ended in the run of theirs with seed \d+, which is played first now, in a process of its own$`

// A panic in a goroutine of a lock's own ends the process. The next one reports it as a violation, with a minimal
// schedule and a page, and stores it; so do those after it, until the lock is repaired.
func TestCheckAfterACrash(t *testing.T) {
	c := newCrashes(t)
	first, _ := c.process("twice")
	if !strings.Contains(first, "panic: close of closed channel") || strings.Contains(first, "the last process") {
		t.Fatalf("the first process:\n%s", first)
	}
	verdict := []string{`running_test\.go:\d+: seed \d+: theirs fails: panicked in mode none$`,
		`The code of the lock ended the process of c\d at step \d+ by a panic: close of closed channel, in a goroutine that the lock has started, in locksim/scenarios_test\.renewing\.renew \(running_test\.go:\d+\)\.$`,
		`> *\d+ +[\d.]+m?s  c\d +PANICS: close of closed channel`,
		`stack of the goroutine that has ended the process:\n +goroutine \d+ \[running`, `page: .*/theirs-panicked-.*\.html$`,
		`replay: go test -count=1 -run '\^TestOfACrash\$'$`}
	second, ok := c.process("twice")
	c.fails(second, ok, append([]string{notice, `TestOfACrash: \d+ processes were made to make that schedule minimal, in `,
		`schedule, [12] faults? of the \d that were drawn:$`,
		`stored in .*/theirs-panicked-.*\.json, which this test tries first from now on$`}, verdict...)...)
	page, err := os.ReadFile(c.files("theirs-panicked-*.html")[0])
	if err != nil || !strings.Contains(string(page), "PANICS: close of closed channel") {
		t.Errorf("the page does not tell of the panic: %v", err)
	}
	if left := c.files(".running-*"); len(left) > 0 {
		t.Errorf("%v remain", left)
	}
	c.replays("twice")
	third, ok := c.process("twice")
	c.fails(third, ok, append([]string{`stored failure .*/theirs-panicked-`, `schedule, as it is stored:$`},
		verdict...)...)
	repaired, ok := c.process("")
	if !ok || len(c.files("fixed/theirs-panicked-*")) != 3 {
		t.Errorf("it is repaired:\n%s", repaired)
	}
	relapsed, ok := c.process("twice")
	c.fails(relapsed, ok,
		append([]string{`stored failure .*/fixed/theirs-panicked-.*, which had been fixed, fails again$`}, verdict...)...)
}

// So is one that comes in every run, also in the first ones, by which the lock is learnt.
func TestCheckAfterACrashInCalm(t *testing.T) {
	for kind, origin := range map[string]string{"always": "the run of theirs without faults with seed 1",
		"soon": "a run without faults by which it got to know theirs"} {
		t.Run(kind, func(t *testing.T) {
			c := newCrashes(t)
			first, _ := c.process(kind)
			if !strings.Contains(first, "panic: it always does") {
				t.Fatalf("the first process:\n%s", first)
			}
			verdict := []string{`running_test\.go:\d+: seed 1: theirs fails: panicked in mode none$`,
				`The code of the lock ended the process of c\d at step \d+ by a panic: it always does, `}
			second, ok := c.process(kind)
			c.fails(second, ok, append([]string{`TestOfACrash: the last process of this test ended in ` + origin + `, `,
				`schedule, 0 faults of the 0 that were drawn:`}, verdict...)...)
			c.replays(kind)
			third, ok := c.process(kind)
			c.fails(third, ok, append([]string{`stored failure .*/theirs-panicked-`}, verdict...)...)
			if repaired, ok := c.process(""); !ok {
				t.Errorf("it is repaired:\n%s", repaired)
			}
		})
	}
}

// A process that ends in another way has no verdict, and the message says why: the lock has called os.Exit, or its code
// panicked when its client had crashed, or when the run was over.
func TestCheckAfterAnEndWithoutVerdict(t *testing.T) {
	for kind, why := range map[string]string{
		"exit":  `its process ended \(exit status 3\), and not by a panic: os\.Exit and log\.Fatal end it so$`,
		"crash": `its process ended: the process has crashed: this is no panic of a client that runs: the process of c\d had crashed or ended, and its code goes on only here`,
		"close": `its process ended: context canceled: this is no panic of a client that runs: the run was over, and its world was closed$`,
	} {
		t.Run(kind, func(t *testing.T) {
			c := newCrashes(t)
			c.process(kind)
			second, ok := c.process(kind)
			c.fails(second, ok, `running_test\.go:\d+: seed \d+: a run of theirs has no verdict: .*`+why,
				`schedule, as it was drawn:$`)
			if left := c.files("*.json"); len(left) > 0 {
				t.Errorf("%v are stored", left)
			}
		})
	}
}

// A process that was killed leaves its seed. The next one plays that first, in a process of its own and then as any
// other, and the test goes on. A test that ends leaves no file.
func TestCheckAfterAKill(t *testing.T) {
	c := newCrashes(t)
	if _, ok := c.process("kill"); ok {
		t.Fatal("the process was not killed")
	}
	second, ok := c.process("")
	if !ok || !regexp.MustCompile(`(?m)^`+notice).MatchString(second) ||
		!strings.Contains(second, "that run is played in this process now") {
		t.Errorf("want a pass and a notice:\n%s", second)
	}
	if after, ok := c.process(""); !ok || strings.Contains(after, "the last process") {
		t.Errorf("want a pass and no notice:\n%s", after)
	}
	if _, err := os.Stat(c.dir); err != nil { // it is not made for the last two
		t.Error(err)
	}
	if left, err := os.ReadDir(c.dir); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v: %v", left, err)
	}
}
